"""Conversions between C's arithmetic types, on bit vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Scalar, Vector
from cyclescope.hls.front._layout import width_of
from cyclescope.hls.ir import Op, Value, bits_of

if TYPE_CHECKING:
    from cyclescope.c import CType, Range
    from cyclescope.hls.front._context import Context

__all__ = ["convert", "truth"]


def truth(ctx: Context, value: Value, kind: CType) -> Value:
    """Return whether a value is not zero."""
    zero = ctx.b.const(value.width, 0)
    if isinstance(kind, Scalar) and kind.is_float:
        return ctx.b.negated(ctx.b.op(Op.FEQ, value, zero, width=1))
    return ctx.b.op(Op.NE, value, zero, width=1)


def convert(ctx: Context, value: Value, given: CType, wanted: CType, where: Range) -> Value:
    """A value in another arithmetic type, as C converts."""
    if given == wanted:
        return value
    if isinstance(wanted, Vector):
        if isinstance(given, Vector):
            if value.width == width_of(wanted, where):
                return value
        else:
            part = convert(ctx, value, given, wanted.element, where)
            return ctx.b.op(Op.CONCAT, *[part] * wanted.lanes, width=width_of(wanted, where))
    if isinstance(given, Scalar) and isinstance(wanted, Scalar):
        return _scalar(ctx, value, given, wanted)
    raise ctx.refuse(where, f"a conversion from {given} to {wanted} isn't supported")


def _scalar(ctx: Context, value: Value, given: Scalar, wanted: Scalar) -> Value:
    width = wanted.bits
    if wanted.kind == "bool":
        return ctx.b.resized(truth(ctx, value, given), width, is_signed=False)
    signed = given.kind == "int"
    if given.is_float and wanted.is_float:
        return ctx.b.op(Op.FPEXT if width > value.width else Op.FPTRUNC, value, width=width)
    if given.is_float:
        if wanted.kind == "uint" and width == 64:
            # As compilers for x86 do it: from 2^64 on, 0.
            limit = ctx.b.const(value.width, bits_of(2.0**64, value.width))
            beyond = ctx.b.op(Op.FLE, limit, value, width=1)
            whole = ctx.b.op(Op.FPTOUI, value, width=64)
            return ctx.b.select(beyond, ctx.b.const(64, 0), whole)
        # As x86 does it: by way of the next wider signed integer.
        wide = 64 if width == 64 or (wanted.kind == "uint" and width == 32) else 32
        whole = ctx.b.op(Op.FPTOSI, value, width=wide)
        return ctx.b.resized(whole, width, is_signed=True)
    if wanted.is_float:
        wide_enough = ctx.b.resized(value, max(32, value.width), is_signed=signed)
        op = Op.SITOFP if signed or value.width < 32 else Op.UITOFP
        return ctx.b.op(op, wide_enough, width=width)
    return ctx.b.resized(value, width, is_signed=signed)
