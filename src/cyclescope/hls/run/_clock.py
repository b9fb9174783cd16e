"""The clock that a program's hardware reaches, its longest path by lines of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.run._measure import machine_of
from cyclescope.model import Clock, Part, PathStep
from cyclescope.rtl import Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cyclescope.hls._compile import Program
    from cyclescope.hls.trace import UnitOptions
    from cyclescope.sim import RoutedStep

__all__ = ["clock_of", "find_router", "placed"]


def find_router() -> None:
    """See that there is what `clock_of` needs, before the work.

    Raises:
        ToolError: there is no Yosys or no nextpnr-ecp5.
    """
    from cyclescope.sim import find_nextpnr, find_yosys

    find_nextpnr()
    find_yosys()


def clock_of(
    program: Program,
    unit: UnitOptions | None = None,
    *,
    seed: int = 1,
    doing: Callable[[str], object] = lambda _: None,
) -> Clock:
    """Synthesise, place and route a program's hardware, as it would be built.

    It has none of a simulation's checks. The result is cached; what is not takes minutes.

    Args:
        program: what it does.
        unit: its profiling unit.
        seed: of the placement.
        doing: called with the step that begins, if it is not in the cache.

    Raises:
        ToolError: Yosys or nextpnr-ecp5 is missing or fails; the design does not fit.
        OutputError: the cache cannot be written.
    """
    from cyclescope.sim import ECP5, route_on_ecp5

    machine = machine_of(program, checks=False, unit=unit)
    text = "".join(machine.sources.values())
    routed = route_on_ecp5(text, machine.name, seed=seed, doing=doing)
    return Clock(ECP5, seed, placed(routed.path, machine.origins))


def placed(path: Sequence[RoutedStep], origins: Mapping[str, Origin]) -> tuple[PathStep, ...]:
    """The steps of a path with the parts of the design, and the lines, that they belong to.

    What has no name of the design's own was made by synthesis of something on its way to the next
    net on the path that has one: it belongs there.

    Args:
        path: from a launch to a setup.
        origins: of the design's nets, memories and instances, by their dotted names.
    """
    found: list[PathStep] = []
    name, origin = "", Origin(Part.OTHER)
    for step in reversed(path):
        known = next(filter(None, (_known(net, origins) for net in step.nets)), None)
        if known is not None:
            name, origin = known
        net = name if known is not None else ""
        found.append(
            PathStep(
                step.kind,
                step.delay_ps,
                step.cell,
                net,
                origin.part,
                origin.file,
                origin.line,
            )
        )
    return tuple(reversed(found))


def _known(net: str, origins: Mapping[str, Origin]) -> tuple[str, Origin] | None:
    """The design's net, memory or instance that a net of the netlist is, or is in."""
    name = net.partition("[")[0]  # a word of a memory that became registers
    while name:
        if (origin := origins.get(name)) is not None:
            return name, origin
        name = name.rpartition(".")[0]
    return None
