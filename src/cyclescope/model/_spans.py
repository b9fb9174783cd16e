"""Spans: when each call path was active. The one derivation that costs something on a long run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model._frame import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cyclescope.model._profile import Ints, Profile, Trees

__all__ = ["Spans", "spans"]


@dataclass(frozen=True, slots=True)
class Spans:
    """Maximal intervals of consecutive cycles in which a path was active.

    Sorted by path, then by start. `start` and `end` are half-open cycle numbers.
    A path whose frame has a fixed latency is cut into its single activations where the
    interval is a multiple of it: static activations may follow each other without a gap. What
    such a path calls is cut with it: no activation outlives its caller's.
    """

    path: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.path)


def spans(profile: Profile, *, split_static: bool = True, paths: Ints | None = None) -> Spans:
    """Every path's activations, or those of the given paths (cost: changes, not cycles)."""
    wanted = np.full(len(profile.call_paths), paths is None)
    if paths is not None:
        wanted[paths] = True
    needed = _with_static_callers(profile, wanted) if split_static else wanted
    begin, end = _transitions(profile, needed)
    boundary = np.concatenate((profile.schedule.start, [profile.cycles]))
    width = len(boundary)
    # Beginnings and ends, each sorted by (path, run): the n-th of both belong together.
    path = begin // width
    begin %= width
    start = boundary[begin]
    del begin
    end %= width
    whole = Spans(path, start, boundary[end])
    return _split(profile, whole, wanted) if split_static else whole


def _latencies(profile: Profile) -> list[int]:
    """For each path the cycles of one activation, 0 if they are not fixed.

    A block is only as static as what it contains: one around a loop that was not promoted has
    no fixed length, whatever was promoted in its other part.
    """
    frames = [profile.catalog[f] for f in profile.call_paths.frame.tolist()]
    result = [frame.latency or 0 for frame in frames]
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        timed = frames[path].kind in (Kind.CONTROL, Kind.GROUP)
        if parent >= 0 and timed and frames[path].latency is None:
            result[parent] = 0
    return result


def _with_static_callers(profile: Profile, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The wanted paths, and the static ones above them, at which they have to be cut."""
    static = np.array([latency > 0 for latency in _latencies(profile)], dtype=np.bool_)
    needed = wanted.copy()
    above = wanted.copy()
    parents = profile.call_paths.parent.tolist()
    for path in range(len(parents) - 1, -1, -1):
        if above[path] and parents[path] >= 0:
            above[parents[path]] = True
    needed |= above & static
    return needed


def _transitions(profile: Profile, wanted: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """When wanted paths become active and when they cease: sorted path · (runs + 1) + run."""
    started, ended, which = profile.transitions
    return _spread(started, wanted, which), _spread(ended, wanted, which)


def _spread(lists: Trees, wanted: NDArray[np.bool_], which: Ints, chunk: int = 1 << 16) -> Ints:
    """Sorted path · n + i for each of the n positions i and each wanted path of `lists[which[i]]`.

    One integer holds both, since numpy sorts plain integers several times faster than it finds
    an order; in chunks, since the intermediate arrays would be larger than the result.
    """
    kept = wanted[lists.path]
    flat = lists.path[kept] * len(which)
    offset = np.concatenate(([0], np.cumsum(kept)))[lists.offset]
    count = np.diff(offset)[which]
    some = np.flatnonzero(count)
    result = np.empty(int(count[some].sum()), dtype=np.int64)
    done = 0
    for first in range(0, len(some), chunk):
        place = some[first : first + chunk]
        times = count[place]
        where = np.repeat(np.arange(len(place)), times)
        within = np.arange(len(where)) - np.repeat(np.cumsum(times) - times, times)
        out = result[done : done + len(where)]
        np.add(flat[offset[which[place]][where] + within], place[where], out=out)
        done += len(where)
    result.sort()
    return result


def _split(profile: Profile, whole: Spans, wanted: NDArray[np.bool_]) -> Spans:
    """Cut intervals into single activations, and leave out paths that are not wanted."""
    paths = profile.call_paths
    latencies = _latencies(profile)
    if not any(latencies):
        return whole
    bounds = np.searchsorted(whole.path, np.arange(len(paths) + 1)).tolist()
    starts: list[Ints] = []
    ends: list[Ints] = []
    cut_at: list[Ints | None] = []
    for path, parent in enumerate(paths.parent.tolist()):
        own = slice(bounds[path], bounds[path + 1])
        start, end = whole.start[own], whole.end[own]
        caller = cut_at[parent] if parent >= 0 else None
        if caller is not None:
            start, end = _cut(start, end, caller)
        latency = latencies[path]
        if latency:
            start, end = _chop(start, end, latency)
        starts.append(start if wanted[path] else start[:0])
        ends.append(end if wanted[path] else end[:0])
        # What a path calls is cut where the path itself was, and nowhere else.
        cut_at.append(start if latency else caller)
    counts = [len(start) for start in starts]
    path_of = np.repeat(np.arange(len(counts)), counts)
    return Spans(path_of, np.concatenate(starts), np.concatenate(ends))


def _chop(start: Ints, end: Ints, latency: int) -> tuple[Ints, Ints]:
    """Cut intervals whose length is a multiple of `latency` into pieces of that length."""
    length = end - start
    count = np.where(length % latency == 0, length // latency, 1)
    step = np.repeat(np.where(length % latency == 0, latency, length), count)
    nth = np.arange(len(step)) - np.repeat(np.cumsum(count) - count, count)
    start = np.repeat(start, count) + nth * step
    return start, start + step


def _cut(start: Ints, end: Ints, at: Ints) -> tuple[Ints, Ints]:
    """Cut intervals at those of the given cycles that lie inside them."""
    if not len(start):
        return start, end
    interval = np.searchsorted(start, at, side="right") - 1
    inside = at[(interval >= 0) & (at > start[interval]) & (at < end[interval])]
    if not len(inside):
        return start, end
    return np.sort(np.concatenate((start, inside))), np.sort(np.concatenate((end, inside)))
