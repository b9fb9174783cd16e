"""Memories of a region: made, read, written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import Array, Op, Place, Value

if TYPE_CHECKING:
    from cyclescope.c import Variable
    from cyclescope.hls.front._context import Context, Location

__all__ = ["load_from", "new_array", "store_to"]


def load_from(ctx: Context, place: Location, width: int) -> Value:
    """Read memory."""
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
    if ctx.team.held:
        ctx.shared.guarded.add(node)
    ctx.b.loaded[*key, node.when] = node.result
    _keep_order(ctx, place.array)
    return node.result


def store_to(ctx: Context, place: Location, value: Value) -> None:
    """Write memory."""
    place.array.word = max(place.array.word, value.width // 8)
    _keep_order(ctx, place.array)
    node = ctx.b.effect(Op.STORE, place.offset, value, when=ctx.flow.pred, array=place.array)
    if ctx.team.held:
        ctx.shared.guarded.add(node)
    _keep_order(ctx, place.array)


def _keep_order(ctx: Context, array: Array) -> None:
    """Before and behind an access of a volatile object."""
    if array in ctx.host.volatile:
        ctx.b.effect(Op.FENCE)


def new_array(
    ctx: Context, variable: Variable, place: Place, size: int | None, *, to: bool, back: bool
) -> Array:
    """A memory for a variable."""
    # A field's name is a path, which no memory of the hardware can have.
    name = variable.name.replace("->", "_").replace(".", "_")
    taken = {a.name for a in ctx.host.arrays}
    while name != variable.name and name in taken:
        name += "_"
    array = Array(name, place, size, 1, to, back, variable.where)
    ctx.host.arrays.append(array)
    if variable.volatile and place is not Place.LOCAL:
        ctx.host.volatile.add(array)
    return array
