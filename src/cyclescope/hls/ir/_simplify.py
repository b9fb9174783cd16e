"""Algebra on nodes as they are made: what hardware need not compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir._graph import Op, Value
from cyclescope.hls.ir._semantics import mask, signed

if TYPE_CHECKING:
    from cyclescope.hls.ir._builder import Builder

__all__ = ["simplified"]


def _const(value: Value) -> int | None:
    return value.node.constant if value.node.op is Op.CONST else None


def _is(value: Value, op: Op) -> bool:
    return value.node.op is op


def simplified(
    b: Builder, op: Op, given: tuple[Value, ...], width: int, constant: int, *, exact: bool
) -> Value | None:
    """A simpler way to the same value, None if there is none."""
    match op:
        case Op.ADD | Op.SUB:
            return _sum(b, op, given, width, exact=exact)
        case Op.MUL:
            return _product(b, given, width, exact=exact)
        case Op.UDIV | Op.UREM | Op.SDIV | Op.SREM:
            return _quotient(b, op, given, width)
        case Op.AND | Op.OR | Op.XOR:
            return _bitwise(b, op, given, width)
        case Op.SHL | Op.LSHR | Op.ASHR:
            return given[0] if _const(given[1]) == 0 else None
        case Op.NOT:
            return given[0].node.operands[0] if _is(given[0], Op.NOT) else None
        case Op.EQ | Op.NE | Op.SLT | Op.SLE | Op.ULT | Op.ULE:
            return _comparison(b, op, given)
        case Op.SELECT:
            return _selection(b, given)
        case Op.ZEXT | Op.SEXT | Op.TRUNC:
            return _resize(b, op, given[0], width)
        case Op.EXTRACT:
            return _part(b, given[0], width, constant)
        case Op.CONCAT:
            return _whole(given, width)
    return None


def _split(value: Value) -> tuple[Value, int]:
    """A value as another one and a constant added to it."""
    if _is(value, Op.ADD):
        added = _const(value.node.operands[1])
        if added is not None:
            return value.node.operands[0], added
    return value, 0


def _sum(b: Builder, op: Op, given: tuple[Value, ...], width: int, *, exact: bool) -> Value | None:
    left, right = given
    known = _const(right)
    if op is Op.SUB:
        if left == right:
            return b.const(width, 0)
        if known is not None:
            return b.op(Op.ADD, left, b.const(width, -known), width=width, exact=exact)
        (x, m), (y, n) = _split(left), _split(right)
        return b.const(width, m - n) if x == y else None
    if known == 0:
        return left
    if known is not None and _is(left, Op.ADD):
        inner, added = _split(left)
        if inner is not left:
            both = exact and b.is_exact(left)
            return b.op(Op.ADD, inner, b.const(width, known + added), width=width, exact=both)
    return None


def _product(b: Builder, given: tuple[Value, ...], width: int, *, exact: bool) -> Value | None:
    left, right = given
    known = _const(right)
    if known is None:
        return None
    if known == 0:
        return right
    if known == 1:
        return left
    if known & (known - 1) == 0 and known >> (width - 1) == 0:
        amount = b.const(width, known.bit_length() - 1)
        return b.op(Op.SHL, left, amount, width=width, exact=exact)
    return None


def _quotient(b: Builder, op: Op, given: tuple[Value, ...], width: int) -> Value | None:
    left, right = given
    known = _const(right)
    if known is None or known == 0 or known & (known - 1):
        return None
    power = known.bit_length() - 1
    if op is Op.UDIV:
        return b.op(Op.LSHR, left, b.const(width, power), width=width)
    if op is Op.UREM:
        return b.op(Op.AND, left, b.const(width, known - 1), width=width)
    if power == width - 1:  # the smallest number: a power of two only if read unsigned
        return None
    if power == 0:
        return left if op is Op.SDIV else b.const(width, 0)
    # Toward zero: a negative dividend is raised by the divisor less one.
    sign = b.op(Op.ASHR, left, b.const(width, width - 1), width=width)
    bias = b.op(Op.AND, sign, b.const(width, known - 1), width=width)
    raised = b.op(Op.ADD, left, bias, width=width)
    if op is Op.SDIV:
        return b.op(Op.ASHR, raised, b.const(width, power), width=width)
    whole = b.op(Op.AND, raised, b.const(width, ~(known - 1)), width=width)
    return b.op(Op.SUB, left, whole, width=width)


def _bitwise(b: Builder, op: Op, given: tuple[Value, ...], width: int) -> Value | None:
    left, right = given
    if left == right:
        return b.const(width, 0) if op is Op.XOR else left
    known = _const(right)
    if known is None:
        opposite = (_is(left, Op.NOT) and left.node.operands[0] == right) or (
            _is(right, Op.NOT) and right.node.operands[0] == left
        )
        return b.const(width, 0 if op is Op.AND else -1) if opposite else None
    if known == 0:
        return right if op is Op.AND else left
    if op is Op.AND and _is(left, Op.AND):
        inner, other = left.node.operands
        both = _const(other)
        if both is not None:
            kept = b.const(left.width, both & known)
            return left if both & known == both else b.op(Op.AND, inner, kept, width=left.width)
    if known == mask(width):
        return {Op.AND: left, Op.OR: right}.get(op) or b.op(Op.NOT, left, width=width)
    return None


def _comparison(b: Builder, op: Op, given: tuple[Value, ...]) -> Value | None:
    left, right = given
    if left == right:
        return b.const(1, int(op in (Op.EQ, Op.SLE, Op.ULE)))
    known = _const(right)
    if op in (Op.EQ, Op.NE):
        if _is(left, Op.ZEXT) and left.node.operands[0].width == 1 and known is not None:
            bit = left.node.operands[0]
            if known > 1:
                return b.const(1, int(op is Op.NE))
            return bit if (known == 1) == (op is Op.EQ) else b.negated(bit)
        if left.width == 1 and known is not None:
            return left if (known == 1) == (op is Op.EQ) else b.negated(left)
    (x, m), (y, n) = _split(left), _split(right)
    if x != y:
        return None
    if op in (Op.EQ, Op.NE):
        return b.const(1, int((m == n) == (op is Op.EQ)))
    exact = all(v is z or b.is_exact(v) for v, z in ((left, x), (right, y)))
    if exact and op in (Op.SLT, Op.SLE):
        width = left.width
        first, second = signed(m & mask(width), width), signed(n & mask(width), width)
        return b.const(1, int(first < second if op is Op.SLT else first <= second))
    return None


def _selection(b: Builder, given: tuple[Value, ...]) -> Value | None:
    condition, then, other = given
    known = _const(condition)
    if known is not None:
        return then if known else other
    if then == other:
        return then
    if _is(condition, Op.NOT):
        return b.select(condition.node.operands[0], other, then)
    if then.width == 1:
        yes, no = _const(then), _const(other)
        if yes == 1:
            return b.op(Op.OR, condition, other, width=1)
        if yes == 0:
            return b.op(Op.AND, b.negated(condition), other, width=1)
        if no == 0:
            return b.op(Op.AND, condition, then, width=1)
        if no == 1:
            return b.op(Op.OR, b.negated(condition), then, width=1)
    # Neither arm need ask again what is already known.
    if _is(then, Op.SELECT) and then.node.operands[0] == condition:
        return b.select(condition, then.node.operands[1], other)
    if _is(other, Op.SELECT) and other.node.operands[0] == condition:
        return b.select(condition, then, other.node.operands[2])
    return None


def _resize(b: Builder, op: Op, value: Value, width: int) -> Value | None:
    inner = value.node.operands[0] if value.node.op in (Op.ZEXT, Op.SEXT, Op.TRUNC) else None
    if inner is None:
        return None
    if op is Op.TRUNC:
        if _is(value, Op.TRUNC):
            return b.op(Op.TRUNC, inner, width=width)
        if width == inner.width:
            return inner
        if width < inner.width:
            return b.op(Op.TRUNC, inner, width=width)
        return b.op(value.node.op, inner, width=width)
    if value.node.op is op:
        return b.op(op, inner, width=width)
    if op is Op.SEXT and _is(value, Op.ZEXT):
        return b.op(Op.ZEXT, inner, width=width)
    return None


def _part(b: Builder, value: Value, width: int, low: int) -> Value | None:
    if width == value.width:
        return value
    if _is(value, Op.CONCAT):
        position = 0
        for part in value.node.operands:
            if position <= low and low + width <= position + part.width:
                return b.op(Op.EXTRACT, part, width=width, constant=low - position)
            position += part.width
    if _is(value, Op.EXTRACT):
        inner = value.node.operands[0]
        return b.op(Op.EXTRACT, inner, width=width, constant=low + value.node.constant)
    return None


def _whole(given: tuple[Value, ...], width: int) -> Value | None:
    if len(given) == 1:
        return given[0]
    source: Value | None = None
    position = 0
    for part in given:
        if not _is(part, Op.EXTRACT) or part.node.constant != position:
            return None
        if source is not None and part.node.operands[0] != source:
            return None
        source = part.node.operands[0]
        position += part.width
    return source if source is not None and source.width == width else None
