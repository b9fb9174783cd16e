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

__all__ = [
    "KeptOnce",
    "Spans",
    "kept_once",
    "repeated_spans",
    "spans",
    "split",
    "static_paths",
    "with_static_callers",
]


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
    needed = with_static_callers(profile, wanted) if split_static else wanted
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
    return split(profile, whole, wanted) if split_static else whole


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
        crossing: paths that are ever active from one segment to the next, and those that are cut;
            what else there is begins and ends in a segment.
        cut: static paths of these, and what is cut where their activations are.
        start, end: each segment's cycles in that run.
        occurs: in the real run the first cycle of its first occurrence.
        times: how often it occurs.
    """

    profile: Profile
    crossing: NDArray[np.bool_]
    cut: NDArray[np.bool_]
    start: Ints
    end: Ints
    occurs: Ints
    times: Ints


def kept_once(profile: Profile) -> KeptOnce:
    """The distinct segments of a profile as a run of their own."""
    segments, forest = profile.schedule.segments, profile.forest
    if len(segments.order) < 2:
        none, zero = np.zeros(len(profile.call_paths), dtype=np.bool_), np.zeros(1, dtype=np.int64)
        return KeptOnce(profile, none, none, zero, zero + segments.total + 1, zero, zero + 1)
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
    cut = _cut_with(profile, crossing)
    return KeptOnce(once, crossing | cut, cut, start, end, occurs, segments.count)


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


def _cut_with(profile: Profile, crossing: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The static paths of these, and what is cut where they are."""
    static = static_paths(profile)
    cut = (static.latency > 0) & crossing
    for path, caller in enumerate(static.above.tolist()):
        cut[path] |= caller >= 0 and cut[caller]
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


@dataclass(frozen=True, slots=True)
class Static:
    """The paths whose activations have a fixed length.

    Attributes:
        latency: for each path the cycles of one activation, 0 if they are not fixed.
        above: for each path the nearest static one that calls it, -1 for none: it is cut there.
    """

    latency: Ints
    above: Ints


def static_paths(profile: Profile) -> Static:
    """The paths of fixed latency.

    A block is only as static as what it contains: one around a loop that was not promoted has
    no fixed length, whatever was promoted in its other part.
    """
    return profile.once(_static_paths)


def _static_paths(profile: Profile) -> Static:
    frames = [profile.catalog[f] for f in profile.call_paths.frame.tolist()]
    latency = [frame.latency or 0 for frame in frames]
    parents = profile.call_paths.parent.tolist()
    for path, parent in enumerate(parents):
        timed = frames[path].kind in (Kind.CONTROL, Kind.GROUP)
        if parent >= 0 and timed and frames[path].latency is None:
            latency[parent] = 0
    above: list[int] = []
    for parent in parents:
        inherited = above[parent] if parent >= 0 else -1
        above.append(parent if parent >= 0 and latency[parent] else inherited)
    return Static(*(np.array(column, dtype=np.int64) for column in (latency, above)))


def _with_callers(profile: Profile, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The wanted paths, and all above them."""
    found = wanted.copy()
    parents = profile.call_paths.parent.tolist()
    for path in range(len(parents) - 1, -1, -1):
        if found[path] and parents[path] >= 0:
            found[parents[path]] = True
    return found


def with_static_callers(profile: Profile, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The wanted paths, and the static ones above them, at which they have to be cut."""
    found, above = wanted.copy(), static_paths(profile).above
    callers = above[wanted]
    while len(callers := callers[callers >= 0]):
        found[callers] = True
        callers = above[callers]
    return found


def _transitions(profile: Profile, wanted: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """The runs in which wanted paths become active and cease: sorted path · (runs + 1) + run."""
    started, ended, which = profile.transitions
    return _spread(started, wanted, which), _spread(ended, wanted, which)


def _spread(lists: Trees, wanted: NDArray[np.bool_], which: Ints, chunk: int = 1 << 16) -> Ints:
    """Sorted path · n + i for each of the n positions i and each wanted path of `lists[which[i]]`.

    One integer has both, since numpy sorts plain integers several times faster than it finds
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


def split(
    profile: Profile,
    whole: Spans,
    wanted: NDArray[np.bool_],
    window: tuple[int, int] | None = None,
) -> Spans:
    """Cut intervals into single activations, and leave out paths that are not wanted.

    Args:
        profile: of which they are.
        whole: the intervals of the wanted paths and their static callers.
        wanted: the paths, shape (paths,).
        window: cycles `low` to `high`: only what begins or ends there need be right, and only the
            intervals need be given that do not end before nor begin behind.
    """
    static = static_paths(profile)
    if not static.latency.any():
        return whole
    needed = np.flatnonzero(with_static_callers(profile, wanted))
    bounds = np.searchsorted(whole.path, np.stack((needed, needed + 1))).T.tolist()
    starts: list[Ints] = [np.empty(0, dtype=np.int64)]
    ends: list[Ints] = [np.empty(0, dtype=np.int64)]
    counts: list[int] = []
    cut_at: dict[int, Ints] = {}
    for path, (first, last) in zip(needed.tolist(), bounds, strict=True):
        start, end = whole.start[first:last], whole.end[first:last]
        # What a path calls is cut where the path itself was, and nowhere else.
        caller = int(static.above[path])
        if caller >= 0:
            start, end = _cut(start, end, cut_at[caller])
        latency = int(static.latency[path])
        if latency:
            start, end = _chop(start, end, latency, window)
            cut_at[path] = start
        if wanted[path]:
            starts.append(start)
            ends.append(end)
            counts.append(len(start))
    path_of = np.repeat(needed[wanted[needed]], counts)
    return Spans(path_of, np.concatenate(starts), np.concatenate(ends))


def _chop(
    start: Ints, end: Ints, latency: int, window: tuple[int, int] | None
) -> tuple[Ints, Ints]:
    """Cut intervals whose length is a multiple of `latency` into pieces of that length.

    Of those in a window also the piece before it and the one behind: by where these end and begin,
    activations inside are cut.
    """
    length = end - start
    whole = length % latency == 0
    step = np.where(whole, latency, length)
    first, last = np.zeros_like(start), np.where(whole, length // latency, 1)
    if window is not None:
        first = np.clip((window[0] - start) // step - 1, 0, last)
        last = np.clip((window[1] - start) // step + 2, np.minimum(first + 1, last), last)
    count = last - first
    step = np.repeat(step, count)
    nth = np.arange(len(step)) - np.repeat(np.cumsum(count) - count - first, count)
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
