"""Memories of a region: made, read, written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Scalar, Variable
from cyclescope.hls.front._choices import Choice, chosen
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._joint import own_place
from cyclescope.hls.front._layout import size_of
from cyclescope.hls.ir import Array, Op, Place, Value

if TYPE_CHECKING:
    from cyclescope.c import CType
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Node

__all__ = [
    "LEVELS",
    "STACK",
    "inside",
    "load_from",
    "memory_in",
    "new_array",
    "own_memory",
    "store_to",
]


LEVELS = 256
"""How deep calls of a group of recursive functions may be in a thread."""

STACK = "stack"
"""The scope of an array that has an element for each level of calls of a function."""


def inside(ctx: Context, place: Location, offset: int, kind: CType) -> Location:
    """An object of a type, so many bytes behind the beginning of another one in memory."""
    at = ctx.b.op(Op.ADD, place.offset, ctx.b.const(64, offset), width=64, exact=True)
    return Location(place.array, at, kind)


def load_from(ctx: Context, place: Location, width: int) -> Value:
    """Read memory."""
    if isinstance(place.array, Choice):
        return _load_chosen(ctx, place, width)
    place.array.word = max(place.array.word, width // 8)
    _keep_order(ctx, place.array)
    key = (place.array, ctx.b.use(place.offset), width)
    for when in (None, ctx.flow.pred):
        known = ctx.b.loaded.get((*key, when and ctx.b.use(when)))
        if known is not None:
            return known
    node = ctx.b.effect(
        Op.LOAD, place.offset, widths=(width,), when=ctx.flow.pred, array=place.array
    )
    _note(ctx, node)
    ctx.b.loaded[*key, node.when] = node.result
    _keep_order(ctx, place.array)
    return node.result


def store_to(ctx: Context, place: Location, value: Value) -> None:
    """Write memory."""
    if isinstance(place.array, Choice):
        if not place.array.members:
            _lost(ctx, "written")
        for here, one in chosen(ctx, place):
            before, ctx.flow.pred = ctx.flow.pred, ctx.b.both(ctx.flow.pred, here)
            store_to(ctx, one, value)
            ctx.flow.pred = before
        return
    place.array.word = max(place.array.word, value.width // 8)
    _keep_order(ctx, place.array)
    node = ctx.b.effect(Op.STORE, place.offset, value, when=ctx.flow.pred, array=place.array)
    _note(ctx, node)
    _keep_order(ctx, place.array)


def _note(ctx: Context, node: Node) -> None:
    """Write down what is known of an access."""
    if ctx.team.held:
        ctx.shared.guarded.add(node)
    if ctx.team.single:
        ctx.shared.singles[node] = ctx.team.single


def _load_chosen(ctx: Context, place: Location, width: int) -> Value:
    """Read one of several memories."""
    result: Value | None = None
    for here, one in chosen(ctx, place):
        before, ctx.flow.pred = ctx.flow.pred, ctx.b.both(ctx.flow.pred, here)
        value = load_from(ctx, one, width)
        ctx.flow.pred = before
        result = value if result is None or here is None else ctx.b.select(here, value, result)
    if result is None:
        _lost(ctx, "read")
        return ctx.b.const(width, 0)
    return result


def _lost(ctx: Context, what: str) -> None:
    """A pointer is followed of which no memory is known.

    Unless more is found, that is an error; of the text, if every thread comes there, else of the
    thread that does: who asks whether a pointer is null never follows it.
    """
    if ctx.flow.pred is None and ctx.b is ctx.root:
        text = ctx.unit.text(ctx.shared.where)
        ctx.host.plan.open.append(
            ctx.refuse(
                ctx.shared.where, f"it isn't known what is {what} by `{text}`: the pointer is null "
                f"or has no value here; let it point into a mapped or local array"
            )
        )  # fmt: skip
        return
    if ctx.vars.nothing is None:
        stands = Variable("nothing", Scalar("int", 32), ctx.shared.where, "local")
        ctx.vars.nothing = new_array(ctx, stands, Place.LOCAL, 4, to=False, back=False)
        ctx.vars.nothing.beyond = (
            "follows a pointer that is null or has no value: the region stops; let it point into a "
            "mapped or local array"
        )
    place = Location(ctx.vars.nothing, ctx.b.const(64, 4), Scalar("int", 32))
    store_to(ctx, place, ctx.b.const(32, 0))


def own_memory(ctx: Context, variable: Variable) -> Location:
    """A variable's own memory."""
    place, array = own_place(ctx), ctx.vars.memories.get(variable)
    if array is None or array.place not in (place, Place.EXTERNAL):
        array = ctx.vars.memories[variable] = memory_in(ctx, variable, place)
    return Location(array, ctx.b.const(64, 0), variable.type)


def memory_in(ctx: Context, variable: Variable, place: Place) -> Array:
    """A variable's own memory, which is another one where all threads share it."""
    array = ctx.team.places.get((variable, place))
    if array is None:
        size = size_of(variable.type, variable.where)
        array = new_array(ctx, variable, place, size, to=False, back=False)
        ctx.team.places[variable, place] = array
        if variable.scope == STACK:
            function = variable.name.rpartition("_of_")[2]
            array.beyond = (
                f"is {LEVELS} calls of {function} deep, which is all that its stack has: the "
                f"region stops; write a loop, or recurse less"
            )
    return array


def _keep_order(ctx: Context, array: Array) -> None:
    """Before and behind an access of a volatile object."""
    if array in ctx.host.volatile:
        ctx.b.effect(Op.FENCE)


def new_array(
    ctx: Context,
    variable: Variable,
    place: Place,
    size: int | None,
    *,
    to: bool,
    back: bool,
    zeroed: bool = False,
) -> Array:
    """A memory for a variable."""
    # A field's name is a path, which no memory of the hardware can have.
    name = variable.name.replace("->", "_").replace(".", "_")
    taken = {a.name for a in ctx.host.arrays}
    while name != variable.name and name in taken:
        name += "_"
    array = Array(name, place, size, 1, to, back, variable.where, zeroed)
    ctx.host.arrays.append(array)
    ctx.host.owners[array] = variable
    if variable.volatile and place is not Place.LOCAL:
        ctx.host.volatile.add(array)
    return array
