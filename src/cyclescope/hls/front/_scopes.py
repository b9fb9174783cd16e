"""The variables that names stand for at a place of the text, where a directive names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Declare, inner_statements

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.c import Range, Stmt, Unit, Variable

__all__ = ["in_text_order", "is_inside", "visible"]


def visible(unit: Unit, where: Range) -> dict[str, Variable]:
    """The variables in scope at a place of the text, by name.

    Args:
        unit: the text.
        where: of a directive, or of anything else.
    """
    found = dict(unit.variables)
    for function in unit.functions.values():
        if function.body is not None and _has(function.body, where):
            found.update((param.name, param) for param in function.params)
            _declared(function.body, where, found)
    return found


def in_text_order(variables: Iterable[Variable]) -> list[Variable]:
    """Variables in the order of the text; those of one declaration, which begin alike, by name."""
    return sorted(variables, key=lambda v: (v.where.file, v.where.start, v.name))


def is_inside(inner: Range, outer: Range) -> bool:
    """Return whether a part of the text is in another one."""
    start = (outer.line, outer.column) <= (inner.line, inner.column)
    end = (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    return inner.file == outer.file and start and end


def _declared(stmt: Stmt, where: Range, found: dict[str, Variable]) -> None:
    """Add what is declared in a statement, in front of a place in it, in the blocks around that."""
    for inner in inner_statements(stmt):
        if inner is None:
            continue
        if isinstance(inner, Declare) and inner.where.end <= where.start:
            found.update((variable.name, variable) for variable in inner.variables)
        elif _has(inner, where):
            _declared(inner, where, found)


def _has(stmt: Stmt, where: Range) -> bool:
    return stmt.where.file == where.file and stmt.where.start <= where.start < stmt.where.end
