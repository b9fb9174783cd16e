"""Ways through the typed tree, for whoever reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c._tree import (
    Block,
    Call,
    Cast,
    Declare,
    DoWhile,
    Evaluate,
    Expr,
    For,
    If,
    Index,
    Member,
    Return,
    Stmt,
    Switch,
    While,
    walk,
)
from cyclescope.c._types import Vector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cyclescope.c._tree import Function

__all__ = [
    "called",
    "expressions",
    "inner_statements",
    "outermost",
    "own_expressions",
    "statements",
    "whole",
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


def expressions(node: Stmt | None) -> Iterator[Expr]:
    """All expressions in a statement and in those inside it, outside in."""
    for expr in outermost(node):
        yield from walk(expr)


def without_casts(expr: Expr) -> Expr:
    """The expression below any number of casts."""
    while isinstance(expr, Cast):
        expr = expr.operand
    return expr


def whole(expr: Expr) -> Expr:
    """The object that an lvalue is, or is a field or a lane of; of `p->x` it is `p->x`."""
    while True:
        match expr:
            case Cast(operand=inner) | Member(base=inner, arrow=False):
                expr = inner
            case Index(base=inner) if isinstance(inner.type, Vector):
                expr = inner
            case _:
                return expr


def called(parts: Iterable[Expr], functions: Mapping[str, Function]) -> list[Function]:
    """The functions that expressions call, also through others; each once.

    Args:
        parts: expressions with all inside them (see `expressions`).
        functions: by name.
    """
    found: dict[str, Function] = {}
    waiting = list(parts)
    while waiting:
        match waiting.pop():
            case Call(function=name) if name not in found and name in functions:
                found[name] = functions[name]
                waiting += expressions(functions[name].body)
    return list(found.values())
