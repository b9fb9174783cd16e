"""From a dump of the profiling unit to a profile: lines to records, time stamps to cycles.

Works the same on the memory of a simulation and on what was read back from a board.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cyclescope._files import read_bytes
from cyclescope.errors import DataError
from cyclescope.hls.trace._format import (
    CLOCK_BITS,
    NUMBER_BITS,
    SEQUENCE_BITS,
    LineKind,
    OnFull,
    Scope,
    read_layout,
)
from cyclescope.hls.trace._sites import holding
from cyclescope.hls.trace._states import STATES, state_frame, thread_frame
from cyclescope.model import (
    Activity,
    Anomaly,
    Frame,
    Kind,
    Meta,
    Position,
    Profile,
    Series,
    Severity,
    by_appearance,
    profile_of_combinations,
)

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.hls.trace._format import Place, TraceLayout
    from cyclescope.model import Ints

__all__ = ["import_dump", "read_dump"]

_Lines = NDArray[np.uint64]
_UNKNOWN = len(STATES)
_TABLE_BITS = 20
_CHUNK = 1 << 11  # lines that stay in a processor's cache while their records are taken out
_MOST_STATE_BITS = 62


@dataclass(frozen=True, slots=True)
class _End:
    """The line of the end: `made` lines were written or dropped, `full` if the region was full."""

    clock: int
    late: bool
    made: int
    full: bool


@dataclass(frozen=True, slots=True)
class _States:
    """State records in order of time: when, all threads' states, and which follow a loss."""

    time: Ints
    word: NDArray[Any]
    late: Ints


def read_dump(
    dump: bytes,
    layout: TraceLayout,
    *,
    where: str = "dump",
    inputs: dict[str, str] | None = None,
) -> Profile:
    """The profile in a trace region.

    Every thread is in one of the paper's four states, or in `unknown` where the region has
    nothing on it: it was full, was overwritten, or the run was cut off.

    Args:
        dump: the region's bytes, from its first line on.
        layout: of the profiling unit that wrote it.
        where: what to name in errors: the dump's file.
        inputs: for the profile's head.

    Raises:
        DataError: the dump does not fit the layout, or is empty.
    """
    layout.check(where)
    return _Reader(dump, layout, where).profile(inputs or {})


def import_dump(dump: Path, layout: Path, *, period_ps: int | None = None) -> Profile:
    """As `read_dump`, from files.

    Args:
        dump: the region's bytes.
        layout: what `TraceLayout.to_json` gave.
        period_ps: of the clock, in place of the layout's.

    Raises:
        DataError: a file cannot be read, or as `read_dump`.
    """
    form = read_layout(layout)
    try:
        data = read_bytes(dump)
        inputs = {path.name: sha256(path.read_bytes()).hexdigest() for path in (dump, layout)}
    except OSError as error:
        raise DataError(f"{dump}: cannot be read: {error.strerror or error}") from error
    if period_ps is not None:
        form = replace(form, period_ps=period_ps)
    return read_dump(data, form, where=str(dump), inputs=inputs)


class _Reader:
    def __init__(self, dump: bytes, layout: TraceLayout, where: str) -> None:
        self._layout, self._where = layout, where
        if 2 * layout.threads > _MOST_STATE_BITS:
            raise DataError(f"{where}: states of {layout.threads} threads; up to 31 can be read")
        self._anomalies: list[Anomaly] = []
        self._overwritten = self._cut = False
        self._dropped = 0
        size = layout.line_bits // 8
        if len(dump) % size:
            self._lose("dump cut", len(dump) % size, "bytes of a line that is not complete")
        count = len(dump) // size
        lines = np.frombuffer(dump, dtype="<u8", count=count * size // 8).reshape(count, size // 8)
        if not count:
            raise DataError(f"{where}: contains no line of {size} bytes; is it the trace region?")
        self._end = self._read_end(lines[0])
        self._lines = self._in_order(lines[1:])

    def _lose(self, name: str, count: int, detail: str) -> None:
        if count:
            self._anomalies.append(Anomaly(name, Severity.DATA_LOSS, count, detail))

    # Lines

    def _read_end(self, line: _Lines) -> _End | None:
        kind = int(line[0]) & 15
        if kind == LineKind.NOTHING:
            self._lose("trace without an end", 1, "the run was stopped, or never began")
            return None
        if kind & ~3 != LineKind.END:
            raise DataError(
                f"{self._where}: its first line is not the profiling unit's; give the dump from "
                "the region's start, and the layout of the same run"
            )
        layout, head = self._layout, int(line[0])
        low, high = (layout.record_low(slot) for slot in (0, 1))
        rest = min(CLOCK_BITS - layout.time_bits, layout.pitch)
        clock = int(_field(line[None], low, layout.time_bits)[0])
        clock |= int(_field(line[None], high, rest)[0]) << layout.time_bits
        made = (head >> 12 & (1 << SEQUENCE_BITS) - 1) | (head >> 4 & 255) << SEQUENCE_BITS
        return _End(clock, bool(head & 1), made - 1, bool(head & 2))

    def _in_order(self, lines: _Lines) -> _Lines:
        """The lines that were written, oldest first."""
        capacity = len(lines)
        if self._end is not None:
            there = int(np.count_nonzero(lines[:, 0] & np.uint64(15)))
            if self._end.full and self._end.made < there:
                # So many lines have been dropped or overwritten that their number began anew.
                self._end = replace(self._end, made=self._end.made + (1 << NUMBER_BITS))
            lines = lines[: self._end.made]
        head = lines[:, 0]
        written = (head & np.uint64(15)) != 0
        kind = head & np.uint64(15)
        if (kind > LineKind.LATE_STATES).any():
            raise DataError(
                f"{self._where}: line {int(np.argmax(kind > LineKind.LATE_STATES)) + 2} is not the "
                "profiling unit's; give the layout of the same run"
            )
        count = int(np.count_nonzero(written))
        if count and not written[:count].all():
            raise DataError(
                f"{self._where}: an empty line between others; give the layout of the same run"
            )
        lines = lines[:count]
        mask = (1 << SEQUENCE_BITS) - 1
        number = (lines[:, 0] >> np.uint64(12)).astype(np.int64) & mask
        breaks = np.flatnonzero((np.diff(number) & mask) != 1) + 1
        if len(breaks) == 1 and self._layout.on_full is OnFull.WRAP:
            lines, number = (np.roll(a, -int(breaks[0]), axis=0) for a in (lines, number))
            breaks = breaks[:0]
        # How many breaks there are up to each line.
        self._missing = np.zeros(count, dtype=np.int64)
        self._missing[breaks] = 1
        self._missing = np.cumsum(self._missing)
        where = "lines are not in sequence" + (
            f", first line {breaks[0] + 2}" if len(breaks) else ""
        )
        self._lose("line missing", len(breaks), where)
        late = int(np.count_nonzero((lines[:, 0] & np.uint64(15)) == LineKind.LATE_STATES))
        absent = int(number[0]) - 1 if count else 0
        if self._end is not None:
            absent = self._end.made - count
            late += self._end.late
            if self._end.full and self._layout.on_full is OnFull.STOP:
                self._dropped = max(self._end.made - capacity, 0)
                absent -= self._dropped
        detail = "times the memory was busy while states changed; what they were is not known"
        self._lose("change of state lost", late, detail)
        self._lose("line dropped", self._dropped, "the trace region was full")
        if self._layout.on_full is OnFull.WRAP:
            self._overwritten = absent > 0
            self._lose("line overwritten", absent, "the trace region was full")
        elif self._end is not None:
            self._cut = absent > 0
            self._lose("line missing", absent, "the dump has fewer lines than were written")
        return lines

    # Records

    def _states(self) -> _States:
        layout = self._layout
        kind = self._lines[:, 0] & np.uint64(15)
        which = np.flatnonzero((kind == LineKind.STATES) | (kind == LineKind.LATE_STATES))
        lines = self._lines[which] if len(which) < len(kind) else self._lines
        count = (lines[:, 0] >> np.uint64(4)).astype(np.int64) & 255
        if len(count) and not ((count >= 1) & (count <= layout.records)).all():
            raise DataError(
                f"{self._where}: a line with {int(count.max())} records of {layout.records}; give "
                "the layout of the same run"
            )
        shape, states = (len(lines), layout.records), 2 * layout.threads
        low_time = np.empty(shape, dtype=np.uint32)
        word = np.empty(shape, dtype=_unsigned(states))
        for first in range(0, len(lines), _CHUNK):
            part = slice(first, first + _CHUNK)
            for place in range(layout.records):
                low = layout.record_low(place)
                low_time[part, place] = _field(lines[part], low, layout.time_bits)
                word[part, place] = _field(lines[part], low + layout.time_bits, states)
        begins = kind[which] == LineKind.LATE_STATES
        begins[1:] |= self._missing[which][1:] > self._missing[which][:-1]
        late = (np.cumsum(count) - count)[begins]
        if (count < layout.records).any():
            taken = np.arange(layout.records) < count[:, None]
            low_time, word = low_time[taken], word[taken]
        return _States(_unwrapped(low_time.reshape(-1), layout.time_bits), word.reshape(-1), late)

    def profile(self, inputs: dict[str, str]) -> Profile:
        """Everything together."""
        layout, end = self._layout, self._end
        states = self._states()
        time = states.time
        cycles = 0
        if end is not None:
            cycles = end.clock
            if layout.on_full is OnFull.WRAP and len(time):
                # What was overwritten hides how often time stamps had wrapped; the end knows.
                time = time + _latest(int(time[-1]), cycles - 1, layout.time_bits) - time[-1]
        series = self._counters(int(time[0]) if len(time) else 0)
        if end is None:
            # The last samples may be later than the last record that was written.
            cycles = max([int(part[1][-1]) for _, part in series if len(part[1])], default=0)
            cycles = max(cycles, int(time[-1]) + 1 if len(time) else 0)
        if not cycles:
            raise DataError(f"{self._where}: the trace has no cycles; nothing to read")
        late = [part for _, part in series if len(part[1]) and int(part[1][-1]) > cycles]
        if late or (len(time) and (int(time[0]) < 0 or int(time[-1]) >= cycles)):
            raise DataError(
                f"{self._where}: records after the end; give the layout of the same run"
            )
        times, table, shown = self._combinations(time, states, cycles)
        region = layout.region
        frames = [state_frame(state, region) for state in (*STATES, "unknown")]
        positions = () if layout.where is None else (Position("c", *layout.where),)
        profile = profile_of_combinations(
            Meta(
                source="hls",
                title=layout.title,
                complete=end is not None,
                stop_reason="" if end is not None else "the trace has no end",
                period_ps=layout.period_ps,
                inputs=inputs,
                options={"from": "profiling unit", "sampling period": _periods(layout)},
                anomalies=tuple(self._anomalies),
                peaks=layout.peaks,
            ),
            [(thread_frame(n, region), frames) for n in range(layout.threads)],
            table,
            (times, shown),
            cycles,
            root=Frame(Kind.CELL, region, region, positions=positions, activity=Activity.IDLE),
            series=lambda paths: [_series(region, place, paths, part) for place, part in series],
            where=self._where,
        )
        critical = state_frame("critical", region)
        held = profile.catalog.index(critical) if critical in profile.catalog else -1
        return replace(profile, sites=holding(layout.sites, held))

    def _combinations(self, time: Ints, states: _States, cycles: int) -> tuple[Ints, Ints, Ints]:
        """The times of changes of states; the distinct combinations; which of them begins."""
        n = self._layout.threads
        first, shown = _numbered(states.word, 2 * n)
        shift = 2 * np.arange(n, dtype=np.uint64)
        words = states.word[first].astype(np.uint64)
        table = ((words[:, None] >> shift) & np.uint64(3)).astype(np.int64)
        holes = self._holes(time, states.late, cycles)
        if not holes:
            return time, table, shown
        lost = sum(until - begin for _, begin, until in holes)
        self._lose("cycle of unknown state", lost, "the trace region has nothing on it")
        table = np.concatenate((table, np.full((1, n), _UNKNOWN, dtype=np.int64)))
        place = [index for index, _, _ in holes]
        time = np.insert(time, place, [begin for _, begin, _ in holes])
        shown = np.insert(shown, place, len(table) - 1)
        first, ranked = by_appearance(shown, len(table))
        return time, table[shown[first]], ranked

    def _holes(self, time: Ints, late: Ints, cycles: int) -> list[tuple[int, int, int]]:
        """The holes in what is known: (index of the record behind it, begin, end)."""
        if not len(time):
            return [(0, 0, cycles)]
        holes = [(0, 0, int(time[0]))] if int(time[0]) > 0 else []
        # The last record before a loss still tells the truth of its own cycle.
        ends = [(at, int(time[at - 1]) + 1, int(time[at])) for at in late.tolist() if at > 0]
        holes += [(at, begin, until) for at, begin, until in ends if begin < until]
        end = self._end
        full = end is not None and self._dropped and self._layout.on_full is OnFull.STOP
        if (full or self._cut or end is None or end.late) and int(time[-1]) + 1 < cycles:
            holes.append((len(time), int(time[-1]) + 1, cycles))
        return holes

    # Counters

    def _counters(self, begin: int) -> list[tuple[Place, tuple[Ints, Ints, Ints]]]:
        """The intervals of each counter."""
        head = self._lines[:, 0]
        samples = (head & np.uint64(15)) == LineKind.COUNTERS
        number = np.where(samples, (head >> np.uint64(4)).astype(np.int64) & 255, -1)
        if int(number.max(initial=-1)) >= self._layout.sample_lines:
            raise DataError(
                f"{self._where}: line {int(number.max())} of a sample of "
                f"{self._layout.sample_lines}; give the layout of the same run"
            )
        lines = []
        for line in range(self._layout.sample_lines):
            which = np.flatnonzero(number == line)
            rows = self._lines[which]
            lines.append((rows, self._begins(rows, begin), self._sure(which)))
        found = []
        full = 0
        for place in self._layout.places:
            rows, begins, sure = lines[place.line]
            end = self._ends(begins, place)
            start = np.append(np.zeros(1, dtype=np.int64), end[:-1])[: len(end)]
            value = _field(rows, place.low, place.width).astype(np.int64)
            keep = sure & (start < end)
            full += int(np.count_nonzero(value[keep] >> place.width - 1))
            found.append((place, (start[keep], end[keep], value[keep] * place.source.scale)))
        self._lose("counter full", full, "totals are at least what is shown; sample more often")
        return found

    def _begins(self, rows: _Lines, begin: int) -> Ints:
        """The times at which samples were begun."""
        layout = self._layout
        low = _field(rows, layout.record_low(0), layout.time_bits)
        time = _unwrapped(low.astype(np.uint32), layout.time_bits, samples=True)
        if len(time) and layout.on_full is OnFull.WRAP:
            if self._end is not None:
                time = time + _latest(int(time[-1]), self._end.clock, layout.time_bits) - time[-1]
            elif int(time[0]) < begin:
                time = time + (-(-(begin - int(time[0])) >> layout.time_bits) << layout.time_bits)
        return np.asarray(time, dtype=np.int64)

    def _sure(self, which: Ints) -> NDArray[np.bool_]:
        """The samples whose totals have a known begin: the sample before is there."""
        sure = np.diff(self._missing[which], prepend=0) == 0
        sure[:1] &= not self._overwritten
        return np.asarray(sure, dtype=np.bool_)

    def _ends(self, begins: Ints, place: Place) -> Ints:
        """The ends of a total's intervals: in the round after each sample begins, or of the run."""
        end, slots = begins, self._layout.round
        if slots:
            end = begins + 1 + (place.time_slot - begins - 1) % slots
        if self._end is None:
            return end
        # What is later than the end by itself is not of this run.
        return np.where(begins <= self._end.clock, np.minimum(end, self._end.clock), end)


def _periods(layout: TraceLayout) -> str:
    """The sampling period, and which counters have a longer one."""
    longer = {
        place.source.counter.name: every
        for place in layout.places
        if (every := layout.periods[place.line]) != layout.period
    }
    return ", ".join([str(layout.period), *(f"{name} {every}" for name, every in longer.items())])


def _series(
    region: str, place: Place, paths: list[int], intervals: tuple[Ints, Ints, Ints]
) -> Series:
    counter, index = place.source.counter, place.source.index
    track, path = region, 0
    if counter.scope is Scope.THREAD:
        track, path = f"thread {index}", paths[index]
    elif counter.scope is Scope.BANK:
        track, path = f"bank {index}", -1
    return Series(
        *(track, counter.name, counter.metric, counter.unit, path, *intervals),
        activity=counter.activity,
        cause=counter.cause,
        site=counter.site,
    )


def _unsigned(bits: int) -> np.dtype[Any]:
    """The smallest type of so many bits."""
    return np.dtype(next(f"<u{size}" for size in (1, 2, 4, 8) if bits <= 8 * size))


def _field(lines: _Lines, low: int, width: int) -> _Lines:
    """Bits of each line, as numbers."""
    word, shift = divmod(low, 64)
    value = lines[:, word] >> np.uint64(shift)
    if shift + width > 64:
        value |= lines[:, word + 1] << np.uint64(64 - shift)
    return value & np.uint64((1 << width) - 1)


def _unwrapped(low: NDArray[np.uint32], bits: int, *, samples: bool = False) -> Ints:
    """Times from their low bits. Equal ones mean a wrap, but not of samples: they may be equal."""
    time = low.astype(np.int64)
    wraps = low[1:] < low[:-1] if samples else low[1:] <= low[:-1]
    if wraps.any():
        time[1:] += np.cumsum(wraps) << bits
    return time


def _latest(time: int, limit: int, bits: int) -> int:
    """The latest time up to a limit that has the same low bits."""
    return limit - (limit - time) % (1 << bits)


def _numbered(word: NDArray[Any], bits: int) -> tuple[Ints, Ints]:
    """The first place of each distinct word, and for each word which of them."""
    if bits <= _TABLE_BITS:
        return by_appearance(word, 1 << bits)
    distinct, key = np.unique(word, return_inverse=True)
    return by_appearance(key.reshape(-1), len(distinct))
