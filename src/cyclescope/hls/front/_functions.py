"""Functions in the place of their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import (
    Array,
    Construct,
    InitList,
    Placed,
    Pointer,
    Scalar,
    Struct,
    Tool,
    Variable,
    Vector,
    Void,
    refusal,
)
from cyclescope.hls.front._blocks import copy_object
from cyclescope.hls.front._context import Location, copied, flag
from cyclescope.hls.front._conversions import convert
from cyclescope.hls.front._declarations import own_memory
from cyclescope.hls.front._dispatch import address, object_of, rvalue, statement
from cyclescope.hls.front._layout import is_block, width_of
from cyclescope.hls.front._objects import OnWire, wire_at, write_object
from cyclescope.hls.front._pointers import begin_view, copy_view, is_object, is_view, point
from cyclescope.hls.front._structs import held_value, hold, on_wires, release
from cyclescope.hls.ir import Value

if TYPE_CHECKING:
    from cyclescope.c import Call, Function
    from cyclescope.hls.front._context import Context

__all__ = ["inline"]


def inline(ctx: Context, function: Function, call: Call) -> Value:
    """The body of a function in the place of its call.

    Raises:
        SourceError: it calls itself, or takes what isn't supported.
    """
    if function in ctx.flow.calls:
        raise ctx.refuse(call.where, f"{function.name} calls itself here; write a loop")
    copied(ctx, call.where)
    assert function.body is not None
    # All arguments before any parameter: the function may be among their calls.
    ready: list[tuple[Variable, Value | Location | Variable]] = []
    blocks: list[tuple[Variable, Location]] = []
    views: list[tuple[Variable, Variable]] = []
    for param, arg in zip(function.params, call.args, strict=False):
        wire = wire_at(ctx, arg)
        if wire is not None:
            ready.append((param, wire.variable))
        elif isinstance(param.type, Pointer | Array):
            ready.append((param, address(ctx, arg)))
        elif is_view(param.type) and not isinstance(arg, InitList):
            view = object_of(ctx, arg)
            if not isinstance(view, OnWire):
                raise refusal(Construct.POINTER_IN_MEMORY, Tool.HLS, arg.where)
            views.append((param, view.variable))
        elif is_view(param.type):
            hold(ctx, param, None)
            begin_view(ctx, param, arg, arg.where)
        elif is_block(param.type, call.where) and is_object(arg):
            place = object_of(ctx, arg)
            assert isinstance(place, Location)
            blocks.append((param, place))
        else:
            ready.append((param, convert(ctx, rvalue(ctx, arg), arg.type, param.type, arg.where)))
    for param, given in ready:
        ctx.vars.aliases.pop(param, None)
        ctx.vars.bases.pop(param, None)
        if isinstance(given, Value) and on_wires(ctx, param):
            hold(ctx, param, given)
        elif isinstance(given, Value):
            write_object(ctx, own_memory(ctx, param), given, call.where)
        elif isinstance(given, Location):
            point(ctx, param, given, call.where)
        else:
            ctx.vars.aliases[param] = given
    for param, variable in views:
        hold(ctx, param, None)
        copy_view(ctx, param, variable, call.where)
    for param, place in blocks:
        copy_object(ctx, own_memory(ctx, param), place, call.where)
    returned = flag("returned", call.where)
    ctx.vars.env[returned] = ctx.b.const(1, 0)
    result: Variable | None = None
    if isinstance(function.result, Scalar | Vector | Struct | Placed):
        width_of(function.result, call.where)
        result = Variable(function.name, function.result, call.where, "local")
        hold(ctx, result, None)
    elif not isinstance(function.result, Void):
        raise ctx.refuse(call.where, f"{function.name} returns {function.result}; inline it")
    flags, loops = ctx.flow.flags, ctx.flow.loop_flags
    labels, ctx.flow.labels = ctx.flow.labels, {}
    ctx.flow.flags, ctx.flow.loop_flags = [returned], []
    ctx.flow.calls.append(function)
    ctx.flow.returning.append((returned, result))
    statement(ctx, function.body)
    ctx.flow.returning.pop()
    ctx.flow.calls.pop()
    ctx.flow.flags, ctx.flow.loop_flags, ctx.flow.labels = flags, loops, labels
    ctx.vars.env.pop(returned, None)
    if result is None:
        return ctx.b.const(32, 0)
    value = held_value(ctx, result)
    release(ctx, result)
    return value
