"""The meaning of each pure operation, on Python integers as bit vectors.

The compiler folds constants with it and the interpreter runs on it; the hardware's units are
proven against the same values. An elementary function is the evaluation of what describes its
arithmetic unit, so it has every bit of the hardware's.
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from typing import TYPE_CHECKING

from cyclescope.hls.ir._graph import APPROXIMATE, Op
from cyclescope.rtl import compute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["bits_of", "evaluate", "float_of", "mask", "signed"]

_BITS_TO_FLOAT = {32: ("<I", "<f"), 64: ("<Q", "<d")}
# What x86 gives for an invalid operation.
_NAN = {32: 0xFFC00000, 64: 0xFFF8000000000000}


def mask(width: int) -> int:
    """All ones."""
    return (1 << width) - 1


def signed(value: int, width: int) -> int:
    """The two's complement reading of a bit vector."""
    return value - (1 << width) if value >> (width - 1) else value


def float_of(value: int, width: int) -> float:
    """The number that 32 or 64 bits stand for."""
    bits, form = _BITS_TO_FLOAT[width]
    number: float = struct.unpack(form, struct.pack(bits, value))[0]
    return number


def bits_of(number: float, width: int) -> int:
    """The bits of a number, rounded to nearest even; overflow gives an infinity."""
    bits, form = _BITS_TO_FLOAT[width]
    if number != number:
        return _NAN[width]
    try:
        packed = struct.pack(form, number)
    except OverflowError:
        packed = struct.pack(form, math.copysign(math.inf, number))
    value: int = struct.unpack(bits, packed)[0]
    return value


def _divide(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    if a != a or a == 0.0:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _least(a: float, b: float) -> float:
    if a != a:
        return b
    return a if b != b or a <= b else b


def _greatest(a: float, b: float) -> float:
    if a != a:
        return b
    return a if b != b or a >= b else b


def _root(a: float) -> float:
    return math.sqrt(a) if a >= 0.0 else (a if a == 0.0 else math.nan)


# Rounding a double result of + - * / sqrt to single is exact rounding: 53 >= 2 * 24 + 2 bits.
_FLOAT: dict[Op, Callable[..., float]] = {
    Op.FADD: lambda a, b: a + b,
    Op.FSUB: lambda a, b: a - b,
    Op.FMUL: lambda a, b: a * b,
    Op.FDIV: _divide,
    Op.FSQRT: _root,
    Op.FMIN: _least,
    Op.FMAX: _greatest,
}
_FLOAT_TESTS: dict[Op, Callable[[float, float], bool]] = {
    Op.FEQ: lambda a, b: a == b,
    Op.FLT: lambda a, b: a < b,
    Op.FLE: lambda a, b: a <= b,
}
_TESTS: dict[Op, Callable[[int, int], bool]] = {
    Op.EQ: lambda a, b: a == b,
    Op.NE: lambda a, b: a != b,
    Op.ULT: lambda a, b: a < b,
    Op.ULE: lambda a, b: a <= b,
}
_SIGNED_TESTS: dict[Op, Callable[[int, int], bool]] = {
    Op.SLT: lambda a, b: a < b,
    Op.SLE: lambda a, b: a <= b,
}
_INTEGERS: dict[Op, Callable[[int, int], int]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.AND: lambda a, b: a & b,
    Op.OR: lambda a, b: a | b,
    Op.XOR: lambda a, b: a ^ b,
}


def _division(op: Op, a: int, b: int, width: int) -> int:
    if b == 0:
        return mask(width) if op in (Op.SDIV, Op.UDIV) else a
    if op is Op.UDIV:
        return a // b
    if op is Op.UREM:
        return a % b
    x, y = signed(a, width), signed(b, width)
    quotient = abs(x) // abs(y)
    if (x < 0) != (y < 0):
        quotient = -quotient
    return (quotient if op is Op.SDIV else x - quotient * y) & mask(width)


def _shift(op: Op, a: int, b: int, width: int) -> int:
    if op is Op.ASHR:
        return (signed(a, width) >> min(b, width)) & mask(width)
    if b >= width:
        return 0
    return (a << b) & mask(width) if op is Op.SHL else a >> b


def _to_integer(number: float, width: int, *, is_signed: bool) -> int:
    if number != number or math.isinf(number):
        return (1 << ((width if is_signed else 64) - 1)) & mask(width)
    whole = math.trunc(number)
    # To unsigned by way of 64 bits: what fits in signed ones wraps around.
    inner = width if is_signed else 64
    high = (1 << (inner - 1)) - 1 if is_signed or width < 64 else mask(64)
    fits = -(1 << (inner - 1)) <= whole <= high
    return (whole if fits else 1 << (inner - 1)) & mask(width)


def _integer_to_float(whole: int, width: int) -> int:
    if width == 64:
        return bits_of(float(whole), 64)
    # By way of double a large integer would be rounded twice; an odd last bit keeps the first
    # rounding from hiding what the second one needs.
    size = abs(whole)
    extra = max(0, size.bit_length() - 50)
    kept = (size >> extra) | (size & mask(extra) != 0)
    return bits_of(math.copysign(math.ldexp(kept, extra), whole), 32)


@lru_cache(1 << 16)
def _function(op: Op, width: int, operand: int) -> int:
    """An elementary function of a number, from the description of its unit: every bit as there."""
    return compute(op.value, width, (operand,))


def evaluate(
    op: Op, operands: Sequence[int], widths: Sequence[int], width: int, constant: int = 0
) -> int:
    """The result of a pure operation.

    Args:
        op: neither a leaf nor an effect.
        operands: their bits.
        widths: the operands' widths.
        width: the result's.
        constant: the node's.

    Returns:
        The result's bits.
    """
    first = operands[0]
    own = widths[0]
    if op in _INTEGERS:
        return _INTEGERS[op](first, operands[1]) & mask(width)
    if op in _TESTS:
        return int(_TESTS[op](first, operands[1]))
    if op in _SIGNED_TESTS:
        return int(_SIGNED_TESTS[op](signed(first, own), signed(operands[1], own)))
    if op in _FLOAT:
        return bits_of(_FLOAT[op](*(float_of(v, own) for v in operands)), width)
    if op in APPROXIMATE:
        return _function(op, width, first)
    if op in _FLOAT_TESTS:
        return int(_FLOAT_TESTS[op](float_of(first, own), float_of(operands[1], own)))
    match op:
        case Op.SELECT:
            return operands[1] if first else operands[2]
        case Op.NOT:
            return first ^ mask(width)
        case Op.SDIV | Op.UDIV | Op.SREM | Op.UREM:
            return _division(op, first, operands[1], width)
        case Op.SHL | Op.LSHR | Op.ASHR:
            return _shift(op, first, operands[1], width)
        case Op.ZEXT:
            return first
        case Op.SEXT:
            return signed(first, own) & mask(width)
        case Op.TRUNC:
            return first & mask(width)
        case Op.CONCAT:
            value, position = 0, 0
            for bits, size in zip(operands, widths, strict=True):
                value |= bits << position
                position += size
            return value
        case Op.EXTRACT:
            return (first >> constant) & mask(width)
        case Op.FNEG:
            return first ^ (1 << (width - 1))
        case Op.FABS:
            return first & mask(width - 1)
        case Op.SITOFP:
            return _integer_to_float(signed(first, own), width)
        case Op.UITOFP:
            return _integer_to_float(first, width)
        case Op.FPTOSI | Op.FPTOUI:
            return _to_integer(float_of(first, own), width, is_signed=op is Op.FPTOSI)
        case Op.FPEXT | Op.FPTRUNC:
            return bits_of(float_of(first, own), width)
    raise AssertionError(op)
