"""memcpy, memmove, memset: loops of the widest accesses that are known to be aligned."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from cyclescope.c import (
    Array,
    Binary,
    Cast,
    Literal,
    Scalar,
    Struct,
    Unary,
    Vector,
    alignment_of,
    without_casts,
)
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._control import counted
from cyclescope.hls.front._dispatch import address, rvalue
from cyclescope.hls.front._layout import size_of, width_of
from cyclescope.hls.front._memory import load_from, store_to
from cyclescope.hls.front._objects import OnWire, read_object, wire_at, write_object
from cyclescope.hls.front._structs import concatenated
from cyclescope.hls.ir import Op, Value, constant_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.c import Call, CType, Expr, Range
    from cyclescope.hls.front._context import Context

__all__ = ["block_call", "clear_object", "copy_object"]

_MOST_BYTES = 64  # of an access


_MOST_AT_ONCE = 8  # accesses that aren't worth a loop


def copy_object(ctx: Context, to: Location, given: Location, where: Range) -> None:
    """A copy of an object in memory, piece by piece; the two are the same or apart."""
    unit = min(alignment_of(to.type), _MOST_BYTES)
    kind = Scalar("uint", 8 * unit)

    def move(number: Value) -> None:
        value = load_from(ctx, _access(ctx, given, number, unit, kind), kind.bits)
        store_to(ctx, _access(ctx, to, number, unit, kind), value)

    counted(ctx, where, ctx.b.const(64, size_of(to.type, where) // unit), move)


def clear_object(ctx: Context, place: Location, where: Range) -> None:
    """Zeros in all of an object in memory."""
    unit = min(alignment_of(place.type), _MOST_BYTES)
    kind = Scalar("uint", 8 * unit)

    def clear(number: Value) -> None:
        store_to(ctx, _access(ctx, place, number, unit, kind), ctx.b.const(kind.bits, 0))

    counted(ctx, where, ctx.b.const(64, size_of(place.type, where) // unit), clear)


def block_call(ctx: Context, call: Call, name: str) -> OnWire | Location:
    """A call of `memcpy`, `memmove` or `memset`; gives the target."""
    target, source, size = call.args
    if name == "memset":
        _fill(ctx, target, source, size, call.where)
    else:
        _copy(ctx, target, source, size, call.where, may_overlap=name == "memmove")
    return _place(ctx, target)


def _copy(
    ctx: Context, target: Expr, source: Expr, size: Expr, where: Range, *, may_overlap: bool
) -> None:
    to, given = _place(ctx, target), _place(ctx, source)
    bytes_ = _bytes(ctx, size)
    if isinstance(to, OnWire) or isinstance(given, OnWire):
        _copy_wires(ctx, to, given, constant_of(bytes_), where)
        return
    unit = gcd(_grain(to), _grain(given), _factor(size), _MOST_BYTES)
    kind = Scalar("uint", 8 * unit)

    def load(number: Value) -> Value:
        return load_from(ctx, _access(ctx, given, number, unit, kind), kind.bits)

    def store(number: Value, value: Value) -> None:
        store_to(ctx, _access(ctx, to, number, unit, kind), value)

    count = ctx.b.op(Op.UDIV, bytes_, ctx.b.const(64, unit), width=64)
    known = constant_of(count)
    if known is not None and known <= _MOST_AT_ONCE:
        numbers = [ctx.b.const(64, n) for n in range(known)]
        values = [load(n) for n in numbers]  # all before any is written over
        for number, value in zip(numbers, values, strict=True):
            store(number, value)
        return
    if may_overlap and to.array is given.array:
        behind = ctx.b.op(Op.ULT, given.offset, to.offset, width=1)
        last = ctx.b.op(Op.SUB, count, ctx.b.const(64, 1), width=64, exact=True)

        def move(number: Value) -> None:
            other = ctx.b.op(Op.SUB, last, number, width=64, exact=True)
            number = ctx.b.select(behind, other, number)
            store(number, load(number))

        counted(ctx, where, count, move)
        return
    counted(ctx, where, count, lambda number: store(number, load(number)))


def _copy_wires(
    ctx: Context, to: OnWire | Location, given: OnWire | Location, size: int | None, where: Range
) -> None:
    """A copy from or to a variable on wires, which is copied whole."""
    sort = to.variable.type if isinstance(to, OnWire) else None
    if sort is None and isinstance(given, OnWire):
        sort = given.variable.type
    assert sort is not None
    if size != size_of(sort, where):
        raise ctx.refuse(where, f"a copy of a part of a {sort} on wires; assign what is meant")
    if isinstance(to, OnWire) and isinstance(given, OnWire):
        write_object(ctx, to, read_object(ctx, given, where), where)
        return
    memory = given if isinstance(to, OnWire) else to
    assert isinstance(memory, Location)
    if memory.type == sort:
        place = memory
    else:
        place = Location(memory.array, memory.offset, Scalar("uint", 8 * size))
    unit = min(size, alignment_of(memory.type)) if memory.type != sort else size
    if isinstance(to, OnWire):
        if unit == size:
            write_object(ctx, to, read_object(ctx, place, where), where)
            return
        kind = Scalar("uint", 8 * unit)
        parts = [
            load_from(ctx, _access(ctx, memory, ctx.b.const(64, n), unit, kind), kind.bits)
            for n in range(size // unit)
        ]
        write_object(ctx, to, concatenated(ctx, parts), where)
        return
    value = read_object(ctx, given, where)
    if unit == size:
        write_object(ctx, place, value, where)
        return
    kind = Scalar("uint", 8 * unit)
    for n in range(size // unit):
        part = ctx.b.op(Op.EXTRACT, value, width=kind.bits, constant=n * kind.bits)
        store_to(ctx, _access(ctx, memory, ctx.b.const(64, n), unit, kind), part)


def _fill(ctx: Context, target: Expr, value: Expr, size: Expr, where: Range) -> None:
    to = _place(ctx, target)
    byte = ctx.b.resized(rvalue(ctx, value), 8, is_signed=False)
    bytes_ = _bytes(ctx, size)
    if isinstance(to, OnWire):
        kind = to.variable.type
        if constant_of(bytes_) != size_of(kind, where):
            raise ctx.refuse(where, f"memset of a part of a {kind} on wires; assign what is meant")
        filled = concatenated(ctx, [byte] * (width_of(kind, where) // 8))
        write_object(ctx, to, filled, where)
        return
    unit = gcd(_grain(to), _factor(size), _MOST_BYTES)
    sort = Scalar("uint", 8 * unit)
    filled = concatenated(ctx, [byte] * unit)
    count = ctx.b.op(Op.UDIV, bytes_, ctx.b.const(64, unit), width=64)

    def store(number: Value) -> None:
        store_to(ctx, _access(ctx, to, number, unit, sort), filled)

    _repeated(ctx, count, store, where)


def _repeated(ctx: Context, count: Value, body: Callable[[Value], None], where: Range) -> None:
    known = constant_of(count)
    if known is None or known > _MOST_AT_ONCE:
        counted(ctx, where, count, body)
        return
    for number in range(known):
        body(ctx.b.const(64, number))


def _place(ctx: Context, pointer: Expr) -> OnWire | Location:
    pointer = without_casts(pointer)  # which say nothing of what is copied
    wire = wire_at(ctx, pointer)
    return wire if wire is not None else address(ctx, pointer)


def _bytes(ctx: Context, size: Expr) -> Value:
    signed = isinstance(size.type, Scalar) and size.type.kind == "int"
    return ctx.b.resized(rvalue(ctx, size), 64, is_signed=signed)


def _access(ctx: Context, place: Location, number: Value, unit: int, kind: Scalar) -> Location:
    moved = ctx.b.op(Op.MUL, number, ctx.b.const(64, unit), width=64, exact=True)
    at = ctx.b.op(Op.ADD, place.offset, moved, width=64, exact=True)
    return Location(place.array, at, kind)


def _grain(place: Location) -> int:
    """Bytes to a multiple of which a pointer is aligned."""
    kind: CType = place.type
    return alignment_of(kind) if isinstance(kind, Scalar | Vector | Struct | Array) else 1


def _factor(size: Expr) -> int:
    """A number that a size is a multiple of, whatever its variables are."""
    match size:
        case Literal(value=value):
            return int(value)
        case Cast(operand=operand) | Unary(op="-", operand=operand):
            return _factor(operand)
        case Binary(op="*", left=left, right=right):
            return _factor(left) * _factor(right)
        case Binary(op="+" | "-", left=left, right=right):
            return gcd(_factor(left), _factor(right))
    return 1
