"""Pointers in memories.

Such a pointer is an offset, as one on wires is. Those in a memory of the region's own lead to what
they are given, the pointers to each type on their own; those in a memory of the host to a heap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Pointer
from cyclescope.errors import SourceError
from cyclescope.hls.front._choices import (
    Choice,
    chosen,
    in_common,
    may_lead_to,
    members,
    nowhere,
    null,
    put_in_memory,
    retagged,
)
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._heaps import HEAP, JoinedError, heap_behind, sort_of
from cyclescope.hls.front._memory import load_from, store_to
from cyclescope.hls.front._plans import planned

if TYPE_CHECKING:
    from cyclescope.c import Range
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Array, Value

__all__ = ["pointed_from", "store_pointer"]

_BITS = 64


def pointed_from(ctx: Context, place: Location, where: Range) -> Location:
    """The target of a pointer that is in a memory."""
    assert isinstance(place.type, Pointer)
    if isinstance(place.array, Choice):
        return _chosen_pointee(ctx, place, where)
    memory = _pointee(ctx, place, where)
    return Location(memory, put_in_memory(ctx, load_from(ctx, place, _BITS)), place.type.target)


def _pointee(ctx: Context, place: Location, where: Range) -> Array:
    """The memory that a pointer in a memory leads into, as far as that is known."""
    assert isinstance(place.type, Pointer)
    if _is_host(ctx, place.array):
        return heap_behind(ctx, place.array, place.type.target, where)
    sort = sort_of(place.type.target)
    known = ctx.vars.pointees.get((place.array, sort))
    if known is None:
        known = planned(ctx, place.array, sort) or nowhere(ctx)
        ctx.vars.pointees[place.array, sort] = known
    return known


def _is_host(ctx: Context, array: Array) -> bool:
    return array in ctx.host.hosts and array.name not in ctx.host.statics


def store_pointer(ctx: Context, place: Location, given: Location, where: Range) -> Value:
    """Give a pointer that is in a memory another place; gives the value that it then has.

    Raises:
        SourceError: it is one of the host's, and would lead to a memory of the region's own.
    """
    assert isinstance(place.type, Pointer)
    if isinstance(place.array, Choice):
        for here, one in chosen(ctx, place):
            before, ctx.flow.pred = ctx.flow.pred, ctx.b.both(ctx.flow.pred, here)
            store_pointer(ctx, one, given, where)
            ctx.flow.pred = before
        return pointed_from(ctx, place, where).offset
    known, sort = _pointee(ctx, place, where), sort_of(place.type.target)
    if not set(members(given.array)) <= set(members(known)):
        if _is_host(ctx, place.array):
            _join(ctx, place.array, known, given.array, where)
        else:
            may_lead_to(ctx, place.array, (known, given.array), sort)
            # What is behind in this attempt may as well know.
            ctx.vars.pointees[place.array, sort] = given.array
        return given.offset
    value = retagged(ctx, given, known).offset
    store_to(ctx, place, put_in_memory(ctx, value))
    return value


def _join(ctx: Context, array: Array, heap: Array, given: Array, where: Range) -> None:
    """Join what a pointer of the host's is given with the heap that it leads to.

    Raises:
        JoinedError: it is not, but can be.
        SourceError: it cannot be.
    """
    message = (
        f"{where}: a pointer in {array.name}, which is the host's, can't lead into {given.name}, "
        f"which the host doesn't see; let it point into a mapped array"
    )
    names = [f"{HEAP}{heap.name}"]
    for one in members(given):
        variable = ctx.host.hosts.get(one)
        if variable is None or not _is_host(ctx, one) or one in ctx.host.blocks:
            raise SourceError(message)
        names.append(f"{HEAP if one in ctx.host.heaps else ''}{variable.name}")
    raise JoinedError(message, tuple(names))


def _chosen_pointee(ctx: Context, place: Location, where: Range) -> Location:
    """The target of a pointer that is in one of several memories."""
    arms = []
    for here, one in chosen(ctx, place):
        before, ctx.flow.pred = ctx.flow.pred, ctx.b.both(ctx.flow.pred, here)
        arms.append((here, pointed_from(ctx, one, where)))
        ctx.flow.pred = before
    assert isinstance(place.type, Pointer)
    if not arms:
        return Location(nowhere(ctx), null(ctx), place.type.target)
    found = in_common(ctx, [arm for _, arm in arms])
    at = found[0].offset
    for (here, _), one in zip(arms[1:], found[1:], strict=True):
        at = ctx.b.select(here, one.offset, at) if here is not None else one.offset
    return Location(found[0].array, at, place.type.target)
