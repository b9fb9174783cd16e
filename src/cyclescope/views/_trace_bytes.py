"""Perfetto packets as bytes, a track at a time.

A timeline has millions of slice ends; built one message at a time they would take minutes. Here
the packets of a track are of one length (until time stamps need more bytes), so they are rows of an
array: the row of each name is encoded once, the rows are copied in order, and the time stamps are
filled in by column. That a number may be written with more bytes than it needs (continuation bits
with nothing behind them) is what makes the lengths equal; protocol buffers allow it.

Field numbers are those of Perfetto's `TracePacket` and `TrackEvent` messages. Each track is a
packet sequence of its own, so that the sequence's defaults name the track once for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cyclescope.model import Ints

__all__ = ["Slices", "counter_packets", "edge_packets", "edges", "varint"]

_BEGIN, _END, _COUNTER = 1, 2, 4  # TrackEvent.Type
_NEEDS_STATE = 2  # TracePacket.SequenceFlags: interned names are in use
_CHUNK = 1 << 17  # packets encoded at a time
_EARLY = 1 << 28  # times below need a time stamp of 4 bytes only

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Slices:
    """Slices of one track, that nest or alternate.

    Attributes:
        names: how many names there are.
        which: for each slice its name's index; of slices that begin at once the lower encloses.
        start, end: half-open, in ticks.
    """

    names: int
    which: Ints
    start: Ints
    end: Ints


def varint(value: int, length: int | None = None) -> bytes:
    """A number in protocol buffers' form, filled up to a length if one is given."""
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    if length is not None and len(result) < length:
        result[-1] |= 0x80
        result += b"\x80" * (length - len(result) - 1) + b"\x00"
    return bytes(result)


def _field(number: int, value: int, length: int | None = None) -> bytes:
    return varint(number << 3) + varint(value, length)


def _message(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def _time_size(last: int) -> int:
    """Bytes for a time stamp: 4, as long as 28 bits suffice, else 9."""
    return 4 if last < _EARLY else 9


def _packet(sequence: int, time_size: int, event: bytes) -> bytes:
    """A packet with space for its time stamp right behind a fixed beginning."""
    content = varint(8 << 3) + bytes(time_size) + _field(10, sequence) + _field(13, _NEEDS_STATE)
    return _message(1, content + _message(11, event))


def _fill(rows: Bytes, at: int, length: int, values: Ints) -> None:
    """Write numbers of so many bytes into the rows, from a column on."""
    if length == 4:
        # The usual case, in one word a row.
        small = values.astype(np.uint32)
        word = small & 0x7F
        for place in range(1, 4):
            small <<= 1
            word |= small & np.uint32(0x7F << 8 * place)
        word |= np.uint32(0x808080)
        np.ndarray(len(rows), "<u4", rows.data, at, (rows.shape[1],))[:] = word
        return
    rest = values.astype(np.uint64)
    for column in range(at, at + length):
        more = 0x80 if column < at + length - 1 else 0
        rows[:, column] = (rest & np.uint64(0x7F)).astype(np.uint8) | np.uint8(more)
        rest >>= np.uint64(7)


def edges(slices: Slices) -> tuple[Ints, Ints]:
    """The edges of slices in order, as `edge_packets` takes them."""
    # Of edges at one time ends come first, all alike: each ends the innermost slice. Then
    # beginnings, outer ones first.
    bits = slices.names.bit_length()
    count = len(slices.which)
    key = np.empty(2 * count, dtype=np.int64)
    np.left_shift(slices.end, bits, out=key[:count])
    np.left_shift(slices.start, bits, out=key[count:])
    key[count:] += slices.which
    key[count:] += 1
    key.sort()
    return key >> bits, (key & (1 << bits) - 1) - 1


def edge_packets(
    parts: Iterable[tuple[Ints, Ints]], names: int, sequence: int, located: NDArray[np.bool_]
) -> Iterator[Bytes]:
    """The packets of a track's slices, given by their edges.

    Args:
        parts: (time, which) in order of time, in ticks: which name's slice begins, or -1 where the
            innermost one ends.
        names: how many names there are.
        sequence: the packet sequence, whose defaults name the track. Name i has the interned
            id i + 1 on it.
        located: for each name whether the interned source location i + 1 belongs to it.

    Yields:
        Arrays of shape (packets, bytes of a packet): whole packets.
    """
    templates: dict[int, Bytes] = {}
    for time, which in parts:
        early = int(np.searchsorted(time, _EARLY))
        for time_size, part in ((4, slice(0, early)), (9, slice(early, len(time)))):
            for first in range(part.start, part.stop, _CHUNK):
                some = slice(first, min(first + _CHUNK, part.stop))
                if time_size not in templates:
                    templates[time_size] = _template(time_size, names, sequence, located)
                packets = np.take(templates[time_size], which[some] + 1, axis=0)
                at = 1 + len(varint(packets.shape[1] - 2)) + 1
                _fill(packets, at, time_size, time[some])
                yield packets


def _template(time_size: int, names: int, sequence: int, located: NDArray[np.bool_]) -> Bytes:
    """A packet that ends a slice, and one for each name that begins one, all of one length."""
    digits = len(varint(names))
    locating = 2 + digits  # a source location's field: two bytes of tag, then its id
    ending = _field(9, _END, 2 + digits + locating)
    rows = [_packet(sequence, time_size, ending)]
    for name in range(names):
        with_line = bool(located[name])
        event = _field(9, _BEGIN) + _field(10, name + 1, digits + (0 if with_line else locating))
        if with_line:
            event += _field(34, name + 1, digits)
        rows.append(_packet(sequence, time_size, event))
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(names + 1, -1)


def counter_packets(time: Ints, value: Ints, sequence: int) -> Iterator[Bytes]:
    """The packets of a counter that takes values at ascending times."""
    if not len(time):
        return
    time_size = _time_size(int(time[-1]))
    least = int(value.min())
    digits = 10 if least < 0 else len(varint(int(value.max())))
    event = _field(9, _COUNTER) + varint(30 << 3) + bytes(digits)
    template = np.frombuffer(_packet(sequence, time_size, event), dtype=np.uint8)
    for first in range(0, len(time), _CHUNK):
        part = slice(first, first + _CHUNK)
        rows = np.tile(template, (len(time[part]), 1))
        _fill(rows, 3, time_size, time[part])
        _fill(rows, rows.shape[1] - digits, digits, value[part])
        yield rows
