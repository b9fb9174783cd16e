"""Pointers in memories: arrays whose elements point into one other memory.

Such an element is an offset, as a pointer on wires is. Into what the elements of an array of the
region's own point, the first one that is stored says. Those of an array of the host may point into
several blocks of its memory: the hardware has these one after another in one memory, and the host's
hooks make offsets there of its addresses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Construct, Pointer, Tool, Variable, refusal
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._memory import load_from, new_array, store_to
from cyclescope.hls.ir import Place

if TYPE_CHECKING:
    from cyclescope.c import Range
    from cyclescope.hls.front._context import Context

__all__ = ["pointed_from", "store_pointer"]

_BITS = 64


def pointed_from(ctx: Context, place: Location, where: Range) -> Location:
    """The target of a pointer that is in a memory.

    Raises:
        SourceError: it isn't known what it points to.
    """
    assert isinstance(place.type, Pointer)
    memory = ctx.vars.pointees.get(place.array)
    if (
        memory is None
        and place.array in ctx.host.hosts
        and place.array.name not in ctx.host.statics
    ):
        # The host knows when it runs.
        name = f"{place.array.name}_points_to"
        stands = Variable(name, place.type, where, "global")
        memory = new_array(ctx, stands, Place.EXTERNAL, None, to=True, back=True)
        ctx.host.hosts[memory] = stands
        ctx.host.pointees[memory.name] = place.array.name
        ctx.vars.pointees[place.array] = memory
    if memory is None:
        raise ctx.refuse(
            where, f"it isn't known what the elements of {place.array.name} point to; let them "
            f"point into a mapped or local array"
        )  # fmt: skip
    return Location(memory, load_from(ctx, place, _BITS), place.type.target)


def store_pointer(ctx: Context, place: Location, given: Location, where: Range) -> None:
    """Give a pointer that is in a memory another place.

    Raises:
        SourceError: others there point into another array.
    """
    assert isinstance(place.type, Pointer)
    if place.array in ctx.host.hosts and place.array not in ctx.vars.pointees:
        pointed_from(ctx, place, where)
    known = ctx.vars.pointees.setdefault(place.array, given.array)
    if known is not given.array:
        what = f"an element of {place.array.name}, which points into {known.name} or"
        raise refusal(Construct.TWO_ARRAYS, Tool.HLS, where, f"{what} {given.array.name},")
    store_to(ctx, place, given.offset)
