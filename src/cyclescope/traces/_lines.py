"""A piece of VCD text in which each change has its own line, read with array operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from cyclescope.errors import DataError
from cyclescope.traces._wave import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["TIME_DIGITS", "Layout", "Piece", "read_lines"]

TIME_DIGITS = 18
"""Times are integers of 64 bits; the standard knows no more either."""

_NEWLINE, _SPACE, _HASH, _ZERO, _DOLLAR = (ord(c) for c in "\n #0$")
_SCALARS = b"01xXzZuUwWlLhH-"
_VECTORS = b"bB"
_PAD = b"\n" * 8


@dataclass(frozen=True)
class Piece:
    """Changes in a piece of text.

    `step` counts its own times, -1 before the first; `strange` are words that are no VCD.
    """

    times: NDArray[np.int64]
    step: NDArray[np.int32]
    signal: NDArray[np.int32]
    value: NDArray[np.signedinteger[Any]]
    strange: int


class Layout:
    """The identifiers asked for, ready for a quick search.

    Args:
        keys: identifiers, 1 to 8 bytes each, all different.
        widths: declared bits of each.
    """

    def __init__(self, keys: Sequence[bytes], widths: Sequence[int]) -> None:
        self.index = {key: place for place, key in enumerate(keys)}
        self.widths = np.array(widths, dtype=np.int64)
        self.value_type = np.int32 if max(widths, default=0) < 31 else np.int64
        # Before an identifier of one byte stands a value or a space.
        self.endings = np.zeros(1 << 16, dtype=np.bool_)
        for key in keys:
            for before in key[-2:-1] or _SCALARS + b" ":
                self.endings[before | key[-1] << 8] = True
        number = np.array([int.from_bytes(key, "little") for key in keys], dtype=np.uint64)
        self._order = np.argsort(number).astype(np.int32)
        self._number = number[self._order]
        self._longest = max(map(len, keys), default=0)

    @property
    def longest(self) -> int:
        """Bytes of the longest identifier."""
        return self._longest

    def find(self, number: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The place of each identifier, given as a little-endian number; -1 for others."""
        if not len(self._number):
            return np.full(len(number), -1, dtype=np.int32)
        place = np.searchsorted(self._number, number)
        np.minimum(place, len(self._number) - 1, out=place)
        found = self._order[place]
        found[self._number[place] != number] = -1
        return found


def read_lines(path: Path, text: bytes, start: int, layout: Layout) -> Piece | None:
    """Read a piece of whole lines; None if its layout or contents need reading word by word.

    Args:
        path: for messages.
        text: ends with a newline.
        start: where in the file it lies, for messages.
        layout: what to look for.

    Raises:
        DataError: a time or a value of a wanted signal cannot be read.
    """
    padded = np.frombuffer(b"\n" + text + _PAD, dtype=np.uint8)
    data = padded[: len(text) + 1]
    # ends[0] is the newline put before the text.
    ends = np.flatnonzero(data == _NEWLINE)
    role = _ROLE.take(data.take(ends[:-1] + 1))
    if not _is_plain(text, data, len(ends), role):
        return None
    clock = np.flatnonzero(role == _TIME)
    hashes = ends[clock] + 1
    times = _times(path, data, hashes, ends[clock + 1] - hashes - 1, start)

    pairs = np.ndarray((len(data) - 1,), "<u2", data, 0, (1,))
    hit = np.flatnonzero(layout.endings.take(pairs.take(ends[1:] - 2)))
    line, end = ends[hit] + 1, ends[hit + 1]
    vector, scalar = role[hit] == _VECTOR, role[hit] == _SCALAR
    strange = int(np.count_nonzero(role[hit] == _STRANGE))
    split = np.where(vector, 0, line + 1)
    for size in range(1, layout.longest + 1):
        at = end - size
        split = np.where((split == 0) & (data[at - 1] == _SPACE), at, split)
    length = end - split
    good = (vector | scalar) & (split > line) & (length > 0) & (length <= layout.longest)
    line, end, split, length = line[good], end[good], split[good], length[good]
    vector = vector[good]
    words = np.ndarray((len(data),), "<u8", padded, 0, (1,))
    number = words[split] & _MASKS[length]
    signal = layout.find(number)
    known = signal >= 0
    line, split, signal, vector = line[known], split[known], signal[known], vector[known]
    value = _SCALAR_VALUE[data[line]].astype(layout.value_type)
    many = np.flatnonzero(vector)
    if len(many):
        bits = _Vectors(path, data, start, layout)
        value[many] = bits.read(line[many] + 1, split[many] - 1, signal[many])
    step = np.searchsorted(hashes, line).astype(np.int32) - np.int32(1)
    return Piece(times, step, signal, value, strange)


_STRANGE, _SCALAR, _VECTOR, _TIME, _KEYWORD, _BLANK = range(6)
_ROLE = np.zeros(256, dtype=np.uint8)  # of a line, by its first byte
_ROLE[list(_SCALARS)] = _SCALAR
_ROLE[list(_VECTORS)] = _VECTOR
_ROLE[_HASH], _ROLE[_DOLLAR], _ROLE[_NEWLINE] = _TIME, _KEYWORD, _BLANK
_SCALAR_VALUE = np.full(256, UNKNOWN, dtype=np.int8)
_SCALAR_VALUE[[ord("0"), ord("1")]] = 0, 1
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)


def _is_plain(text: bytes, data: Any, newlines: int, role: Any) -> bool:
    """Whether each line is one change: the only blanks are those inside vectors' lines."""
    if np.count_nonzero(role == _KEYWORD) and b"$comment" in text:
        return False
    blanks = np.count_nonzero(data <= _SPACE) - newlines
    spaces = np.count_nonzero(data == _SPACE)
    return bool(blanks == spaces == np.count_nonzero(role == _VECTOR))


def _times(path: Path, data: Any, hashes: Any, length: Any, start: int) -> NDArray[np.int64]:
    """The numbers after the hashes, of so many digits."""
    times = np.zeros(len(hashes), dtype=np.int64)
    wrong = (length < 1) | (length > TIME_DIGITS)
    often = np.bincount(np.clip(length, 0, TIME_DIGITS + 1))[: TIME_DIGITS + 1]
    for digits in (np.flatnonzero(often[1:]) + 1).tolist():
        own = np.flatnonzero(length == digits)
        texts = np.ndarray((len(data) - digits + 1,), f"V{digits}", data, 0, (1,))[hashes[own] + 1]
        values = texts.view(np.uint8).reshape(-1, digits) - np.uint8(_ZERO)
        if values.max() > 9:
            wrong[own] = (values > 9).any(axis=1)
        times[own] = values @ 10 ** np.arange(digits - 1, -1, -1)
    if wrong.any():
        refuse_time(path, start + int(hashes[np.argmax(wrong)]) - 1)
    return times


def refuse_time(path: Path, at: int) -> NoReturn:
    """Complain of a time."""
    raise DataError(
        f"{path}: byte {at}: a time is not a number of at most {TIME_DIGITS} digits; "
        "the file is damaged"
    )


class _Vectors:
    """Binary numbers in text, read column by column."""

    def __init__(self, path: Path, data: Any, start: int, layout: Layout) -> None:
        self._path, self._data, self._start, self._layout = path, data, start, layout

    def read(self, first: Any, last: Any, signal: Any) -> NDArray[np.int64]:
        """The values in data[first:last]; leading zeros may be missing."""
        length = last - first
        self._refuse(length < 1, first, "a value has no bits")
        wide = length > self._layout.widths[signal]
        self._refuse(wide, first, "a value has more bits than its signal was declared with")
        value = np.zeros(len(first), dtype=np.int64)
        unknown = np.zeros(len(first), dtype=np.bool_)
        for place in range(int(length.max())):
            inside = place < length
            byte = self._data[np.minimum(first + place, last)]
            bit = byte == ord("1")
            known = bit | (byte == _ZERO)
            strange = inside & ~known & (_ROLE[byte] != _SCALAR)
            self._refuse(strange, first, "a value has a foreign digit")
            value = np.where(inside, value * 2 + bit, value)
            unknown |= inside & ~known
        value[unknown] = UNKNOWN
        return value

    def _refuse(self, wrong: Any, first: Any, why: str) -> None:
        if wrong.any():
            at = self._start + int(first[np.argmax(wrong)]) - 1
            raise DataError(f"{self._path}: byte {at}: {why}; the file is damaged")
