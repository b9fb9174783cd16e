"""A `par` whose join costs more than running side by side saves, as a `seq`.

Precondition: no arm drives what another drives or reads, so that no arm can wait for another. Where
the arms are surely longer in turn than a join takes, the `par` is left alone.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope._rewrites import Claim
from cyclescope.calyx._syntax import walk
from cyclescope.calyx.rewrites._lengths import length
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
    for statement in scope.statements:
        if statement.kind != "par" or statement.static or not bare(statement):
            continue
        if len(statement.body) < 2 or any("sync" in s.attributes for s in walk([statement])):
            continue
        pairs = combinations(map(scope.effects, statement.body), 2)
        if any(a.conflicts(b) for a, b in pairs):
            continue
        least = [_least(scope, arm) for arm in statement.body]
        if sum(least) - max(least) > _JOIN:
            continue
        yield candidate(
            NAME, scope, scope.place(statement), statement.start, Claim.CONSTRUCTION,
            "no arm drives what another drives or reads", [Edit(*statement.head, b"seq")],
        )  # fmt: skip


def _least(scope: Scope, statement: Statement) -> int:
    """Cycles that a statement takes at least."""
    if statement.kind == "enable":
        group = scope.groups.get(statement.name)
        known = length(scope, group) if group is not None else None
        return known.cycles if known is not None else 1
    if statement.kind == "invoke":
        return 1
    inside = [_least(scope, inner) for inner in statement.body]
    if statement.kind == "par":
        return max(inside, default=0)
    if statement.kind == "repeat":
        return statement.count * sum(inside)
    if statement.kind == "if":
        other = [_least(scope, inner) for inner in statement.otherwise or ()]
        return min(sum(inside), sum(other))
    return sum(inside) if statement.kind == "seq" else 0


_JOIN = 3  # cycles that a par takes at most beyond its longest arm
NAME = "par-to-seq"
REWRITE = CalyxRewrite(
    NAME,
    "Run the arms of a par in turn where its join costs more than running side by side saves.",
    find=_find,
)
