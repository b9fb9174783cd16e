"""Expressions: C's arithmetic on bit vectors."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    Opaque,
    Pointer,
    Scalar,
    Struct,
    Tool,
    Unary,
    Vector,
    Void,
    refusal,
)
from cyclescope.hls.front._bit_fields import OnBits, fitted
from cyclescope.hls.front._choices import Choice, in_common, is_null, is_null_constant, null
from cyclescope.hls.front._control import branch
from cyclescope.hls.front._conversions import convert
from cyclescope.hls.front._dispatch import (
    CONDITIONS,
    VALUES,
    address,
    condition_of,
    object_of,
    rvalue,
)
from cyclescope.hls.front._layout import size_of, width_of
from cyclescope.hls.front._objects import (
    lane_number,
    lane_of,
    read_object,
    stride,
    wire_at,
    write_object,
)
from cyclescope.hls.front._pointers import assign_pointer, assign_view, is_object, is_view
from cyclescope.hls.front._structs import concatenated, field_of
from cyclescope.hls.ir import Op, Value, bits_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import CType, Range
    from cyclescope.hls.front._context import Context

__all__ = ["arithmetic"]

_INTEGER = {"+": Op.ADD, "-": Op.SUB, "*": Op.MUL, "&": Op.AND, "|": Op.OR, "^": Op.XOR}


_FLOATING = {"+": Op.FADD, "-": Op.FSUB, "*": Op.FMUL, "/": Op.FDIV}


_TESTS = frozenset({"==", "!=", "<", "<=", ">", ">="})


def _is_signed(kind: CType) -> bool:
    return isinstance(kind, Scalar) and kind.kind == "int"


def _listed(ctx: Context, init: Expr | None, kind: CType, where: Range) -> Iterator[Value]:
    """The values of an initialiser list in a row, zeros where it has none."""
    if isinstance(init, InitList) or init is None:
        match kind:
            case Struct(fields=fields):
                parts = [t for _, t in fields]
            case Array(element=element, extent=extent) if extent is not None:
                parts = [element] * extent
            case Vector(element=element, lanes=lanes):
                parts = [element] * lanes
            case _:
                parts = []
        given = init.values if init is not None else ()
        if parts:
            for part, value in zip_longest(parts, given[: len(parts)]):
                yield from _listed(ctx, value, part, where)
            return
    if init is None:
        yield ctx.b.const(width_of(kind, where), 0)
    else:
        sort = kind if isinstance(init, InitList) else init.type
        yield convert(ctx, rvalue(ctx, init), sort, kind, where)


def _lane_of(ctx: Context, expr: Index) -> Value:
    if is_object(expr.base):
        return read_object(ctx, object_of(ctx, expr), expr.where)
    assert isinstance(expr.base.type, Vector)
    return lane_of(ctx, rvalue(ctx, expr.base), expr.base.type, lane_number(ctx, expr.index))


@VALUES.of(Literal)
def _literal(ctx: Context, expr: Literal) -> Value:
    value, kind, where = expr.value, expr.type, expr.where
    width = width_of(kind, where)
    if isinstance(kind, Scalar) and kind.is_float:
        return ctx.b.const(width, bits_of(float(value), width))
    return ctx.b.const(width, int(value))


def _shortcut(ctx: Context, op: str, left: Expr, right: Expr) -> Value:
    first = condition_of(ctx, left)
    result: list[Value] = []
    branch(
        ctx,
        first if op == "&&" else ctx.b.negated(first),
        lambda: result.append(condition_of(ctx, right)),
    )
    if not result:
        return first
    return ctx.b.op(Op.AND if op == "&&" else Op.OR, first, result[0], width=1)


@VALUES.of(Conditional)
def _conditional(ctx: Context, expr: Conditional) -> Value:
    if isinstance(expr.type, Pointer):
        return address(ctx, expr).offset
    chosen = condition_of(ctx, expr.condition)
    arms: dict[bool, Value] = {}

    def arm(which: bool, given: Expr) -> None:
        arms[which] = rvalue(ctx, given)

    branch(ctx, chosen, lambda: arm(True, expr.then), lambda: arm(False, expr.other))
    if len(arms) == 1:
        return next(iter(arms.values()))
    return ctx.b.select(chosen, arms[True], arms[False])


@VALUES.of(Unary)
def _unary(ctx: Context, expr: Unary) -> Value:
    op, operand, kind, where = expr.op, expr.operand, expr.type, expr.where
    match op:
        case "*":
            if isinstance(kind, Array):
                return address(ctx, expr).offset
            return read_object(ctx, object_of(ctx, expr), where)
        case "&":
            return address(ctx, expr).offset
        case "!":
            bit = condition_of(ctx, expr)
            return ctx.b.resized(bit, width_of(kind, where), is_signed=False)
        case _ if op in STEPS:
            return _step(ctx, op, operand, where)
        case "+":
            return convert(ctx, rvalue(ctx, operand), operand.type, kind, where)
    value = rvalue(ctx, operand)
    if isinstance(kind, Vector):
        parts = _lanes(ctx, value, kind)
        done = [_negated(ctx, op, part, kind.element) for part in parts]
        return ctx.b.op(Op.CONCAT, *done, width=value.width)
    assert isinstance(kind, Scalar)
    return _negated(ctx, op, convert(ctx, value, operand.type, kind, where), kind)


def _negated(ctx: Context, op: str, value: Value, kind: Scalar) -> Value:
    if op == "~":
        return ctx.b.op(Op.NOT, value, width=value.width)
    if kind.is_float:
        return ctx.b.op(Op.FNEG, value, width=value.width)
    zero = ctx.b.const(value.width, 0)
    return ctx.b.op(Op.SUB, zero, value, width=value.width, exact=_is_signed(kind))


def _step(ctx: Context, op: str, operand: Expr, where: Range) -> Value:
    place = object_of(ctx, operand)
    before = read_object(ctx, place, where)
    kind = operand.type
    sign = "+" if op.endswith("++") else "-"
    if isinstance(kind, Pointer):
        one = stride(ctx, address(ctx, operand), where)
        after = ctx.b.op(Op.ADD if sign == "+" else Op.SUB, before, one, width=64, exact=True)
    elif isinstance(kind, Scalar):
        common = kind if kind.is_float or kind.bits >= 32 else Scalar("int", 32)
        one = convert(ctx, ctx.b.const(32, 1), Scalar("int", 32), common, where)
        wide = arithmetic(ctx, sign, convert(ctx, before, kind, common, where), one, common)
        after = convert(ctx, wide, common, kind, where)
    else:
        raise ctx.refuse(where, f"{op[-2:]} on {kind} isn't supported")
    write_object(ctx, place, after, where)
    if isinstance(place, OnBits):
        after = fitted(ctx, place, after)
    return after if op.startswith("pre") else before


@VALUES.of(Binary)
def _binary(ctx: Context, expr: Binary) -> Value:
    op, left, right, kind = expr.op, expr.left, expr.right, expr.type
    if op in ("&&", "||"):
        bit = condition_of(ctx, expr)
        return ctx.b.resized(bit, width_of(kind, expr.where), is_signed=False)
    if op == ",":
        rvalue(ctx, left)
        return rvalue(ctx, right)
    if isinstance(kind, Pointer):
        return address(ctx, expr).offset
    if op in _TESTS and not isinstance(kind, Vector):
        bit = condition_of(ctx, expr)
        return ctx.b.resized(bit, width_of(kind, expr.where), is_signed=False)
    if isinstance(left.type, Pointer | Array):
        first, second = in_common(ctx, [address(ctx, left), address(ctx, right)])
        size = ctx.b.const(64, size_of(first.type, expr.where))
        apart = ctx.b.op(Op.SUB, first.offset, second.offset, width=64, exact=True)
        return ctx.b.op(Op.SDIV, apart, size, width=64)
    a, b = rvalue(ctx, left), rvalue(ctx, right)
    if isinstance(kind, Vector):
        return _on_lanes(ctx, op, a, b, left.type, right.type, kind, expr.where)
    assert isinstance(kind, Scalar)
    if op in ("<<", ">>"):
        a = convert(ctx, a, left.type, kind, expr.where)
    return arithmetic(ctx, op, a, b, kind)


def _lanes(ctx: Context, value: Value, kind: Vector) -> list[Value]:
    bits = kind.element.bits
    return [ctx.b.op(Op.EXTRACT, value, width=bits, constant=n * bits) for n in range(kind.lanes)]


def _on_lanes(
    ctx: Context, op: str, a: Value, b: Value, left: CType, right: CType, kind: Vector, where: Range
) -> Value:
    vector = left if isinstance(left, Vector) else right
    assert isinstance(vector, Vector)
    first = _lanes(ctx, convert(ctx, a, left, vector, where), vector)
    second = _lanes(ctx, convert(ctx, b, right, vector, where), vector)
    bits = kind.element.bits
    parts = []
    for x, y in zip(first, second, strict=True):
        if op in _TESTS:
            bit = _test(ctx, op, x, y, vector.element)
            parts.append(ctx.b.op(Op.SEXT, bit, width=bits))
        else:
            parts.append(arithmetic(ctx, op, x, y, vector.element))
    return ctx.b.op(Op.CONCAT, *parts, width=bits * kind.lanes)


def arithmetic(ctx: Context, op: str, a: Value, b: Value, kind: Scalar) -> Value:
    """`a op b` of two values of one type (a shift's amount may have another)."""
    width = a.width
    if kind.is_float:
        return ctx.b.op(_FLOATING[op], a, b, width=width)
    signed = kind.kind == "int"
    if op in _INTEGER:
        return ctx.b.op(_INTEGER[op], a, b, width=width, exact=signed and width >= 32)
    if op in ("<<", ">>"):
        # As the processor has it: the amount's lowest five or six bits count.
        bits = ctx.b.const(width, 63 if width > 32 else min(31, (1 << width) - 1))
        amount = ctx.b.op(Op.AND, ctx.b.resized(b, width, is_signed=False), bits, width=width)
        right = Op.ASHR if signed else Op.LSHR
        return ctx.b.op(Op.SHL if op == "<<" else right, a, amount, width=width)
    if op == "/":
        return ctx.b.op(Op.SDIV if signed else Op.UDIV, a, b, width=width)
    return ctx.b.op(Op.SREM if signed else Op.UREM, a, b, width=width)


def _test(ctx: Context, op: str, a: Value, b: Value, kind: CType) -> Value:
    if op in (">", ">="):
        a, b, op = b, a, {">": "<", ">=": "<="}[op]
    if isinstance(kind, Scalar) and kind.is_float:
        if op == "!=":
            return ctx.b.negated(ctx.b.op(Op.FEQ, a, b, width=1))
        return ctx.b.op({"==": Op.FEQ, "<": Op.FLT, "<=": Op.FLE}[op], a, b, width=1)
    names = {"==": Op.EQ, "!=": Op.NE}
    names |= {"<": Op.SLT, "<=": Op.SLE} if _is_signed(kind) else {"<": Op.ULT, "<=": Op.ULE}
    return ctx.b.op(names[op], a, b, width=1)


@VALUES.of(Assign)
def _assign(ctx: Context, expr: Assign) -> Value:
    target, where = expr.target, expr.where
    if isinstance(target.type, Pointer):
        return assign_pointer(ctx, expr)
    if is_view(target.type):
        return assign_view(ctx, expr)
    if expr.op == "=":
        value = rvalue(ctx, expr.value)
        value = convert(ctx, value, expr.value.type, target.type, where)
        place = object_of(ctx, target)
        write_object(ctx, place, value, where)
        return fitted(ctx, place, value) if isinstance(place, OnBits) else value
    given = rvalue(ctx, expr.value)
    place = object_of(ctx, target)
    before = read_object(ctx, place, where)
    op, common = expr.op[:-1], expr.common
    if isinstance(common, Vector):
        after = _on_lanes(ctx, op, before, given, target.type, expr.value.type, common, where)
    else:
        assert isinstance(common, Scalar)
        first = convert(ctx, before, target.type, common, where)
        if op not in ("<<", ">>"):
            given = convert(ctx, given, expr.value.type, common, where)
        after = convert(ctx, arithmetic(ctx, op, first, given, common), common, target.type, where)
    write_object(ctx, place, after, where)
    return fitted(ctx, place, after) if isinstance(place, OnBits) else after


@VALUES.of(Name)
def _named(ctx: Context, expr: Expr) -> Value:
    """The value of an object; of an array, where it begins."""
    if isinstance(expr.type, Array | Pointer):
        return address(ctx, expr).offset
    return read_object(ctx, object_of(ctx, expr), expr.where)


@VALUES.of(Index)
def _indexed(ctx: Context, expr: Index) -> Value:
    return _lane_of(ctx, expr) if isinstance(expr.base.type, Vector) else _named(ctx, expr)


@VALUES.of(Member)
def _member(ctx: Context, expr: Member) -> Value:
    base = expr.base
    if expr.arrow or is_object(base) or is_view(base.type):
        return _named(ctx, expr)
    assert isinstance(base.type, Struct)
    return field_of(ctx, rvalue(ctx, base), base.type, expr.field, expr.where)


@VALUES.of(Cast)
def _cast(ctx: Context, expr: Cast) -> Value:
    kind, operand = expr.type, expr.operand
    if isinstance(kind, Pointer):
        return address(ctx, expr).offset
    if isinstance(kind, Void):
        return rvalue(ctx, operand)
    return convert(ctx, rvalue(ctx, operand), operand.type, kind, expr.where)


@VALUES.of(InitList)
def _list(ctx: Context, expr: InitList) -> Value:
    kind = expr.type
    if isinstance(kind, Vector | Struct):
        width_of(kind, expr.where)
        return concatenated(ctx, list(_listed(ctx, expr, kind, expr.where)))
    if len(expr.values) == 1:
        return rvalue(ctx, expr.values[0])
    return ctx.b.const(width_of(kind, expr.where), 0)


@VALUES.of(Opaque)
def _opaque(_ctx: Context, expr: Opaque) -> Value:
    raise refusal(expr.construct, Tool.HLS, expr.where)


@CONDITIONS.of(Binary)
def _binary_holds(ctx: Context, expr: Binary) -> Value | None:
    op, left, right = expr.op, expr.left, expr.right
    if op in ("&&", "||"):
        return _shortcut(ctx, op, left, right)
    if op in _TESTS and isinstance(left.type, Pointer | Array):
        return _pointer_test(ctx, op, left, right)
    if op in _TESTS and isinstance(left.type, Scalar):
        return _test(ctx, op, rvalue(ctx, left), rvalue(ctx, right), left.type)
    return None


def _pointer_test(ctx: Context, op: str, left: Expr, right: Expr) -> Value:
    """A comparison of two pointers, one of which may be null."""
    for pointer, other in ((left, right), (right, left)):
        if op in ("==", "!=") and is_null_constant(other):
            leads = condition_of(ctx, pointer)
            return leads if op == "!=" else ctx.b.negated(leads)
    first, second = in_common(ctx, [address(ctx, left), address(ctx, right)])
    a, b = first.offset, second.offset
    if isinstance(first.array, Choice):  # null is the same whatever a pointer may lead to
        a, b = (ctx.b.select(is_null(ctx, v), null(ctx), v) for v in (a, b))
    return _test(ctx, op, a, b, left.type)


@CONDITIONS.of(Name, Index, Member, Assign, Conditional, Call)
def _leads(ctx: Context, expr: Expr) -> Value | None:
    """Return whether a pointer is not null; None: it is no pointer."""
    if not isinstance(expr.type, Pointer | Array):
        return None
    if wire_at(ctx, expr) is not None:
        return ctx.b.const(1, 1)
    return ctx.b.negated(is_null(ctx, address(ctx, expr).offset))


@CONDITIONS.of(Unary)
def _not(ctx: Context, expr: Unary) -> Value | None:
    return ctx.b.negated(condition_of(ctx, expr.operand)) if expr.op == "!" else _leads(ctx, expr)


@CONDITIONS.of(Cast)
def _cast_holds(ctx: Context, expr: Cast) -> Value | None:
    """A conversion that keeps all bits of an integer changes nothing."""
    kind, operand = expr.type, expr.operand
    if isinstance(kind, Pointer) and not is_null_constant(expr):
        return condition_of(ctx, operand)
    if isinstance(kind, Pointer):
        return ctx.b.const(1, 0)
    if not (expr.implicit and _is_integer(kind) and _is_integer(operand.type)):
        return None
    if width_of(kind, expr.where) < width_of(operand.type, expr.where):
        return None
    return condition_of(ctx, operand)


def _is_integer(kind: CType) -> bool:
    return isinstance(kind, Scalar) and not kind.is_float
