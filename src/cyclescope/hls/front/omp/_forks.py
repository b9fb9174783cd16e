"""The `parallel` regions with teams of their own that a target region without one leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import (
    Block,
    Call,
    DoWhile,
    Evaluate,
    For,
    If,
    Switch,
    While,
    called,
    expressions,
    inner_statements,
    without_casts,
)
from cyclescope.hls.front.omp._directives import directives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import Expr, Function, Stmt, Unit
    from cyclescope.hls.front.omp._directives import Directive

__all__ = ["calls_forks", "forks_in", "has_forks"]

# Directives without a statement, which are in front of any.
_ALONE = frozenset({"barrier", "flush", "taskwait", "taskyield", "threadprivate"})


def has_forks(unit: Unit, stmt: Stmt) -> bool:
    """Return whether a statement is a `parallel` region, or leads to one by C's control flow.

    One inside another construct, or in a function that calls itself, has a team of one thread.

    Args:
        unit: the text.
        stmt: outside of `parallel` regions.
    """
    return next(forks_in(unit, stmt), None) is not None


def calls_forks(unit: Unit, expr: Expr) -> bool:
    """Return whether an expression is the call of a function that contains such a region."""
    function = _function(unit, expr)
    return function is not None and function.body is not None and has_forks(unit, function.body)


def forks_in(unit: Unit, stmt: Stmt) -> Iterator[tuple[Directive, Stmt]]:
    """The `parallel` regions that a statement leads to, each with its statement."""
    own = [d for d in directives(stmt.pragmas) if d.words[:1] and d.words[0] not in _ALONE]
    if own:
        if own[0].has("parallel"):
            yield own[0], stmt
        return
    match stmt:
        case Block() | If() | For() | While() | DoWhile() | Switch():
            for inner in inner_statements(stmt):
                if inner is not None:
                    yield from forks_in(unit, inner)
        case Evaluate(value=value):
            function = _function(unit, value)
            if function is not None and function.body is not None:
                yield from forks_in(unit, function.body)


def _function(unit: Unit, expr: Expr) -> Function | None:
    """The function that an expression calls, if it doesn't call itself again."""
    call = without_casts(expr)
    if not isinstance(call, Call):
        return None
    function = unit.functions.get(call.function)
    if function is None or function in called(expressions(function.body), unit.functions):
        return None
    return function
