"""A VCD as a stream: pieces of its text are read side by side by the native module.

Memory grows with the changes of the signals that were asked for, not with the file.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope._native import VcdBody
from cyclescope.errors import DataError
from cyclescope.model import Anomaly, Severity
from cyclescope.traces._text import Text, open_compressed
from cyclescope.traces.wave._header import Header, find_end, read_header
from cyclescope.traces.wave._raw import Raw, ground, of_signals
from cyclescope.traces.wave._types import LIMITS, UNKNOWN, Changes, Limits, Signal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from cyclescope.model import Ints

__all__ = ["VcdFile"]

_PIECE = 512 << 10
_WAITING = 4  # pieces in work at once; each takes some ten times its size
_WORDS = frozenset({b"$end", b"$dumpall", b"$dumpvars", b"$dumpon", b"$dumpoff"})
_TIME_DIGITS = 18  # times are integers of 64 bits; the standard knows no more either


@dataclass(frozen=True)
class _Piece:
    """Changes in a piece of text, with texts of its own; and how it ends.

    `step` counts its own times, -1 before the first, and the times count units of 10^-decimals;
    `strange` are words that are no VCD, `early` says that values come before the first time,
    `comment` that it ends inside a comment, `open` that its last line has no end.
    """

    times: NDArray[np.int64]
    step: NDArray[np.int32]
    signal: NDArray[np.int32]
    value: NDArray[np.signedinteger[Any]]
    texts: list[str]
    decimals: int
    strange: int
    early: bool
    comment: bool
    open: bool = False


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
        while find_end(head) is None and len(head) <= self._limits.header_bytes:
            more = text.read(size)
            head += more
            if not more:
                break
            size = len(head)
        if not head.strip():
            raise DataError(f"{self.path}: is empty; give a VCD, FST or GHW file")
        header = read_header(self.path, head, self._limits)
        if header.size > self._limits.header_bytes:
            raise DataError(
                f"{self.path}: declarations go on after {self._limits.header_bytes:,} bytes"
            )
        return header

    def read(self, wanted: Sequence[Signal]) -> Changes:
        """The changes of these signals; see `Waveform.read`."""
        keys = ground(wanted)
        for signal in wanted:
            if any(min(key) <= ord(" ") for key, _ in signal.parts or ((signal.key, 0),)):
                raise DataError(
                    f"{self.path}: {signal.full_name}: its identifier contains a control "
                    "character; the file is damaged"
                )
        body = VcdBody(list(keys), list(keys.values()))
        small = np.int32 if max(keys.values(), default=0) < 31 else np.int64
        joined = _Joined(self.path, self._limits)
        with open_compressed(self.path) as stream:
            text = Text(self.path, stream)
            for piece in self._pieces(text, body, small):
                joined.add(piece)
        raw, anomalies = joined.raw(text.cut)
        end = int(raw.times.max(initial=0))
        return of_signals(raw, wanted, end, 10**joined.decimals, anomalies)

    def _pieces(self, text: Text, body: VcdBody, small: type[Any]) -> Iterator[_Piece]:
        comment = False

        def result(job: tuple[int, bytes, bool, Future[_Piece]]) -> _Piece:
            nonlocal comment
            start, chunk, last, future = job
            # That no comment goes on from the piece before was a guess.
            piece = self._read(body, small, chunk, start, True) if comment else future.result()
            comment = piece.comment
            return replace(piece, open=True) if last else piece

        jobs: deque[tuple[int, bytes, bool, Future[_Piece]]] = deque()
        with ThreadPoolExecutor(2) as pool:
            try:
                for start, chunk, last in self._chunks(text):
                    future = pool.submit(self._read, body, small, chunk, start, False)
                    jobs.append((start, chunk, last, future))
                    if len(jobs) >= _WAITING:
                        yield result(jobs.popleft())
                while jobs:
                    yield result(jobs.popleft())
            finally:
                for *_, future in jobs:
                    future.cancel()

    def _read(
        self, body: VcdBody, small: type[Any], text: bytes, start: int, comment: bool
    ) -> _Piece:
        try:
            changes, decimals, strange, early, inside = body.read(text, comment)
        except ValueError as error:
            why, at = error.args
            if why == "time":
                why = f"a time is not a number of at most {_TIME_DIGITS} digits"
            raise DataError(f"{self.path}: byte {start + at}: {why}; the file is damaged") from None
        times, step, signal, value, texts = changes
        values = np.frombuffer(value, np.int64)
        return _Piece(
            np.frombuffer(times, np.int64),
            np.frombuffer(step, np.int32),
            np.frombuffer(signal, np.int32),
            values if texts else values.astype(small),
            texts,
            decimals,
            strange,
            early,
            inside,
        )

    def _chunks(self, text: Text) -> Iterator[tuple[int, bytes, bool]]:
        """The text after the head, cut before lines that begin with a time.

        Yields (offset, text, whether its last line has no end).
        """
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
                last = text_now[whole:].strip()
                if last and not text.cut and self._complete(last):
                    yield at, text_now + b"\n", True
                    return
                text.cut |= bool(last)
                if whole:
                    yield at, text_now[:whole], False
                return
            end = text_now.rfind(b"\n#") + 1
            if not end and len(text_now) > self._limits.step_bytes:
                raise DataError(
                    f"{self.path}: byte {at}: no new time in {self._limits.step_bytes:,} bytes"
                )
            if end:
                yield at, text_now[:end], False
            at += end
            carry = text_now[end:]

    def _complete(self, line: bytes) -> bool:
        """Return whether a last line that has no end cannot have been longer.

        A time may have been: it then shows less than there was, and nothing that was not.
        """
        *value, key = line.split()
        if key[:1] in (b"#", b"$") and not value:
            return key[1:].isdigit() or key in _WORDS
        if not value:
            value, key = [key[:1]], key[1:]
        keys = {k for signal in self.signals for k in signal.key.split()}
        goes_on = any(other.startswith(key) and other != key for other in keys)
        return len(value) == 1 and key in keys and not goes_on


class _Joined:
    """Pieces in the order of the file, put together."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path, self._limits = path, limits
        self._pieces: list[_Piece] = []
        self._texts: dict[str, int] = {}
        self._changes = 0
        self._steps = 0
        self.decimals = 0

    def add(self, piece: _Piece) -> None:
        """Take in the next piece."""
        early = not self._steps and piece.early
        self.decimals = max(self.decimals, piece.decimals)
        if piece.texts:
            known = [self._texts.setdefault(t, len(self._texts)) for t in piece.texts]
            if len(known) > self._limits.texts or len(self._texts) > self._limits.texts:
                raise DataError(
                    f"{self._path}: more than {self._limits.texts:,} values that are not small "
                    "numbers; choose signals that are states, not data"
                )
            code = -2 - np.array(known, dtype=np.int64)
            text = piece.value < UNKNOWN
            value = piece.value.copy()
            value[text] = code[-2 - piece.value[text]]
            piece = replace(piece, value=value)
        if early and (not len(piece.times) or piece.times[0] > 0):
            # What comes before the first time is valid from the beginning.
            piece = replace(piece, times=np.append(0, piece.times), step=piece.step + 1)
        # A piece's first changes may belong to the last time of the piece before.
        step = np.maximum(piece.step + self._steps, 0)
        self._pieces.append(replace(piece, step=step.astype(np.int32)))
        self._steps += len(piece.times)
        self._changes += len(piece.signal)
        if self._changes > self._limits.changes:
            raise DataError(f"{self._path}: more than {self._limits.changes:,} changes")

    def raw(self, cut: bool) -> tuple[Raw, list[Anomaly]]:
        """All changes, and what was strange on the way."""
        times = _joined([self._scaled(piece) for piece in self._pieces], np.int64)
        back = len(times) > 1 and times[-1] < times[-2]
        if back and (last := self._pieces[-1]).open and last.step.max(initial=-1) < len(times) - 1:
            # It is the file's last word, and may have been longer.
            times, cut = times[:-1], True
        strange = sum(piece.strange for piece in self._pieces)
        raw = Raw(
            times=times if len(times) else np.zeros(1, dtype=np.int64),
            step=_joined([p.step for p in self._pieces], np.int32),
            signal=_joined([p.signal for p in self._pieces], np.int32),
            value=_joined([p.value for p in self._pieces], np.int32),
            texts=list(self._texts),
        )
        return raw, list(_anomalies(times, cut, strange))

    def _scaled(self, piece: _Piece) -> Ints:
        factor: int = 10 ** (self.decimals - piece.decimals)
        if len(piece.times) and int(piece.times.max()) > np.iinfo(np.int64).max // factor:
            raise DataError(f"{self._path}: a time has more than {_TIME_DIGITS} digits")
        return piece.times * factor


def _anomalies(times: Ints, cut: bool, strange: int) -> Iterator[Anomaly]:
    if cut:
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
