"""The table of blocks of an FST: checked before a foreign reader looks at the file.

What is packed as a whole, or cut, is copied: a reader gets the plain, whole blocks.
"""

from __future__ import annotations

import shutil
import struct
import weakref
import zlib
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cyclescope._files import scratch
from cyclescope.errors import DataError
from cyclescope.model import Anomaly, Severity

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

    from cyclescope.traces.wave._types import Limits

__all__ = ["Blocks", "whole_fst"]

_HEADER, _GEOMETRY, _PACKED, _OPEN = 0, 3, 254, 255
_HEADER_BYTES = 329
_NAMES = frozenset({4, 6, 7})  # the block of names: gzip, lz4, lz4 twice
_VALUES = frozenset({1, 5, 8})  # blocks of values, by how they are packed


class _Scratch:
    """A folder for copies, that goes with this object."""

    def __init__(self) -> None:
        stack = ExitStack()
        self.path = stack.enter_context(scratch("wave"))
        weakref.finalize(self, stack.close)


@dataclass
class Blocks:
    """The contents of the table.

    Attributes:
        path: a file of whole blocks: the one that was given, or a copy.
        begin, end: the first and the last time.
        anomalies: what is missing.
        size: bytes of the whole blocks.
        kinds: of blocks that are there.
        scratch: the folder of the copy.
    """

    path: Path
    begin: int = 0
    end: int = 0
    anomalies: list[Anomaly] = field(default_factory=list)
    size: int = 0
    kinds: set[int] = field(default_factory=set)
    scratch: _Scratch | None = None


def whole_fst(path: Path, limits: Limits) -> Blocks:
    """Look through an FST, and copy its whole blocks where it is packed or cut.

    Raises:
        DataError: it is damaged, or announces sizes beyond the limits.
    """
    try:
        with path.open("rb") as stream:
            packed = stream.read(1) == bytes([_PACKED])
        plain, cut = path, False
        copies = _Scratch() if packed else None
        if copies is not None:
            plain = copies.path / "wave.fst"
            cut = _unpack(path, plain, limits)
        blocks = _table(path, plain, limits)
        blocks.scratch = copies
        names = blocks.kinds >= {_HEADER, _GEOMETRY} and bool(blocks.kinds & _NAMES)
        beside = path.with_suffix(".fst.hier")
        if not names and not beside.is_file():
            raise DataError(
                f"{path}: lacks its head or its names: it was not closed when written, and no "
                f"{beside.name} is beside it; write it again"
            )
        if cut and not blocks.anomalies:
            blocks.anomalies.append(_cut(path.stat().st_size))
        if blocks.anomalies or not names:
            blocks.scratch = blocks.scratch or _Scratch()
            blocks.path = blocks.scratch.path / "whole.fst"
            with plain.open("rb") as stream, blocks.path.open("wb") as copy:
                _copy(stream, copy, blocks.size)
        if not names:
            shutil.copyfile(beside, blocks.path.with_suffix(".fst.hier"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    return blocks


def _copy(stream: BinaryIO, copy: BinaryIO, size: int) -> None:
    while size and (part := stream.read(min(size, 1 << 20))):
        copy.write(part)
        size -= len(part)


def _unpack(path: Path, plain: Path, limits: Limits) -> bool:
    """Write the contents of a packed file; return whether it ends too early."""
    with path.open("rb") as stream, plain.open("wb") as out:
        head = stream.read(17)
        announced = struct.unpack(">BQQ", head)[2] if len(head) == 17 else 0
        if announced > limits.unpacked_bytes:
            raise DataError(
                f"{path}: announces {announced:,} bytes when unpacked; at most "
                f"{limits.unpacked_bytes:,} are read"
            )
        unpacker = zlib.decompressobj(wbits=31)
        written = 0
        while not unpacker.eof and written < announced and (part := stream.read(1 << 16)):
            while part and written < announced:
                try:
                    text = unpacker.decompress(part, 1 << 20)
                except zlib.error as error:
                    if not written:
                        raise DataError(f"{path}: its packed part is damaged: {error}") from error
                    return True
                written += out.write(text)
                part = unpacker.unconsumed_tail
        return written < announced


def _table(path: Path, plain: Path, limits: Limits) -> Blocks:
    """Walk over the blocks: type, length, contents; the sizes they announce must be bearable."""
    blocks = Blocks(plain)
    begins: list[int] = []
    size = plain.stat().st_size
    at = 0
    with plain.open("rb") as stream:
        while at < size:
            stream.seek(at)
            head = stream.read(9)
            kind, length = struct.unpack(">BQ", head) if len(head) == 9 else (_OPEN, 0)
            if kind == _OPEN and length == 0:
                # A block that was being written, and not more than announced.
                blocks.anomalies.append(_cut(size - at))
                break
            if length < 8:
                raise DataError(f"{path}: byte {at}: a block has no length; the file is damaged")
            if at + 1 + length > size:
                blocks.anomalies.append(_cut(size - at))
                break
            blocks.kinds.add(kind)
            if kind == _HEADER:
                _check_header(path, stream.read(_HEADER_BYTES), limits)
            elif kind == _GEOMETRY:
                _check_geometry(path, stream.read(length - 8), limits)
            elif kind in _NAMES:
                _check_announced(path, stream.read(8), limits.header_bytes, "names")
            elif kind in _VALUES:
                begin, end, memory = struct.unpack(">QQQ", stream.read(24).ljust(24, b"\0"))
                if begin > end or end >> 62 or memory > limits.memory_bytes:
                    raise DataError(f"{path}: byte {at}: the head of a block of values is damaged")
                begins.append(begin)
                blocks.end = max(blocks.end, end)
            at += 1 + length
    blocks.size = min(at, size)
    blocks.begin = min(begins, default=0)
    return blocks


def _cut(rest: int) -> Anomaly:
    detail = f"the last {rest} bytes are no whole block"
    return Anomaly("waveform cut", Severity.DATA_LOSS, 1, detail)


def _check_header(path: Path, head: bytes, limits: Limits) -> None:
    if len(head) < 64:
        raise DataError(f"{path}: its head is too short; the file is damaged")
    scopes, variables, signals = struct.unpack(">QQQ", head[32:56])
    if max(scopes, variables, signals) > limits.signals:
        raise DataError(f"{path}: announces more than {limits.signals:,} scopes or variables")


def _check_announced(path: Path, field: bytes, limit: int, what: str) -> int:
    announced = int.from_bytes(field, "big")
    if len(field) < 8 or announced > limit:
        raise DataError(f"{path}: announces more than {limit:,} bytes of {what}")
    return announced


def _check_geometry(path: Path, block: bytes, limits: Limits) -> None:
    """The widths of all signals, as numbers of seven bits a byte."""
    announced = _check_announced(path, block[:8], 10 * limits.signals, "widths")
    data = block[16:]
    if len(data) != announced:
        try:
            data = zlib.decompressobj().decompress(data, announced + 1)
        except zlib.error as error:
            raise DataError(f"{path}: its table of widths is damaged: {error}") from error
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            # 0 is a real number, all ones a string of any length.
            if limits.width < value != 0xFFFFFFFF:
                raise DataError(
                    f"{path}: a variable of {value:,} bits; at most {limits.width:,} are read"
                )
            value = shift = 0
        elif shift > 63:
            raise DataError(f"{path}: its table of widths is damaged")
