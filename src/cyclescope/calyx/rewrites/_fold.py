"""Neighbouring `if`s of one condition as one `if`.

Precondition: the same port, both without a group or with the same one, no else-branches, and the
first branch drives nothing that the condition depends on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope._rewrites import Claim
from cyclescope.calyx.rewrites._rewrite import CalyxRewrite, bare, candidate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._rewrites import Candidate
    from cyclescope.calyx._syntax import Statement
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["REWRITE"]


def _find(scope: Scope) -> Iterator[Candidate]:
    if not scope.plain or scope.aliased():
        return
    for first, second in scope.successive:
        if _alike(first, second) and not _changes(scope, first):
            edits = [
                Edit(first.block[0] + 1, first.block[0] + 1, b" seq {"),
                Edit(first.block[1] - 1, second.block[0] + 1, b""),
                Edit(second.block[1] - 1, second.block[1] - 1, b"} "),
            ]
            yield candidate(
                NAME, scope, scope.place(first), first.start, Claim.CONSTRUCTION,
                "the first branch drives nothing that the condition depends on", edits,
            )  # fmt: skip


def _alike(first: Statement, second: Statement) -> bool:
    return (
        (first.kind, second.kind) == ("if", "if")
        and (first.port, first.with_group) == (second.port, second.with_group)
        and not (first.static or second.static or first.otherwise or second.otherwise)
        and bare(first)
        and bare(second)
        and bool(first.body and second.body)
    )


def _changes(scope: Scope, statement: Statement) -> bool:
    """Return whether what an if does may change its condition."""
    condition = scope.condition(statement)
    return any(scope.effects(inner).drives & condition for inner in statement.body)


NAME = "fold-conditions"
REWRITE = CalyxRewrite(
    NAME,
    "Ask a condition once where neighbouring ifs ask it twice.",
    opens=True,
    find=_find,
)
