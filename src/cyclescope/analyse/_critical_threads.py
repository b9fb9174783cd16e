"""The critical path of threads: which loops and sections decide the total, and who waits for whom.

As `_critical` for a single root, of the graph of `_thread_graph`. A change is one of all executions
of a loop, or of all passages of a critical section, by all threads; of a thread, of all of its.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse._critical_path import Critical, CriticalFrame, PhaseWait
from cyclescope.analyse._longest import LongestWays
from cyclescope.analyse._thread_graph import thread_graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cyclescope.analyse._activations import Key
    from cyclescope.analyse._thread_graph import ThreadGraph
    from cyclescope.model import Ints, Profile

__all__ = ["critical_threads", "keys_of_frames", "ways_of"]


def ways_of(profile: Profile) -> LongestWays:
    """The ways through the graph of a profile's threads, worked out once."""
    return profile.once(_ways)


def _ways(profile: Profile) -> LongestWays:
    graph = thread_graph(profile)
    return LongestWays(graph.offset, graph.source)


def keys_of_frames(profile: Profile, graph: ThreadGraph) -> tuple[list[Key], Ints]:
    """A key for each frame, whichever thread is in it; and which of them each kind of span has."""
    whole = graph.kinds[int(graph.kind[-1])].key[1]
    threads = {profile.instances[path] for path in profile.tracks}
    found: dict[Key, int] = {}
    number = [
        found.setdefault((k.key[0], whole if k.key[1] in threads else k.key[1]), len(found))
        for k in graph.kinds
    ]
    return list(found), np.array(number, dtype=np.int64)


def critical_threads(profile: Profile) -> Critical:
    """Find the critical path, slack and leverage of loops, critical sections and threads.

    Raises:
        InputError: it does not say exactly when threads waited for each other, or has no cycle.
    """
    graph, ways = thread_graph(profile), ways_of(profile)
    frames, frame_of = keys_of_frames(profile, graph)
    base = ways.sums(graph.lag)
    on_path = ways.critical(base)[ways.chain]
    every = _figures(graph, ways, base, on_path, frames, frame_of)
    key = [kind.key for kind in graph.kinds]
    waits = tuple(
        PhaseWait(key[w.around], key[w.waiting], key[w.decisive], w.times, w.cycles, w.cause)
        for w in graph.waits
    )
    return Critical(every, waits, graph.cycles, _threads(graph, on_path, frames, frame_of, every))


def _threads(
    graph: ThreadGraph,
    on_path: NDArray[np.bool_],
    frames: list[Key],
    frame_of: Ints,
    figures: Sequence[CriticalFrame],
) -> tuple[CriticalFrame, ...]:
    """The figures of each thread, with all that it does; the cycles of the path are in it."""
    known = {figure.key: figure for figure in figures}
    names = [kind.key[1] for kind in graph.kinds]
    cycles = dict.fromkeys(names, 0)
    for kind, lag in zip(graph.kind[on_path].tolist(), graph.lag[on_path].tolist(), strict=True):
        cycles[names[kind]] += lag
    found = [
        replace(known[frames[frame_of[kind]]], key=graph.kinds[kind].key, critical=cycles[name])
        for name, kind in ((name, names.index(name)) for name in cycles)
    ]
    return tuple(sorted(found, key=lambda f: (-f.critical, f.slack or 0)))


def _figures(
    graph: ThreadGraph,
    ways: LongestWays,
    base: Ints,
    on_path: NDArray[np.bool_],
    keys: Sequence[Key],
    number: Ints,
) -> tuple[CriticalFrame, ...]:
    """The figures of each key, given which of them each kind of span has."""
    of_edge, ending = number[graph.kind], graph.ends == 1
    counts = np.zeros((ways.chains, len(keys)), dtype=np.int64)
    np.add.at(counts, (ways.chain[ending], of_edge[ending]), 1)
    times, total, critical = np.zeros((3, len(keys)), dtype=np.int64)
    np.add.at(times, number, [kind.times for kind in graph.kinds])
    np.add.at(total, number, [kind.cycles for kind in graph.kinds])
    np.add.at(critical, of_edge[on_path], graph.lag[on_path])
    once = np.bincount(of_edge[on_path & ending], minlength=len(keys))
    slack, saved = _changes(ways, base, counts, once, graph.cycles, ways.sums(_meetings(graph)))
    rows = zip(keys, *(c.tolist() for c in (times, total, critical, slack, saved)), strict=True)
    every = (CriticalFrame(*row) for row in rows)
    return tuple(sorted(every, key=lambda f: (-f.critical, -f.total)))


def _meetings(graph: ThreadGraph) -> Ints:
    """1 for each edge by which a thread comes to where it waits for another one, before that does.

    Threads come there through one pipeline: of two in one cycle one comes a cycle later.
    """
    event = np.repeat(np.arange(len(graph.time)), np.diff(graph.offset))
    names = list(dict.fromkeys(kind.key[1] for kind in graph.kinds))
    thread = np.array([names.index(kind.key[1]) for kind in graph.kinds])[graph.kind]
    # Whose an event is follows from what leads to it; the first one has nothing.
    whose = np.concatenate(([-1], thread[graph.offset[1:-1]]))[graph.source]
    several = np.zeros(len(graph.time), dtype=np.bool_)
    several[event[whose != whose[graph.offset[event]]]] = True
    early = graph.time[graph.source] + graph.lag < graph.time[event]
    return (several[event] & early).astype(np.int64)


def _changes(
    ways: LongestWays,
    base: Ints,
    counts: Ints,
    once: Ints,
    cycles: int,
    meetings: Ints | int = 0,
) -> tuple[Ints, Ints]:
    """Slack, and cycles saved by one cycle less of each execution, of each column of counts.

    The length of the run is convex in what is added, so Newton's method finds exactly where it
    begins to rise, from above. It rises, too, where threads then meet in one cycle: half a cycle
    more tells these from those that come before.
    """
    slack, saved = np.zeros((2, counts.shape[1]), dtype=np.int64)
    there = np.flatnonzero(once)
    open_ = np.flatnonzero((once == 0) & (counts.sum(axis=0) > 0))
    high = np.full(len(open_), cycles + 1, dtype=np.int64)
    halves = (2 * base + meetings)[:, None]
    while len(there) or len(open_):
        longer = 2 * counts[:, open_]
        now, before, less = np.split(
            ways.last(
                np.hstack(
                    (
                        halves + longer * high,
                        halves + longer * (high - 1),
                        2 * (base[:, None] - counts[:, there]),
                    )
                )
            ),
            (len(open_), 2 * len(open_)),
        )
        saved[there], there = cycles - less // 2, there[:0]
        over = now > 2 * cycles
        slack[open_[~over]] = high[~over]
        open_, rise = open_[over], (now - before)[over]
        # So many fewer at least: below, each makes less of a difference.
        high = high[over] - -(-(now[over] - 2 * cycles) // rise)
    return slack, saved
