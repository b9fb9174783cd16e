"""Independent neighbours of a `seq` side by side, in a `par`.

Precondition: what one drives, the other neither drives nor reads, and the other way round; what a
statement reads is followed through continuous assignments and combinational cells. A cell that is
passed by reference counts as driven and read. Where two groups share nothing but a combinational
cell, the later group gets one of its own: sharing would serialise them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope._rewrites import Claim
from cyclescope.calyx.rewrites._order import movable, shared_cells, with_cells_of_their_own
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
        if statement.kind == "seq" and not statement.static and bare(statement):
            yield from _runs(scope, statement)


def _runs(scope: Scope, block: Statement) -> Iterator[Candidate]:
    """Longest runs of statements of which no two depend on each other."""
    run: list[Statement] = []
    copies: dict[str, set[str]] = {}
    for statement in [*block.body, None]:
        possible = statement is not None and movable(statement)
        shared = _shared(scope, run, statement) if statement is not None and possible else None
        if statement is not None and shared is not None:
            run.append(statement)
            if shared:
                copies[statement.name] = shared
            continue
        if len(run) > 1:
            yield _made(scope, block, run, copies)
        run = [statement] if statement is not None and possible else []
        copies = {}


def _shared(scope: Scope, run: list[Statement], statement: Statement) -> set[str] | None:
    """The cells that a statement needs copies of to run beside others; None if it cannot."""
    shared: set[str] = set()
    for other in run:
        found = shared_cells(scope, statement, other)
        if found is None:
            return None
        shared |= found
    return shared


def _made(
    scope: Scope, block: Statement, run: list[Statement], copies: dict[str, set[str]]
) -> Candidate:
    edits: list[Edit] = []
    if len(run) == len(block.body):
        edits.append(Edit(*block.head, b"par"))
    else:
        edits.append(Edit(run[0].span[0], run[0].span[0], b"par { "))
        edits.append(Edit(run[-1].span[1], run[-1].span[1], b" }"))
    edits += with_cells_of_their_own(scope, copies)
    names = [name for s in run for name in scope.names_in(s)]
    place = f"{scope.place(block)}: {names[0] if names else ''} to {names[-1] if names else ''}"
    reason = "none drives what another drives or reads"
    if copies:
        reason += f"; {', '.join(sorted(copies))} got cells of their own"
    return candidate(
        NAME, scope, place, run[0].start, Claim.CONSTRUCTION, reason, dict.fromkeys(edits)
    )


NAME = "seq-to-par"
REWRITE = CalyxRewrite(
    NAME,
    "Run neighbours of a seq side by side where none needs what another does.",
    find=_find,
)
