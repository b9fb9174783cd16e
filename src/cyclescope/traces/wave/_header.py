"""The head of a VCD (IEEE 1364-2005, section 18.2): scopes and variables, within limits."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

from cyclescope.errors import DataError
from cyclescope.traces.wave._types import Signal, SignalKind

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.traces.wave._types import Limits

__all__ = ["Header", "find_end", "read_header"]

_SECTION = re.compile(rb"\s*\$([a-z]+)(?:\s+(.*?))??\s+\$end(?=\s|\Z)", re.DOTALL)
_END = re.compile(rb"\$enddefinitions\s+\$end(?=\s)")
# Where values begin in a file that does not end its declarations.
_VALUES = re.compile(rb"\s*(?:\$dump(?:vars|all|on|off)\s|#\d)")
_RANGE = re.compile(r"\[(-?\d{1,9})(?::(-?\d{1,9}))?\]$")
_TIMESCALE = re.compile(rb"(\d{1,18}(?:\.\d{1,18})?)(s|ms|us|ns|ps|fs|as|zs)")
_EXPONENT = {b"s": 15, b"ms": 12, b"us": 9, b"ns": 6, b"ps": 3, b"fs": 0, b"as": -3, b"zs": -6}
_KINDS = {
    b"real": SignalKind.REAL,
    b"realtime": SignalKind.REAL,
    b"real_parameter": SignalKind.REAL,
    b"shortreal": SignalKind.REAL,
    b"string": SignalKind.STRING,
    b"event": SignalKind.EVENT,
}


@dataclass(frozen=True)
class Header:
    """Declared signals, femtoseconds of a tick (None if not said), and where values begin."""

    signals: tuple[Signal, ...]
    tick_fs: Fraction | None
    size: int


def find_end(text: bytes) -> int | None:
    """The end of the head: after `$enddefinitions $end`; None if it goes on."""
    found = _END.search(text)
    return found.end() if found else None


def read_header(path: Path, text: bytes, limits: Limits) -> Header:
    """Read the head of a VCD.

    Args:
        path: for messages.
        text: the file's beginning, with `$enddefinitions $end` if it has that.
        limits: on variables, depth and width.

    Raises:
        DataError: it is no VCD, or a limit is exceeded.
    """
    reader = _Reader(path, limits)
    at = 0
    while True:
        if reader.signals and _VALUES.match(text, at):
            return Header(reader.whole(), reader.tick_fs, at)
        section = _SECTION.match(text, at)
        if section is None and text[at:].lstrip()[:1] not in (b"", b"$"):
            reader.refuse(at, "is not a VCD declaration; give a VCD, FST or GHW file")
        if section is None:
            reader.refuse(at, "the declarations do not end ($enddefinitions); the file was cut")
        keyword, body = section[1], section[2] or b""
        if keyword == b"enddefinitions":
            return Header(reader.whole(), reader.tick_fs, section.end())
        reader.declare(keyword, body, section.start(1) - 1)
        at = section.end()


class _Reader:
    def __init__(self, path: Path, limits: Limits) -> None:
        self._path, self._limits = path, limits
        self.scopes: list[str] = []
        self._scope: tuple[str, ...] = ()
        self.signals: list[Signal] = []
        # Of the last signal, while more bits of it may follow: its highest and lowest bit, parts.
        self._bits: tuple[int, int, deque[tuple[bytes, int]]] | None = None
        self.tick_fs: Fraction | None = None

    def refuse(self, at: int, why: str) -> NoReturn:
        raise DataError(f"{self._path}: byte {at}: {why}")

    def whole(self) -> tuple[Signal, ...]:
        """The signals; what one identifier stands for is as wide as its widest declaration."""
        self._close()
        widest: dict[bytes, int] = {}
        for signal in self.signals:
            widest[signal.key] = max(signal.width, widest.get(signal.key, 0))
        return tuple(
            signal if signal.width == width else replace(signal, width=width)
            for signal in self.signals
            for width in (widest[signal.key],)
        )

    def _close(self) -> None:
        """Put the last signal together, if it was declared bit by bit."""
        if self._bits is not None and len(parts := self._bits[2]) > 1:
            key = b" ".join(key for key, _ in parts)
            width = sum(width for _, width in parts)
            self.signals[-1] = replace(self.signals[-1], width=width, key=key, parts=tuple(parts))
        self._bits = None

    def declare(self, keyword: bytes, body: bytes, at: int) -> None:
        """Take in one section."""
        if keyword in (b"scope", b"upscope"):
            self._close()
        if keyword == b"scope":
            if len(self.scopes) >= self._limits.depth:
                self.refuse(at, f"scopes are nested more than {self._limits.depth:,} deep")
            # The kind of a scope comes before its name; some have no name.
            self.scopes.append(b" ".join(body.split()[1:]).decode(errors="replace"))
            self._scope = tuple(self.scopes)
        elif keyword == b"upscope":
            # One too many closes nothing: some simulators write it.
            del self.scopes[-1:]
            self._scope = tuple(self.scopes)
        elif keyword == b"var":
            self._variable(body.split(), at)
        elif keyword == b"timescale" and body:
            scale = _TIMESCALE.fullmatch(b"".join(body.split()))
            if scale is None or not (number := Fraction(scale[1].decode())):
                self.refuse(at, "the time scale is not a number of s, ms, us, ns, ps or fs")
            self.tick_fs = number * Fraction(10) ** _EXPONENT[scale[2]]

    def _variable(self, words: list[bytes], at: int) -> None:
        if len(words) < 4:
            self.refuse(at, "a variable lacks its width, identifier or name")
        if not (words[1].isdigit() and len(words[1]) <= 10):
            self.refuse(at, "a variable's width is not a number")
        width = int(words[1])
        if width > self._limits.width:
            self.refuse(
                at, f"a variable of {width:,} bits; at most {self._limits.width:,} are read"
            )
        if len(self.signals) >= self._limits.signals:
            self.refuse(at, f"more than {self._limits.signals:,} variables")
        kind = _KINDS.get(words[0], SignalKind.BITS)
        name = b"".join(words[3:]).decode(errors="replace")
        bits = _RANGE.search(name)
        high, low = (int(bits[1]), int(bits[2] or bits[1])) if bits else (0, 0)
        # What is no range of bits is the place of an element in an array.
        if bits is None or kind is not SignalKind.BITS or abs(high - low) + 1 != width:
            self._close()
            if bits is not None and bits[2]:
                name = name[: bits.start()]
            self.signals.append(Signal(self._scope, name, width, words[2], kind))
            return
        name = name[: bits.start()]
        if self._bits is not None and self.signals[-1].name == name:
            top, bottom, parts = self._bits
            if max(high, low) + 1 == bottom:
                parts.append((words[2], width))
                self._bits = (top, min(high, low), parts)
                return
            if min(high, low) == top + 1:
                parts.appendleft((words[2], width))
                self._bits = (max(high, low), bottom, parts)
                return
        self._close()
        self._bits = (max(high, low), min(high, low), deque([(words[2], width)]))
        self.signals.append(Signal(self._scope, name, width, words[2], kind))
