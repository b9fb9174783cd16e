"""Events over a long sequence, read part by part.

A sequence that is kept as segments repeats what happens in them. So events are kept once for each
segment, and for each pair of segments that follow each other; read, they come part by part, in
the order of time, and no more of them than a part are in memory at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclescope.model._profile import Ints
    from cyclescope.model._segments import Segments

__all__ = [
    "PART",
    "STREAM",
    "Columns",
    "Events",
    "Repeated",
    "Taken",
    "at_changes",
    "first_step",
    "in_windows",
    "lasting",
    "next_step",
    "values",
]

PART = 1 << 17
"""Events of a part at most."""

STREAM = 1 << 13
"""The same of one of many streams that are read side by side."""

_TABLE = 1 << 20  # pairs of segments up to which a table is better than searching

Columns = tuple["Ints", ...]
"""A part: columns of equal length, the first of which is the time, ascending."""


@dataclass(frozen=True, slots=True)
class Events:
    """Events of some things, one thing's behind another's (compressed sparse rows).

    Attributes:
        offset: where each thing's begin, and the end, shape (things + 1,).
        time: in cycles, ascending for each thing, shape (events,).
        what: a number, shape (events,).
    """

    offset: Ints
    time: Ints
    what: Ints


class Repeated:
    """Events of a sequence, kept once for what is distinct.

    Args:
        segments: the sequence.
        inside: events of each segment; their times count from its first cycle.
        between: of each of `segments.pairs`; their times count from the first cycle of the second
            segment of the pair, and lie behind those inside the first, before those inside this.
    """

    def __init__(self, segments: Segments, inside: Events, between: Events) -> None:
        self._segments = segments
        self._pairs = len(between.offset) - 1
        # One list for each pair, one without events for what is before the first segment, and one
        # for each segment.
        self._offset = np.concatenate((between.offset, between.offset[-1] + inside.offset))
        self._time = np.concatenate((between.time, inside.time))
        self._what = np.concatenate((between.what, inside.what))
        ahead, behind, _ = segments.pairs
        self._many = len(segments.offset) - 1
        self._keys = ahead * self._many + behind
        self._table: Ints | None = None
        if self._many**2 <= _TABLE:
            self._table = np.zeros(self._many**2, dtype=np.int64)
            self._table[self._keys] = np.arange(self._pairs)

    def parts(self, start: int, end: int, most: int = 0) -> Iterator[tuple[Ints, Ints]]:
        """(time, what) of the events from cycle `start` to before `end`, in parts.

        Args:
            start: the first cycle.
            end: the cycle after the last.
            most: events of a part at most, `PART` if 0; parts may be empty.
        """
        most = most or PART
        segments, at = self._segments, 0
        if not len(self._time):
            return
        sizes, lengths = np.diff(self._offset), segments.length
        step = max(most >> 3, 1)
        before = -1
        for first in range(0, len(segments.order), step):
            order = segments.order[first : first + step].astype(np.int64)
            length = lengths[order]
            until = at + np.cumsum(length)
            begin = until - length
            ahead = np.append(before, order[:-1])
            at, before = int(until[-1]), int(order[-1])
            if at <= start:
                continue
            lists = np.stack((self._number(ahead, order), self._pairs + 1 + order), axis=1)
            lists = lists.reshape(-1)
            some = np.flatnonzero(sizes[lists])
            yield from self._gathered(lists[some], begin[some >> 1], start, end, most)
            if at > end:
                return

    def _number(self, ahead: Ints, behind: Ints) -> Ints:
        """The number of each pair; the number behind the last of one that is none."""
        key = ahead * self._many + behind
        if self._table is None:
            found: Ints = np.searchsorted(self._keys, key)
        else:
            found = self._table[key]
        if ahead[0] < 0:
            found[0] = self._pairs
        return found

    def _gathered(
        self, lists: Ints, begin: Ints, start: int, end: int, most: int
    ) -> Iterator[tuple[Ints, Ints]]:
        """The events of some lists, each with the cycle from which its times count."""
        offset = self._offset[lists]
        until = np.cumsum(self._offset[lists + 1] - offset)
        for low in range(0, int(until[-1]) if len(until) else 0, most):
            high = min(low + most, int(until[-1]))
            first, last = np.searchsorted(until, (low, high - 1), side="right").tolist()
            own = slice(first, last + 1)
            bounds = np.concatenate(([low], until[first:last], [high]))
            size = np.diff(bounds)
            # Of the first list a beginning may be in the part before.
            skipped = low - (int(until[first - 1]) if first else 0)
            rows = np.arange(low, high)
            shift = offset[own] - bounds[:-1]
            shift[0] += skipped
            rows += np.repeat(shift, size)
            time = self._time[rows]
            time += np.repeat(begin[own], size)
            what = self._what[rows]
            if time[0] < start or time[-1] >= end:
                inside = slice(*np.searchsorted(time, (start, end)).tolist())
                time, what = time[inside], what[inside]
            yield time, what


def at_changes(segments: Segments, offset: Ints, what: Ints, shift: int = 0) -> Repeated:
    """Events at changes of state.

    Args:
        segments: the sequence.
        offset: for each of `segments.changes` where in `what` its events begin, and the end.
        what: a number for each event.
        shift: how many cycles after the change: -1 for the last cycle before it.
    """
    _, rows, pairs = segments.numbered_changes
    begins = np.ones(len(segments.state), dtype=np.bool_)
    begins[segments.offset[:-1]] = False
    time = segments.within[begins] + shift
    until = np.concatenate(([0], np.cumsum(begins)))[segments.offset]
    inside = _listed(offset, what, rows, time, until)
    zero = np.full(len(pairs), shift, dtype=np.int64)
    return Repeated(segments, inside, _listed(offset, what, pairs, zero, np.arange(len(pairs) + 1)))


def _listed(offset: Ints, what: Ints, which: Ints, time: Ints, until: Ints) -> Events:
    """The entries of some lists at some times; `until` divides these among things."""
    size = np.diff(offset)[which]
    ends = np.concatenate(([0], np.cumsum(size)))
    rows = np.arange(int(ends[-1])) + np.repeat(offset[which] - ends[:-1], size)
    return Events(ends[until], np.repeat(time, size), what[rows])


def values(
    segments: Segments, of_state: Ints, start: int, end: int, most: int = 0
) -> Iterator[tuple[Ints, Ints]]:
    """(cycle, value) from which on each value is current, adjacent ones differing, in parts.

    Args:
        segments: states over time.
        of_state: the value of each state.
        start: the first cycle, with which the first value begins.
        end: the cycle after the last.
        most: values of a part at most, as `Repeated.parts` takes it.
    """
    if start >= end:
        return
    yield np.array([start]), of_state[[segments.state_at(start)]]
    changes = segments.changes
    after = of_state[changes.after]
    differs = of_state[changes.before] != after
    offset = np.concatenate(([0], np.cumsum(differs)))
    yield from at_changes(segments, offset, after[differs]).parts(start + 1, end, most)


def lasting(parts: Iterator[tuple[Ints, Ints]], end: int) -> Iterator[tuple[Ints, Ints, Ints]]:
    """(start, end, value) of values of which each holds until the next, the last until `end`."""
    held = next(parts, None)
    if held is None:
        return
    begin, value = held
    for times, following in parts:
        begin, value = np.append(begin, times), np.append(value, following)
        yield begin[:-1], begin[1:], value[:-1]
        begin, value = begin[-1:], value[-1:]
    yield begin, np.append(begin[1:], end), value


class Taken:
    """A stream of parts, of which so much is taken as is before a time."""

    def __init__(self, parts: Iterator[Columns]) -> None:
        self._parts = parts
        self._held: list[Columns] = []
        self._last = -1  # the last time held
        self.done = False

    def more(self) -> list[Columns]:
        """The columns that are read and not yet taken, or else the next part."""
        if not self._held:
            self._read()
        found, self._held = self._held, []
        return found

    def before(self, time: int) -> list[Columns]:
        """The columns before a time that are not yet taken."""
        while not self.done and self._last < time:
            self._read()
        found, self._held = self._held, []
        if found and self._last >= time:
            for number, part in enumerate(found):
                if int(part[0][-1]) >= time:
                    at = int(np.searchsorted(part[0], time))
                    self._held = [tuple(c[at:] for c in part), *found[number + 1 :]]
                    found = [*found[:number], tuple(c[:at] for c in part)]
                    break
        return [part for part in found if len(part[0])]

    def _read(self) -> None:
        part = next(self._parts, None)
        if part is None:
            self.done = True
        elif len(part[0]):
            self._held.append(part)
            self._last = int(part[0][-1])


def in_windows(
    streams: Sequence[Iterator[Columns]], start: int, end: int
) -> Iterator[tuple[int, int, list[list[Columns]]]]:
    """Several streams side by side: what each has in one window of time after another.

    Windows are as long as there is something to do for a part.

    Yields:
        The window's first cycle, the one behind its last, and of each stream its parts in it.
    """
    taken = [Taken(stream) for stream in streams]
    step = first_step()
    while start < end:
        until = min(start + step, end)
        found = [stream.before(until) for stream in taken]
        yield start, until, found
        step = next_step(step, sum(len(part[0]) for parts in found for part in parts))
        start = until


def first_step() -> int:
    """Cycles of the first window, when nothing is known of how much there is to do."""
    return max(PART >> 5, 1)


def next_step(step: int, count: int) -> int:
    """Cycles of the next window, if there was so much in the last one."""
    if count > PART and step > 1:
        return step >> 1
    return step << 1 if count < PART >> 2 else step
