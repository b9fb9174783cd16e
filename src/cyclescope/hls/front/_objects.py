"""Objects: variables on wires, lanes of vectors, places in memories; pointers to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Binary,
    Cast,
    Conditional,
    Index,
    Literal,
    Member,
    Name,
    Opaque,
    Placed,
    Pointer,
    Scalar,
    Struct,
    Tool,
    Unary,
    Variable,
    Vector,
    Void,
    refusal,
)
from cyclescope.hls.front._addresses import is_plain
from cyclescope.hls.front._assigned import root
from cyclescope.hls.front._bit_fields import OnBits, on_bits, read_bits, write_bits
from cyclescope.hls.front._choices import in_common, is_null_constant, nowhere, null
from cyclescope.hls.front._context import Location, SharedScalarError
from cyclescope.hls.front._control import branch
from cyclescope.hls.front._dispatch import (
    ADDRESSES,
    OBJECTS,
    address,
    condition_of,
    object_of,
    rvalue,
)
from cyclescope.hls.front._environment import outer, outer_field
from cyclescope.hls.front._layout import field_offset, size_of
from cyclescope.hls.front._memory import inside, load_from, store_to
from cyclescope.hls.front._plans import planned
from cyclescope.hls.front._pointees import pointed_from
from cyclescope.hls.front._structs import (
    field_variable,
    held_value,
    hold,
    is_held,
    load_object,
    store_object,
    wires_of,
)
from cyclescope.hls.ir import Op, Value

if TYPE_CHECKING:
    from cyclescope.c import CType, Expr, Range
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Array as Memory

__all__ = [
    "Object",
    "OnLane",
    "OnWire",
    "lane_number",
    "lane_of",
    "member_of",
    "moved_by",
    "read_object",
    "stride",
    "target_of",
    "wire_at",
    "write_object",
]


@dataclass(frozen=True, slots=True)
class OnWire:
    """A scalar, vector, pointer or struct variable."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class OnLane:
    """One element of a vector."""

    base: OnWire | Location
    vector: Vector
    lane: Value
    whole: bool


Object = OnWire | OnLane | OnBits | Location


def open_extents(kind: CType, given: tuple[Expr, ...]) -> tuple[Expr | None, ...]:
    """The extents that a type leaves open, where the declaration says them."""
    count = 0
    while isinstance(kind, Array):
        count += kind.extent is None
        kind = kind.element
    return (None,) * (count - len(given)) + given


def _pointed_object(ctx: Context, pointer: Expr) -> Object:
    """The object that a pointer points to, which may be on wires."""
    match pointer:
        case Name(variable=variable) if variable in ctx.vars.aliases:
            return _object_of_variable(ctx, ctx.vars.aliases[variable])
        case Unary(op="&", operand=operand):
            return object_of(ctx, operand)
    return address(ctx, pointer)


def _object_of_variable(ctx: Context, variable: Variable) -> Object:
    if variable not in ctx.vars.memories and not is_held(ctx, variable):
        outer(ctx, variable)
    array = ctx.vars.memories.get(variable)
    if array is None:
        return OnWire(variable)
    extents = open_extents(variable.type, variable.extents)
    start = ctx.vars.starts.get(variable)
    at = ctx.b.use(start) if start is not None else ctx.b.const(64, 0)
    return Location(array, at, variable.type, extents)


def _is_read_whole(ctx: Context, base: Expr) -> bool:
    """Return whether a vector in memory is better read whole: all its elements in one access."""
    first = root(base)
    if not ctx.vars.laned:
        return True
    # A pointer may lead anywhere.
    sure = all(v is not None and isinstance(v.type, Array) for v in (*ctx.vars.laned, first))
    return sure and first not in ctx.vars.laned


def lane_number(ctx: Context, index: Expr) -> Value:
    signed = isinstance(index.type, Scalar) and index.type.kind == "int"
    return ctx.b.resized(rvalue(ctx, index), 64, is_signed=signed)


def moved_by(ctx: Context, place: Location, index: Expr, sign: int, where: Range) -> Location:
    given = index.type
    signed = isinstance(given, Scalar) and given.kind == "int"
    count = ctx.b.resized(rvalue(ctx, index), 64, is_signed=signed)
    step = stride(ctx, place, where)
    moved = ctx.b.op(Op.MUL, count, step, width=64, exact=True)
    op = Op.ADD if sign > 0 else Op.SUB
    at = ctx.b.op(op, place.offset, moved, width=64, exact=True)
    return Location(place.array, at, place.type, place.extents)


def stride(ctx: Context, place: Location, where: Range) -> Value:
    """Bytes of a location's contents."""
    kind, extents = place.type, list(place.extents)
    result = ctx.b.const(64, 1)
    while isinstance(kind, Array):
        if kind.extent is not None:
            factor = ctx.b.const(64, kind.extent)
        else:
            extent = extents.pop(0) if extents else None
            if extent is None:
                raise ctx.refuse(where, "the length of a row isn't known; give it a constant")
            signed = isinstance(extent.type, Scalar) and extent.type.kind == "int"
            factor = ctx.b.resized(rvalue(ctx, extent), 64, is_signed=signed)
        result = ctx.b.op(Op.MUL, result, factor, width=64, exact=True)
        kind = kind.element
    size = ctx.b.const(64, size_of(kind, where))
    return ctx.b.op(Op.MUL, result, size, width=64, exact=True)


def wire_at(ctx: Context, expr: Expr) -> OnWire | None:
    """The variable on wires that an argument is the address of."""
    match expr:
        case Name(variable=variable) if variable in ctx.vars.aliases:
            return OnWire(ctx.vars.aliases[variable])
        case Unary(op="&", operand=operand) if is_plain(operand):
            place = object_of(ctx, operand)
            return place if isinstance(place, OnWire) else None
    return None


def _lane_place(ctx: Context, base: Location, vector: Vector, lane: Value) -> Location:
    size = ctx.b.const(64, vector.element.bits // 8)
    moved = ctx.b.op(Op.MUL, lane, size, width=64, exact=True)
    return Location(base.array, _plus(ctx, base.offset, moved), vector.element)


def _plus(ctx: Context, a: Value, b: Value) -> Value:
    return ctx.b.op(Op.ADD, a, b, width=64, exact=True)


def read_object(ctx: Context, place: Object, where: Range) -> Value:
    """The value of an object."""
    match place:
        case OnBits():
            return read_bits(ctx, place)
        case OnWire(variable):
            return held_value(ctx, variable)
        case Location():
            return load_object(ctx, place, where)
        case OnLane(Location() as base, vector, lane, whole):
            if whole and lane.node.op is Op.CONST:
                return lane_of(ctx, read_object(ctx, base, where), vector, lane)
            return load_from(ctx, _lane_place(ctx, base, vector, lane), vector.element.bits)
        case OnLane(base, vector, lane, _):
            return lane_of(ctx, read_object(ctx, base, where), vector, lane)


def lane_of(ctx: Context, value: Value, vector: Vector, lane: Value) -> Value:
    """One element of a vector's value; lanes chosen at run time by selects."""
    bits = vector.element.bits
    if lane.node.op is Op.CONST:
        number = lane.node.constant % vector.lanes
        return ctx.b.op(Op.EXTRACT, value, width=bits, constant=number * bits)
    result = ctx.b.op(Op.EXTRACT, value, width=bits, constant=0)
    for number in range(1, vector.lanes):
        part = ctx.b.op(Op.EXTRACT, value, width=bits, constant=number * bits)
        here = ctx.b.op(Op.EQ, lane, ctx.b.const(64, number), width=1)
        result = ctx.b.select(here, part, result)
    return result


def write_object(ctx: Context, place: Object, value: Value, where: Range) -> None:
    """Give an object a value of its type."""
    match place:
        case OnBits():
            write_bits(ctx, place, value)
        case OnWire(variable):
            if ctx.vars.fixed.intersection(wires_of(ctx, variable)):
                raise SharedScalarError(
                    f"{where}: {variable.name} is shared by all threads",
                    ctx.vars.whole.get(variable, variable),
                )
            hold(ctx, variable, value)
            last_write = ctx.team.last_writes.get(variable)
            if last_write is not None and ctx.team.now in ctx.vars.env:
                ctx.vars.env[last_write] = ctx.vars.env[ctx.team.now]
        case Location():
            store_object(ctx, place, value, where)
        case OnLane(Location() as base, vector, lane, _):
            store_to(ctx, _lane_place(ctx, base, vector, lane), value)
        case OnLane(base, vector, lane, _):
            whole = read_object(ctx, base, where)
            bits = vector.element.bits
            parts = []
            for number in range(vector.lanes):
                part = ctx.b.op(Op.EXTRACT, whole, width=bits, constant=number * bits)
                here = ctx.b.op(Op.EQ, lane, ctx.b.const(64, number), width=1)
                parts.append(ctx.b.select(here, value, part))
            write_object(ctx, base, ctx.b.op(Op.CONCAT, *parts, width=whole.width), where)


@OBJECTS.of(Name)
def _named(ctx: Context, expr: Name) -> Object:
    return _object_of_variable(ctx, expr.variable)


@OBJECTS.of(Index)
def _indexed(ctx: Context, expr: Index) -> Object:
    base, index = expr.base, expr.index
    if isinstance(base.type, Vector):
        inner = object_of(ctx, base)
        if isinstance(inner, OnLane | OnBits):
            raise ctx.refuse(expr.where, "this subscript isn't supported")
        return OnLane(inner, base.type, lane_number(ctx, index), _is_read_whole(ctx, base))
    return moved_by(ctx, address(ctx, base), index, 1, expr.where)


@OBJECTS.of(Unary)
def _dereferenced(ctx: Context, expr: Unary) -> Object | None:
    return _pointed_object(ctx, expr.operand) if expr.op == "*" else None


@OBJECTS.of(Member)
def _member(ctx: Context, expr: Member) -> Object | None:
    base = expr.base
    place = _pointed_object(ctx, base) if expr.arrow else object_of(ctx, base)
    return member_of(ctx, place, expr.field, expr.type, expr.where)


def member_of(ctx: Context, place: Object, name: str, kind: CType, where: Range) -> Object | None:
    """A member of an object; None: it has none.

    Args:
        ctx: the region's lowering.
        place: the object.
        name: of the member.
        kind: its type.
        where: the text.
    """
    if isinstance(place, OnWire) and isinstance(place.variable.type, Struct):
        return OnWire(field_variable(ctx, place.variable, name))
    if isinstance(place, Location) and isinstance(place.type, Struct):
        return inside(ctx, place, field_offset(place.type, name, where), kind)
    if isinstance(place, Location) and isinstance(place.type, Placed):
        return on_bits(ctx, place, place.type.field(name), where)
    return None


@ADDRESSES.of(Name)
def _address_of_name(ctx: Context, expr: Name) -> Location:
    kind, variable = expr.type, expr.variable
    place = _object_of_variable(ctx, variable)
    if isinstance(place, Location) and isinstance(kind, Array):
        return _element(place)
    if isinstance(place, Location) and isinstance(kind, Pointer):
        return pointed_from(ctx, place, expr.where)
    if isinstance(place, OnWire) and is_held(ctx, variable) and isinstance(kind, Pointer | Array):
        base = _base_of(ctx, variable)
        extents = open_extents(kind, variable.extents)
        if isinstance(kind, Array) and kind.extent is None:
            extents = extents[1:]
        return Location(base, ctx.b.use(ctx.vars.env[variable]), _target(kind), extents)
    raise ctx.refuse(
        expr.where, f"it isn't known what {variable.name} points to; "
        f"let it point into a mapped or local array"
    )  # fmt: skip


def _base_of(ctx: Context, variable: Variable) -> Memory:
    """The memory that a pointer on wires leads into, as far as that is known."""
    return ctx.vars.bases.get(variable) or planned(ctx, variable) or nowhere(ctx)


@ADDRESSES.of(Index)
def _address_of_row(ctx: Context, expr: Expr) -> Location | None:
    """The first element of an array that is an element of another one, or a field."""
    if isinstance(expr.type, Pointer) and not isinstance(expr, Member):
        place = object_of(ctx, expr)
        if isinstance(place, OnWire):
            at = ctx.b.use(ctx.vars.env[place.variable])
            return Location(_base_of(ctx, place.variable), at, expr.type.target)
        return pointed_from(ctx, place, expr.where) if isinstance(place, Location) else None
    if not isinstance(expr.type, Array):
        return None
    inner = object_of(ctx, expr)
    return _element(inner) if isinstance(inner, Location) else None


@ADDRESSES.of(Member)
def _address_of_member(ctx: Context, expr: Member) -> Location | None:
    if not isinstance(expr.type, Pointer):
        return _address_of_row(ctx, expr)
    return target_of(ctx, object_of(ctx, expr), expr.type, expr.where)


def target_of(ctx: Context, pointer: Object, kind: Pointer, where: Range) -> Location:
    """The target of a pointer that is an object: a variable, or a part of one.

    Raises:
        SourceError: it can't be told at compile time into which memory it points.
    """
    if isinstance(pointer, Location):
        return pointed_from(ctx, Location(pointer.array, pointer.offset, kind), where)
    assert isinstance(pointer, OnWire)
    variable = pointer.variable
    first = ctx.vars.whole.get(variable)
    if variable not in ctx.vars.bases and any(v is first for v in ctx.host.given):
        outer_field(ctx, variable)
    held = ctx.vars.env.get(variable)
    at = ctx.b.use(held) if held is not None else null(ctx)
    return Location(_base_of(ctx, variable), at, kind.target)


@ADDRESSES.of(Literal)
def _address_zero(ctx: Context, expr: Literal) -> Location | None:
    return Location(nowhere(ctx), null(ctx), Void()) if is_null_constant(expr) else None


@ADDRESSES.of(Binary)
def _address_beside(ctx: Context, expr: Binary) -> Location | None:
    left, right = expr.left, expr.right
    if expr.op not in ("+", "-"):
        return None
    if isinstance(left.type, Scalar):
        left, right = right, left
    return moved_by(ctx, address(ctx, left), right, -1 if expr.op == "-" else 1, expr.where)


@ADDRESSES.of(Cast)
def _address_cast(ctx: Context, expr: Cast) -> Location | None:
    if is_null_constant(expr):
        return Location(nowhere(ctx), null(ctx), _target(expr.type))
    if not isinstance(expr.operand.type, Pointer | Array):
        return None
    place = address(ctx, expr.operand)
    return Location(place.array, place.offset, _target(expr.type))


@ADDRESSES.of(Unary)
def _address_by_operator(ctx: Context, expr: Unary) -> Location | None:
    match expr.op:
        case "&":
            inner = object_of(ctx, expr.operand)
            if isinstance(inner, Location):
                return inner
            if isinstance(inner, OnBits):
                raise ctx.refuse(expr.where, "the address of a member that is no whole number")
            raise ctx.refuse(
                expr.where, "the address of a value on wires; pass it to a function, or use "
                "an array"
            )  # fmt: skip
        case _ if expr.op in STEPS:
            return _address_assigned(ctx, expr, expr.operand)
        case "*":
            return _address_of_row(ctx, expr)
    return None


@ADDRESSES.of(Assign)
def _address_of_assignment(ctx: Context, expr: Assign) -> Location:
    return _address_assigned(ctx, expr, expr.target)


def _address_assigned(ctx: Context, expr: Expr, target: Expr) -> Location:
    """The target of a pointer that an expression assigns."""
    at = rvalue(ctx, expr)
    pointer = object_of(ctx, target)
    if isinstance(pointer, Location):
        base = pointed_from(ctx, pointer, expr.where).array
    else:
        assert isinstance(pointer, OnWire)
        base = _base_of(ctx, pointer.variable)
    return Location(base, at, _target(expr.type))


@ADDRESSES.of(Conditional)
def _address_of_either(ctx: Context, expr: Conditional) -> Location:
    chosen = condition_of(ctx, expr.condition)
    arms: dict[bool, Location] = {}

    def arm(which: bool, given: Expr) -> None:
        arms[which] = address(ctx, given)

    branch(ctx, chosen, lambda: arm(True, expr.then), lambda: arm(False, expr.other))
    if len(arms) == 1:
        return next(iter(arms.values()))
    first, second = in_common(ctx, [arms[True], arms[False]])
    at = ctx.b.select(chosen, first.offset, second.offset)
    return Location(first.array, at, first.type, first.extents)


@ADDRESSES.of(Opaque)
def _opaque(_ctx: Context, expr: Opaque) -> Location:
    raise refusal(expr.construct, Tool.HLS, expr.where)


def _target(kind: CType) -> CType:
    if isinstance(kind, Pointer):
        return kind.target
    assert isinstance(kind, Array)
    return kind.element


def _element(place: Location) -> Location:
    kind = place.type
    assert isinstance(kind, Array)
    extents = place.extents[1:] if kind.extent is None else place.extents
    return Location(place.array, place.offset, kind.element, extents)
