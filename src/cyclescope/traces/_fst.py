"""An FST, read by pywellen in a process of its own that can be stopped.

A foreign reader may panic, hang or ask for all memory on a damaged file. So the file's own table
of blocks is checked first, and the rest happens where limits hold; see `_worker`.
"""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.errors import DataError
from cyclescope.model import Anomaly, Severity
from cyclescope.traces._wave import LIMITS, Changes, Limits, Signal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["FstFile"]

_HEADER, _GEOMETRY, _PACKED = 0, 3, 254
_HEADER_BYTES = 329
_NAMES = frozenset({4, 6, 7})  # the block of names: gzip, lz4, lz4 twice
_VALUES = frozenset({1, 5, 8})  # blocks of values, by how they are packed


class FstFile:
    """An FST. See `Waveform`."""

    form = "FST"

    def __init__(self, path: Path, limits: Limits = LIMITS) -> None:
        self.path, self._limits = path, limits
        self._anomalies: list[Anomaly] = []
        self._end = _check_blocks(path, limits, self._anomalies)
        head = json.loads(self._worker({"signals": limits.signals}))
        self.tick_fs: int | None = head["tick_fs"]
        signals: list[Signal] = []
        for scope, name, width, key in head["signals"]:
            if len(scope) > limits.depth:
                raise DataError(f"{path}: scopes lie more than {limits.depth:,} deep")
            signals.append(Signal(tuple(scope), name, width, key.encode()))
        self.signals: Sequence[Signal] = tuple(signals)

    def read(self, wanted: Sequence[Signal]) -> Changes:
        """The changes of these signals; see `Waveform.read`."""
        keys = [signal.key.decode() for signal in wanted]
        reply = self._worker({"read": keys, "changes": self._limits.changes})
        with np.load(io.BytesIO(reply), allow_pickle=False) as arrays:
            time, signal, value = (arrays[name] for name in ("time", "signal", "value"))
        for place, one in enumerate(wanted):
            own = value[signal == place]
            # One that never has a value is below 0 throughout.
            if len(own) and int(own.max()) >= 1 << one.width:
                raise DataError(
                    f"{self.path}: {one.full_name}: a value has more bits than were declared; "
                    "the file is damaged"
                )
        first = np.concatenate(([True], time[1:] != time[:-1]))[: len(time)]
        times = time[first]
        return Changes(
            times=times if len(times) else np.zeros(1, dtype=np.int64),
            step=(np.cumsum(first) - 1).astype(np.int32),
            signal=signal,
            value=value,
            end=self._end,
            anomalies=tuple(self._anomalies),
        )

    def _worker(self, request: dict[str, object]) -> bytes:
        limits = self._limits
        order = {
            **request,
            "path": str(self.path.resolve()),
            "seconds": limits.seconds,
            "memory": limits.memory_bytes,
        }
        command = [sys.executable, "-I", "-c", _START, json.dumps(sys.path)]
        try:
            done = subprocess.run(
                command,
                input=json.dumps(order).encode(),
                capture_output=True,
                timeout=limits.seconds + limits.grace,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise self._refused(f"reading it took more than {limits.seconds} s") from None
        status, _, reply = done.stdout.partition(b"\n")
        if done.returncode == 0 and status == b"ok":
            return reply
        if done.returncode == 0 and status == b"refused":
            raise self._refused(" ".join(reply.decode(errors="replace").split())[:200])
        raise self._refused("its reader broke down")

    def _refused(self, why: str) -> DataError:
        return DataError(f"{self.path}: cannot be read: {why}; write it again, or as VCD")


# The child must find this package and pywellen where the parent does, and nothing else.
_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from cyclescope.traces._worker import main; main()"
)


def _check_blocks(path: Path, limits: Limits, anomalies: list[Anomaly]) -> int:
    """Walk over the blocks: type, length, contents; the sizes they announce must be bearable.

    Returns:
        The last time.
    """
    last = 0
    size = path.stat().st_size
    kinds: set[int] = set()
    with path.open("rb") as stream:
        at = 0
        while at < size:
            stream.seek(at)
            head = stream.read(9)
            if len(head) < 9:
                anomalies.append(_cut(size - at))
                break
            kind, length = struct.unpack(">BQ", head)
            if kind == _PACKED:
                raise DataError(f"{path}: is packed as a whole; unpack it with GTKWave's tools")
            if length < 8:
                raise DataError(f"{path}: byte {at}: a block has no length; the file is damaged")
            if at + 1 + length > size:
                anomalies.append(_cut(size - at))
                break
            kinds.add(kind)
            if kind == _HEADER:
                _check_header(path, stream.read(_HEADER_BYTES), limits)
            elif kind == _GEOMETRY:
                _check_geometry(path, stream.read(length - 8), limits)
            elif kind in _NAMES:
                _check_announced(path, stream.read(8), limits.header_bytes, "names")
            elif kind in _VALUES:
                begin, end, memory = struct.unpack(">QQQ", stream.read(24).ljust(24, b"\0"))
                if begin > end or end >> 62 or memory > limits.memory_bytes:
                    raise DataError(f"{path}: byte {at}: a block of values announces nonsense")
                last = max(last, end)
            at += 1 + length
    if _HEADER not in kinds or _GEOMETRY not in kinds or not kinds & _NAMES:
        raise DataError(f"{path}: lacks its head or its names; it was not closed when written")
    return last


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
