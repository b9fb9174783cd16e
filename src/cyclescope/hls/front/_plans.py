"""The memories that earlier attempts to lower a region have found pointers to lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Text
from cyclescope.hls.front._choices import choice, key_of
from cyclescope.hls.front._dispatch import address
from cyclescope.hls.front._environment import outer
from cyclescope.hls.front._joint import own_place
from cyclescope.hls.front._memory import memory_in, own_memory
from cyclescope.hls.ir import Place

if TYPE_CHECKING:
    from cyclescope.c import Variable
    from cyclescope.hls.front._choices import Target
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Array

__all__ = ["planned"]


def planned(ctx: Context, holder: Variable | Array, sort: str = "") -> Array | None:
    """The memory that earlier attempts have found a pointer to lead to; None: they have not."""
    targets = ctx.host.plan.known.get(key_of(holder, sort))
    if targets is None:
        return None
    return choice(ctx, [_made(ctx, target) for target in targets])


def _made(ctx: Context, target: Target) -> Array:
    """A memory of an earlier attempt in this one.

    Raises:
        SourceError: the text comes to it only later.
    """
    place = (target.name, target.file, target.start)

    def found() -> list[Array]:
        return [a for a in ctx.host.arrays if (a.name, a.where.file, a.where.start) == place]

    variable = target.variable
    if len(found()) <= target.number and variable is not None:
        if isinstance(variable.init, Text) and target.is_host:
            address(ctx, variable.init)
        elif target.is_host:
            outer(ctx, variable)
        else:
            own_memory(ctx, variable)
            other = Place.LOCAL if own_place(ctx) is Place.SHARED else Place.SHARED
            if len(found()) <= target.number and ctx.team.forks:
                memory_in(ctx, variable, other)
    arrays = found()
    if len(arrays) <= target.number:
        raise ctx.refuse(
            ctx.shared.where, f"a pointer that may lead to {target.name}, which is made only "
            f"later; use a pointer for each array"
        )  # fmt: skip
    return arrays[target.number]
