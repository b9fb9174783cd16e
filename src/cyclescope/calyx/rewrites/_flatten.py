"""Blocks that say nothing: a `seq` in a `seq`, a `par` in a `par`, a block of one statement.

Precondition: none but that the block has no attributes of its own; the order of what is in it
stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._rewrites import Claim
from cyclescope.calyx.rewrites._rewrite import CalyxRewrite, bare, candidate, unwrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._rewrites import Candidate
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["REWRITE"]


def _find(scope: Scope) -> Iterator[Candidate]:
    for statement in scope.statements:
        if statement.kind not in ("seq", "par") or not bare(statement) or not statement.body:
            continue
        above = scope.parents.get(id(statement))
        same = (
            above is not None
            and (above.kind, above.static) == (statement.kind, statement.static)
            and not statement.static
        )
        alone = len(statement.body) == 1 and statement.body[0].kind != "empty"
        if statement.static or not (same or alone):
            continue
        # A block in one of its kind may go while that one stays, which may go while it has one
        # statement: `par { seq { seq { a; b; } } }` would lose both, and have `a` beside `b`.
        reason, premise = f"a {statement.kind} in another", statement
        if alone:
            reason, premise = "a block of one statement", statement.body[0]
        yield candidate(
            NAME, scope, scope.place(statement), statement.start, Claim.CONSTRUCTION, reason,
            unwrap(scope, statement), (premise,),
        )  # fmt: skip


NAME = "flatten"
REWRITE = CalyxRewrite(
    NAME,
    "Take away blocks that hold one statement, or lie in a block of their kind.",
    opens=True,
    find=_find,
)
