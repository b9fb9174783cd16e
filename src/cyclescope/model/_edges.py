"""Edges: when activations begin and end, read part by part, in memory for what is distinct."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model._profile import without
from cyclescope.model._repeated import (
    STREAM,
    Events,
    Repeated,
    Taken,
    first_step,
    next_step,
    values,
)
from cyclescope.model._spans import (
    Spans,
    spans,
    split,
    with_static_callers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.model._profile import Ints, Profile, Trees

__all__ = ["Edges"]


class Edges:
    """Beginnings and ends of the activations of some paths.

    What begins and ends inside a segment is worked out once a segment; what begins or ends where
    segments meet, once a pair of them. But where a static activation is cut follows from its length
    only, so those that go on from segment to segment are followed.

    Args:
        profile: in which to look.
        paths: which of its paths.
        start: the first cycle of a window, to which they are clipped.
        end: the cycle after its last.
    """

    def __init__(self, profile: Profile, paths: Ints, start: int, end: int) -> None:
        self._profile, self._start, self._end = profile, start, end
        runs = profile.schedule
        self._first, self._last = (
            profile.forest[int(runs.tree_of[runs.segments.state_at(cycle)])]
            if start < end
            else profile.forest.path[:0]
            for cycle in (start, end - 1)
        )
        self._kept = kept = profile.kept_once
        wanted = np.zeros(len(profile.call_paths), dtype=np.bool_)
        wanted[paths] = True
        self._spans = spans(kept.profile, paths=np.flatnonzero(wanted & ~kept.cut))

    def of(self, paths: Ints) -> Iterator[tuple[Ints, Ints]]:
        """The edges of paths that nest or alternate.

        Args:
            paths: which of those given before.

        Yields:
            Parts (time, which): ascending times, and for a beginning the path's place among
            `paths`, for the end of the innermost activation -1. Of equal times, ends come first,
            then beginnings by place.
        """
        start, end = self._start, self._end
        place = np.full(len(self._profile.call_paths), -1, dtype=np.int64)
        place[paths] = np.arange(len(paths))
        begun = place[self._first]
        begun = np.sort(begun[begun >= 0])
        yield np.full(len(begun), start), begun
        followed = paths[self._kept.cut[paths]]
        parts = self._repeated(place).parts(start + 1, end)
        yield from self._merged(parts, place, followed) if len(followed) else parts
        ended = int((place[self._last] >= 0).sum())
        yield np.full(ended, end), np.full(ended, -1)

    def _repeated(self, place: Ints) -> Repeated:
        """The edges that lie in segments, and where these meet."""
        kept, found = self._kept, self._spans
        mine = place[found.path] >= 0
        start, end, which = found.start[mine], found.end[mine], place[found.path[mine]]
        bits = len(place).bit_length()
        inner = ~np.isin(start, kept.start), ~np.isin(end, kept.end - 1)
        key = np.sort(
            np.concatenate(((start[inner[0]] << bits) + which[inner[0]] + 1, end[inner[1]] << bits))
        )
        time = key >> bits
        offset = np.searchsorted(time, np.append(kept.start, kept.end[-1:]))
        segment = np.repeat(np.arange(len(kept.start)), np.diff(offset))
        inside = Events(offset, time - kept.start[segment], (key & (1 << bits) - 1) - 1)
        return Repeated(self._profile.schedule.segments, inside, self._between(place))

    def _between(self, place: Ints) -> Events:
        """The ends and begins at each change from one segment to the next."""
        ended, begun = self._profile.once(_met)
        free = (place >= 0) & ~self._kept.cut
        owner, which = [], []
        for paths, ends in ((ended, True), (begun, False)):
            mine = free[paths.path]
            owner.append(np.repeat(np.arange(len(paths)), np.diff(paths.offset))[mine])
            which.append(np.full(int(mine.sum()), -1) if ends else place[paths.path[mine]])
        pair, what = np.concatenate(owner), np.concatenate(which)
        order = np.lexsort((what, pair))
        offset = np.searchsorted(pair[order], np.arange(len(ended) + 1))
        return Events(offset, np.zeros(len(order), dtype=np.int64), what[order])

    def _merged(
        self,
        parts: Iterator[tuple[Ints, Ints]],
        place: Ints,
        followed: Ints,
    ) -> Iterator[tuple[Ints, Ints]]:
        """The edges in parts, and those of paths that have to be followed."""
        wanted = np.zeros(len(place), dtype=np.bool_)
        wanted[followed] = True
        needed = np.flatnonzero(with_static_callers(self._profile, wanted))
        intervals = [_Intervals(self._profile, path) for path in needed.tolist()]
        bits = len(place).bit_length()
        start, end = self._start, self._end
        taken, step, low = Taken(parts), first_step(), start
        while low < end:
            high = min(low + step, end)
            found = taken.before(high)
            columns = [one.touching(low, high) for one in intervals]
            path = np.repeat(needed, [len(begin) for begin, _ in columns])
            whole = Spans(path, *(np.concatenate(c) for c in zip(*columns, strict=True)))
            cut = split(self._profile, whole, wanted, (low, high))
            begins = (cut.start >= max(low, start + 1)) & (cut.start < high)
            ends = (cut.end >= max(low, start + 1)) & (cut.end < high)
            key = np.concatenate(
                [
                    (cut.start[begins] << bits) + place[cut.path[begins]] + 1,
                    cut.end[ends] << bits,
                    *((time << bits) + what + 1 for time, what in found),
                ]
            )
            key.sort()
            yield key >> bits, (key & (1 << bits) - 1) - 1
            step, low = next_step(step, len(key)), high


def _met(profile: Profile) -> tuple[Trees, Trees]:
    """For each pair of segments what ends and what begins between them."""
    runs, forest = profile.schedule, profile.forest
    segments = runs.segments
    tree = runs.tree_of[segments.state]
    ahead, behind, _ = segments.pairs
    last, first = tree[segments.offset[ahead + 1] - 1], tree[segments.offset[behind]]
    return without(forest, last, first), without(forest, first, last)


class _Intervals:
    """The maximal intervals in which one path is active, as far as they have been asked for."""

    def __init__(self, profile: Profile, path: int) -> None:
        runs, forest = profile.schedule, profile.forest
        owner = np.repeat(np.arange(len(forest)), np.diff(forest.offset))
        active = np.zeros(len(forest), dtype=np.int64)
        active[owner[forest.path == path]] = 1
        self._total = runs.segments.total
        self._changes = Taken(values(runs.segments, active[runs.tree_of], 0, self._total, STREAM))
        nothing = np.empty(0, dtype=np.int64)
        self._start, self._end = nothing, nothing
        self._open = -1  # the beginning of one whose end is not known

    def touching(self, low: int, high: int) -> tuple[Ints, Ints]:
        """(start, end) of those that neither end before `low` nor begin behind `high`."""
        self._extend(self._changes.before(high + 1))
        while 0 <= self._open <= high:
            self._extend(self._changes.more())
        keep = int(np.searchsorted(self._end, low))
        self._start, self._end = self._start[keep:], self._end[keep:]
        until = int(np.searchsorted(self._start, high, side="right"))
        return self._start[:until], self._end[:until]

    def _extend(self, parts: list[tuple[Ints, ...]]) -> None:
        for time, active in parts:
            # Values alternate; one of not being active may be the first of all.
            begin, end = time[active == 1], time[(active == 0) & (time > 0)]
            if self._open >= 0:
                begin = np.append(self._open, begin)
            self._open = int(begin[-1]) if len(begin) > len(end) else -1
            self._start = np.append(self._start, begin[: len(end)])
            self._end = np.append(self._end, end)
        if self._changes.done and self._open >= 0:
            self._start = np.append(self._start, self._open)
            self._end = np.append(self._end, self._total)
            self._open = -1
