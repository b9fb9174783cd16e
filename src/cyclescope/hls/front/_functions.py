"""Functions in the place of their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import (
    Array,
    InitList,
    Name,
    Placed,
    Pointer,
    Scalar,
    Struct,
    Variable,
    Vector,
    Void,
)
from cyclescope.hls.front._blocks import copy_object
from cyclescope.hls.front._choices import nowhere
from cyclescope.hls.front._context import Location, copied, flag
from cyclescope.hls.front._conversions import convert
from cyclescope.hls.front._declarations import own_memory
from cyclescope.hls.front._dispatch import address, object_of, rvalue, statement
from cyclescope.hls.front._joint import by_first
from cyclescope.hls.front._layout import is_block, width_of
from cyclescope.hls.front._objects import OnWire, wire_at, write_object
from cyclescope.hls.front._pointers import begin_view, is_object, is_view, point
from cyclescope.hls.front._structs import held_value, hold, on_wires, release, wires_of
from cyclescope.hls.ir import Value

if TYPE_CHECKING:
    from cyclescope.c import Call, Function
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front._objects import Object

__all__ = ["inline"]


def inline(ctx: Context, function: Function, call: Call) -> Value | Object:
    """The body of a function in the place of its call.

    Returns:
        Its value; of a pointer what that points to, of a struct with pointers where that is.

    Raises:
        SourceError: it calls itself, or takes what isn't supported.
    """
    if function in ctx.flow.calls:
        raise ctx.refuse(call.where, f"{function.name} calls itself here; write a loop")
    copied(ctx, call.where)
    assert function.body is not None
    with by_first(ctx):
        _bind(ctx, function, call)
    returned = flag("returned", call.where)
    ctx.vars.env[returned] = ctx.b.const(1, 0)
    result: Variable | None = None
    if is_view(function.result):
        result = Variable(f"{function.name} returns", function.result, call.where, "local")
        begin_view(ctx, result, None, call.where)
    elif isinstance(function.result, Scalar | Vector | Struct | Placed):
        width_of(function.result, call.where)
        result = Variable(function.name, function.result, call.where, "local")
        hold(ctx, result, None)
    elif isinstance(function.result, Pointer):
        result = Variable(f"{function.name} returns", function.result, call.where, "local")
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
    if is_view(function.result):
        return OnWire(result) if on_wires(ctx, result) else own_memory(ctx, result)
    value = held_value(ctx, result)
    release(ctx, result)
    if isinstance(function.result, Pointer):
        base = ctx.vars.bases.pop(result, None) or nowhere(ctx)
        return Location(base, value, function.result.target)
    return value


def _bind(ctx: Context, function: Function, call: Call) -> None:
    """Give a function's parameters the arguments of a call."""
    # All arguments before any parameter: the function may be among their calls.
    ready: list[tuple[Variable, Value | Location | Variable]] = []
    blocks: list[tuple[Variable, Location]] = []
    views: list[tuple[Variable, Variable]] = []  # with what they are given
    for param, arg in zip(function.params, call.args, strict=False):
        wire = wire_at(ctx, arg)
        if wire is not None:
            ready.append((param, wire.variable))
        elif isinstance(param.type, Pointer | Array):
            ready.append((param, address(ctx, arg)))
        elif is_view(param.type) and not isinstance(arg, InitList):
            copy = Variable(f"{param.name} of a call", param.type, param.where, "local")
            begin_view(ctx, copy, arg, arg.where)
            views.append((param, copy))
        elif is_view(param.type):
            begin_view(ctx, param, arg, arg.where)
        elif is_block(param.type, call.where) and is_object(arg):
            place = object_of(ctx, arg)
            assert isinstance(place, Location)
            blocks.append((param, place))
        else:
            ready.append((param, convert(ctx, rvalue(ctx, arg), arg.type, param.type, arg.where)))
    for param, given in ready:
        ctx.vars.fixed.difference_update(wires_of(ctx, param))
        ctx.vars.aliases.pop(param, None)
        ctx.vars.bases.pop(param, None)
        if isinstance(given, Value) and on_wires(ctx, param):
            hold(ctx, param, given)
        elif isinstance(given, Value):
            write_object(ctx, own_memory(ctx, param), given, call.where)
        elif isinstance(given, Location):
            point(ctx, param, given)
        else:
            ctx.vars.aliases[param] = given
    for param, copy in views:
        begin_view(ctx, param, Name(call.where, copy.type, copy), call.where)
    for param, place in blocks:
        copy_object(ctx, own_memory(ctx, param), place, call.where)
