"""A statement beside a `par` that depends on one of its arms alone moves into that arm.

The `par` waits for its longest arm. What follows it, and needs one of the shorter arms only, can
run while the longest does: a register that a loop's condition reads, for instance. What comes
before a `par` moves to the beginning of an arm in the same way.

Precondition: it drives nothing that another arm drives or reads, and reads nothing that another
arm drives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope._rewrites import Claim
from cyclescope.calyx.rewrites._rewrite import CalyxRewrite, bare, candidate, delete

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
        if _is_par(first) and bare(second):
            yield from _moved(scope, first, second, after=True)
        if _is_par(second) and bare(first):
            yield from _moved(scope, second, first, after=False)


def _is_par(statement: Statement) -> bool:
    return statement.kind == "par" and not statement.static and bare(statement)


def _moved(scope: Scope, par: Statement, single: Statement, *, after: bool) -> Iterator[Candidate]:
    if single.static or single.kind in ("empty", "par"):
        return
    effects = scope.effects(single)
    bound = [arm for arm in par.body if effects.conflicts(scope.effects(arm))]
    if len(bound) > 1 or not par.body:
        return
    text = scope.text[slice(*single.span)]
    edits = [delete(scope.text, *single.span)]
    if not bound:
        at = par.block[1] - 1
        edits.append(Edit(at, at, b" " + text + b" "))
    else:
        arm = bound[0]
        if arm.static or not bare(arm):
            return
        start, end = arm.span
        if arm.kind == "seq":
            at = arm.block[1] - 1 if after else arm.block[0] + 1
            edits.append(Edit(at, at, b" " + text + b" "))
        elif after:
            edits.append(Edit(start, start, b"seq { "))
            edits.append(Edit(end, end, b" " + text + b" }"))
        else:
            edits.append(Edit(start, start, b"seq { " + text + b" "))
            edits.append(Edit(end, end, b" }"))
    names = scope.names_in(single)
    place = f"{scope.place(par)}: {'after' if after else 'before'} {names[0] if names else ''}"
    where = "one arm" if bound else "no arm"
    # It moves to one place alone, and no other one into the par with it: what comes before a par
    # and what follows it may depend on each other, and would be side by side in two arms.
    yield candidate(
        NAME, scope, place, single.start, Claim.CONSTRUCTION,
        f"{where} drives or reads what it drives, or drives what it reads", edits, (single, par),
    )  # fmt: skip


NAME = "beside-an-arm"
REWRITE = CalyxRewrite(
    NAME,
    "Move what comes after or before a par, and needs one arm of it alone, into that arm.",
    find=_find,
)
