"""A `par` of `if`s that exclude each other as nested `if`s.

Each arm of a `par` has a register of its own that says it is done, and the `par` waits for all of
them. Nested `if`s are states of one register. Conditions with a group each are asked one after
another then, which costs a cycle each; whether it pays is measured.

Precondition: no arm has an else-branch, and no two conditions can hold at once (by construction:
proved from what they compare), or in the run no two ever did (checked on this data only). All
conditions are looked at before any arm changes something, in the `par` as in the nest, where those
that are looked at later come after conditions that failed and changed nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope._rewrites import Claim
from cyclescope.calyx.rewrites._conditions import exclusive
from cyclescope.calyx.rewrites._rewrite import CalyxRewrite, bare, candidate, unwrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._rewrites import Candidate
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["REWRITE"]


def _find(scope: Scope) -> Iterator[Candidate]:
    for statement in scope.statements:
        arms = statement.body
        if statement.kind != "par" or statement.static or not bare(statement) or len(arms) < 2:
            continue
        if any(a.kind != "if" or a.static or a.otherwise or not bare(a) for a in arms):
            continue
        if exclusive(scope, arms):
            claim, reason = Claim.CONSTRUCTION, "no two of its conditions can hold at once"
        elif (scope.name, scope.names_in(statement)) in scope.facts.exclusive:
            claim, reason = Claim.DATA, "in the run never more than one arm had work"
        else:
            continue
        edits = unwrap(scope, statement)
        edits += [Edit(arm.span[1], arm.span[1], b" else {") for arm in arms[:-1]]
        edits.append(Edit(arms[-1].span[1], arms[-1].span[1], b" " + b"}" * (len(arms) - 1)))
        yield candidate(NAME, scope, scope.place(statement), statement.start, claim, reason, edits)


NAME = "nest-ifs"
REWRITE = CalyxRewrite(
    NAME,
    "Nest the ifs of a par of which only one can have work: a par waits for a done register of"
    " each arm.",
    opens=True,
    find=_find,
)
