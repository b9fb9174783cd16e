"""Operations without effects, as expressions of plain logic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import APPROXIMATE, Op
from cyclescope.rtl import cat, mux

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.hls.ir import Node
    from cyclescope.rtl import Expr

__all__ = ["FLOATING", "INTEGER", "combinational"]

_BINARY: dict[Op, Callable[[Expr, Expr], Expr]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.AND: lambda a, b: a & b,
    Op.OR: lambda a, b: a | b,
    Op.XOR: lambda a, b: a ^ b,
    Op.SHL: lambda a, b: a << b,
    Op.LSHR: lambda a, b: a >> b,
    Op.ASHR: lambda a, b: a.ashr(b),
    Op.EQ: lambda a, b: a.eq(b),
    Op.NE: lambda a, b: a.ne(b),
    Op.SLT: lambda a, b: a.slt(b),
    Op.SLE: lambda a, b: a.sle(b),
    Op.ULT: lambda a, b: a.ult(b),
    Op.ULE: lambda a, b: a.ule(b),
}


# What profiles count as operations: arithmetic, logic and comparisons, not conversions or choices.
FLOATING = APPROXIMATE | {Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV, Op.FSQRT, Op.FMIN, Op.FMAX}
INTEGER = frozenset(
    {Op.ADD, Op.SUB, Op.MUL, Op.SDIV, Op.UDIV, Op.SREM, Op.UREM, Op.AND, Op.OR, Op.XOR, Op.SHL}
    | {Op.LSHR, Op.ASHR, Op.EQ, Op.NE, Op.SLT, Op.SLE, Op.ULT, Op.ULE}
)


def combinational(node: Node, operands: Sequence[Expr]) -> Expr:
    """The value of an operation that is plain logic."""
    op, width = node.op, node.widths[0]
    if op in _BINARY:
        return _BINARY[op](operands[0], operands[1])
    first = operands[0]
    if op is Op.SELECT:
        return mux(first, operands[1], operands[2])
    if op is Op.NOT:
        return ~first
    if op is Op.ZEXT:
        return first.zext(width)
    if op is Op.SEXT:
        return first.sext(width)
    if op is Op.TRUNC:
        return first.trunc(width)
    if op is Op.CONCAT:
        return cat(*reversed(operands))
    if op is Op.EXTRACT:
        return first[node.constant + width - 1 : node.constant]
    # The sign bit of a float: flipped or cleared.
    sign = first[width - 1]
    rest = first[width - 2 : 0]
    if op is Op.FNEG:
        return cat(~sign, rest)
    assert op is Op.FABS, op
    return cat(sign ^ sign, rest)
