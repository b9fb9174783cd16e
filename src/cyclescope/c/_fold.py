"""Constant expressions: their values, as C has them on x86-64 (C17, 6.3.1, 6.5)."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from cyclescope.c._tree import Binary, Cast, Literal, Name, Unary
from cyclescope.c._types import Scalar

if TYPE_CHECKING:
    from cyclescope.c._tree import Expr
    from cyclescope.c._types import CType

__all__ = ["fold"]


def fold(node: Expr | None, names: dict[str, int | float]) -> int | float | None:
    """The value of an expression of literals and named numbers.

    None if something else is in it, or if C gives it no value: division by zero, a signed result
    or a converted floating-point number that does not fit.
    """
    match node:
        case Literal(value=value):
            return value
        case Name(variable=variable):
            return names.get(variable.name)
        case Cast(operand=operand, type=kind):
            return _converted(fold(operand, names), kind)
        case Unary(op="-", operand=operand, type=kind):
            inner = _converted(fold(operand, names), kind)
            return None if inner is None else _fitting(-inner, kind)
        case Binary(op=op, left=left, right=right, type=kind):
            a, b = _converted(fold(left, names), kind), fold(right, names)
            if op not in ("<<", ">>"):
                b = _converted(b, kind)
            if a is None or b is None:
                return None
            return _fitting(_combined(op, a, b, kind), kind)
    return None


def _combined(op: str, a: int | float, b: int | float, kind: CType) -> int | float | None:
    """The exact value of an arithmetic operator; None if it is another, or has no value."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" if b != 0 and isinstance(a, float):
            return a / b
    if not isinstance(a, int) or not isinstance(b, int):
        return None
    match op:
        case "/" | "%" if b != 0:
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if op == "/" else a - b * quotient
        case "<<" | ">>" if isinstance(kind, Scalar) and 0 <= b < kind.bits:
            # Compilers shift into the sign, where the standard leaves it open.
            return _converted(a << b, kind) if op == "<<" else a >> b
    return None


def _converted(value: int | float | None, kind: CType) -> int | float | None:
    """A value in another type; None where it is lost."""
    if value is None or not isinstance(kind, Scalar):
        return None
    if kind.kind == "bool":
        return int(value != 0)
    if kind.is_float:
        try:
            if kind.bits == 64:
                return float(value)
            number: float = struct.unpack("f", struct.pack("f", value))[0]
            return number
        except OverflowError:
            return None
    if isinstance(value, float):
        whole = int(value) if math.isfinite(value) else None
        return whole if _converted(whole, kind) == whole else None
    wrapped = value & (1 << kind.bits) - 1
    return wrapped - (1 << kind.bits) if _signed(kind) and wrapped >> kind.bits - 1 else wrapped


def _fitting(value: int | float | None, kind: CType) -> int | float | None:
    """An operator's exact result in its type; None of a signed one that does not fit."""
    result = _converted(value, kind)
    if isinstance(kind, Scalar) and _signed(kind) and result != value:
        return None
    return result


def _signed(kind: Scalar) -> bool:
    return kind.kind == "int"
