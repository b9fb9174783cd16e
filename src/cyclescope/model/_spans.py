"""Spans: when each call path was active. The one derivation that costs something on a long run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model._frame import Kind
from cyclescope.model._profile import Runs, Trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cyclescope.model._profile import Ints, Profile

__all__ = ["KeptOnce", "Spans", "kept_once", "repeated_spans", "spans"]


_FEW = 8  # runs a tree, from which on trees are looked at first


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

    def later(self, cycles: int) -> Spans:
        """The same so many cycles later."""
        return Spans(self.path, self.start + cycles, self.end + cycles) if cycles else self


def spans(profile: Profile, *, split_static: bool = True, paths: Ints | None = None) -> Spans:
    """Every path's activations, or those of the given paths (cost: changes, not cycles)."""
    wanted = np.full(len(profile.call_paths), paths is None)
    if paths is not None:
        wanted[paths] = True
        profile = _restricted(profile, wanted)
    return _spans(profile, wanted, split_static=split_static)


def _spans(profile: Profile, wanted: NDArray[np.bool_], *, split_static: bool) -> Spans:
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


def repeated_spans(profile: Profile, paths: Ints, together: Ints) -> tuple[Spans, Ints]:
    """The activations of some paths, those in a segment of runs once for all its occurrences.

    Each has the cycles of its first occurrence: so what overlaps here overlaps in the run, and
    what overlaps in the run does so here.

    Args:
        profile: in which to look.
        paths: which.
        together: a number for each of the profile's paths; those of one number are looked at
            together: all in segments, or all over the whole run.

    Returns:
        The activations, those in segments first, and how often each occurs.
    """
    wanted = np.zeros(len(profile.call_paths), dtype=np.bool_)
    wanted[paths] = True
    if len(profile.schedule.segments.order) < 2:
        found = spans(profile, paths=paths)
        return found, np.ones(len(found), dtype=np.int64)
    kept = profile.kept_once
    over = wanted & np.isin(together, together[kept.crossing & wanted])
    # What is active from one segment to the next: over the whole run, and few.
    first = spans(profile, paths=np.flatnonzero(over))
    # The rest begins and ends in one segment.
    second = spans(kept.profile, paths=np.flatnonzero(wanted & ~over))
    segment = np.searchsorted(kept.end, second.start, side="right")
    shift = (kept.occurs - kept.start)[segment]
    return (
        Spans(
            np.concatenate((second.path, first.path)),
            np.concatenate((second.start + shift, first.start)),
            np.concatenate((second.end + shift, first.end)),
        ),
        np.concatenate((kept.times[segment], np.ones(len(first), dtype=np.int64))),
    )


@dataclass(frozen=True, slots=True)
class KeptOnce:
    """The distinct segments of a run, one after another, with a cycle of nothing between them.

    Attributes:
        profile: that run, of the same paths.
        crossing: paths that are ever active from one segment to the next, and what static
            activations of these cut; what else there is begins and ends in a segment.
        start, end: each segment's cycles in that run.
        occurs: in the real run the first cycle of its first occurrence.
        times: how often it occurs.
    """

    profile: Profile
    crossing: NDArray[np.bool_]
    start: Ints
    end: Ints
    occurs: Ints
    times: Ints


def kept_once(profile: Profile) -> KeptOnce:
    """The distinct segments of a profile as a run of their own."""
    segments, forest = profile.schedule.segments, profile.forest
    tree = profile.schedule.tree_of[segments.state]
    cycles = np.insert(segments.cycles.astype(np.int64), segments.offset[1:], 1)
    tree = np.insert(tree, segments.offset[1:], len(forest))  # a tree of nothing
    first = np.flatnonzero(np.append(True, tree[1:] != tree[:-1]))
    once = replace(
        profile,
        forest=Trees(np.append(forest.offset, len(forest.path)), forest.path),
        schedule=Runs(np.add.reduceat(cycles, first), tree[first]),
    )
    end = np.cumsum(segments.length + 1)
    occurs = segments.starts()[segments.first_occurrences]
    start = end - 1 - segments.length
    crossing = _crossing(profile)
    crossing |= _cut_with(profile, crossing)
    return KeptOnce(once, crossing, start, end, occurs, segments.count)


def _crossing(profile: Profile) -> NDArray[np.bool_]:
    segments, forest = profile.schedule.segments, profile.forest
    ahead, behind, _ = segments.pairs
    tree = profile.schedule.tree_of[segments.state]
    last, first = tree[segments.offset[1:] - 1], tree[segments.offset[:-1]]
    pairs = np.unique(np.stack((last[ahead], first[behind])), axis=1)
    result = np.zeros(len(profile.call_paths), dtype=np.bool_)
    for before, after in pairs.T.tolist():
        result[np.intersect1d(forest[before], forest[after], assume_unique=True)] = True
    return result


def cuts_across(profile: Profile) -> bool:
    """Whether a static activation ever goes on from one segment to the next."""
    return bool((_crossing(profile) & _static(profile)).any())


def _cut_with(profile: Profile, crossing: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Paths that are cut where static ones of these are."""
    cut = _static(profile) & crossing
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        cut[path] |= parent >= 0 and cut[parent]
    return cut


def _restricted(profile: Profile, wanted: NDArray[np.bool_]) -> Profile:
    """The profile with only some paths active, and those that call them: fewer changes."""
    if len(profile.forest) * _FEW > len(profile.schedule.segments):
        return profile  # not worth it
    kept = _with_callers(profile, wanted)
    if kept.all():
        return profile
    forest, runs = profile.forest, profile.schedule
    there = kept[forest.path]
    bounds = np.concatenate(([0], np.cumsum(there)))[forest.offset]
    flat = forest.path[there]
    numbers: dict[bytes, int] = {}
    rows = [flat[a:b] for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]
    number = [numbers.setdefault(row.tobytes(), len(numbers)) for row in rows]
    offset = np.concatenate(([0], np.cumsum([len(n) // flat.itemsize for n in numbers])))
    return replace(
        profile,
        forest=Trees(offset, np.frombuffer(b"".join(numbers), dtype=flat.dtype)),
        schedule=Runs(*runs.segments.runs(np.array([*number, 0])[runs.tree_of])),
    )


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


def _static(profile: Profile) -> NDArray[np.bool_]:
    """The paths whose activations have a fixed length."""
    return np.array(_latencies(profile), dtype=np.int64) > 0


def _with_callers(profile: Profile, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The wanted paths, and all above them."""
    found = wanted.copy()
    parents = profile.call_paths.parent.tolist()
    for path in range(len(parents) - 1, -1, -1):
        if found[path] and parents[path] >= 0:
            found[parents[path]] = True
    return found


def _with_static_callers(profile: Profile, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The wanted paths, and the static ones above them, at which they have to be cut."""
    return wanted | (_with_callers(profile, wanted) & _static(profile))


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
