"""A profile as a Paraver trace (.prv): states and events of each row, in order of time.

Paraver's own reader takes 8 integers a line, for a state as for an event (`_prv`). It believes
without checking that lines are sorted by time and that a thread's states neither overlap nor leave
gaps. Cycles are not among its units: a cycle is a nanosecond, or as long as it really is.
"""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from cyclescope import _prv
from cyclescope._native import format_rows
from cyclescope.errors import InputError
from cyclescope.model import STREAM, in_windows, lasting, values
from cyclescope.views._paraver_plan import ACTIVITY, plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.model import Columns, Ints, Profile, Series
    from cyclescope.views._paraver_plan import Plan

    _Parts = Iterator[Columns]

__all__ = ["write_paraver"]

_KINDS = (_prv.STATE, _prv.EVENT)  # a row has two prefixes: of its states, of its events
_STATE, _EVENT = range(2)


def write_paraver(
    profile: Profile,
    stream: BinaryIO,
    *,
    period_ps: int | None = None,
    compress: bool = False,
) -> int:
    """Write a profile's .prv; `paraver_companions` has the files that go with it.

    Args:
        profile: what to show.
        stream: where to write; nothing is read back.
        period_ps: a cycle in picoseconds, at least 1000; times are then real, rounded down to
            nanoseconds. None: one cycle is one nanosecond.
        compress: write gzip, which Paraver opens too.

    Returns:
        How many records were written.

    Raises:
        InputError: the run has no cycles, the period is below a nanosecond, or times exceed 63
            bits.
    """
    if period_ps is not None and period_ps < 1000:
        raise InputError(
            f"clock period {period_ps} ps: a Paraver trace counts whole nanoseconds; leave the "
            "period out, then a cycle is a nanosecond"
        )
    if profile.cycles == 0:
        raise InputError("the run has no cycles, and Paraver cannot open an empty trace")
    end = profile.cycles * (period_ps or 1000) // 1000
    if profile.cycles * (period_ps or 1000) >= 1 << 63:
        raise InputError(f"times up to {end:,} ns with picoseconds exceed 63 bits; pass no period")
    target = gzip.GzipFile("", "wb", 1, stream, mtime=0) if compress else stream
    shown = plan(profile)
    threads = [count for count in (len(shown.rows), len(shown.tracks)) if count]
    target.write((_prv.header(end, threads) + _prv.own_comment(period_ps)).encode())
    records = _Records(profile, shown, period_ps)
    records.write(target)  # type: ignore[arg-type] # a gzip file is a stream
    if compress:
        target.close()
    return records.count


class _Records:
    """All records of a trace: of each row its states and events, all side by side by time."""

    def __init__(self, profile: Profile, shown: Plan, period_ps: int | None) -> None:
        self._profile, self._plan, self._period = profile, shown, period_ps
        self.count = 0

    def write(self, stream: BinaryIO) -> None:
        """Write everything in order of time, part by part; of one time in order of rows."""
        prefixes = self._prefixes()
        rows = [*self._states(), *self._activity(), *self._counters()]
        # The last cycle leads to what is in the one behind it.
        windows = in_windows([parts for _, parts in rows], 0, self._profile.cycles + 1)
        for _, _, found in windows:
            parts = [part for several in found for part in several]
            if not parts:
                continue
            keys = [key for (key, _), several in zip(rows, found, strict=True) for _ in several]
            who = np.repeat(np.array(keys, dtype=np.int64), [len(part[0]) for part in parts])
            columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
            order = np.argsort(columns[0], kind="stable")
            columns[0] = self._times(columns[0])
            fields = [np.ascontiguousarray(column[order], np.int64) for column in columns]
            pieces = ["", *[":"] * len(fields), "\n"]
            stream.write(
                format_rows(pieces, [(prefixes, who[order]), *((None, field) for field in fields)])
            )
            self.count += len(order)

    def _prefixes(self) -> list[str]:
        """The first fields of the lines of each row: its states, then its events."""
        rows, tracks = len(self._plan.rows), len(self._plan.tracks)
        places = [(1, row + 1) for row in range(rows)]
        places += [(2 if rows else 1, track + 1) for track in range(tracks)]
        return [
            _prv.prefix(kind, cpu, task, thread)
            for cpu, (task, thread) in enumerate(places, 1)
            for kind in _KINDS
        ]

    def _times(self, cycles: Ints) -> Ints:
        return cycles if self._period is None else cycles * self._period // 1000

    def _values(self, numbers: Ints) -> Iterator[tuple[Ints, Ints]]:
        """The changes of a row's number, which is given for each tree: (cycle, number)."""
        runs = self._profile.schedule
        return values(runs.segments, numbers[runs.tree_of], 0, self._profile.cycles, STREAM)

    def _states(self) -> Iterator[tuple[int, _Parts]]:
        """(time in cycles, end, number) of each row's states."""
        for row in range(len(self._plan.rows)):
            yield 2 * row + _STATE, self._lasting(self._values(self._plan.state[:, row]))
        for track in range(len(self._plan.tracks)):
            # Paraver takes a row without states for idle; so does everybody else, if it is said.
            row = len(self._plan.rows) + track
            zero = np.zeros(1, dtype=np.int64)
            yield 2 * row + _STATE, self._lasting(iter([(zero, zero)]))

    def _lasting(self, parts: Iterator[tuple[Ints, Ints]]) -> _Parts:
        found = lasting(parts, self._profile.cycles)
        return ((begin, self._times(end), number) for begin, end, number in found)

    def _activity(self) -> Iterator[tuple[int, _Parts]]:
        for row in range(len(self._plan.rows)):
            numbers = self._plan.activity[:, row]
            if numbers.any():
                yield 2 * row + _EVENT, _of_kind(ACTIVITY, self._values(numbers))

    def _counters(self) -> Iterator[tuple[int, _Parts]]:
        for row, kind, series in self._plan.events:
            parts: Iterator[tuple[Ints, Ints]]
            if series.bank is not None and not kind.summed:
                parts = series.bank.over_time(series.column, STREAM)
            else:
                found = (_totals if kind.summed else _levels)(series, self._profile.cycles)
                parts = iter([found])
            yield 2 * row + _EVENT, _of_kind(kind.number, parts)


def _of_kind(kind: int, parts: Iterator[tuple[Ints, Ints]]) -> _Parts:
    """Events of a kind: (time in cycles, kind, value)."""
    return ((time, np.full(len(time), kind, dtype=np.int64), value) for time, value in parts)


def _levels(series: Series, cycles: int) -> tuple[Ints, Ints]:
    """An event where a value begins, and one with 0 where nothing follows it."""
    start, end, value = series.intervals
    ceases = end[np.append(start[1:] != end[:-1], True)[: len(series)]]
    ceases = ceases[ceases < cycles]
    time = np.concatenate((start, ceases))
    order = np.argsort(time, kind="stable")
    return time[order], np.concatenate((value, np.zeros(len(ceases), dtype=np.int64)))[order]


def _totals(series: Series, cycles: int) -> tuple[Ints, Ints]:
    """An event where an interval ends, and one with 0 where it begins after a gap."""
    start, end, value = series.intervals
    begins = start[start != np.concatenate((np.zeros(1, dtype=np.int64), end[:-1]))[: len(start)]]
    time = np.concatenate((np.minimum(end, cycles), begins))
    order = np.argsort(time, kind="stable")
    return time[order], np.concatenate((value, np.zeros(len(begins), dtype=np.int64)))[order]
