"""Runs of threads or processes timed anew at a few values of each change, for a page to show.

Each change by itself, and each total is the one of `retimed` for the same change.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from cyclescope.analyse._critical_processes import has_processes
from cyclescope.analyse._firing_graph import LEAST_LATENCY, firing_graph
from cyclescope.analyse._thread_graph import has_threads, size_of_spans, thread_graph
from cyclescope.analyse._whatif import parse_lengths
from cyclescope.analyse._whatif_processes import Figure, process_keys, process_totals
from cyclescope.analyse._whatif_threads import (
    LATENCY,
    START_COST,
    THREADS,
    memory_latency,
    own_lengths,
    totals_alone,
)
from cyclescope.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse._activations import Key
    from cyclescope.analyse._whatif import OtherLength
    from cyclescope.model import Profile

__all__ = ["Curve", "curves_of"]

_LOOPS = 8  # those with most cycles
_PROCESSES = 4  # and as many channels
_DEPTHS = (0.0, 0.5, 1.0, 2.0)
_EVENTS = 50_000  # in a run; where there are more, each change has the few values
_MOST = 256  # threads that hardware has
_COST = 100  # to start a thread, where the host started all at once
# Of what it was: values, and the few.
_LATENCIES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0), (0.0, 0.5, 1.0, 2.0, 4.0)
_COSTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0), (0.0, 1.0)
_TEAMS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0), (0.5, 1.0, 2.0)
_LENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0), (0.0, 0.5, 1.0, 1.5, 2.0)


@dataclass(frozen=True, slots=True)
class Curve:
    """A change with several values, and the cycles of the run with each.

    Attributes:
        name: as `parse_lengths` reads it.
        keys: the frames that it is of; none for an option of the run, an interval, a depth.
        now: its value in the run, on average; a loop's executions may take different times.
        values: in rising order.
        totals: cycles of the run with each of these alone; None: it comes to a standstill.
    """

    name: str
    keys: tuple[Key, ...]
    now: float
    values: tuple[int, ...]
    totals: tuple[int | None, ...]


def curves_of(profile: Profile) -> tuple[Curve, ...]:
    """Whatever can be changed in a run of threads or processes; nothing in others.

    Nor if the run does not say what was waited for. Of loops and critical sections those with most
    cycles, of processes and channels those with most cycles of the critical path. What `retimed`
    refuses is left out.
    """
    if has_threads(profile):
        return _of_threads(profile)
    return _of_processes(profile) if has_processes(profile) else ()


def _of_threads(profile: Profile) -> tuple[Curve, ...]:
    try:
        many = len(thread_graph(profile).time) > _EVENTS
        spans = [(size_of_spans(profile, keys)[1], frame) for frame, keys in own_lengths(profile)]
    except InputError:
        return ()
    found: dict[str, tuple[float, OtherLength, list[int]]] = {}
    for name, parts in ((LATENCY, _LATENCIES), (START_COST, _COSTS), (THREADS, _TEAMS)):
        try:
            now = _option(profile, name)
        except InputError:
            continue
        values = _values(now or _COST, parts[many], 0 if name == START_COST else 1)
        if name == THREADS:
            values = [value for value in values if value <= max(now, _MOST)]
        found[name] = now, _change(profile, name), values
    for _, frame in sorted(spans, key=itemgetter(0), reverse=True)[:_LOOPS]:
        name = profile.catalog[frame].name
        try:
            change = _change(profile, name)
        except InputError:  # others of that name
            continue
        times, cycles = size_of_spans(profile, change.keys)
        found[name] = cycles / times, change, _values(cycles / times, _LENGTHS[many], 1)
    totals = totals_alone(profile, [(change, values) for _, change, values in found.values()])
    return tuple(
        Curve(name, change.keys, now, tuple(values), mine)
        for (name, (now, change, values)), mine in zip(found.items(), totals, strict=True)
        if mine
    )


def _of_processes(profile: Profile) -> tuple[Curve, ...]:
    try:
        graph, keys = firing_graph(profile), process_keys(profile)
    except InputError:
        return ()
    by_path = sorted(graph.processes.items(), key=lambda item: -(item[1].critical or 0))
    deep = sorted(graph.channels.items(), key=lambda item: -(item[1].critical or 0))
    wanted: list[tuple[str, tuple[Key, ...], int, set[int]]] = []
    for number, site in [(n, s) for n, s in by_path if not s.port and n in keys][:_PROCESSES]:
        latencies = {max(round(part * site.latency), LEAST_LATENCY) for part in _LENGTHS[0]}
        wanted.append((site.name, (keys[number],), site.latency, latencies))
        intervals = {1, site.interval, 2 * site.interval, 4 * site.interval}
        wanted.append((f"{site.name} {Figure.INTERVAL}", (), site.interval, intervals))
    for _, edge in deep[:_PROCESSES]:
        depth = edge.depth or 1
        ends = (graph.processes[end].name for end in (edge.producer, edge.consumer))
        depths = {max(round(part * depth), 1) for part in _DEPTHS}
        wanted.append((f"{' to '.join(ends)} {Figure.DEPTH}", (), depth, depths))
    found = []
    for name, mine, now, values in wanted:
        lengths = sorted(values)
        try:
            (change,) = parse_lengths(profile, [f"{name} = {lengths[0]}..{lengths[0] + 1}"])
        except InputError:  # others of that name
            continue
        totals = process_totals(profile, [change], lengths)
        found.append(Curve(name, mine, now, tuple(lengths), totals))
    return tuple(found)


def _change(profile: Profile, name: str) -> OtherLength:
    """A change of what is called so to several values.

    Raises:
        InputError: several are called so.
    """
    (change,) = parse_lengths(profile, [f"{name} = 0..1"])
    return change


def _option(profile: Profile, name: str) -> int:
    if name == LATENCY:
        return memory_latency(profile)
    try:
        return int(profile.meta.options[name])
    except (KeyError, ValueError):
        raise InputError(f"{profile.meta.title}: it does not say its {name}") from None


def _values(now: float, parts: Iterable[float], least: int) -> list[int]:
    """Whole numbers in rising order, about such parts of a value."""
    return sorted({max(round(part * now), least) for part in parts})
