"""Lowering by type of node.

Each family of constructs registers the function for its nodes in one of these tables, in the module
where it is defined; whoever lowers a part of a construct asks here. So families do not know each
other, and a new node of the typed tree needs a function in one module.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cyclescope.c import Struct
from cyclescope.errors import LawError
from cyclescope.hls.front._conversions import truth
from cyclescope.hls.front._joint import by_first
from cyclescope.hls.front.omp._constructs import construct, is_standalone, standalone, within
from cyclescope.hls.front.omp._directives import directives
from cyclescope.hls.front.omp._forks import calls_forks, has_forks

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from cyclescope.c import Expr, Stmt
    from cyclescope.hls.front._context import Context, Location
    from cyclescope.hls.front._objects import Object
    from cyclescope.hls.ir import Value

__all__ = [
    "ADDRESSES",
    "CONDITIONS",
    "OBJECTS",
    "STATEMENTS",
    "VALUES",
    "Table",
    "address",
    "bare",
    "condition_of",
    "object_of",
    "rvalue",
    "statement",
]

N = TypeVar("N")
R = TypeVar("R")
F = TypeVar("F", bound="Callable[..., Any]")


class Table(Generic[N, R]):
    """The functions that lower nodes, by the nodes' types."""

    def __init__(self) -> None:
        self._functions: dict[type, Callable[[Context, Any], R]] = {}

    def of(self, *kinds: type[N]) -> Callable[[F], F]:
        """Register the function that lowers nodes of some types."""

        def register(function: F) -> F:
            for kind in kinds:
                assert kind not in self._functions, kind
                self._functions[kind] = function
            return function

        return register

    def get(self, node: N) -> Callable[[Context, N], R] | None:
        """The function for a node, None if nothing lowers nodes of its type or of a base of it."""
        functions = self._functions
        return next((functions[k] for k in type(node).__mro__ if k in functions), None)


VALUES: Table[Expr, Value] = Table()
"""The value of an expression, in its type's width."""

CONDITIONS: Table[Expr, Value | None] = Table()
"""Whether an expression is not zero: one bit; None: as its value says."""

OBJECTS: Table[Expr, Object | None] = Table()
"""The object that an lvalue names; None: it isn't one that hardware can have."""

ADDRESSES: Table[Expr, Location | None] = Table()
"""What a pointer (or an array, as a pointer) points to; None: it isn't supported."""

STATEMENTS: Table[Stmt, None] = Table()
"""A statement, whose directives have been obeyed."""


def rvalue(ctx: Context, expr: Expr) -> Value:
    """The value of an expression, in its type's width.

    Raises:
        SourceError: it contains something that isn't supported.
    """
    lower = VALUES.get(expr)
    with ctx.at(expr.where), _by_whom(ctx, expr):
        if lower is not None:
            return lower(ctx, expr)
        raise ctx.refuse(
            expr.where, f"`{ctx.unit.text(expr.where)}` isn't supported in a target region"
        )


def condition_of(ctx: Context, expr: Expr) -> Value:
    """Return whether an expression is not zero: one bit."""
    with ctx.at(expr.where), by_first(ctx):
        lower = CONDITIONS.get(expr)
        bit = lower(ctx, expr) if lower is not None else None
        return bit if bit is not None else truth(ctx, rvalue(ctx, expr), expr.type)


def object_of(ctx: Context, expr: Expr) -> Object:
    """The object that an lvalue names.

    Raises:
        SourceError: it isn't one that hardware can have.
    """
    lower = OBJECTS.get(expr)
    with by_first(ctx):
        found = lower(ctx, expr) if lower is not None else None
    if found is not None:
        return found
    text = ctx.unit.text(expr.where)
    if isinstance(expr.type, Struct):
        raise ctx.refuse(expr.where, f"`{text}` has no place; give it to a variable first")
    raise ctx.refuse(expr.where, f"`{text}` isn't supported here")


def address(ctx: Context, expr: Expr) -> Location:
    """The target of a pointer (or of an array, as a pointer).

    Raises:
        SourceError: it can't be told at compile time into which memory it points.
    """
    lower = ADDRESSES.get(expr)
    with by_first(ctx):
        found = lower(ctx, expr) if lower is not None else None
    if found is not None:
        return found
    raise ctx.refuse(
        expr.where, f"the pointer `{ctx.unit.text(expr.where)}` isn't supported; subscript"
    )


def statement(ctx: Context, stmt: Stmt) -> None:
    """One statement with the directives before it.

    Raises:
        SourceError: it contains something that isn't supported.
    """
    if ctx.team.is_joint and not has_forks(ctx.unit, stmt):
        with by_first(ctx):
            statement(ctx, stmt)
        return
    with ctx.at(stmt.where):
        found = directives(stmt.pragmas)
        for position, directive in enumerate(found):
            if not is_standalone(directive):
                construct(ctx, directive, within(stmt, found[position + 1 :]))
                return
            standalone(ctx, directive)
        bare(ctx, stmt)


def _by_whom(ctx: Context, expr: Expr) -> AbstractContextManager[None]:
    """The threads that compute a value: of those in step the first, but all call a function."""
    if not ctx.team.is_joint or calls_forks(ctx.unit, expr):
        return nullcontext()
    return by_first(ctx)


def bare(ctx: Context, stmt: Stmt) -> None:
    """A statement whose directives have been obeyed."""
    with ctx.at(stmt.where):
        lower = STATEMENTS.get(stmt)
        if lower is None:
            raise LawError(
                f"{stmt.where}: no function lowers {type(stmt).__name__}; please report this"
            )
        lower(ctx, stmt)
