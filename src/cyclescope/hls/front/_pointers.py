"""Pointer variables, and structs on wires that hold pointers.

What a pointer points into is known at compile time; its value is the offset there. A struct with
pointers is thus no value that could be selected, stored or given back: it is copied from variable
to variable, or made of a list.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from cyclescope.c import (
    Construct,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    Pointer,
    Struct,
    Tool,
    Unary,
    refusal,
)
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._conversions import convert
from cyclescope.hls.front._dispatch import address, object_of, rvalue
from cyclescope.hls.front._layout import is_flat
from cyclescope.hls.front._objects import OnWire, moved_by
from cyclescope.hls.front._pointees import store_pointer
from cyclescope.hls.front._structs import field_variable, hold, wires_of

if TYPE_CHECKING:
    from cyclescope.c import Assign, CType, Expr, Range, Variable
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Value

__all__ = ["assign_pointer", "assign_view", "begin_view", "copy_view", "is_view", "point"]


def assign_pointer(ctx: Context, expr: Assign) -> Value:
    """A pointer is given another place, or moved.

    Raises:
        SourceError: it can't be told into which array.
    """
    pointer = object_of(ctx, expr.target)
    if not isinstance(pointer, OnWire | Location):
        raise refusal(Construct.POINTER_IN_MEMORY, Tool.HLS, expr.where)
    if expr.op == "=":
        place = address(ctx, expr.value)
    else:
        sign = -1 if expr.op == "-=" else 1
        place = moved_by(ctx, address(ctx, expr.target), expr.value, sign, expr.where)
    if isinstance(pointer, Location):
        store_pointer(ctx, pointer, place, expr.where)
    else:
        point(ctx, pointer.variable, place, expr.where)
    return place.offset


def point(ctx: Context, variable: Variable, place: Location, where: Range) -> None:
    """Let a pointer variable point somewhere."""
    known = ctx.vars.bases.get(variable)
    if (
        known is not None
        and known is not place.array
        and variable in ctx.vars.env
        and _is_moving(ctx)
    ):
        what = f"{variable.name}, a pointer into {known.name} or {place.array.name},"
        raise refusal(Construct.TWO_ARRAYS, Tool.HLS, where, what)
    ctx.vars.bases[variable] = place.array
    ctx.vars.env[variable] = place.offset


def _is_moving(ctx: Context) -> bool:
    """Return whether a variable's base could depend on what happens at run time."""
    return ctx.flow.pred is not None or ctx.b is not ctx.root


def is_view(kind: CType) -> bool:
    """Return whether a type is a struct on wires that contains pointers."""
    return isinstance(kind, Struct) and is_flat(kind, pointers=True) and not is_flat(kind)


def assign_view(ctx: Context, expr: Assign) -> Value:
    """A struct with pointers is given another one's fields; there is no value."""
    place = object_of(ctx, expr.target)
    if not isinstance(place, OnWire):
        raise refusal(Construct.POINTER_IN_MEMORY, Tool.HLS, expr.where)
    begin_view(ctx, place.variable, expr.value, expr.where)
    return ctx.b.const(32, 0)


def begin_view(ctx: Context, variable: Variable, init: Expr | None, where: Range) -> None:
    """Give a struct with pointers its fields.

    Raises:
        SourceError: they aren't those of a variable or of a list.
    """
    if init is None:
        hold(ctx, variable, None)
    elif isinstance(init, InitList):
        _listed_view(ctx, variable, init, where)
    elif is_object(init):
        place = object_of(ctx, init)
        if not isinstance(place, OnWire):
            raise refusal(Construct.POINTER_IN_MEMORY, Tool.HLS, where)
        copy_view(ctx, variable, place.variable, where)
    else:
        raise ctx.refuse(
            where, f"a {variable.type} contains pointers: copy it from a variable, or field by "
            f"field"
        )  # fmt: skip


def copy_view(ctx: Context, variable: Variable, given: Variable, where: Range) -> None:
    """The fields of one struct with pointers for another."""
    for to, wire in zip(wires_of(ctx, variable), wires_of(ctx, given), strict=True):
        if not isinstance(wire.type, Pointer):
            ctx.vars.env[to] = ctx.b.use(ctx.vars.env[wire])
        elif wire in ctx.vars.bases and wire in ctx.vars.env:
            at = ctx.b.use(ctx.vars.env[wire])
            point(ctx, to, Location(ctx.vars.bases[wire], at, wire.type.target), where)
        else:
            ctx.vars.env.pop(to, None)
            ctx.vars.bases.pop(to, None)


def _listed_view(ctx: Context, variable: Variable, init: InitList, where: Range) -> None:
    assert isinstance(variable.type, Struct)
    fields = variable.type.fields
    for (name, kind), value in zip_longest(fields, init.values[: len(fields)]):
        part = field_variable(ctx, variable, name)
        if is_view(kind):
            begin_view(ctx, part, value, where)
        elif not isinstance(kind, Pointer):
            given = rvalue(ctx, value) if value is not None else None
            if given is not None and value is not None and not isinstance(value, InitList):
                given = convert(ctx, given, value.type, kind, where)
            hold(ctx, part, given)
        elif value is not None and not isinstance(value, Literal | InitList):
            point(ctx, part, address(ctx, value), where)
        else:
            ctx.vars.env.pop(part, None)
            ctx.vars.bases.pop(part, None)


def is_object(expr: Expr) -> bool:
    """Return whether an expression names an object, and isn't just a value."""
    match expr:
        case Name() | Index() | Unary() | Member(arrow=True):
            return True
        case Member(base=base):
            return is_object(base)
    return False
