"""Which `#pragma` belongs to which statement.

libclang shows pragmas only as tokens (or, with OpenMP switched on, hides the statements below
them), so they are read from the text: each belongs to the first statement that begins after it
in the innermost block around it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from cyclescope.c._tree import Pragma, Range

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Pragmas", "compiled", "find_pragmas"]

# Each reads a character once, whatever the text: a comment or string without an end has the rest.
_PRAGMA = re.compile(r"^[ \t]*+#[ \t]*+pragma\b(?P<rest>(?:\\\r?\n|[^\n])*+)", re.MULTILINE)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|==|&&|\|\||\"[^\"]*\"|\S")
_GAP = re.compile(r"\\\r?\n|/\*.*?(?:\*/|$)|//.*", re.MULTILINE)
_HIDDEN = re.compile(
    r"/\*.*?(?:\*/|\Z)|//[^\n]*+|\"(?:\\.|[^\"\\\n])*+\"?+|'(?:\\.|[^'\\\n])*+'?+", re.DOTALL
)


def find_pragmas(file: str, text: str) -> list[Pragma]:
    """The pragmas of one file, in its order; those inside comments are none."""
    visible = _HIDDEN.sub(_blank, text)
    found = []
    line, counted = 1, 0
    for match in _PRAGMA.finditer(visible):
        lead = len(match.group()) - len(match.group().lstrip())
        line += visible.count("\n", counted, match.start())
        counted = match.start()
        # Strings are blank in `visible`; the words themselves come from the text.
        rest = text[match.start("rest") : match.end("rest")]
        rest = _GAP.sub(" ", rest)
        end_line = line + match.group().count("\n")
        where = Range(file, line, lead + 1, end_line, lead + len(match.group().strip()) + 1)
        found.append(Pragma(tuple(_TOKEN.findall(rest)), where))
    return found


def compiled(pragmas: list[Pragma], skipped: Iterable[tuple[str, int, int]]) -> list[Pragma]:
    """Those that do not begin in what the preprocessor left out (`Unit.skipped`)."""
    gaps: dict[str, list[tuple[int, int]]] = {}
    for file, first, last in sorted(skipped):
        known = gaps.setdefault(file, [])
        # Up to which line something that begins no later goes.
        known.append((first, max(last, known[-1][1] if known else 0)))

    def is_left_out(where: Range) -> bool:
        known = gaps.get(where.file, [])
        before = bisect_left(known, (where.line,))
        return before > 0 and known[before - 1][1] > where.line

    return [p for p in pragmas if not is_left_out(p.where)]


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


class Pragmas:
    """The pragmas of a text, each handed out once.

    Args:
        pragmas: those of a file in its order.
    """

    def __init__(self, pragmas: list[Pragma]) -> None:
        self._waiting: dict[str, list[Pragma]] = {}
        for pragma in pragmas:
            self._waiting.setdefault(pragma.where.file, []).append(pragma)

    def take(self, file: str, after: int, before: int) -> tuple[Pragma, ...]:
        """Those on lines from `after` to `before`, without the latter, not handed out yet."""
        waiting = self._waiting.get(file, [])
        first = bisect_left(waiting, after, key=_line)
        last = bisect_left(waiting, before, lo=first, key=_line)
        taken = tuple(waiting[first:last])
        del waiting[first:last]
        return taken


def _line(pragma: Pragma) -> int:
    return pragma.where.line
