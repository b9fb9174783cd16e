"""Changes of a process network tried for real: other latencies, intervals and depths, simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.analyse import Figure, TriedLength, retimed
from cyclescope.bounds import estimate
from cyclescope.errors import DeadlockError, InputError
from cyclescope.model import Edge, Process
from cyclescope.network import flows_of, hardware_of, network_of, simulate, with_figures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cyclescope.analyse import OtherLength
    from cyclescope.bounds import Calibration
    from cyclescope.model import Flow, Profile

__all__ = ["simulated_network"]

_MOST_STAGES = 1_000  # of a function: each is registers that a compiler has to see
_SLOWER = 2  # times as long as foretold may a run take


def simulated_network(
    profile: Profile,
    changes: Sequence[OtherLength],
    program: Path,
    *,
    defines: Mapping[str, str] | None = None,
    include: Sequence[Path] = (),
    arguments: Mapping[str, int | float] | None = None,
    calibration: Calibration | None = None,
    data: Mapping[str, Sequence[object]] | None = None,
    progress: Callable[[str], object] = lambda _: None,
) -> tuple[TriedLength, ...]:
    """Build a kernel's network as hardware with other figures, and simulate it.

    Every result of every firing is compared with the native run. A process with another latency
    has a function of so many stages; with another interval it counts to that; a channel with
    another depth has so much memory, but no more than it ever has values.

    Args:
        profile: its run.
        changes: of processes and channels; one may have several values.
        program: the kernel's file.
        defines: its macros.
        include: its folders of headers.
        arguments: its scalar parameters.
        calibration: what its sources and sinks are; latencies are the profile's.
        data: contents of its arrays.
        progress: told of each run.

    Returns:
        The run with each of the values that `retimed` gives.

    Raises:
        InputError: the profile is another program's, or a latency is no hardware to build.
        VerifyError: the hardware with the change does something else.
        SourceError, DataError, ToolError, RunError, OutputError: see `cyclescope.errors`.
    """
    for change in changes:
        if change.figure is Figure.LATENCY and change.last > _MOST_STAGES:
            raise InputError(
                f"{change.name} = {change.last:,}: --check builds functions of at most"
                f" {_MOST_STAGES:,} stages; the prediction does without"
            )
    foretold = retimed(profile, changes)
    bounds = estimate(
        program,
        kernel=profile.meta.options.get("kernel"),
        defines=defines,
        include=include,
        arguments=arguments,
        calibration=calibration,
        data=data,
        detail=True,
        values=True,
        trace=True,
    )
    if bounds.detail is None:
        raise InputError(f"{program}: too many firings for hardware")
    network = network_of(bounds)
    names = [site.name for site in profile.sites if isinstance(site, Process)]
    same = names == [station.process.name for station in network.stations]
    if not same or flows_of(network) != profile.flows:
        raise InputError(
            f"{program}: its firings are not those of {profile.meta.title}: give the profile's"
            " program, with its -D, -I, --arg, --calibration and --data"
        )

    def depth(flow: Flow) -> int:
        edge = profile.sites[flow.edge]
        assert isinstance(edge, Edge)
        assert edge.depth is not None
        return edge.depth

    tried = []
    runs = zip(foretold.lengths, foretold.totals, strict=True)
    for run, (value, expected) in enumerate(runs):
        progress(f"run {run + 1} of {len(foretold.lengths)}")
        given = {
            (change.figure, site): change.at(value) for change in changes for site in change.sites
        }
        figures = [
            (
                given.get((Figure.LATENCY, number), site.latency),
                given.get((Figure.INTERVAL, number), site.interval),
            )
            for number, site in enumerate(profile.sites)
            if isinstance(site, Process)
        ]
        depths = {
            channel.number: min(given.get((Figure.DEPTH, flow.edge), depth(flow)), channel.tokens)
            for channel, flow in zip(network.channels, profile.flows, strict=True)
        }
        limit = _SLOWER * max(expected or 0, profile.cycles) + 1000
        other = with_figures(network, figures)
        try:
            hardware = hardware_of(other, depths)
            cycles = simulate(other, hardware, limit=limit).cycles
        except DeadlockError:
            tried.append(TriedLength(None))
        else:
            tried.append(TriedLength(cycles))
    return tuple(tried)
