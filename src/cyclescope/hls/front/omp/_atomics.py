"""Atomic updates: one lock for all of them, held for the access alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cyclescope.c import (
    STEPS,
    Assign,
    Binary,
    Block,
    Cast,
    Evaluate,
    Index,
    Literal,
    Member,
    Name,
    Scalar,
    Unary,
    Variable,
    called,
    statements,
    walk,
    without_casts,
)
from cyclescope.hls.front._dispatch import rvalue
from cyclescope.hls.front._structs import hold, release
from cyclescope.hls.front.omp._constructs import lowers
from cyclescope.hls.front.omp._directives import directives
from cyclescope.hls.front.omp._team import locked

if TYPE_CHECKING:
    from cyclescope.c import Expr, Stmt
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front.omp._directives import Directive

__all__: list[str] = []

_UPDATES = frozenset({"+=", "-=", "*=", "/=", "&=", "|=", "^=", "<<=", ">>="})


_BINARY = frozenset(op[:-1] for op in _UPDATES)


_FORMS = {
    "read": "v = x",
    "write": "x = expression",
    "update": "x++, x += expression or x = x + expression",
    "capture": "v = x++, v = x += expression or { v = x; x += expression; }",
}


@lowers("atomic")
def _atomic(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    """An atomic access: what it computes with is computed before the lock is taken.

    Every order of memory that it may ask for holds: nothing moves over a lock.

    Raises:
        SourceError: it has none of the forms that OpenMP gives it.
    """
    kind = next((k for k in _FORMS if directive.clause(k) is not None), "update")
    given = _statements(stmt)
    exprs = [s.value for s in given if isinstance(s, Evaluate)]
    if len(exprs) != len(given) or not _fits(kind, exprs):
        raise ctx.refuse(directive.where, f"omp atomic {kind}: write {_FORMS[kind]}")
    held: list[Variable] = []
    ready = [
        expr if kind == "read" or _reads(expr, exprs) else _prepared(ctx, expr, held)
        for expr in exprs
    ]
    for expr in ready:
        _check_calls(ctx, expr)
    with ctx.at(stmt.where):
        with locked(ctx, "atomic"):
            for expr in ready:
                rvalue(ctx, expr)
        for variable in held:
            release(ctx, variable)


def _prepared(ctx: Context, expr: Expr, held: list[Variable]) -> Expr:
    """An access with what it computes with in variables of the compiler's."""
    match expr:
        case Assign(op="=", target=target, value=value):
            x, inner = without_casts(target), without_casts(value)
            if isinstance(inner, Assign):
                return replace(expr, value=_recast(value, _prepared(ctx, inner, held)))
            if isinstance(inner, Unary) and inner.op in STEPS:
                return expr
            if isinstance(inner, Binary) and inner.op in _BINARY:
                if _same(inner.left, x):
                    right = _kept(ctx, inner.right, held)
                    return replace(expr, value=_recast(value, replace(inner, right=right)))
                if _same(inner.right, x):
                    left = _kept(ctx, inner.left, held)
                    return replace(expr, value=_recast(value, replace(inner, left=left)))
            return replace(expr, value=_kept(ctx, value, held))
        case Assign(value=value):
            return replace(expr, value=_kept(ctx, value, held))
    return expr


def _kept(ctx: Context, expr: Expr, held: list[Variable]) -> Expr:
    """A value computed now, to be used under the lock."""
    if isinstance(expr, Literal) or not isinstance(expr.type, Scalar):
        return expr
    variable = Variable("atomic operand", expr.type, expr.where, "local")
    hold(ctx, variable, rvalue(ctx, expr))
    held.append(variable)
    return Name(expr.where, expr.type, variable)


def _check_calls(ctx: Context, expr: Expr) -> None:
    for function in called(walk(expr), ctx.unit.functions):
        for stmt in statements(function.body):
            if directives(stmt.pragmas):
                raise ctx.refuse(
                    expr.where,
                    f"a call of {function.name}, which has directives of its own, in an atomic "
                    f"access; give its value to a variable before",
                )


def _statements(stmt: Stmt) -> list[Stmt]:
    return list(stmt.body) if isinstance(stmt, Block) else [stmt]


def _fits(kind: str, exprs: list[Expr]) -> bool:
    """Return whether expressions are what an atomic construct of a kind may hold."""
    if kind == "capture" and len(exprs) == 2:
        reads = [_reads(expr, exprs) for expr in exprs]
        other = exprs[reads[0]]
        return any(reads) and (_is_update(other) or (reads[0] and _is_assignment(other)))
    if len(exprs) != 1:
        return False
    (expr,) = exprs
    if kind == "update":
        return _is_update(expr)
    if kind == "capture":
        return isinstance(expr, Assign) and expr.op == "=" and _is_update(without_casts(expr.value))
    return isinstance(expr, Assign) and expr.op == "=" and (kind == "write" or _names_x(expr.value))


def _reads(expr: Expr, exprs: list[Expr]) -> bool:
    """Return whether it is the `v = x` of a pair, the other one of which changes x."""
    other = next((e for e in exprs if e is not expr), None)
    if not isinstance(expr, Assign) or expr.op != "=" or other is None:
        return False
    match other:
        case Assign(target=x) | Unary(operand=x):
            return _same(expr.value, x)
    return False


def _is_assignment(expr: Expr) -> bool:
    return isinstance(expr, Assign) and expr.op == "="


def _names_x(expr: Expr) -> bool:
    """Return whether an expression is a place in memory, as what is read atomically must be."""
    x = without_casts(expr)
    return isinstance(x, Name | Index | Member) or (isinstance(x, Unary) and x.op == "*")


def _is_update(expr: Expr) -> bool:
    match expr:
        case Unary(op=op):
            return op in STEPS
        case Assign(op="=", target=target, value=value):
            inner, x = without_casts(value), without_casts(target)
            if not isinstance(inner, Binary) or inner.op not in _BINARY:
                return False
            return any(_same(side, x) for side in (inner.left, inner.right))
        case Assign(op=op):
            return op in _UPDATES
    return False


def _recast(around: Expr, inner: Expr) -> Expr:
    """An expression in the conversions that are around another one."""
    if isinstance(around, Cast):
        return replace(around, operand=_recast(around.operand, inner))
    return inner


def _same(a: Expr, b: Expr) -> bool:
    """Return whether two expressions are written alike."""
    a, b = without_casts(a), without_casts(b)
    match a, b:
        case Name(), Name():
            return a.variable is b.variable
        case Literal(), Literal():
            return a.value == b.value
        case Index(), Index():
            return _same(a.base, b.base) and _same(a.index, b.index)
        case Member(), Member():
            return a.field == b.field and a.arrow == b.arrow and _same(a.base, b.base)
        case Unary(), Unary():
            return a.op == b.op and _same(a.operand, b.operand)
        case Binary(), Binary():
            return a.op == b.op and _same(a.left, b.left) and _same(a.right, b.right)
    return False
