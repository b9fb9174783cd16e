"""A long sequence of runs in which what repeats is kept once.

A loop goes through the same runs in each iteration, and most programs are loops. So a sequence is
kept as its distinct *segments* and the order in which they follow each other: a hundred million
cycles of a scheduler are a few dozen segments of some fifty runs. What needs sums reads each
segment once, with how often it occurs; what needs the sequence itself has it run by run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope._native import Segmenter, segment_anchors
from cyclescope.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from cyclescope.model._profile import Ints

__all__ = [
    "MOST_ROWS",
    "SAMPLE",
    "Changes",
    "Segments",
    "check_rows",
    "combined",
    "find_anchors",
    "held",
    "sampled",
    "segmented",
    "smallest",
]

MOST_ROWS = 1 << 28
"""Runs that are looked at one by one at most, all at once: beyond, they would not fit in memory."""

SAMPLE = 1 << 14
"""Runs of a sample in which anchors are looked for."""

_SAMPLES = 8


def check_rows(count: int, most: int | None = None) -> None:
    """Raise `InputError` if these are too many changes to look at all at once."""
    if count > (MOST_ROWS if most is None else most):
        raise InputError(
            f"{count:,} changes are too many to look at one by one; choose a window of cycles "
            "(--from, --to)"
        )


class Changes(NamedTuple):
    """The distinct changes between neighbouring runs.

    Attributes:
        before, after: the states, shape (changes,).
        times: how often each happens, shape (changes,).
    """

    before: Ints
    after: Ints
    times: Ints


@dataclass(frozen=True, eq=False)
class Segments:
    """Runs of states, each at least a cycle long; neighbours have different states.

    Attributes:
        order: the segments, one after another, shape (occurrences,).
        offset: where each segment's runs begin, and the end, shape (segments + 1,).
        cycles, state: of each run of the distinct segments, shape (rows,). These and the order may
            be of any integers that sum and multiply to 64-bit ones: not unsigned ones of 64 bits.
    """

    order: NDArray[np.integer]
    offset: Ints
    cycles: NDArray[np.integer]
    state: NDArray[np.integer]

    @classmethod
    def plain(cls, cycles: Ints, state: Ints) -> Segments:
        """All runs as one segment."""
        order = np.zeros(1 if len(cycles) else 0, dtype=np.int64)
        return cls(order, np.array([0, len(cycles)][: 1 + len(order)]), cycles, state)

    def __len__(self) -> int:
        """Runs in the whole sequence."""
        return int((self.count * np.diff(self.offset)).sum())

    def __eq__(self, other: object) -> bool:
        """The same runs, however they are cut."""
        if not isinstance(other, Segments):
            return NotImplemented
        if self is other:
            return True
        if len(self) != len(other) or self.total != other.total:
            return False
        ours, theirs = (
            np.array_equal(a, b) for a, b in zip(self.runs(), other.runs(), strict=True)
        )
        return ours and theirs

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def count(self) -> Ints:
        """The number of occurrences of each segment (shape: segments)."""
        found: Ints = np.bincount(self.order, minlength=len(self.offset) - 1)
        return found

    @cached_property
    def length(self) -> Ints:
        """Cycles of each segment (shape: segments)."""
        until = np.concatenate(([0], np.cumsum(self.cycles, dtype=np.int64)))
        return np.diff(until[self.offset])

    @cached_property
    def total(self) -> int:
        """Cycles of the whole sequence."""
        return int((self.count * self.length).sum())

    @cached_property
    def times(self) -> Ints:
        """The number of occurrences of each kept run (shape: rows)."""
        return np.repeat(self.count, np.diff(self.offset))

    @property
    def last(self) -> int:
        """The state with which a sequence ends that is not empty."""
        return int(self.state[int(self.offset[int(self.order[-1]) + 1]) - 1])

    def starts(self) -> Ints:
        """The first cycle of each occurrence (shape: occurrences)."""
        length = self.length[self.order]
        found: Ints = np.cumsum(length) - length
        return found

    @cached_property
    def first_occurrences(self) -> Ints:
        """The first place of each segment in the order (shape: segments)."""
        found = np.full(len(self.offset) - 1, len(self.order), dtype=np.int64)
        found[self.order[::-1]] = np.arange(len(self.order) - 1, -1, -1)
        return found

    def weights(self, states: int) -> Ints:
        """Cycles of each state (shape: states)."""
        result = np.zeros(states, dtype=np.int64)
        np.add.at(result, self.state, self.cycles * self.times)
        return result

    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Ints]:
        """The distinct neighbours in the order: which segment, which follows, how often."""
        if len(self.order) < 2:
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, nothing
        many = len(self.offset) - 1
        keys, times = np.unique(
            self.order[:-1].astype(np.int64) * many + self.order[1:], return_counts=True
        )
        return *np.divmod(keys, many), times

    @cached_property
    def within(self) -> Ints:
        """The first cycle of each kept run, counted from its segment's (shape: rows)."""
        begin = np.cumsum(self.cycles, dtype=np.int64) - self.cycles
        begin -= np.repeat(begin[self.offset[:-1]], np.diff(self.offset))
        return begin

    @cached_property
    def numbered_changes(self) -> tuple[Changes, Ints, Ints]:
        """The changes from one state to another, inside of segments and from one to the next.

        Returns:
            The distinct changes, and which of them is before each kept run that begins no segment,
            and between each of `pairs`.
        """
        state = self.state.astype(np.int64)
        first, last = state[self.offset[:-1]], state[self.offset[1:] - 1]
        inner = np.ones(max(len(state) - 1, 0), dtype=np.bool_)
        inner[self.offset[1:-1] - 1] = False
        ahead, behind, times = self.pairs
        before = np.concatenate((state[:-1][inner], last[ahead]))
        after = np.concatenate((state[1:][inner], first[behind]))
        weight = np.concatenate((self.times[:-1][inner], times))
        width = int(state.max(initial=0)) + 1
        keys, which = np.unique(before * width + after, return_inverse=True)
        which = which.reshape(-1)
        sums = np.zeros(len(keys), dtype=np.int64)
        np.add.at(sums, which, weight)
        inside = len(which) - len(times)
        return Changes(*np.divmod(keys, width), sums), which[:inside], which[inside:]

    @property
    def changes(self) -> Changes:
        """The distinct changes of state."""
        return self.numbered_changes[0]

    def state_at(self, cycle: int) -> int:
        """The state in a cycle."""
        if cycle == self.total - 1:
            return self.last
        starts = self.starts()
        number = int(np.searchsorted(starts, cycle, side="right")) - 1
        segment = int(self.order[number])
        rows = slice(int(self.offset[segment]), int(self.offset[segment + 1]))
        inside = cycle - int(starts[number])
        row = int(np.searchsorted(self.within[rows], inside, side="right")) - 1
        return int(self.state[rows][row])

    def first_cycles(self, states: int) -> Ints:
        """The first cycle of each state (shape: states); of one that does not occur the total."""
        start = np.append(self.starts(), self.total)[self.first_occurrences]
        first = np.full(states, self.total, dtype=np.int64)
        np.minimum.at(first, self.state, np.repeat(start, np.diff(self.offset)) + self.within)
        return first

    def runs(self, of_state: Ints | None = None) -> tuple[Ints, Ints]:
        """(cycles, state) of every run.

        Args:
            of_state: another number for each state; neighbours that are equal then are one run.

        Raises:
            InputError: there are more than fit in memory.
        """
        if of_state is None:
            check_rows(len(self))
            size = np.diff(self.offset)[self.order]
            rows = np.arange(int(size.sum()))
            rows += np.repeat(self.offset[self.order] - (np.cumsum(size) - size), size)
            return self.cycles[rows].astype(np.int64), self.state[rows].astype(np.int64)
        state = of_state[self.state]
        first = np.ones(len(state), dtype=np.bool_)
        first[1:] = state[1:] != state[:-1]
        first[self.offset[:-1]] = True
        begin = np.flatnonzero(first)
        if not len(begin):
            return self.runs()
        cycles = np.add.reduceat(self.cycles, begin, dtype=np.int64)
        offset = np.searchsorted(begin, self.offset)
        cycles, state = Segments(self.order, offset, cycles, state[begin]).runs()
        # Segments that meet may show the same.
        begin = np.flatnonzero(np.concatenate(([True], state[1:] != state[:-1])))
        return np.add.reduceat(cycles, begin), state[begin]

    def between(self, start: int, end: int) -> Segments:
        """The runs of cycles `start` up to before `end`, those at the edges cut."""
        if start >= end or not len(self.order):
            return Segments.plain(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        starts = self.starts()
        first = int(np.searchsorted(starts, start, side="right")) - 1
        last = int(np.searchsorted(starts, end, side="left")) - 1
        if first == last:
            at = int(starts[first])
            return self._cut([(int(self.order[first]), start - at, end - at)], self.order[:0])
        edges = [
            (int(self.order[first]), start - int(starts[first]), -1),
            (int(self.order[last]), 0, end - int(starts[last])),
        ]
        return self._cut(edges, self.order[first + 1 : last])

    def turned(self, depth: Ints) -> Segments:
        """The same runs, segments that repeat cut where least is going on.

        Where a loop's iteration begins, little is active but what is active all the time; a
        segment that begins there has whole activations.

        Args:
            depth: of each state how much is active in it, shape (states,).
        """
        many = len(self.offset) - 1
        if len(self.order) < 2 * many:
            return self
        shallow = depth[self.state]
        owner = np.repeat(np.arange(many), np.diff(self.offset))
        least = np.full(many, np.iinfo(np.int64).max)
        np.minimum.at(least, owner, shallow)
        rows = np.flatnonzero(shallow == least[owner])[::-1]
        cut = np.zeros(many, dtype=np.int64)
        cut[owner[rows]] = rows
        if (cut == self.offset[:-1]).all():
            return self
        # From the cut of each segment to that of the one behind it; so the first one's beginning
        # and the last one's end are single.
        first, last = int(self.order[0]), int(self.order[-1])
        ahead, behind, _ = self.pairs
        packed = np.stack((self.cycles.astype(np.int64), self.state.astype(np.int64)), axis=1)
        parts = [
            packed[cut[a] : self.offset[a + 1]].tobytes()
            + packed[self.offset[b] : cut[b]].tobytes()
            for a, b in zip(ahead.tolist(), behind.tolist(), strict=True)
        ]
        parts.append(packed[self.offset[first] : cut[first]].tobytes())
        parts.append(packed[cut[last] : self.offset[last + 1]].tobytes())
        keys = ahead * many + behind
        found = np.searchsorted(keys, self.order[:-1].astype(np.int64) * many + self.order[1:])
        numbers: dict[bytes, int] = {}
        which = np.array([numbers.setdefault(part, len(numbers)) for part in parts])
        order = which[np.concatenate(([len(keys)], found, [len(keys) + 1]))]
        size = [len(part) // packed[:1].nbytes for part in numbers]
        columns = np.frombuffer(b"".join(numbers), dtype=np.int64).reshape(-1, 2)
        offset = np.concatenate(([0], np.cumsum(size)))
        # Nothing is before the first cut if that is where the sequence begins.
        there = np.array(size) > 0
        order = (np.cumsum(there) - 1)[order[there[order]]]
        offset = np.append(offset[:-1][there], offset[-1])
        return Segments(smallest(order), offset, smallest(columns[:, 0]), smallest(columns[:, 1]))

    def _cut(self, edges: Sequence[tuple[int, int, int]], whole: NDArray[np.integer]) -> Segments:
        """Parts of the segments at the edges, and whole ones between the first and the last."""
        kept = np.unique(whole)
        rows = [slice(int(self.offset[n]), int(self.offset[n + 1])) for n in kept.tolist()]
        parts = [(self.cycles[r].astype(np.int64), self.state[r]) for r in rows]
        for number, start, end in edges:
            r = slice(int(self.offset[number]), int(self.offset[number + 1]))
            cycles = self.cycles[r].astype(np.int64)
            until = np.cumsum(cycles)
            last = int(until[-1]) if end < 0 else end
            cut = np.minimum(until, last) - np.maximum(until - cycles, start)
            parts.append((cut[cut > 0], self.state[r][cut > 0]))
        offset = np.concatenate(([0], np.cumsum([len(c) for c, _ in parts])))
        order = np.searchsorted(kept, whole)
        order = np.concatenate((order, [len(kept)]))
        if len(edges) == 2:
            order = np.concatenate(([len(kept)], order[:-1], [len(kept) + 1]))
        cycles, state = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        return Segments(order, offset, cycles, state)


def find_anchors(samples: Iterable[tuple[Ints, Ints]]) -> list[int]:
    """The states at whose runs a sequence is best cut, from parts of it (cycles, state)."""
    return segment_anchors([(state, cycles) for cycles, state in samples])


def segmented(
    blocks: Iterable[tuple[Ints, Ints]], anchors: Sequence[int] | None = None
) -> Segments:
    """A sequence in which repeated segments are kept once.

    Args:
        blocks: (cycles, state) of its runs, 64-bit, one block after another. Neighbours of one
            state are one run.
        anchors: states at whose runs a segment begins; looked for if not given, which takes all
            blocks at once.
    """
    if anchors is None:
        parts = list(blocks)
        cycles, state = (
            np.concatenate([np.empty(0, dtype=np.int64), *(part[i] for part in parts)])
            for i in (0, 1)
        )
        anchors = find_anchors(
            (cycles[first : first + SAMPLE], state[first : first + SAMPLE])
            for first in sampled(len(cycles), SAMPLE)
        )
        blocks = [(cycles, state)]
    segmenter = Segmenter(anchors)
    for cycles, state in blocks:
        segmenter.add(np.ascontiguousarray(state), np.ascontiguousarray(cycles))
    order, offset, length, shown = (
        np.frombuffer(data, "<i8" if width == 8 else f"<u{width}")
        for width, data in segmenter.finish()
    )
    return Segments(order, offset.astype(np.int64), length, shown)


def sampled(count: int, size: int) -> list[int]:
    """The begins of samples of a size, spread over so many things."""
    pieces = min(-(-count // size), _SAMPLES)
    return [n * (count - size) // max(pieces - 1, 1) if n else 0 for n in range(pieces)]


def held(start: Ints, state: Ints, at: Ints) -> Ints:
    """The states at some cycles, where each state lasts until the next; -1 before the first."""
    return np.append(state, -1)[np.searchsorted(start, at, side="right") - 1]


def combined(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """The distinct rows of some columns (shape: distinct, columns), and which is where."""
    number = np.zeros(len(columns[0]), dtype=np.int64)
    first = number[:1]
    for column in columns:
        low = int(column.min(initial=0))
        number = number * (int(column.max(initial=0)) - low + 1) + (column - low)
        _, first, number = np.unique(number, return_index=True, return_inverse=True)
        number = number.reshape(-1)
    return np.stack([column[first] for column in columns], axis=1), number


def smallest(column: Ints) -> NDArray[np.integer]:
    """The same numbers in as few bytes as hold them all."""
    least = np.min_scalar_type(int(column.max(initial=0)))
    # Of 64 bits there are only signed ones: others do not multiply with these.
    return column if column.min(initial=0) < 0 or least.itemsize == 8 else column.astype(least)
