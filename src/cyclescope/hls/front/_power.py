"""`pow` and `powf` by other arithmetic units: where they are exact, and of floats in doubles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.front._rounding import exact_call
from cyclescope.hls.ir import Op, bits_of, constant_of

if TYPE_CHECKING:
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Value

__all__ = ["power"]


def power(ctx: Context, base: Value, exponent: Value) -> Value | None:
    """The power of two numbers of one width; None: there is no arithmetic unit for it.

    Compilers, too, multiply and divide for the exponents that this is exact for, and rounded once.
    Of two floats it is the exponential of a product with a logarithm, all of them doubles: their
    errors are below 2**-44 of the result, so rounding to a float costs half a unit in the last
    place, and a millionth.
    """
    b, width = ctx.b, base.width
    one = b.const(width, bits_of(1.0, width))
    given = constant_of(exponent)
    if given == bits_of(0.0, width):
        return one
    if given == bits_of(1.0, width):
        return base
    if given == bits_of(2.0, width):
        return b.op(Op.FMUL, base, base, width=width)
    if given == bits_of(-1.0, width):
        return b.op(Op.FDIV, one, base, width=width)
    if width != 32:
        return None
    return b.op(Op.FPTRUNC, _of_doubles(ctx, *_wide(ctx, base, exponent)), width=32)


def _wide(ctx: Context, *values: Value) -> list[Value]:
    return [ctx.b.op(Op.FPEXT, value, width=64) for value in values]


def _of_doubles(ctx: Context, base: Value, exponent: Value) -> Value:
    """The power of two floats, given as doubles (C11, annex F.10.4.4)."""
    b = ctx.b
    number = {n: b.const(64, bits_of(n, 64)) for n in (0.0, 0.5, 1.0, float("inf"))}

    def is_whole(value: Value) -> Value:
        whole = exact_call(ctx, "trunc", lambda: [value], 64)
        assert whole is not None
        return b.op(Op.FEQ, whole, value, width=1)

    size = b.op(Op.FABS, base, width=64)
    logarithm = b.op(Op.FLOG, size, width=64)
    result = b.op(Op.FEXP, b.op(Op.FMUL, exponent, logarithm, width=64), width=64)
    # 0 * infinity: of 1, and of -1 with an infinite exponent
    flat = b.op(Op.FEQ, size, number[1.0], width=1)
    endless = b.op(Op.FEQ, b.op(Op.FABS, exponent, width=64), number[float("inf")], width=1)
    result = b.select(b.op(Op.AND, flat, endless, width=1), number[1.0], result)
    whole = is_whole(exponent)
    half = b.op(Op.FMUL, exponent, number[0.5], width=64)
    odd = b.op(Op.AND, whole, b.negated(is_whole(half)), width=1)
    negative = b.op(Op.EXTRACT, base, width=1, constant=63)
    turned = b.op(Op.AND, negative, odd, width=1)
    result = b.select(turned, b.op(Op.FNEG, result, width=64), result)
    # A negative number has no power that isn't whole; infinity and zero have.
    below = b.op(Op.FLT, base, number[0.0], width=1)
    finite = b.op(Op.FLT, size, number[float("inf")], width=1)
    none = b.op(Op.AND, b.op(Op.AND, below, finite, width=1), b.negated(whole), width=1)
    result = b.select(none, b.const(64, bits_of(float("nan"), 64)), result)
    # Whatever the other one is, a NaN too.
    sure = b.op(
        Op.OR,
        b.op(Op.FEQ, exponent, number[0.0], width=1),
        b.op(Op.FEQ, base, number[1.0], width=1),
        width=1,
    )
    return b.select(sure, number[1.0], result)
