"""Conversions between C's arithmetic types, on bit vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Scalar, Vector
from cyclescope.hls.front._layout import width_of
from cyclescope.hls.front._objects import Places
from cyclescope.hls.ir._graph import Op, Value
from cyclescope.hls.ir._semantics import bits_of

if TYPE_CHECKING:
    from cyclescope.c import CType, Range

__all__ = ["Conversions"]


class Conversions(Places):
    """Converts values."""

    def truth(self, value: Value, kind: CType) -> Value:
        """Whether a value is not zero."""
        zero = self.b.const(value.width, 0)
        if isinstance(kind, Scalar) and kind.is_float:
            return self.b.negated(self.b.op(Op.FEQ, value, zero, width=1))
        return self.b.op(Op.NE, value, zero, width=1)

    def convert(self, value: Value, given: CType, wanted: CType, where: Range) -> Value:
        """A value in another arithmetic type, as C converts."""
        if given == wanted:
            return value
        if isinstance(wanted, Vector):
            if isinstance(given, Vector):
                if value.width == width_of(wanted, where):
                    return value
            else:
                part = self.convert(value, given, wanted.element, where)
                return self.b.op(Op.CONCAT, *[part] * wanted.lanes, width=width_of(wanted, where))
        if isinstance(given, Scalar) and isinstance(wanted, Scalar):
            return self._scalar(value, given, wanted)
        raise self.refuse(where, f"a conversion from {given} to {wanted} isn't supported")

    def _scalar(self, value: Value, given: Scalar, wanted: Scalar) -> Value:
        width = wanted.bits
        if wanted.kind == "bool":
            return self.b.resized(self.truth(value, given), width, is_signed=False)
        signed = given.kind == "int"
        if given.is_float and wanted.is_float:
            return self.b.op(Op.FPEXT if width > value.width else Op.FPTRUNC, value, width=width)
        if given.is_float:
            if wanted.kind == "uint" and width == 64:
                # As compilers for x86 do it: from 2^64 on, 0.
                limit = self.b.const(value.width, bits_of(2.0**64, value.width))
                beyond = self.b.op(Op.FLE, limit, value, width=1)
                whole = self.b.op(Op.FPTOUI, value, width=64)
                return self.b.select(beyond, self.b.const(64, 0), whole)
            # As x86 does it: by way of the next wider signed integer.
            wide = 64 if width == 64 or (wanted.kind == "uint" and width == 32) else 32
            whole = self.b.op(Op.FPTOSI, value, width=wide)
            return self.b.resized(whole, width, is_signed=True)
        if wanted.is_float:
            wide_enough = self.b.resized(value, max(32, value.width), is_signed=signed)
            op = Op.SITOFP if signed or value.width < 32 else Op.UITOFP
            return self.b.op(op, wide_enough, width=width)
        return self.b.resized(value, width, is_signed=signed)
