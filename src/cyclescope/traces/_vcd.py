"""The values of a VCD: a reader that looks only at the signals asked for.

A long VCD is mostly changes of signals that nobody asks for. So the text is searched in pieces
for the ends of lines and for identifiers' last two bytes; only the few lines that pass are read.
That holds where each change has a line of its own, as all known simulators write; a piece that
is laid out in another way goes word by word.
"""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope.errors import DataError
from cyclescope.model import Anomaly, Severity
from cyclescope.traces._header import Header, find_end, read_header
from cyclescope.traces._lines import Layout, Piece, read_lines
from cyclescope.traces._wave import LIMITS, Changes, Limits, Signal
from cyclescope.traces._words import WordReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedIOBase
    from pathlib import Path

    from numpy.typing import NDArray

    from cyclescope.model import Ints

__all__ = ["Text", "VcdFile", "open_compressed"]

_PIECE = 512 << 10
_ID_BYTES = 8
_WAITING = 4  # pieces in work at once; each takes some ten times its size


def open_compressed(path: Path) -> BufferedIOBase:
    """Open a file that may be packed by gzip or xz.

    Raises:
        DataError: it cannot be opened.
    """
    try:
        with path.open("rb") as stream:
            magic = stream.read(6)
        if magic.startswith(b"\x1f\x8b"):
            return gzip.open(path)
        if magic == b"\xfd7zXZ\x00":
            return lzma.open(path)
        return path.open("rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


class Text:
    """A file's text in pieces; remembers whether it ends too early."""

    def __init__(self, path: Path, stream: BufferedIOBase) -> None:
        self._path, self._stream = path, stream
        self.cut = False

    def read(self, size: int) -> bytes:
        """The next bytes; fewer at the end, or where packed text is cut off or damaged."""
        parts: list[bytes] = []
        missing = size
        try:
            # read1 gives what could be unpacked before a break, read would lose it.
            while missing and not self.cut and (part := self._stream.read1(missing)):
                parts.append(part)
                missing -= len(part)
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile):
            self.cut = True
        except OSError as error:
            raise DataError(f"{self._path}: cannot be read: {error.strerror or error}") from error
        return b"".join(parts)


class VcdFile:
    """A VCD, packed or not. See `Waveform`."""

    form = "VCD"

    def __init__(self, path: Path, limits: Limits = LIMITS) -> None:
        self.path, self._limits = path, limits
        with open_compressed(path) as stream:
            self._header = self._head(Text(path, stream))
        self.signals: Sequence[Signal] = self._header.signals
        self.tick_fs = self._header.tick_fs

    def _head(self, text: Text) -> Header:
        size = 1 << 16
        head = b""
        while find_end(head) is None:
            more = text.read(size)
            head += more
            if not more:
                break
            if len(head) > self._limits.header_bytes:
                raise DataError(
                    f"{self.path}: declarations go on after {self._limits.header_bytes:,} bytes"
                )
            size = len(head)
        if not head.strip():
            raise DataError(f"{self.path}: is empty; give a VCD or FST file")
        return read_header(self.path, head, self._limits)

    def read(self, wanted: Sequence[Signal]) -> Changes:
        """The changes of these signals; see `Waveform.read`."""
        layout = self._layout(wanted)
        pieces: list[Piece] = []
        found = 0
        with open_compressed(self.path) as stream:
            text = Text(self.path, stream)
            for piece in self._pieces(text, layout):
                pieces.append(piece)
                found += len(piece.signal)
                if found > self._limits.changes:
                    raise DataError(f"{self.path}: more than {self._limits.changes:,} changes")
        return self._join(pieces, text)

    def _layout(self, wanted: Sequence[Signal]) -> Layout:
        for signal in wanted:
            if len(signal.key) > _ID_BYTES:
                raise DataError(
                    f"{self.path}: {signal.full_name}: its identifier is longer than "
                    f"{_ID_BYTES} bytes; write the VCD with another tool"
                )
            if min(signal.key) <= ord(" "):
                raise DataError(
                    f"{self.path}: {signal.full_name}: its identifier holds a control character; "
                    "the file is damaged"
                )
        return Layout([signal.key for signal in wanted], [signal.width for signal in wanted])

    def _pieces(self, text: Text, layout: Layout) -> Iterator[Piece]:
        words = WordReader(self.path, layout)

        def result(job: tuple[int, bytes, Future[Piece | None]]) -> Piece:
            start, chunk, future = job
            quick = None if words.inside_comment else future.result()
            # Comments and unusual layouts need to know how the piece before them ended.
            return words.read(chunk, start) if quick is None else quick

        jobs: deque[tuple[int, bytes, Future[Piece | None]]] = deque()
        with ThreadPoolExecutor(2) as pool:
            try:
                for start, chunk in self._chunks(text):
                    future = pool.submit(read_lines, self.path, chunk, start, layout)
                    jobs.append((start, chunk, future))
                    if len(jobs) >= _WAITING:
                        yield result(jobs.popleft())
                while jobs:
                    yield result(jobs.popleft())
            finally:
                for _, _, future in jobs:
                    future.cancel()

    def _chunks(self, text: Text) -> Iterator[tuple[int, bytes]]:
        """The text after the head, cut before lines that begin with a time: (offset, bytes)."""
        at = self._header.size
        skip = at
        while skip:
            got = len(text.read(min(skip, 1 << 20)))
            skip = skip - got if got else 0
        carry = b""
        while True:
            more = text.read(_PIECE)
            text_now = carry + more
            if not more:
                whole = text_now.rfind(b"\n") + 1
                if text_now[whole:].strip():
                    # The last line has no end: nobody knows how it would have gone on.
                    text.cut = True
                if whole:
                    yield at, text_now[:whole]
                return
            end = text_now.rfind(b"\n#") + 1
            if not end and len(text_now) > self._limits.step_bytes:
                raise DataError(
                    f"{self.path}: byte {at}: no new time in {self._limits.step_bytes:,} bytes"
                )
            if end:
                yield at, text_now[:end]
            at += end
            carry = text_now[end:]

    def _join(self, pieces: list[Piece], text: Text) -> Changes:
        base = 0
        steps: list[NDArray[np.int32]] = []
        for piece in pieces:
            # A piece's first changes may belong to the last time of the piece before.
            step = piece.step
            step += base
            np.maximum(step, 0, out=step)
            steps.append(step)
            base += len(piece.times)
        times = _joined([p.times for p in pieces], np.int64)
        return Changes(
            times=times if len(times) else np.zeros(1, dtype=np.int64),
            step=_joined(steps, np.int32),
            signal=_joined([p.signal for p in pieces], np.int32),
            value=_joined([p.value for p in pieces], np.int32),
            end=int(times.max(initial=0)),
            anomalies=tuple(self._anomalies(times, text, sum(p.strange for p in pieces))),
        )

    def _anomalies(self, times: Ints, text: Text, strange: int) -> Iterator[Anomaly]:
        if text.cut:
            yield Anomaly(
                "waveform cut", Severity.DATA_LOSS, 1, "the file ends in the middle of a line"
            )
        if strange:
            detail = "words that are no VCD; some changes may be missing"
            yield Anomaly("waveform damaged", Severity.DATA_LOSS, strange, detail)
        backward = int(np.count_nonzero(times[1:] < times[:-1]))
        if backward:
            where = int(np.flatnonzero(times[1:] < times[:-1])[0])
            detail = f"first from {times[where]} to {times[where + 1]}"
            yield Anomaly("time runs back", Severity.DATA_LOSS, backward, detail)


def _joined(parts: list[Any], dtype: type[np.signedinteger[Any]]) -> Any:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)
