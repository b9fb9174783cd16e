"""The interface of a rewrite, and the pieces of text that several of them change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope._rewrites import Candidate, Rewrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cyclescope._rewrites import Claim
    from cyclescope.calyx._syntax import GroupText, Statement
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = [
    "CalyxRewrite",
    "after_last_cell",
    "bare",
    "before",
    "candidate",
    "delete",
    "lengths_edit",
    "unwrap",
]


@dataclass(frozen=True)
class CalyxRewrite(Rewrite):
    """A rewrite of Calyx programs.

    Attributes:
        find: candidates in a component.
    """

    find: Callable[[Scope], Iterable[Candidate]] = lambda _: ()


def candidate(
    rewrite: str,
    scope: Scope,
    place: str,
    offset: int,
    claim: Claim,
    reason: str,
    edits: Iterable[Edit],
    premises: Iterable[Statement | GroupText] = (),
) -> Candidate:
    """A candidate at an offset of a component's text; its premises are pieces of it."""
    spans = frozenset(piece.span for piece in premises)
    return Candidate(rewrite, place, scope.line(offset), claim, reason, tuple(edits), spans)


def bare(statement: Statement) -> bool:
    """Return whether nothing is said of a statement but where it comes from."""
    return not set(statement.attributes) - {"pos"}


def delete(text: bytes, start: int, end: int) -> Edit:
    """Remove a piece of text, and the line with it if nothing else is on it."""
    first = text.rfind(b"\n", 0, start) + 1
    last = text.find(b"\n", end)
    last = len(text) if last < 0 else last
    if not text[first:start].strip() and not text[end:last].strip():
        return Edit(first, min(last + 1, len(text)), b"")
    return Edit(start, end, b"")


def before(scope: Scope, offset: int, text: str) -> Edit:
    """Insert lines before the line that an offset is on, indented as it is."""
    first = scope.text.rfind(b"\n", 0, offset) + 1
    lead = scope.text[first:offset]
    if lead.strip():
        return Edit(offset, offset, f"{text} ".encode())
    return Edit(offset, offset, text.encode() + b"\n" + lead)


def after_last_cell(scope: Scope, declaration: str) -> Edit:
    """Declare a cell after the others."""
    cells = scope.component.cells
    if not cells:
        at = scope.component.cells_block[0] + 1
        return Edit(at, at, f"\n    {declaration}".encode())
    last = cells[-1].span
    first = scope.text.rfind(b"\n", 0, last[0]) + 1
    lead = scope.text[first : last[0]]
    indent = lead if not lead.strip() else b"    "
    return Edit(last[1], last[1], b"\n" + indent + declaration.encode())


def lengths_edit(group: GroupText, latency: int) -> list[Edit]:
    """Let a group's declaration say its length, for the compiler to use where it pays."""
    attribute = f'"promotable"={latency}'
    at = group.named[1]
    if group.attributes:
        return [Edit(at, at + 1, f"<{attribute}, ".encode())]
    return [Edit(at, at, f"<{attribute}>".encode())]


def unwrap(scope: Scope, statement: Statement) -> list[Edit]:
    """Take the braces and the head of a block away, and leave what is in it."""
    start, end = statement.span
    opened, closed = statement.block
    return [
        delete(scope.text, start, opened + 1),
        delete(scope.text, closed - 1, end),
    ]
