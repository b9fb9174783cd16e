"""The critical path of a process network in hardware: the source of the profile has found it.

Each firing on the path answers for the time until the next one on it begins, so the cycles of all
processes sum to the run (`Process.critical`). What a firing waited for is its channel's: a value
that the producer had not sent (`Edge.late`), or space that the consumer had not made (`Edge.held`).
Slack and leverage are of a process's latency: the graph of firings is timed with others.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from cyclescope.analyse._critical_path import Critical, CriticalFrame, PhaseWait
from cyclescope.analyse._firing_graph import LEAST_LATENCY, firing_graph
from cyclescope.analyse._side_by_side import side_by_side
from cyclescope.errors import InputError
from cyclescope.model import Cause, Edge, Kind, Process

if TYPE_CHECKING:
    from cyclescope.analyse._activations import Key
    from cyclescope.analyse._firing_graph import FiringGraph
    from cyclescope.model import Profile

__all__ = ["critical_processes", "has_processes"]


def has_processes(profile: Profile) -> bool:
    """Return whether a profile's tracks are processes."""
    return any(profile.frame_of(path).kind is Kind.PROCESS for path in profile.tracks)


def critical_processes(profile: Profile) -> Critical:
    """The critical path of a network's processes, and what they waited for.

    Raises:
        InputError: it is of bounds, which have no path of their own.
    """
    processes = {n: site for n, site in enumerate(profile.sites) if isinstance(site, Process)}
    keys: dict[int, Key] = {
        number: (int(profile.call_paths.frame[site.path]), profile.instances[site.path])
        for number, site in processes.items()
        if site.path >= 0
    }
    figures = _figures(profile) if profile.flows else {}
    frames = [
        CriticalFrame(
            keys[number],
            site.firings,
            site.firings * site.interval,
            site.critical,
            *figures.get(number, (None, None)),
        )
        for number, site in processes.items()
        if number in keys and site.critical is not None
    ]
    if not frames:
        raise InputError(
            f"{profile.meta.title}: bounds have no critical path but what bounds them, which"
            " cyclescope bounds prints; that of the hardware: cyclescope bounds --rtl DIR"
        )
    waits: list[PhaseWait] = []
    for edge in profile.sites:
        if isinstance(edge, Edge) and edge.producer in keys and edge.consumer in keys:
            ends = keys[edge.producer], keys[edge.consumer]
            top = int(profile.call_paths.parent[processes[edge.consumer].path])
            caller = int(profile.call_paths.frame[top]), profile.instances[top]
            if edge.late:
                waits.append(
                    PhaseWait(caller, *ends[::-1], edge.delayed, edge.late, Cause.OPERAND.value)
                )
            if edge.held:
                waits.append(PhaseWait(caller, *ends, None, edge.held, Cause.CHANNEL.value))
    frames.sort(key=lambda frame: (-frame.critical, -frame.total))
    waits.sort(key=lambda wait: -wait.cycles)
    return Critical(tuple(frames), tuple(waits), profile.cycles)


def _figures(profile: Profile) -> dict[int, tuple[int | None, int | None]]:
    """Slack of each process, and cycles saved by one cycle less.

    None without a firing; and if it cannot be less, or the network comes to a standstill then.
    """
    graph = firing_graph(profile)
    found = side_by_side(lambda number: _of_process(graph, number), list(graph.processes))
    return dict(zip(graph.processes, found, strict=True))


def _of_process(graph: FiringGraph, number: int) -> tuple[int | None, int | None]:
    latency = graph.processes[number].latency
    if not graph.processes[number].firings:
        return None, None
    less = graph.run({number: latency - 1}) if latency > LEAST_LATENCY else None
    return _slack(graph, number), None if less is None else graph.cycles - less


def _slack(graph: FiringGraph, number: int) -> int:
    """The cycles that each firing could take longer; with one more the run is longer.

    The longest of all paths through the graph decides, and each is so much longer as it has firings
    of the process. So the tangent at a latency that is too long leads back towards the answer, as a
    rule in one step or two. Where a process stops at full channels at other times, it may lead too
    far; then the rest is halved.
    """
    latency = graph.processes[number].latency

    @cache
    def longer(more: int) -> int:
        """Cycles by which the run is longer."""
        found = graph.run({number: latency + more})
        return graph.cycles if found is None else found - graph.cycles

    def back(more: int) -> int:
        slope = longer(more) - longer(more - 1)
        return more - -(-longer(more) // slope) if slope > 0 else 0

    if longer(1) > 0:
        return 0
    low, high = 1, graph.cycles  # the last firing alone takes longer than the whole run
    straight = True
    while high - low > 1:
        guess = back(high) if straight else (low + high) // 2
        guess = min(max(guess, low + 1), high - 1)
        if longer(guess) > 0:
            high = guess
        elif longer(guess + 1) > 0:
            return guess
        else:
            low, straight = guess + 1, False
    return low
