"""Constant expressions: their values, as C has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c._tree import Binary, Cast, Literal, Name, Unary
from cyclescope.c._types import Scalar

if TYPE_CHECKING:
    from cyclescope.c._tree import Expr

__all__ = ["combined", "fold"]


def fold(node: Expr | None, names: dict[str, int | float]) -> int | float | None:
    """The value of an expression of literals and named numbers; None if it is none."""
    match node:
        case Literal(value=value):
            return value
        case Name(variable=variable):
            return names.get(variable.name)
        case Cast(operand=operand, type=kind):
            inner = fold(operand, names)
            whole = isinstance(kind, Scalar) and not kind.is_float
            return inner if inner is None or not whole else int(inner)
        case Unary(op="-", operand=operand):
            inner = fold(operand, names)
            return None if inner is None else -inner
        case Binary(op=op, left=left, right=right):
            a, b = fold(left, names), fold(right, names)
            if a is None or b is None:
                return None
            return combined(op, a, b)
    return None


def combined(op: str, a: float, b: float) -> int | float | None:
    """The value of an arithmetic operator; None if it is another, or has no value there."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
    if not isinstance(a, int) or not isinstance(b, int):
        return a / b if op == "/" and b != 0 else None
    match op:
        case "/" | "%" if b != 0:
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if op == "/" else a - b * quotient
        case "<<" if 0 <= b < 64:
            return a << b
        case ">>" if 0 <= b < 64:
            return a >> b
    return None
