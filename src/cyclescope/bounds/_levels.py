"""Functions that call functions: what each level of the call tree takes, in place and alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cyclescope.bounds._estimate import Bounds
from cyclescope.bounds._kernel import network_of
from cyclescope.bounds._native import Program
from cyclescope.errors import InputError, RunError

if TYPE_CHECKING:
    from cyclescope.bounds._estimate import Estimate
    from cyclescope.bounds._network import CallPath

__all__ = ["Level", "Span", "levels_of"]


@dataclass(frozen=True, slots=True)
class Span:
    """From the first read to the last write of a level's processes, cycles; empty: 0 to 0."""

    start: int
    end: int

    @property
    def cycles(self) -> int:
        """Its length."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Level:
    """One call path.

    Attributes:
        path: which call.
        depth: calls above it.
        absolute, unbounded: when it is active within the whole program.
        work: Σ firings · Λ_F of its processes and those below.
        alone: (absolute, unbounded) cycles of the function by itself, with sources and sinks of
            its own; None if its arguments aren't constants.
    """

    path: CallPath
    depth: int
    absolute: Span
    unbounded: Span
    work: int
    alone: tuple[int, int] | None


def levels_of(bounds: Bounds, *, memory: int) -> list[Level]:
    """Every level in the order of the calls, the kernel first."""
    paths = bounds.network.paths
    below = [_below(paths, number) for number in range(len(paths))]
    alone: dict[str, tuple[int, int] | None] = {
        paths[0].function: (bounds.absolute.cycles, bounds.unbounded.cycles)
    }
    levels = []
    for number, path in enumerate(paths):
        if path.function not in alone:
            # On values that are made up, a course that depends on values leads anywhere.
            known = not bounds.records.calls or bounds.network.is_affine
            alone[path.function] = _alone(bounds, path.function, memory) if known else None
        own = [r for r in bounds.absolute.firings if r.process.path in below[number]]
        levels.append(
            Level(
                path=path,
                depth=_depth(paths, number),
                absolute=_span(bounds.absolute, below[number], whole=number == 0),
                unbounded=_span(bounds.unbounded, below[number], whole=number == 0),
                work=sum(r.count * r.process.latency for r in own),
                alone=alone[path.function],
            )
        )
    return levels


def _below(paths: list[CallPath], number: int) -> set[int]:
    found = {number}
    for inner in range(number + 1, len(paths)):
        if paths[inner].parent in found:
            found.add(inner)
    return found


def _depth(paths: list[CallPath], number: int) -> int:
    depth = 0
    while paths[number].parent >= 0:
        number = paths[number].parent
        depth += 1
    return depth


def _span(estimate: Estimate, paths: set[int], *, whole: bool) -> Span:
    if whole:
        return Span(0, estimate.cycles)
    rows = [row for row in estimate.firings if row.process.path in paths]
    if not rows:
        return Span(0, 0)
    return Span(min(row.first for row in rows), max(row.end for row in rows))


def _alone(bounds: Bounds, function: str, memory: int) -> tuple[int, int] | None:
    calibration = replace(bounds.calibration, sources={}, sinks={}, arguments={})
    kernel = bounds.unit.functions[function]
    try:
        network, declarations = network_of(bounds.unit, kernel, calibration, {}, lenient=True)
        with Program(network, declarations) as program:
            records = program.run(read=calibration.read, write=calibration.write, memory=memory)
    except InputError:  # its arguments are computed by its caller
        return None
    except RunError:
        if bounds.records.calls:
            return None
        raise
    own = Bounds(bounds.unit, network, calibration, records)
    return own.absolute.cycles, own.unbounded.cycles
