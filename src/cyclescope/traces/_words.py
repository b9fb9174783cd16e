"""A piece of VCD text of any layout, read word by word: slower, and right for all of VCD."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.errors import DataError
from cyclescope.traces._lines import TIME_DIGITS, Layout, Piece, refuse_time
from cyclescope.traces._wave import UNKNOWN

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["WordReader"]

_WORD = re.compile(rb"\S+")
_UNKNOWN_BITS = frozenset(b"01xXzZuUwWlLhH-")


class WordReader:
    """Reads pieces in the order of the file; a comment may go on from one to the next."""

    def __init__(self, path: Path, layout: Layout) -> None:
        self._path, self._layout = path, layout
        self.inside_comment = False

    def read(self, text: bytes, start: int) -> Piece:
        """Read a piece that begins and ends between two words.

        Raises:
            DataError: a time or a value of a wanted signal cannot be read.
        """
        times: list[int] = []
        rows: list[tuple[int, int, int]] = []
        index = self._layout.index
        pending: bytes | None = None
        strange = 0
        for word in _WORD.finditer(text):
            token, at = word[0], start + word.start()
            if self.inside_comment:
                self.inside_comment = token != b"$end"
            elif pending is not None:
                signal = index.get(token)
                if signal is not None:
                    rows.append((len(times) - 1, signal, self._vector(pending, signal, at)))
                pending = None
            elif token[0] == ord("#"):
                if not (token[1:].isdigit() and len(token) <= TIME_DIGITS + 1):
                    refuse_time(self._path, at)
                times.append(int(token[1:]))
            elif token[:1] in b"bBrRsS":
                pending = token
            elif token == b"$comment":
                self.inside_comment = True
            elif token[0] in _UNKNOWN_BITS:
                signal = index.get(token[1:])
                if signal is not None:
                    rows.append((len(times) - 1, signal, {48: 0, 49: 1}.get(token[0], UNKNOWN)))
            elif token[0] != ord("$"):
                strange += 1
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        return Piece(
            np.array(times, dtype=np.int64),
            table[:, 0].astype(np.int32),
            table[:, 1].astype(np.int32),
            table[:, 2].astype(self._layout.value_type),
            strange,
        )

    def _vector(self, token: bytes, signal: int, at: int) -> int:
        bits = token[1:]
        why = ""
        if token[:1] not in b"bB":
            why = "a wanted signal has values that are no bits"
        elif not bits:
            why = "a value has no bits"
        elif len(bits) > self._layout.widths[signal]:
            why = "a value has more bits than its signal was declared with"
        elif not _UNKNOWN_BITS.issuperset(bits):
            why = "a value has a foreign digit"
        if why:
            raise DataError(f"{self._path}: byte {at}: {why}; the file is damaged")
        return int(bits, 2) if not bits.strip(b"01") else UNKNOWN
