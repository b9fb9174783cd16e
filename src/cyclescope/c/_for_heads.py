"""The parts of the heads of for statements: libclang shows those that there are, not which.

Where a macro makes a head, or part of one, the text does not tell it, but the compiler's own print
of the function does.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from cyclescope.c import _clang

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c._clang import Cursor

__all__ = ["ForHeads"]

_TOKENS = re.compile(
    r'"(?:\\.|[^"\\])*"|' r"'(?:\\.|[^'\\])*'|" r"\bfor \(|[()\[\]{};]|[^\s()\[\]{};\"']+"
)


class ForHeads:
    """The heads of a function's for statements."""

    def __init__(self, function: Cursor) -> None:
        self._function = function

    def parts(self, loop: Cursor, head: list[Cursor]) -> tuple[Cursor | None, ...] | None:
        """The init, condition and step of a for statement; None if that can't be told.

        Args:
            loop: the statement.
            head: the parts that it has, in this order.
        """
        if len(head) == 3:
            return tuple(head)
        there = next((parts for known, parts in self._known if known == loop), ())
        if sum(there) != len(head) or len(there) != 3:
            return None
        given = iter(head)
        return tuple(next(given) if part else None for part in there)

    @cached_property
    def _known(self) -> list[tuple[Cursor, tuple[bool, ...]]]:
        loops = [c for c in _below(self._function) if c.kind.name == "FOR_STMT"]
        heads = _heads(_clang.printed(self._function))
        return list(zip(loops, heads, strict=True)) if len(loops) == len(heads) else []


def _below(cursor: Cursor) -> Iterator[Cursor]:
    """A cursor and all below it, in the order of the text."""
    waiting = [cursor]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += reversed(_clang.children(one))


def _heads(text: str) -> list[tuple[bool, ...]]:
    """For each for statement of a printed function, which of its three parts are there."""
    found: list[list[bool]] = []
    inside: list[tuple[int, list[bool]]] = []  # heads under way: their depth, their parts so far
    depth = 0
    for word in _TOKENS.findall(text):
        opens, closes = word in ("(", "[", "{", "for ("), word in (")", "]", "}")
        if closes:
            depth -= 1
            if inside and depth < inside[-1][0]:
                inside.pop()
        elif inside and word == ";" and depth == inside[-1][0]:
            inside[-1][1].append(False)
        elif inside:
            inside[-1][1][-1] = True
        depth += opens
        if word == "for (":
            found.append([False])
            inside.append((depth, found[-1]))
    return [tuple(parts) for parts in found]
