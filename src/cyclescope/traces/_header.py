"""The head of a VCD (IEEE 1364-2005, section 18.2): scopes and variables, within limits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from cyclescope.errors import DataError
from cyclescope.traces._wave import Signal

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.traces._wave import Limits

__all__ = ["Header", "find_end", "read_header"]

_SECTION = re.compile(rb"\s*\$([a-z]+)(?:\s+(.*?))??\s+\$end(?=\s|\Z)", re.DOTALL)
_END = re.compile(rb"\$enddefinitions\s+\$end(?=\s)")
_RANGE = re.compile(r"\[-?\d+:-?\d+\]$")
_TIMESCALE = re.compile(rb"(\d+)\s*(s|ms|us|ns|ps|fs)")
_EXPONENT = {b"s": 15, b"ms": 12, b"us": 9, b"ns": 6, b"ps": 3, b"fs": 0}


@dataclass(frozen=True)
class Header:
    """Declared signals, femtoseconds of a tick (None if not said), and where values begin."""

    signals: tuple[Signal, ...]
    tick_fs: int | None
    size: int


def find_end(text: bytes) -> int | None:
    """Where the head ends: after `$enddefinitions $end`; None if it goes on."""
    found = _END.search(text)
    return found.end() if found else None


def read_header(path: Path, text: bytes, limits: Limits) -> Header:
    """Read the head of a VCD.

    Args:
        path: for messages.
        text: the file's beginning, up to and with `$enddefinitions $end`.
        limits: on variables, depth and width.

    Raises:
        DataError: it is no VCD, or a limit is exceeded.
    """
    reader = _Reader(path, limits)
    at = 0
    while True:
        section = _SECTION.match(text, at)
        if section is None and text[at:].lstrip()[:1] not in (b"", b"$"):
            reader.refuse(at, "is no VCD declaration; give a VCD or FST file")
        if section is None:
            reader.refuse(at, "the declarations do not end ($enddefinitions); the file was cut")
        keyword, body = section[1], section[2] or b""
        if keyword == b"enddefinitions":
            return Header(tuple(reader.signals), reader.tick_fs, section.end())
        reader.declare(keyword, body, section.start(1) - 1)
        at = section.end()


class _Reader:
    def __init__(self, path: Path, limits: Limits) -> None:
        self._path, self._limits = path, limits
        self.scopes: list[str] = []
        self._scope: tuple[str, ...] = ()
        self.signals: list[Signal] = []
        self.tick_fs: int | None = None

    def refuse(self, at: int, why: str) -> NoReturn:
        raise DataError(f"{self._path}: byte {at}: {why}")

    def declare(self, keyword: bytes, body: bytes, at: int) -> None:
        """Take in one section."""
        if keyword == b"scope":
            words = body.split()
            if len(words) < 2:
                self.refuse(at, "a scope has no name")
            if len(self.scopes) >= self._limits.depth:
                self.refuse(at, f"scopes lie more than {self._limits.depth:,} deep")
            self.scopes.append(b" ".join(words[1:]).decode(errors="replace"))
            self._scope = tuple(self.scopes)
        elif keyword == b"upscope":
            # One too many closes nothing: some simulators write it.
            del self.scopes[-1:]
            self._scope = tuple(self.scopes)
        elif keyword == b"var":
            self._variable(body.split(), at)
        elif keyword == b"timescale":
            scale = _TIMESCALE.fullmatch(b"".join(body.split()))
            if scale is None or len(scale[1]) > 3 or not int(scale[1]):
                self.refuse(at, "the time scale is no number of s, ms, us, ns, ps or fs")
            self.tick_fs = int(scale[1]) * 10 ** _EXPONENT[scale[2]]

    def _variable(self, words: list[bytes], at: int) -> None:
        if len(words) < 4:
            self.refuse(at, "a variable lacks its width, identifier or name")
        if not (words[1].isdigit() and len(words[1]) <= 10):
            self.refuse(at, "a variable's width is no number")
        width = int(words[1])
        if width > self._limits.width:
            self.refuse(
                at, f"a variable of {width:,} bits; at most {self._limits.width:,} are read"
            )
        if len(self.signals) >= self._limits.signals:
            self.refuse(at, f"more than {self._limits.signals:,} variables")
        name = _RANGE.sub("", b"".join(words[3:]).decode(errors="replace"))
        self.signals.append(Signal(self._scope, name, width, words[2]))
