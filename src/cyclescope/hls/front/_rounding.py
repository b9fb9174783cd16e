"""math.h's functions that are exact: on the bits of IEEE 754 numbers, without a unit of their own.

A number of magnitude 2**e has a mantissa of f bits of which the last f - e are behind the point.
They are cleared, after something has been added to the magnitude that carries into the rest where
the result is larger; a carry out of the mantissa counts the exponent up, as it has to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.front._structs import concatenated
from cyclescope.hls.ir import Op, Value, bits_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.hls.front._context import Context

__all__ = ["exact_call"]

_MANTISSA = {32: 23, 64: 52}


_WHOLE = frozenset({"floor", "ceil", "trunc", "round", "rint", "nearbyint"})


_TO_INTEGER = {"lround": "round", "llround": "round", "lrint": "rint", "llrint": "rint"}


def exact_call(
    ctx: Context, name: str, args: Callable[[], list[Value]], width: int
) -> Value | None:
    """The value of a call; None if the function isn't one of them.

    Args:
        ctx: the region's lowering.
        name: the function's, without an `f` at its end.
        args: lowers the arguments.
        width: of the result.
    """
    if name in _WHOLE:
        return _rounded(ctx, name, *args())
    if name in _TO_INTEGER:
        return ctx.b.op(Op.FPTOSI, _rounded(ctx, _TO_INTEGER[name], *args()), width=width)
    match name:
        case "copysign":
            first, second = args()
            return concatenated(ctx, [_magnitude(ctx, first), _sign(ctx, second)])
        case "fdim":
            first, second = args()
            less = ctx.b.op(Op.FLE, first, second, width=1)
            apart = ctx.b.op(Op.FSUB, first, second, width=width)
            return ctx.b.select(less, ctx.b.const(width, 0), apart)
        case "signbit":
            (first,) = args()
            # gcc's value for a float: the bit where it is.
            low = 0 if first.width == 64 else width - 1
            bit = ctx.b.resized(_sign(ctx, first), width, is_signed=False)
            return ctx.b.op(Op.SHL, bit, ctx.b.const(width, low), width=width)
        case "isgreater" | "isgreaterequal" | "isless" | "islessequal":
            first, second = args()
            if name.startswith("isgreater"):
                first, second = second, first
            op = Op.FLE if name.endswith("equal") else Op.FLT
            return _truth(ctx, ctx.b.op(op, first, second, width=1), width)
        case "islessgreater":
            first, second = args()
            less = ctx.b.op(Op.FLT, first, second, width=1)
            more = ctx.b.op(Op.FLT, second, first, width=1)
            return _truth(ctx, ctx.b.op(Op.OR, less, more, width=1), width)
        case "isunordered":
            tests = [ctx.b.op(Op.FEQ, v, v, width=1) for v in args()]
            return _truth(ctx, ctx.b.negated(ctx.b.op(Op.AND, *tests, width=1)), width)
        case "isnormal":
            (first,) = args()
            exponent = _exponent(ctx, first)
            ones = ctx.b.const(exponent.width, -1)
            zero = ctx.b.const(exponent.width, 0)
            finite = ctx.b.op(Op.NE, exponent, ones, width=1)
            large = ctx.b.op(Op.NE, exponent, zero, width=1)
            return _truth(ctx, ctx.b.op(Op.AND, finite, large, width=1), width)
    return None


def _truth(ctx: Context, bit: Value, width: int) -> Value:
    return ctx.b.resized(bit, width, is_signed=False)


def _sign(ctx: Context, value: Value) -> Value:
    return ctx.b.op(Op.EXTRACT, value, width=1, constant=value.width - 1)


def _magnitude(ctx: Context, value: Value) -> Value:
    return ctx.b.op(Op.EXTRACT, value, width=value.width - 1)


def _exponent(ctx: Context, value: Value) -> Value:
    point = _MANTISSA[value.width]
    return ctx.b.op(Op.EXTRACT, value, width=value.width - 1 - point, constant=point)


def _rounded(ctx: Context, name: str, value: Value) -> Value:
    """A number rounded to a whole one, in one of five ways; the sign stays, also a zero's."""
    width, b = value.width, ctx.b
    point = _MANTISSA[width]
    exponent, negative = _exponent(ctx, value), _sign(ctx, value)
    bias = (1 << (exponent.width - 1)) - 1
    # Below 1 all of the mantissa is behind the point.
    small = b.op(Op.ULT, exponent, b.const(exponent.width, bias), width=1)
    whole = b.op(Op.ULE, b.const(exponent.width, bias + point), exponent, width=1)
    one = b.const(exponent.width, bias)
    shift = b.resized(b.op(Op.SUB, exponent, one, width=exponent.width), width, is_signed=False)
    behind = b.op(Op.LSHR, b.const(width, (1 << point) - 1), shift, width=width)
    added = _added(ctx, name, value, behind, shift, negative)
    total = b.op(Op.ADD, value, added, width=width)
    kept = b.op(Op.AND, total, b.op(Op.NOT, behind, width=width), width=width)
    digit = b.const(width - 1, bits_of(1.0, width))
    least = b.select(_is_one(ctx, name, value, negative), digit, b.const(width - 1, 0))
    result = b.select(small, concatenated(ctx, [least, negative]), kept)
    return b.select(whole, value, result)


def _added(
    ctx: Context, name: str, value: Value, behind: Value, shift: Value, negative: Value
) -> Value:
    """The number added to a magnitude from 1 on."""
    width, b = value.width, ctx.b
    zero = b.const(width, 0)
    if name == "trunc":
        return zero
    if name == "floor":
        return b.select(negative, behind, zero)
    if name == "ceil":
        return b.select(negative, zero, behind)
    half = b.op(Op.LSHR, b.const(width, 1 << (_MANTISSA[width] - 1)), shift, width=width)
    if name == "round":
        return half
    # To the even neighbour: a half rounds up only if the last digit before the point is 1.
    last = b.op(Op.ADD, behind, b.const(width, 1), width=width)
    odd = b.op(Op.NE, b.op(Op.AND, value, last, width=width), zero, width=1)
    before = b.op(Op.SUB, half, b.const(width, 1), width=width)
    return b.select(odd, half, before)


def _is_one(ctx: Context, name: str, value: Value, negative: Value) -> Value:
    """Return whether a number below 1 becomes 1 (or -1), and not 0."""
    width, b = value.width, ctx.b
    magnitude = _magnitude(ctx, value)
    if name == "trunc":
        return b.const(1, 0)
    if name in ("floor", "ceil"):
        some = b.op(Op.NE, magnitude, b.const(width - 1, 0), width=1)
        away = negative if name == "floor" else b.negated(negative)
        return b.op(Op.AND, some, away, width=1)
    half = b.const(width - 1, bits_of(0.5, width))
    op = Op.ULE if name == "round" else Op.ULT
    return b.op(op, half, magnitude, width=1)
