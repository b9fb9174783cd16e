"""Ways through the typed tree, for whoever reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c._tree import (
    Block,
    Cast,
    Declare,
    DoWhile,
    Evaluate,
    Expr,
    For,
    If,
    Return,
    Stmt,
    Switch,
    While,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "inner_statements",
    "outermost",
    "own_expressions",
    "statements",
    "without_casts",
]


def statements(node: Stmt | None) -> Iterator[Stmt]:
    """A statement and all inside it, outside in."""
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner is not None:
            yield inner
            waiting += reversed(inner_statements(inner))


def inner_statements(node: Stmt) -> list[Stmt | None]:
    """The statements directly in a statement."""
    match node:
        case Block(body=body):
            return list(body)
        case Switch(sections=sections):
            return [inner for section in sections for inner in section.body]
    return [getattr(node, part, None) for part in ("init", "then", "other", "body")]


def own_expressions(node: Stmt) -> list[Expr]:
    """The expressions directly in a statement."""
    match node:
        case Declare(variables=variables):
            return [v.init for v in variables if v.init is not None]
        case Evaluate(value=value):
            return [value]
        case For(condition=condition, step=step):
            return [e for e in (condition, step) if e is not None]
        case (
            If(condition=condition)
            | While(condition=condition)
            | DoWhile(condition=condition)
            | Switch(condition=condition)
        ):
            return [condition]
        case Return(value=value) if value is not None:
            return [value]
    return []


def outermost(node: Stmt | None) -> list[Expr]:
    """The expressions of a statement and of those inside it; not their parts."""
    return [e for inner in statements(node) for e in own_expressions(inner)]


def without_casts(expr: Expr) -> Expr:
    """The expression below any number of casts."""
    while isinstance(expr, Cast):
        expr = expr.operand
    return expr
