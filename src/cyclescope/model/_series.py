"""Counters over time: intervals of their own, or columns of a bank that change together."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope.model._activity import Activity
from cyclescope.model._changes import changes
from cyclescope.model._repeated import lasting, values
from cyclescope.model._segments import Segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from cyclescope.model._profile import Ints

__all__ = ["SUMMED", "Bank", "Series"]

SUMMED = frozenset(
    {
        "bytes",
        "hardware counter",
        "local bytes",
        "message bytes",
        "messages",
        "operations",
        "outstanding",
        "requests",
        "row misses",
        "stall",
    }
)
"""Metrics whose values are totals of their interval, as those of all counters of waiting are.

Any other value is valid throughout its interval.
"""

_Intervals = tuple["Ints", "Ints", "Ints"]


class Bank:
    """Values that are known together, such as all control registers of a design.

    The combinations that occur are few, and most changes of one value are changes of others too,
    so a bank keeps one sequence of combinations instead of one of intervals for each value.

    Attributes:
        values: what each value is in each combination, shape (combinations, columns).
        segments: states over time, often those of the profile's runs.
        shown: the combination of each of these states, shape (states,).
        after: the combination that the last cycle led to, -1 if it is not known.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, cycles: Ints, state: Ints, values: NDArray[np.int64]) -> None:
        """Combination by combination, how long each held; the first begins in cycle 0."""
        self.values = values
        self.segments = Segments.plain(cycles, state)
        self.shown = np.arange(len(values))
        self.after = -1
        self._last: dict[int, _Intervals] = {}

    @classmethod
    def of(
        cls, segments: Segments, shown: Ints, values: NDArray[np.int64], after: int = -1
    ) -> Bank:
        """Combinations that states show."""
        bank = cls.__new__(cls)
        bank.values, bank.segments, bank.shown, bank.after = values, segments, shown, after
        bank._last = {}
        return bank

    def __eq__(self, other: object) -> bool:
        """Equal contents, however they are kept."""
        if not isinstance(other, Bank):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("cycles", "state", "values")
        )

    @cached_property
    def _all(self) -> tuple[Ints, Ints]:
        cycles, state = self.segments.runs(self.shown)
        if self.after < 0:
            return cycles, state
        if len(state) and state[-1] == self.after:
            cycles = cycles.copy()
            cycles[-1] += 1
            return cycles, state
        return np.append(cycles, 1), np.append(state, self.after)

    @property
    def cycles(self) -> Ints:
        """The duration of each combination in cycles, shape (runs,)."""
        return self._all[0]

    @property
    def state(self) -> Ints:
        """The number of each run's combination, shape (runs,)."""
        return self._all[1]

    @property
    def total(self) -> int:
        """Cycles, the one after the run included where it is known."""
        return self.segments.total + (self.after >= 0)

    def over_time(self, index: int, most: int = 0) -> Iterator[tuple[Ints, Ints]]:
        """(cycle, value) from which on a column has each value, in parts; adjacent ones differ.

        What the last cycle led to is the last of it. A part has at most so many as for `values`.
        """
        if not self.segments.total:
            return
        column = self.values[:, index]
        yield from values(self.segments, column[self.shown], 0, self.segments.total, most)
        last = int(self.shown[self.segments.last])
        if self.after >= 0 and column[last] != column[self.after]:
            yield np.array([self.segments.total]), column[[self.after]]

    def column(self, index: int) -> _Intervals:
        """The intervals (start, end, value) of one value, neighbours differing."""
        found = self._last.get(index)
        if found is None:
            # Readers go through the series one by one: one column is worth keeping, all are not.
            self._last.clear()
            found = self._last[index] = self._intervals(index)
        return found

    def _intervals(self, index: int) -> _Intervals:
        if not len(self.cycles):
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, nothing
        column = self.values[:, index]
        pairs, which = self.changes
        before, after = np.divmod(pairs, len(column))
        first = np.flatnonzero((column[before] != column[after])[which]) + 1
        start = np.concatenate(([0], self.ends[first - 1]))
        end = np.concatenate((start[1:], self.ends[-1:]))
        value = column[np.concatenate((self.state[:1], self.state[first]))]
        return start, end, value

    @cached_property
    def ends(self) -> Ints:
        """The cycle after each combination, shape (runs,)."""
        return np.cumsum(self.cycles)

    @cached_property
    def changes(self) -> tuple[Ints, Ints]:
        """The distinct changes between neighbouring runs, and which one each is.

        As `model._changes.changes` gives them: change i happens after run i.
        """
        return changes(self.state, len(self.values))


class Series:
    """A counter: integer values over half-open cycle intervals, in time order, not overlapping.

    Attributes:
        track: to whom it belongs, dotted from the root (`main.queue`, `thread 3`).
        name: what counts (`fsm0`, `bytes read`).
        metric: what sort of thing it is, for analyses: `fsm`, `par done`, `stall`, `bytes`,
            `operations`, `parallelism` …
        unit: of the values (`state`, `B`, `cycles`), empty for plain numbers.
        path: the call path to which the track belongs, -1 for none.
        start, end, value: shape (intervals,); cycle c is in an interval if start ≤ c < end. The
            last may reach one cycle past the run: what a step in the last cycle led to.
        labels: names of values, of a series whose values are no quantities; empty otherwise.
        activity: which activity of its track's cycles it tells apart (`analyse.account`), None if
            it only counts. Of `waiting`, on a track's path: so many of the interval's cycles of
            work were no work. Of `control`: in control a step of this register is the cause.
        cause: of that activity, a `Cause` or a source's own word.
        site: where: a number among the profile's sites, -1 for none.
    """

    __slots__ = (
        "_own", "activity", "bank", "cause", "column", "labels", "metric", "name", "path", "site",
        "track", "unit",
    )  # fmt: skip
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        track: str,
        name: str,
        metric: str,
        unit: str,
        path: int,
        start: Ints,
        end: Ints,
        value: Ints,
        *,
        labels: Mapping[int, str] | None = None,
        activity: Activity | None = None,
        cause: str = "",
        site: int = -1,
    ) -> None:
        self.track, self.name, self.metric, self.unit, self.path = track, name, metric, unit, path
        self.labels: dict[int, str] = dict(labels or {})
        self.activity, self.cause, self.site = activity, cause, site
        self._own: _Intervals | None = (start, end, value)
        self.bank: Bank | None = None
        self.column = -1

    @classmethod
    def of_bank(
        cls,
        track: str,
        name: str,
        metric: str,
        unit: str,
        path: int,
        bank: Bank,
        column: int,
        **meaning: Any,
    ) -> Series:
        """A series whose values are a column of a bank; `meaning` as in the constructor."""
        nothing = np.empty(0, dtype=np.int64)
        series = cls(track, name, metric, unit, path, nothing, nothing, nothing, **meaning)
        series._own, series.bank, series.column = None, bank, column
        return series

    def at_path(self, path: int) -> Series:
        """The same counter, of another call path."""
        moved = copy(self)
        moved.path = path
        return moved

    def with_values(
        self,
        start: Ints | None = None,
        end: Ints | None = None,
        value: Ints | None = None,
        *,
        bank: Bank | None = None,
    ) -> Series:
        """The same counter with other intervals, or in another bank of the same columns."""
        other = copy(self)
        if bank is not None:
            other.bank = bank
        else:
            assert start is not None
            assert end is not None
            assert value is not None
            other._own = (start, end, value)
        return other

    @property
    def summed(self) -> bool:
        """Return whether a value is the total of its interval, not a level throughout it."""
        return self.metric in SUMMED or self.activity is Activity.WAITING

    @property
    def of_place(self) -> bool:
        """Return whether it is the total of what was waited for at a site, by whichever track."""
        return self.site >= 0 and self.summed and bool(self.cause)

    @property
    def intervals(self) -> tuple[Ints, Ints, Ints]:
        """(start, end, value)."""
        if self._own is not None:
            return self._own
        assert self.bank is not None
        return self.bank.column(self.column)

    def in_parts(self) -> Iterator[_Intervals]:
        """The intervals (start, end, value), a part of them after the other."""
        if self._own is not None:
            return iter([self._own])
        assert self.bank is not None
        return lasting(self.bank.over_time(self.column), self.bank.total)

    @property
    def start(self) -> Ints:
        """First cycle of each interval."""
        return self.intervals[0]

    @property
    def end(self) -> Ints:
        """The cycle after each interval's last."""
        return self.intervals[1]

    @property
    def value(self) -> Ints:
        """The value in each interval."""
        return self.intervals[2]

    @property
    def head(self) -> dict[str, str | int]:
        """Everything but the values and their labels; its meaning if it has any."""
        names = ("track", "name", "metric", "unit", "path")
        found: dict[str, str | int] = {name: getattr(self, name) for name in names}
        if self.activity is not None:
            found["activity"] = self.activity.value
        if self.cause:
            found["cause"] = self.cause
        if self.site >= 0:
            found["site"] = self.site
        return found

    def __len__(self) -> int:
        return len(self.start)

    def __eq__(self, other: object) -> bool:
        """Equal contents, however they are kept."""
        if not isinstance(other, Series):
            return NotImplemented
        if self.head != other.head or self.labels != other.labels:
            return False
        return all(
            np.array_equal(a, b) for a, b in zip(self.intervals, other.intervals, strict=True)
        )

    def __repr__(self) -> str:
        return f"Series({self.track!r}, {self.name!r}, {self.metric!r}, {len(self)} intervals)"
