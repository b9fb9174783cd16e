"""A process network's run with other latencies, intervals and depths.

    y L21 = 20                              each firing's result can be read after 20 cycles
    y L21 interval = 2                      a firing begins two cycles after the one before
    source A to y L21 A[i][j] depth = 1..8  the channel keeps so many values

The graph of firings (`_firing_graph`) gives the cycles that the hardware takes then.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from cyclescope.analyse._firing_graph import LEAST_LATENCY, firing_graph
from cyclescope.analyse._names import frames_by_name, hint
from cyclescope.analyse._side_by_side import side_by_side
from cyclescope.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cyclescope.analyse._activations import Key
    from cyclescope.analyse._firing_graph import FiringGraph
    from cyclescope.analyse._whatif import OtherLength
    from cyclescope.model import Profile

__all__ = ["Figure", "figure_named", "process_keys", "process_totals", "shorter"]

_LARGEST = (1 << 31) - 1  # cycles, or values: what fits in the sums


class Figure(StrEnum):
    """A figure of a process or of a channel that can be another one."""

    LATENCY = "latency"
    INTERVAL = "interval"
    DEPTH = "depth"


_LEAST = {Figure.LATENCY: LEAST_LATENCY, Figure.INTERVAL: 1, Figure.DEPTH: 1}


def process_keys(profile: Profile) -> dict[int, Key]:
    """Each process's frame and instance, by its site; only those that ran."""
    return {
        number: (int(profile.call_paths.frame[site.path]), profile.instances[site.path])
        for number, site in firing_graph(profile).processes.items()
        if site.path >= 0
    }


def figure_named(
    profile: Profile, name: str, first: int, last: int
) -> tuple[Figure, tuple[int, ...]]:
    """The figure that a name stands for, and the sites that it is of.

    Args:
        profile: the run.
        name: a process, or a process or channel and its figure.
        first: the least figure that is asked for.
        last: the largest.

    Raises:
        InputError: there is none of that name, or several, or it cannot have these figures.
    """
    processes: dict[str, list[int]] = {}
    site_of = {key: number for number, key in process_keys(profile).items()}
    for spoken, keys in frames_by_name(profile, site_of).items():
        processes[spoken] = [site_of[key] for key in keys]
    channels = _channels(profile)
    stem, _, word = name.rpartition(" ")
    if name in processes or word not in list(Figure):
        figure, known, wanted = Figure.LATENCY, processes, name
    else:
        figure, wanted = Figure(word), stem
        known = channels if figure is Figure.DEPTH else processes
    found, title = known.get(wanted, []), profile.meta.title
    if not found:
        if wanted in channels:
            raise InputError(f"{name}: a channel; it has a depth: '{wanted} depth = {first}'")
        what = "channel" if figure is Figure.DEPTH else "process"
        raise InputError(f"{name}: no {what} {wanted} in {title}; {_hint(wanted, known)}")
    if len(found) > 1:
        full = [spoken for spoken, sites in known.items() if len(sites) == 1 and sites[0] in found]
        there = ", ".join(sorted(full, key=len)[:5])
        raise InputError(f"{name}: {len(found)} in {title} are called {wanted}: {there} …")
    least = _LEAST[figure]
    if not least <= first <= last <= _LARGEST:
        raise InputError(f"{name}: the {figure} is from {least} to {_LARGEST:,}")
    return figure, tuple(found)


def _channels(profile: Profile) -> dict[str, list[int]]:
    """The channels that each name stands for: `A to B` and `A to B OPERAND`, alike ones with `#1`.

    The instance of the consumer may precede them, with a slash.
    """
    graph = firing_graph(profile)
    alike: dict[str, list[int]] = {}
    found: dict[str, list[int]] = {}
    for number, edge in graph.channels.items():
        producer, consumer = graph.processes[edge.producer], graph.processes[edge.consumer]
        ends = f"{producer.name} to {consumer.name}"
        whole = f"{ends} {edge.operand}"
        same = alike.setdefault(whole, [])
        same.append(number)
        instance = profile.instances[consumer.path]
        for name in (ends, whole, f"{whole}#{len(same)}"):
            for spoken in (name, f"{instance}/{name}"):
                found.setdefault(" ".join(spoken.split()), []).append(number)
    return found


def _hint(wanted: str, known: dict[str, list[int]]) -> str:
    """The shortest names that come near; else the first of all."""
    shortest: dict[int, str] = {}
    for spoken, sites in sorted(known.items(), key=lambda item: len(item[0])):
        if len(sites) == 1:
            shortest.setdefault(sites[0], spoken)
    names = [shortest[site] for site in sorted(shortest)]
    near = hint(wanted, names)
    return near if near.startswith("there are") else f"there are {', '.join(names[:5])} …"


def process_totals(
    profile: Profile, changes: Sequence[OtherLength], lengths: Sequence[int]
) -> tuple[int | None, ...]:
    """The cycles of the run with some changes, for each length of the one that has several.

    None where the network comes to a standstill.

    Raises:
        InputError: which firings read which values is not known.
    """
    graph = firing_graph(profile)
    return tuple(side_by_side(lambda length: _total(graph, changes, length), lengths))


def _total(graph: FiringGraph, changes: Iterable[OtherLength], length: int) -> int | None:
    given: dict[str, dict[int, int]] = {figure: {} for figure in Figure}
    for change in changes:
        assert change.figure is not None
        given[change.figure].update(dict.fromkeys(change.sites, change.at(length)))
    return graph.run(given[Figure.LATENCY], given[Figure.INTERVAL], given[Figure.DEPTH])


def shorter(profile: Profile) -> list[tuple[int, Figure, int]]:
    """The figures that can be less: a process that is no port, which figure, the least."""
    return [
        (number, figure, _LEAST[figure])
        for number, site in firing_graph(profile).processes.items()
        if not site.port
        for figure, now in ((Figure.LATENCY, site.latency), (Figure.INTERVAL, site.interval))
        if now > _LEAST[figure]
    ]
