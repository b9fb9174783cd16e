"""Dependences between the statements of a block, and cells of their own for such as share one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.calyx._syntax import walk
from cyclescope.calyx.rewrites._rewrite import after_last_cell, bare

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from cyclescope._edits import Edit
    from cyclescope.calyx._syntax import Statement
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["dependences", "movable", "shared_cells", "with_cells_of_their_own"]


def movable(statement: Statement) -> bool:
    """Return whether a statement may run beside others, as far as it says itself."""
    return (
        statement.kind != "empty"
        and bare(statement)
        and not any("sync" in inner.attributes for inner in walk([statement]))
    )


def shared_cells(scope: Scope, one: Statement, other: Statement) -> set[str] | None:
    """Combinational cells that two statements use each for itself; None if they share more."""
    conflicts = scope.effects(one).conflicts(scope.effects(other))
    return set(conflicts) if all(_private(scope, c, one, other) for c in conflicts) else None


def _private(scope: Scope, cell: str, statement: Statement, other: Statement) -> bool:
    """Return whether two groups use a combinational cell each for itself."""
    if statement.kind != "enable" or statement.name == other.name or not scope.is_comb(cell):
        return False
    inside = scope.drivers[cell]
    return (
        "" not in inside
        and "invoke" not in inside
        and statement.name in inside
        and scope.readers[cell] <= inside
    )


def dependences(
    scope: Scope, statements: Sequence[Statement], but: Collection[str] = ()
) -> list[set[int]]:
    """For each statement of a block those before it that it must follow.

    Args:
        scope: the component.
        statements: in the order in which they run.
        but: cells that do not count.
    """
    found: list[set[int]] = []
    for at, statement in enumerate(statements):
        before = set(range(at))
        if movable(statement):
            before = {
                n
                for n in before
                if not movable(statements[n])
                or not _apart(scope, statement, statements[n], frozenset(but))
            }
        found.append(before)
    return found


def _apart(scope: Scope, one: Statement, other: Statement, but: frozenset[str]) -> bool:
    conflicts = scope.effects(one).conflicts(scope.effects(other)) - but
    return all(_private(scope, cell, one, other) for cell in conflicts)


def with_cells_of_their_own(scope: Scope, copies: Mapping[str, Collection[str]]) -> Iterator[Edit]:
    """Give groups (by name) copies of combinational cells for themselves."""
    for name, cells in copies.items():
        group = scope.groups[name]
        for cell in sorted(cells):
            new, found = scope.fresh(f"{cell}_of_{name}"), scope.cells[cell]
            yield after_last_cell(scope, f"{new} = {found.type}({', '.join(found.args)});")
            for assignment in group.assignments:
                yield from scope.renamed(assignment.span, cell, new)
