"""The records of a Paraver trace as arrays: pieces of text are read with array operations.

A piece is searched for its separators once; the digits before each are eight bytes of one load,
masked and summed in place, so that a million records take a fraction of a second. A line with
anything but digits, minus signs and colons in it is taken out before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cyclescope._prv import EVENT, MESSAGE, STATE

if TYPE_CHECKING:
    from cyclescope.model import Ints
    from cyclescope.traces.paraver._header import Header

__all__ = ["Body", "Records"]

_PAD = 24  # zeros before the text: a load of 8 bytes may begin that far before it
# The last n characters of 8 are the highest n bytes; before them goes the digit 0.
_KEPT = np.array([0x0F0F0F0F0F0F0F0F >> 8 * n << 8 * n for n in range(8, -1, -1)], dtype=np.uint64)
_NEWLINE, _COLON, _MINUS, _ZERO = b"\n:-0"
_MOST_DIGITS = 19
_LARGEST = np.uint64((1 << 63) - 1)

_Words = NDArray[np.uint64]


@dataclass
class Records:
    """States, events and messages in the order of the file, and what could not be taken in.

    Attributes:
        states: row, begin, end, state; shape (records, 4).
        events: row, time, type, value; shape (events, 4): a line may hold several.
        messages: sender's row, time it leaves, receiver's row, time it arrives, bytes; shape
            (messages, 5). Of a record's logical and physical times these are the physical ones.
        end: the latest time of any record.
        lost: name → how many lines or records, and the first line's number.
    """

    states: Ints
    events: Ints
    messages: Ints
    end: int
    lost: dict[str, tuple[int, int]]


@dataclass
class Body:
    """Takes pieces of whole lines in the order of the file."""

    header: Header
    _states: list[Ints] = field(default_factory=list)
    _events: list[Ints] = field(default_factory=list)
    _messages: list[Ints] = field(default_factory=list)
    _lost: dict[str, tuple[int, int]] = field(default_factory=dict)
    _lines: int = 1
    _now: int = 0
    _end: int = 0

    def records(self) -> Records:
        """All that was read."""
        parts = ((self._states, 4), (self._events, 4), (self._messages, 5))
        states, events, messages = (
            np.concatenate([np.empty((0, width), dtype=np.int64), *part]) for part, width in parts
        )
        return Records(states, events, messages, self._end, self._lost)

    def lose(self, name: str, count: int, line: int) -> None:
        """Count something that was not taken in."""
        before, first = self._lost.get(name, (0, line))
        self._lost[name] = (before + count, first)

    def read(self, text: bytes) -> None:
        """Read whole lines; the last ends with a newline."""
        data, ends, signs, strange = _separated(text)
        if strange:
            data, ends, signs, _ = _separated(self._without_strange(text))
        value, wrong, large = _numbers(data, ends, signs)
        last = np.flatnonzero(data[ends] == _NEWLINE)
        first = np.append(np.zeros(1, dtype=np.int64), last[:-1] + 1)[: len(last)]
        count = last - first + 1
        blank = (count == 1) & (np.diff(ends[last], prepend=_PAD - 1) == 1)
        if len(first):
            bad = np.logical_or.reduceat(_harmful(value, first, wrong, large), first) & ~blank
            self._lines_of(value, first, count, bad, blank, large)
        self._lines += len(last)

    def _without_strange(self, text: bytes) -> bytes:
        """The text with comments and unreadable lines made blank, and CR LF made LF."""
        lines = text.replace(b"\r\n", b"\n").split(b"\n")
        for number, line in enumerate(lines):
            if line.strip(b"0123456789:-"):
                if not line.startswith(b"#"):
                    self.lose("unreadable line", 1, self._lines + number + 1)
                lines[number] = b""
        return b"\n".join(lines)

    def _lines_of(
        self, value: Ints, first: Ints, count: Ints, bad: Any, blank: Any, large: NDArray[np.bool_]
    ) -> None:
        kind = value[first]
        state = (kind == STATE) & (count == 8)
        event = (kind == EVENT) & (count >= 8) & (count % 2 == 0)
        message = (kind == MESSAGE) & (count == 15)
        known = (state | event | message) & ~bad
        self._note("unreadable line", ~known & ~blank)
        state, event, message = state & known, event & known, message & known
        row = np.full(len(first), -1, dtype=np.int64)
        at = first[known]
        row[known] = self.header.rows(value[at + 2], value[at + 3], value[at + 4])
        at = first[message]
        partner = np.full(len(first), -1, dtype=np.int64)
        partner[message] = self.header.rows(value[at + 8], value[at + 9], value[at + 10])
        stray = known & ((row < 0) | (message & (partner < 0)))
        self._note("record of an unknown thread", stray)
        # A message is recorded once, for two threads at four times: it has no place of its own.
        timed = known & ~message
        self._order(np.maximum(value[first[timed] + 5], 0), timed)
        self._take_messages(value, first, message & ~stray, row, partner)
        state &= row >= 0
        event &= row >= 0
        at = first[state]
        begin, end, number = value[at + 5], value[at + 6], value[at + 7]
        backward = (end < begin) | (begin < 0) | (number < 0)
        if backward.any():
            which = np.flatnonzero(state)[backward]
            self.lose("state that ends before it begins", len(which), self._line(which[0]))
        table = np.stack((row[state], begin, end, number), axis=1)[~backward]
        if len(table):
            self._states.append(table)
            self._end = max(self._end, int(table[:, 2].max()))
        self._take_events(value, large, np.flatnonzero(event), first, count, row)

    def _take_messages(
        self, value: Ints, first: Ints, which: NDArray[np.bool_], row: Ints, partner: Ints
    ) -> None:
        at = first[which]
        if not len(at):
            return
        times = value[at[:, None] + np.array([5, 6, 11, 12])]
        wrong = (times < 0).any(axis=1) | (value[at + 13] < 0)
        if wrong.any():
            line = self._line(int(np.flatnonzero(which)[wrong][0]))
            self.lose("negative time or size of a message", int(wrong.sum()), line)
        columns = (row[which], times[:, 1], partner[which], times[:, 3], value[at + 13])
        table = np.stack(columns, axis=1)[~wrong]
        if len(table):
            self._messages.append(table)
            self._end = max(self._end, int(times[~wrong].max()))

    def _take_events(
        self,
        value: Ints,
        large: NDArray[np.bool_],
        lines: Ints,
        first: Ints,
        count: Ints,
        row: Ints,
    ) -> None:
        first, row = first[lines], row[lines]
        pairs = (count[lines] - 6) // 2
        if not len(pairs):
            return
        if int(pairs.max()) == 1:
            at, line = first + 6, np.arange(len(first))
        else:
            line = np.repeat(np.arange(len(first)), pairs)
            nth = np.arange(len(line)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
            at = first[line] + 6 + 2 * nth
        time = value[first + 5][line]
        table = np.stack((row[line], time, value[at], value[at + 1]), axis=1)
        early = time < 0
        if early.any():
            self.lose("event before time 0", int(early.sum()), self._line(lines[line[early][0]]))
        beyond = large[at + 1]
        if beyond.any():
            where = self._line(lines[line[beyond][0]])
            self.lose("event value beyond 63 bits", int(beyond.sum()), where)
        table = table[~(early | beyond)]
        if len(table):
            self._events.append(table)
            self._end = max(self._end, int(table[:, 1].max()))

    def _order(self, time: Ints, known: Any) -> None:
        """Count the lines that come before the place of their time."""
        if not len(time):
            return
        latest = np.maximum.accumulate(np.append(np.array([self._now]), time))
        late = time < latest[:-1]
        if late.any():
            which = np.flatnonzero(known)[late]
            self.lose("record out of order", len(which), self._line(int(which[0])))
        self._now = int(latest[-1])

    def _note(self, name: str, which: Any) -> None:
        if which.any():
            self.lose(name, int(np.count_nonzero(which)), self._line(int(np.argmax(which))))

    def _line(self, index: int) -> int:
        return self._lines + int(index) + 1


def _separated(text: bytes) -> tuple[Any, Ints, Ints, int]:
    """The text behind zeros; where its separators and its signs are; how much else there is."""
    data = np.frombuffer(b"0" * _PAD + text, dtype=np.uint8)
    ends = np.flatnonzero((data == _COLON) | (data == _NEWLINE))
    signs = np.flatnonzero(data == _MINUS)
    digits = int(np.count_nonzero(data - np.uint8(_ZERO) < 10))
    return data, ends, signs, len(data) - digits - len(ends) - len(signs)


def _harmful(
    value: Ints, first: Ints, wrong: NDArray[np.bool_], large: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """The fields that make a line unreadable. A value too large harms none of an event's others."""
    places = np.flatnonzero(large)
    if not len(places):
        return wrong
    line = np.searchsorted(first, places, side="right") - 1
    field_ = places - first[line]
    alone = (value[first[line]] == EVENT) & (field_ >= 7) & (field_ % 2 == 1)
    harmful = wrong.copy()
    harmful[places[~alone]] = True
    return harmful


def _numbers(
    data: Any, ends: Ints, signs: Ints
) -> tuple[Ints, NDArray[np.bool_], NDArray[np.bool_]]:
    """The number before each separator; whether it is none, or one beyond 63 bits."""
    starts = np.append(np.array([_PAD]), ends[:-1] + 1)[: len(ends)]
    length = ends - starts
    wrong = np.zeros(len(ends), dtype=np.bool_)
    negative = None
    if len(signs):
        negative = (data[starts] == _MINUS) & (length > 0)
        length = length - negative
        if np.count_nonzero(negative) != len(signs):
            # One that is not in front: find its field.
            wrong |= np.bincount(np.searchsorted(ends, signs), minlength=len(ends)) != negative
    wrong |= length < 1
    large = length > _MOST_DIGITS
    words = np.ndarray((len(data) - 7,), "<u8", data, 0, (1,))
    value = _eight(words[ends - 8], np.clip(length, 1, 8))
    long = np.flatnonzero((length > 8) & ~(wrong | large))
    for skipped in (8, 16):
        if len(long):
            part = _eight(words[ends[long] - skipped - 8], np.clip(length[long] - skipped, 1, 8))
            value[long] += part * np.uint64(10**skipped)
            long = long[length[long] > skipped + 8]
    large |= value > _LARGEST
    large &= ~wrong
    result: Ints = value.view(np.int64)
    if negative is not None:
        result = np.where(negative, -result, result)
    return result, wrong, large


def _eight(word: _Words, digits: Ints) -> _Words:
    """The number that the last `digits` of 8 characters write: pairs, then fours, then all."""
    word = word & _KEPT[digits]
    word *= np.uint64(10 * (1 << 8) + 1)
    word >>= np.uint64(8)
    word &= np.uint64(0x00FF00FF00FF00FF)
    word *= np.uint64(100 * (1 << 16) + 1)
    word >>= np.uint64(16)
    word &= np.uint64(0x0000FFFF0000FFFF)
    word *= np.uint64(10000 * (1 << 32) + 1)
    word >>= np.uint64(32)
    return word
