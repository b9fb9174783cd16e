"""Declarations: variables of the region's own, and what they hold first."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from cyclescope.c import (
    Array,
    Construct,
    Expr,
    InitList,
    Placed,
    Pointer,
    Struct,
    Tool,
    Variable,
    refusal,
)
from cyclescope.hls.front._bit_fields import on_bits
from cyclescope.hls.front._blocks import copy_object
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._conversions import convert
from cyclescope.hls.front._dispatch import address, object_of, rvalue
from cyclescope.hls.front._layout import field_offset, is_block, size_of, width_of
from cyclescope.hls.front._memory import inside, own_memory, store_to
from cyclescope.hls.front._objects import write_object
from cyclescope.hls.front._pointees import store_pointer
from cyclescope.hls.front._pointers import begin_view, give_view, is_object, is_view, point
from cyclescope.hls.front._statics import declare_static
from cyclescope.hls.front._structs import hold, on_wires, store_object, wires_of

if TYPE_CHECKING:
    from cyclescope.hls.front._context import Context

__all__ = ["declare", "initialise", "own_memory"]

_MOST_INITIAL = 1024


def declare(ctx: Context, variable: Variable) -> None:
    """A variable of the region's own."""
    kind, where = variable.type, variable.where
    if variable.scope == "static":
        declare_static(ctx, variable)
        return
    if not on_wires(ctx, variable):
        _declare_array(ctx, variable)
        return
    ctx.vars.fixed.difference_update(wires_of(ctx, variable))
    if isinstance(kind, Pointer):
        ctx.vars.bases.pop(variable, None)
        hold(ctx, variable, None)
        if variable.init is not None:
            point(ctx, variable, address(ctx, variable.init))
        return
    if is_view(kind):
        hold(ctx, variable, None)
        begin_view(ctx, variable, variable.init, where)
        return
    width_of(kind, where)
    if variable.init is None:
        hold(ctx, variable, None)
        return
    value = rvalue(ctx, variable.init)
    given = variable.init.type
    if isinstance(variable.init, InitList):
        given = kind
    hold(ctx, variable, convert(ctx, value, given, kind, where))


def _declare_array(ctx: Context, variable: Variable) -> None:
    place, init = own_memory(ctx, variable), variable.init
    if init is not None and is_view(variable.type) and not isinstance(init, InitList):
        begin_view(ctx, variable, init, variable.where)
    elif init is not None and is_block(variable.type, variable.where) and is_object(init):
        given = object_of(ctx, init)
        assert isinstance(given, Location)
        copy_object(ctx, place, given, variable.where)
    elif variable.init is not None:
        initialise(ctx, place, variable.init)


def initialise(ctx: Context, place: Location, init: Expr | None) -> None:
    """Give an object in memory the value that a declaration says; None: zeros."""
    where, kind = ctx.shared.where, place.type
    if isinstance(kind, Array) and kind.extent is not None:
        if init is not None and not isinstance(init, InitList):
            raise ctx.refuse(where, "this initial value isn't supported; assign the elements")
        values = init.values if isinstance(init, InitList) else ()
        size = size_of(kind.element, where)
        if kind.extent > _MOST_INITIAL:
            raise refusal(Construct.INITIAL, Tool.HLS, where)
        for number in range(kind.extent):
            value = values[number] if number < len(values) else None
            initialise(ctx, inside(ctx, place, number * size, kind.element), value)
        return
    if isinstance(kind, Struct) and (init is None or isinstance(init, InitList)):
        values = init.values if init is not None else ()
        for (name, sort), value in zip_longest(kind.fields, values[: len(kind.fields)]):
            offset = field_offset(kind, name, where)
            initialise(ctx, inside(ctx, place, offset, sort), value)
        return
    if is_view(kind) and init is not None:
        give_view(ctx, place, init, where)
        return
    if isinstance(kind, Pointer):
        if init is None or (isinstance(init, InitList) and not init.values):
            store_to(ctx, place, ctx.b.const(64, 0))
        else:
            leads = init.values[0] if isinstance(init, InitList) else init
            store_pointer(ctx, place, address(ctx, leads), where)
        return
    if isinstance(kind, Placed) and (init is None or isinstance(init, InitList)):
        store_object(ctx, place, ctx.b.const(width_of(kind, where), 0), where)
        for field, value in zip(kind.fields, init.values if init is not None else (), strict=False):
            to = on_bits(ctx, place, field, where)
            if isinstance(to, Location) and isinstance(value, InitList):
                initialise(ctx, inside(ctx, place, field.at // 8, field.type), value)
            else:
                first = convert(ctx, rvalue(ctx, value), value.type, field.type, where)
                write_object(ctx, to, first, where)
        return
    if init is None:
        store_to(ctx, place, ctx.b.const(width_of(kind, where), 0))
        return
    given = kind if isinstance(init, InitList) else init.type
    write_object(ctx, place, convert(ctx, rvalue(ctx, init), given, kind, where), where)
