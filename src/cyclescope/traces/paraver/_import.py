"""Import a Paraver trace: threads in states; events and messages as counters."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope._prv import OWN_STATES, Kind, Names, read_names, read_rows
from cyclescope.errors import DataError
from cyclescope.model import (
    SUMMED,
    Activity,
    Anomaly,
    Frame,
    Ints,
    Meta,
    Profile,
    Series,
    Severity,
    ThreadStates,
    profile_of_threads,
)
from cyclescope.model import Kind as FrameKind
from cyclescope.traces._inputs import digest, tool_versions
from cyclescope.traces._state_meaning import folded
from cyclescope.traces._text import Text, open_compressed
from cyclescope.traces.paraver._body import Body
from cyclescope.traces.paraver._header import lines_of, read_header
from cyclescope.traces.paraver._states import state_meaning

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from cyclescope.traces.paraver._body import Records
    from cyclescope.traces.paraver._header import Header

__all__ = ["import_paraver"]

_PIECE = 1 << 18  # what fits in a processor's cache with all that is made of it
_LONGEST = 64 << 20  # bytes of a header or of one record
_CANONICAL = frozenset(name.lower() for name in OWN_STATES)
_LOSSES = {
    "event before time 0": "not taken in; the first near line {}",
    "event value beyond 63 bits": "not taken in, the others of its line are; first in line {}",
    "negative time or size of a message": "not taken in; the first in line {}",
    "record of an unknown thread": "the header has no such thread: not taken in; first in line {}",
    "record out of order": "taken in where its time belongs; the first is line {}",
    "state that ends before it begins": "not taken in; the first in line {}",
    "unreadable line": "no record of the format, or a number beyond 63 bits; the first is line {}",
}


def import_paraver(
    path: Path, *, period_ps: int | None = None, work: Collection[str] = ()
) -> Profile:
    """The profile of a Paraver trace: its threads, the states they are in, events and messages.

    A cycle is the trace's unit of time; of traces that cyclescope wrote, and where a period is
    given, it is a clock cycle. Names come from the .pcf and .row beside the trace, if there are
    any. An event's value holds until the thread's next event of the type, except for hardware
    counters and those that cyclescope wrote as totals: they belong to the time before. A message
    counts in the cycle in which it leaves its sender, and in that in which it arrives.

    Args:
        path: .prv, plain or packed (.gz, .xz).
        period_ps: a clock cycle in picoseconds.
        work: names of states that are work, beside those that Paraver's own table says are.

    Raises:
        DataError: the trace cannot be read, or nothing happens in it; no state has such a name.
    """
    with ThreadPoolExecutor(1) as pool:
        hashed = pool.submit(digest, path)
        header, records, cut = _read(path)
        stem = path.name.removesuffix(".gz").removesuffix(".xz").removesuffix(".prv")
        names = read_names(lines_of(path.with_name(f"{stem}.pcf")))
        beside = lines_of(path.with_name(f"{stem}.row"))
        labels = read_rows(beside, "THREAD", len(header.threads))
        losses = [
            Anomaly(name, Severity.DATA_LOSS, count, _LOSSES[name].format(f"{line:,}"))
            for name, (count, line) in sorted(records.lost.items())
        ]
        if cut:
            losses.append(
                Anomaly(
                    "trace cut", Severity.DATA_LOSS, 1, "it ends within a record or packed data"
                )
            )
        clock = _Clock.of(path, header, records, period_ps)
        digest_ = hashed.result()
    found = _Import(path, header, records, names, labels, clock, losses, folded(work))
    return found.profile(digest_)


def _read(path: Path) -> tuple[Header, Records, bool]:
    with open_compressed(path) as stream:
        text = Text(path, stream)
        rest = text.read(_PIECE)
        while b"\n" not in rest and len(rest) < _LONGEST and (more := text.read(_PIECE)):
            rest += more
        line, _, rest = rest.partition(b"\n")
        header = read_header(path, line, rest[:200].partition(b"\n")[0])
        body = Body(header)
        rest = _without_communicators(rest)
        while True:
            end = rest.rfind(b"\n") + 1
            if end:
                body.read(rest[:end])
            more = text.read(_PIECE)
            if not more:
                rest = rest[end:]
                break
            rest = rest[end:] + more
            if len(rest) > _LONGEST + _PIECE:
                raise DataError(f"{path}: a line is longer than {_LONGEST:,} bytes; is it a trace?")
    return header, body.records(), text.cut or bool(rest.strip())


def _without_communicators(text: bytes) -> bytes:
    """The lines that still belong to the head, made comments: they begin with a letter."""
    lines = text.split(b"\n")
    for number, line in enumerate(lines):
        if line[:1].lower() not in (b"c", b"i"):
            break
        lines[number] = b"#"
    return b"\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Clock:
    """Times of the trace to cycles: time · unit / period, rounded up."""

    unit_ps: int
    cycle_ps: int
    known_ps: int | None
    cycles: int

    @classmethod
    def of(cls, path: Path, header: Header, records: Records, period_ps: int | None) -> _Clock:
        """Choose the length of a cycle."""
        wanted = period_ps or header.period_ps
        unit, cycle = header.unit_ps, wanted or header.unit_ps
        if unit % cycle == 0:
            unit, cycle = unit // cycle, 1
        last = max(header.end, records.end)
        if last * unit >= 1 << 63:
            raise DataError(f"{path}: times up to {last:,} in picoseconds exceed 63 bits")
        known = wanted if wanted or header.own else header.unit_ps
        if last == 0:
            raise DataError(f"{path}: no time passes; nothing to import")
        return cls(unit, cycle, known, -(-last * unit // cycle))

    def __call__(self, times: Ints) -> Ints:
        """Cycles of times. What was rounded down on the way out comes back as it was."""
        if self.unit_ps == self.cycle_ps == 1:
            return times
        return -(-times * self.unit_ps // self.cycle_ps)


_Counter = tuple[int, Kind, tuple["Ints", "Ints", "Ints"], dict[int, str]]
"""Row, kind, (start, end, value), labels of values."""


@dataclass(frozen=True, slots=True)
class _Import:
    path: Path
    header: Header
    records: Records
    names: Names
    labels: list[str]
    clock: _Clock
    anomalies: list[Anomaly]
    work: dict[str, str]

    def profile(self, digest_: str) -> Profile:
        """Everything together."""
        tracks = self._thread_frames()
        shown = self._shown_threads()
        threads = self._threads(tracks, shown)
        events = [*self._events(), *self._messages()]
        options = {"from": "paraver", "unit": self.header.unit or "none: microseconds"}
        meta = Meta(
            source="traces",
            title=self.path.name,
            period_ps=self.clock.known_ps,
            tools=tool_versions("Paraver"),
            inputs={self.path.name: digest_},
            options=options,
            anomalies=tuple(self.anomalies),
        )
        return profile_of_threads(
            meta,
            threads,
            self.clock.cycles,
            series=lambda paths: [
                Series(
                    tracks[row].name,
                    what.name,
                    what.metric,
                    what.unit,
                    paths[shown.index(row)] if row in shown else -1,
                    *intervals,
                    labels=labels,
                )
                for row, what, intervals, labels in events
            ],
            where=str(self.path),
        )

    def _lose(self, name: str, count: int, detail: str) -> None:
        if count:
            self.anomalies.append(Anomaly(name, Severity.DATA_LOSS, count, detail))

    # States

    def _shown_threads(self) -> list[int]:
        """All rows; of a trace of ours those of the first task: the second has tracks that count.

        A thread of another's trace stays one if nothing of it is recorded: it is idle.
        """
        return [
            row
            for row, (_, task, _) in enumerate(self.header.threads)
            if not self.header.own or task == 1
        ]

    def _threads(self, tracks: list[Frame], shown: list[int]) -> list[ThreadStates]:
        table = self.records.states
        order = _sorted(table[:, 0], table[:, 1])
        table = table if order is None else table[order]
        row, begin, end = table[:, 0], self.clock(table[:, 1]), self.clock(table[:, 2])
        short = (begin == end) & (table[:, 1] < table[:, 2])
        self._lose("state shorter than a cycle", int(short.sum()), "not shown")
        state = table[:, 3]
        keep = begin < end
        if not keep.all():
            row, begin, end, state = row[keep], begin[keep], end[keep], state[keep]
        following = np.append(begin[1:], 0)
        same = np.append(row[1:] == row[:-1], False)[: len(row)]
        over = same & (end > following)
        lost = int((end - following)[over].sum())
        detail = f"a state is cut where the thread's next begins: {lost:,} cycles of states cut off"
        self._lose("overlapping state", int(over.sum()), detail)
        if over.any():
            end = np.where(over, following, end)
            keep = begin < end
            row, begin, end, state = row[keep], begin[keep], end[keep], state[keep]
        numbers, index = _numbered(np.append(state, 0))
        frames = self._state_frames(numbers.tolist())
        idle = int(np.searchsorted(numbers, 0))
        cut = np.searchsorted(row, np.arange(len(self.header.threads) + 1)).tolist()
        threads = []
        # Of many a thread a header tells no more than that it is there.
        nothing = np.empty(0, dtype=np.int64)
        unrecorded = _filled(nothing, nothing, nothing, idle, self.clock.cycles)
        for place in shown:
            own = slice(cut[place], cut[place + 1])
            if own.start == own.stop:
                threads.append(ThreadStates(tracks[place], frames, *unrecorded))
                continue
            start, entered = _filled(begin[own], end[own], index[own], idle, self.clock.cycles)
            threads.append(ThreadStates(tracks[place], frames, start, entered))
        return threads

    def _state_frames(self, numbers: list[int]) -> list[Frame]:
        taken: dict[str, int] = {}
        frames = []
        for number in numbers:
            name = self.names.states.get(number) or ("Idle" if number == 0 else f"state {number}")
            name = name.lower() if name.lower() in _CANONICAL else name
            if taken.setdefault(name, number) != number:
                name = f"{name} (state {number})"
            known = self.names.states.get(number, "")
            meaning = state_meaning(known, number, self.work)
            frames.append(Frame(FrameKind.STATE, name, "", **meaning))
        there = folded([frame.name for frame in frames])
        for key, wanted in self.work.items():
            if key not in there:
                raise DataError(
                    f"{self.path}: no state is called {wanted}; there are "
                    + ", ".join(frame.name for frame in frames)
                )
        return frames

    def _thread_frames(self) -> list[Frame]:
        labels = [label.strip() for label in self.labels]
        if len(set(labels)) != len(self.header.threads) or not all(labels):
            labels = [f"thread {a}.{t}.{n}" for a, t, n in self.header.threads]
        return [
            Frame(
                FrameKind.THREAD,
                label,
                f"task {appl}.{task}",
                activity=Activity.IDLE,
                track=True,
            )
            for label, (appl, task, _) in zip(labels, self.header.threads, strict=True)
        ]

    # Events

    def _events(self) -> list[_Counter]:
        """Each row's events of a type, as a counter."""
        table = self.records.events
        kinds, kind = np.unique(table[:, 2], return_inverse=True)
        key = table[:, 0] * max(len(kinds), 1) + kind.reshape(-1)
        order = _sorted(key, table[:, 1])
        if order is not None:
            table, key = table[order], key[order]
        time = self.clock(table[:, 1])
        first = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
        found = []
        hidden = early = 0
        last = np.append(first[1:], len(key))[: len(first)]
        for begin, end in zip(first.tolist(), last.tolist(), strict=True):
            number = int(table[begin, 2])
            what = self.names.kinds.get(number) or Kind(f"event {number}", "event", "")
            own = slice(begin, end)
            if what.metric in SUMMED:
                part = _totals(time[own], table[own, 3])
                early += int(np.count_nonzero(table[own, 3][time[own] == 0]))
            else:
                part = _levels(time[own], table[own, 3], self.clock.cycles)
                hidden += end - begin - len(part[0])
            labels = self.names.labels.get(number, {})
            found.append((int(table[begin, 0]), what, part, labels))
        self._lose("event with another at its instant", hidden, "the last one's value is shown")
        self._lose("count at time 0", early, "there is no cycle before it to which it belongs")
        return found

    # Messages

    def _messages(self) -> list[_Counter]:
        """Messages and their bytes, by thread and cycle: what it sends, what it receives."""
        table = self.records.messages
        found: list[_Counter] = []
        for side, direction in enumerate(("sent", "received")):
            kinds = (
                Kind(f"messages {direction}", "messages", "messages"),
                Kind(f"bytes {direction}", "message bytes", "B"),
            )
            # What leaves at the end leaves in the last cycle.
            time = np.minimum(self.clock(table[:, 2 * side + 1]), self.clock.cycles - 1)
            own = table[:, 2 * side]
            for row in np.unique(own).tolist():
                which = own == row
                when, place = np.unique(time[which], return_inverse=True)
                counts = np.bincount(place, minlength=len(when)).astype(np.int64)
                sizes = np.zeros(len(when), dtype=np.int64)
                np.add.at(sizes, place, table[which, 4])
                for kind, value in zip(kinds, (counts, sizes), strict=True):
                    found.append((row, kind, (when, when + 1, value), {}))
        return found


def _sorted(group: Ints, time: Ints) -> Ints | None:
    """The order by group, then time, then place in the file; None if it is so already."""
    later = (group[1:] > group[:-1]) | ((group[1:] == group[:-1]) & (time[1:] >= time[:-1]))
    if later.all():
        return None
    narrow = group.astype(np.min_scalar_type(int(group.max())))
    if (time[1:] >= time[:-1]).all():
        return np.argsort(narrow, kind="stable")
    order = np.argsort(time, kind="stable")
    return order[np.argsort(narrow[order], kind="stable")]


def _numbered(value: Ints) -> tuple[Ints, Ints]:
    """The distinct values, none negative, and for each its place among them."""
    largest = int(value.max())
    if largest >= 1 << 16:
        distinct, place = np.unique(value, return_inverse=True)
        return distinct, place.reshape(-1)
    distinct = np.flatnonzero(np.bincount(value))
    place = np.zeros(largest + 1, dtype=np.int64)
    place[distinct] = np.arange(len(distinct))
    return distinct, place[value]


def _filled(begin: Ints, end: Ints, state: Ints, idle: int, cycles: int) -> tuple[Ints, Ints]:
    """The times at which states are entered, with idle wherever none is recorded."""
    before = np.append(np.zeros(1, dtype=np.int64), end)
    gap = np.flatnonzero(before < np.append(begin, cycles))
    if not len(gap):
        return begin, state
    start = np.insert(begin, gap, before[gap])
    return start, np.insert(state, gap, idle)


def _levels(time: Ints, value: Ints, cycles: int) -> tuple[Ints, Ints, Ints]:
    """Each value until the next; the last to the run's end, or in the cycle after it."""
    end = np.append(time[1:], max(cycles, int(time[-1]) + 1))
    lasting = time < end
    return time[lasting], end[lasting], value[lasting]


def _totals(time: Ints, value: Ints) -> tuple[Ints, Ints, Ints]:
    """Each value since the one before; those of one instant are added up."""
    first = np.flatnonzero(np.append(True, time[1:] != time[:-1]))
    end, total = time[first], np.add.reduceat(value, first)
    start = np.append(np.zeros(1, dtype=np.int64), end[:-1])
    lasting = start < end
    return start[lasting], end[lasting], total[lasting]
