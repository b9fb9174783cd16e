"""`comb group` of `if … with` and `while … with` as continuous assignments.

The compiler gives a condition with a group a cycle of its own, in which a register keeps the
answer. Driven continuously, the condition is there whenever the control looks at it.

Precondition: the group drives combinational cells, and addresses of combinational memories;
nothing but the conditions that name the group reads what it drives; and what it reads is state,
the component's ports, or driven continuously, so that no combinational loop arises. A cell that
others drive as well gets a copy for this group. The condition is then the same function of the
same state at the moment at which the control reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope._rewrites import Claim
from cyclescope.calyx.rewrites._rewrite import (
    CalyxRewrite,
    after_last_cell,
    candidate,
    delete,
)
from cyclescope.calyx.rewrites._scope import cell_of, references

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._rewrites import Candidate
    from cyclescope.calyx._syntax import GroupText, Statement
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["REWRITE"]


def _find(scope: Scope) -> Iterator[Candidate]:
    if not scope.plain:
        return
    for group in scope.groups.values():
        users = scope.enables.get(group.name, [])
        if not group.comb or not users or any(u.kind not in ("if", "while") for u in users):
            continue
        found = _possible(scope, group, users)
        if found is not None:
            copies, edits = found
            reason = "nothing else drives or reads the cells of its condition"
            if copies:
                reason = f"{', '.join(sorted(copies))} got for it alone; {reason}"
            place = f"{scope.name}: {group.name}"
            yield candidate(NAME, scope, place, group.start, Claim.CONSTRUCTION, reason, edits)


def _possible(
    scope: Scope, group: GroupText, users: list[Statement]
) -> tuple[dict[str, str], list[Edit]] | None:
    driven = {cell_of(a.dst) for a in group.assignments}
    if not driven or not all(scope.is_comb(c) or _only_read(scope, group, c) for c in driven):
        return None
    copies: dict[str, str] = {}
    for cell in sorted(driven):
        if scope.drivers[cell] != {group.name}:
            if not scope.is_comb(cell):
                return None
            copies[cell] = scope.fresh(f"{cell}_of_{group.name}")
        elif not scope.readers[cell] <= {group.name}:
            return None
    # What it reads: its own cells, state, or what is driven continuously.
    read = [r for a in group.assignments for t in (a.src, a.guard) for r in references(t)]
    read += [user.port for user in users]
    for cell in map(cell_of, read):
        foreign = cell not in driven and cell in scope.cells
        if foreign and not _steady(scope, cell):
            return None
    return copies, [*_moved(scope, group, copies), *_untested(scope, users, copies)]


def _only_read(scope: Scope, group: GroupText, cell: str) -> bool:
    """Return whether a group does no more with a cell than read a combinational memory."""
    found = scope.cells.get(cell)
    ports = [a.dst.partition(".")[2] for a in group.assignments if cell_of(a.dst) == cell]
    return (
        found is not None
        and found.type.startswith("comb_mem_d")
        and all(port.startswith("addr") for port in ports)
    )


def _steady(scope: Scope, cell: str, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether what a cell gives depends on state and continuous assignments only."""
    if scope.is_register(cell):
        return True
    if cell in seen:
        return False
    primitive = scope.primitives.get(scope.cells[cell].type)
    if primitive is None:
        return False  # an instance may pass on at once what it is given
    if not primitive.comb:
        # A memory may, too, unless the port says that it is stable.
        return all("stable" in p.attributes or "done" in p.attributes for p in primitive.outputs)
    if scope.drivers[cell] - {""}:
        return False
    sources = scope.sources(cell)
    return all(s not in scope.cells or _steady(scope, s, seen | {cell}) for s in sources)


def _moved(scope: Scope, group: GroupText, copies: dict[str, str]) -> Iterator[Edit]:
    """The group's braces go; its cells get their copies."""
    yield delete(scope.text, group.start, group.block[0] + 1)
    yield delete(scope.text, group.block[1] - 1, group.block[1])
    for cell, name in copies.items():
        found = scope.cells[cell]
        yield after_last_cell(scope, f"{name} = {found.type}({', '.join(found.args)});")
        for assignment in group.assignments:
            yield from scope.renamed(assignment.span, cell, name)


def _untested(scope: Scope, users: list[Statement], copies: dict[str, str]) -> Iterator[Edit]:
    for user in users:
        yield Edit(*user.conditioned, b"")
        cell = cell_of(user.port)
        if cell in copies:
            yield from scope.renamed((user.head[0], user.conditioned[0]), cell, copies[cell])


NAME = "continuous-condition"
REWRITE = CalyxRewrite(
    NAME,
    "Drive the condition of an if or while continuously: a group of its own takes a cycle each"
    " time it is asked.",
    opens=True,
    find=_find,
)
