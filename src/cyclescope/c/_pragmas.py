"""Which `#pragma` belongs to which statement.

libclang shows pragmas only as tokens (or, with OpenMP switched on, hides the statements below
them), so they are read from the text: each belongs to the first statement that begins after it
in the innermost block around it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cyclescope.c._tree import Pragma, Range

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Pragmas", "find_pragmas", "is_within"]

_PRAGMA = re.compile(r"[ \t]*#[ \t]*pragma\b(?P<rest>(?:\\\r?\n|[^\n])*)")
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|==|&&|\|\||\"[^\"]*\"|\S")
_HIDDEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)


def find_pragmas(file: str, text: str) -> list[Pragma]:
    """The pragmas of one file, in its order; those inside comments are none."""
    visible = _HIDDEN.sub(_blank, text)
    found = []
    line, counted = 1, 0
    for match in _PRAGMA.finditer(visible):
        if match.start() and visible[match.start() - 1] != "\n":
            continue
        lead = len(match.group()) - len(match.group().lstrip())
        line += visible.count("\n", counted, match.start())
        counted = match.start()
        # Strings are blank in `visible`; the words themselves come from the text.
        rest = text[match.start("rest") : match.end("rest")]
        rest = re.sub(r"\\\r?\n|/\*.*?\*/|//.*", " ", rest)
        end_line = line + match.group().count("\n")
        where = Range(file, line, lead + 1, end_line, lead + len(match.group().strip()) + 1)
        found.append(Pragma(tuple(_TOKEN.findall(rest)), where))
    return found


def is_within(where: Range, skipped: Iterable[tuple[str, int, int]]) -> bool:
    """Whether a range begins in what the preprocessor left out (`Unit.skipped`)."""
    return any(file == where.file and first < where.line < last for file, first, last in skipped)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


class Pragmas:
    """The pragmas of a text, each handed out once."""

    def __init__(self, pragmas: list[Pragma]) -> None:
        self._waiting: dict[str, list[Pragma]] = {}
        for pragma in pragmas:
            self._waiting.setdefault(pragma.where.file, []).append(pragma)

    def take(self, file: str, after: int, before: int) -> tuple[Pragma, ...]:
        """Those on lines strictly between the two, not handed out yet."""
        waiting = self._waiting.get(file, [])
        taken = [p for p in waiting if after <= p.where.line < before]
        for pragma in taken:
            waiting.remove(pragma)
        return tuple(taken)
