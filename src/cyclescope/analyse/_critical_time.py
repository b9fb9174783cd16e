"""The critical path over time: in each cycle, whose own cycle it is that decides the run's length.

The same path as `critical` finds, laid out: there each cycle of the run is an own cycle of one
frame in one instance, here of one call path, and it is said when. Of a run with a single root the
path goes down from the root: in each phase by what ends last (`_activation_graph`); a cycle in
which that has not begun, or is over, is its caller's own. Of threads it is the chain of edges of
`_thread_graph` from the last event back to the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope.analyse._activation_graph import activation_graph
from cyclescope.analyse._critical_threads import ways_of
from cyclescope.analyse._thread_graph import has_threads, thread_graph
from cyclescope.model import Kind, spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cyclescope.model import Ints, Profile, Spans

__all__ = ["CriticalTime", "critical_over_time"]


class CriticalTime(NamedTuple):
    """Runs of cycles, one after another; they sum to the run.

    Attributes:
        cycles: of each.
        path: whose own cycles they are, a number of a call path.
    """

    cycles: Ints
    path: Ints


def critical_over_time(profile: Profile) -> CriticalTime:
    """Say of every cycle which call path's own it is on the critical path.

    Raises:
        InputError: it does not say what its threads or processes waited for, or nothing ran.
    """
    return _of_threads(profile) if has_threads(profile) else _of_root(profile)


def _of_threads(profile: Profile) -> CriticalTime:
    graph, ways = thread_graph(profile), ways_of(profile)
    # Edges are in the order of the events that they lead to.
    on_path = np.flatnonzero(ways.critical(ways.sums(graph.lag))[ways.chain] & (graph.lag > 0))
    frames = profile.call_paths.frame.tolist()
    path_of = {
        key: p for p, key in reversed(list(enumerate(zip(frames, profile.instances, strict=True))))
    }
    of_kind = np.array([path_of.get(kind.key, 0) for kind in graph.kinds], dtype=np.int64)
    return CriticalTime(graph.lag[on_path], of_kind[graph.kind[on_path]])


def _of_root(profile: Profile) -> CriticalTime:
    activation_graph(profile)  # it says what cannot be answered
    parents = profile.call_paths.parent
    timed = [profile.frame_of(p).kind is not Kind.PRIMITIVE for p in range(len(parents))]
    every = spans(profile, paths=np.flatnonzero(timed))
    depth = np.zeros(len(parents), dtype=np.int64)
    for path, parent in enumerate(parents.tolist()):
        depth[path] = depth[parent] + 1 if parent >= 0 else 0
    return _flat(every, _critical(profile, every, depth[every.path]), depth, parents)


def _critical(profile: Profile, every: Spans, depths: Ints) -> NDArray[np.bool_]:
    """Find the activations on the path, shape (activations,) and true for these."""
    parents = profile.call_paths.parent
    wide = np.int64(profile.cycles + 1)
    found: NDArray[np.bool_] = np.equal(depths, 0)
    callers = np.flatnonzero(found)
    for deep in range(1, int(depths.max(initial=0)) + 1):
        called = np.flatnonzero(depths == deep)
        # No two activations of a path overlap: the caller is its last one that had begun.
        at = every.path[callers] * wide + every.start[callers]
        from_ = parents[every.path[called]] * wide + every.start[called]
        owner = callers[np.searchsorted(at, from_, side="right") - 1]
        callers = called
        # What is called by what is not on the path is not, either.
        inside = found[owner]
        called, owner = called[inside], owner[inside]
        order = np.lexsort((every.start[called], owner))
        called, owner = called[order], owner[order]
        if not len(called):
            continue
        # One axis for all callers: each has a segment of its own, so that one sweep does for all.
        end = owner * wide + every.end[called]
        reach = np.maximum.accumulate(end)
        begins = np.append(True, owner[1:] * wide + every.start[called][1:] >= reach[:-1])
        phase = np.cumsum(begins) - 1
        last = np.maximum.reduceat(end, np.flatnonzero(begins))
        # Of several that end last the first one is as good as any.
        ending = np.flatnonzero(end == last[phase])
        _, first = np.unique(phase[ending], return_index=True)
        found[called[ending[first]]] = True
    return found


def _flat(every: Spans, found: NDArray[np.bool_], depth: Ints, parents: Ints) -> CriticalTime:
    """The deepest activation on the path in each cycle, as runs."""
    path, start, end = every.path[found], every.start[found], every.end[found]
    # At a moment what ends goes first, deepest first, then what begins: the last one holds.
    time = np.concatenate((end, start))
    rank = np.concatenate((-depth[path] - 1, depth[path]))
    holds = np.concatenate((parents[path], path))
    order = np.lexsort((rank, time))
    time, holds = time[order], holds[order]
    last = np.append(time[1:] != time[:-1], True)
    time, holds = time[last], holds[last]
    # The root's end is the run's.
    cycles, holds = np.diff(time), holds[:-1]
    first = np.flatnonzero(np.append(True, holds[1:] != holds[:-1])[: len(holds)])
    return CriticalTime(np.add.reduceat(cycles, first) if len(first) else cycles, holds[first])
