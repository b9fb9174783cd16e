"""Expressions as C text that has the same meaning: as they are written, but for replaced parts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cyclescope.c import (
    BINDING,
    POSTFIX,
    UNARY,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Index,
    Literal,
    Member,
    Name,
    Pointer,
    Scalar,
    Unary,
    children,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope._edits import Edit
    from cyclescope.c import CType
    from cyclescope.hls.rewrites._kernel import Kernel

__all__ = ["UnprintableError", "changes", "text_of"]


class UnprintableError(Exception):
    """An expression that this module can't write as C."""


def changes(kernel: Kernel, exprs: list[Expr], new: Mapping[Expr, str]) -> list[Edit]:
    """Edits that replace parts of expressions, and as little else as the text's macros allow.

    Args:
        kernel: the program.
        exprs: the outermost expressions.
        new: for some parts the text that takes its place, an operand of any operator.

    Raises:
        UnprintableError: a macro makes a part and more than an expression.
    """
    found: list[Edit] = []
    for expr in exprs:
        try:
            found += _changes(kernel, expr, new)
        except UnprintableError:
            if not kernel.is_plain(expr.where):
                raise
            found.append(kernel.edit(*kernel.span(expr.where), _text(kernel, expr, new)[0]))
    return found


def _changes(kernel: Kernel, expr: Expr, new: Mapping[Expr, str]) -> list[Edit]:
    if not any(e in new for e in walk(expr)):
        return []
    if not kernel.is_plain(expr.where):
        raise UnprintableError
    if expr in new:
        return [kernel.edit(*kernel.span(expr.where), new[expr])]
    found: list[Edit] = []
    for inner in children(expr):
        if inner in new and kernel.is_use(inner.where) and inner.where != expr.where:
            found.append(kernel.edit(*kernel.span(inner.where), new[inner]))
            continue
        try:
            found += _changes(kernel, inner, new)
        except UnprintableError:
            if not kernel.is_plain(inner.where):
                raise
            found.append(kernel.edit(*kernel.span(inner.where), text_of(kernel, inner, new)))
    return found


def text_of(kernel: Kernel, expr: Expr, new: Mapping[Expr, str] | None = None) -> str:
    """The text of an expression that may be an operand of any operator.

    Raises:
        UnprintableError: it is none that C text can be written for.
    """
    text, level = _text(kernel, expr, new or {})
    return text if level >= POSTFIX else f"({text})"


def _text(kernel: Kernel, node: Expr, new: Mapping[Expr, str]) -> tuple[str, int]:
    """The text and how tightly its outermost operator binds."""

    def inside(part: Expr, level: int) -> str:
        same = not any(e in new for e in walk(part))
        if same and kernel.is_use(part.where) and part.where != node.where:
            # All of it is what a macro stands for; other parts are elsewhere.
            text, own = kernel.written(part.where).decode("utf-8", "surrogateescape"), _level(part)
        else:
            text, own = _text(kernel, part, new)
        return text if own >= level else f"({text})"

    if node in new:
        return new[node], POSTFIX
    # As it is written where that is possible: names of macros stay.
    if not any(e in new for e in walk(node)) and kernel.is_plain(node.where):
        return kernel.written(node.where).decode("utf-8", "surrogateescape"), _level(node)
    match node:
        case Literal():
            return _number(node)
        case Name(variable=variable):
            return variable.name, POSTFIX
        case Index(base=base, index=index):
            return f"{inside(base, POSTFIX)}[{inside(index, 0)}]", POSTFIX
        case Member(base=base, field=field, arrow=arrow):
            return f"{inside(base, POSTFIX)}{'->' if arrow else '.'}{field}", POSTFIX
        case Unary(op=op, operand=operand):
            if op.startswith("post"):
                return f"{inside(operand, POSTFIX)}{op.removeprefix('post')}", POSTFIX
            # A space keeps `- -x` apart.
            return f"{op.removeprefix('pre')}{inside(operand, POSTFIX)}", UNARY
        case Binary(op=op, left=left, right=right):
            level = BINDING[op]
            return f"{inside(left, level)} {op} {inside(right, level + 1)}", level
        case Assign(op=op, target=target, value=value):
            return f"{inside(target, UNARY)} {op} {inside(value, 1)}", 1
        case Conditional(condition=condition, then=then, other=other):
            return f"{inside(condition, 3)} ? {inside(then, 2)} : {inside(other, 2)}", 2
        case Call(function=function, args=args):
            return f"{function}({', '.join(inside(a, 1) for a in args)})", POSTFIX
        case Cast(operand=operand, implicit=True):
            return _text(kernel, operand, new)
        case Cast(operand=operand, type=kind):
            return f"({_type(kind)}){inside(operand, UNARY)}", UNARY
    raise UnprintableError


def _level(node: Expr) -> int:
    """The level at which an expression's outermost operator binds."""
    match node:
        case Cast(operand=operand, implicit=True):
            return _level(operand)
        case Unary(op=op) if op.startswith("post"):
            return POSTFIX
        case Literal() | Name() | Index() | Member() | Call():
            return UNARY if isinstance(node, Literal) and node.value < 0 else POSTFIX
        case Binary(op=op):
            return BINDING[op]
        case Assign():
            return 1
        case Conditional():
            return 2
    return UNARY if isinstance(node, Unary | Cast) else 0


def _type(kind: CType) -> str:
    match kind:
        case Scalar():
            return str(kind)
        case Pointer(target=Scalar()):
            return str(kind)
    raise UnprintableError


def _number(node: Literal) -> tuple[str, int]:
    """A number with its type."""
    kind, value = node.type, node.value
    if not isinstance(kind, Scalar):
        raise UnprintableError
    if kind.is_float:
        number = float(value)
        if not math.isfinite(number):
            raise UnprintableError
        text = repr(number) + ("f" if kind.bits == 32 else "")
    elif kind.bits < 32:
        return f"({kind}){value}", UNARY
    else:
        if value < -(2**31) + 1 or (kind.bits == 64 and value == -(2**63)):
            raise UnprintableError
        text = f"{value}{'U' * (kind.kind == 'uint')}{'L' * (kind.bits == 64)}"
    return text, POSTFIX if value >= 0 else UNARY
