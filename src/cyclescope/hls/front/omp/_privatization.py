"""A construct's own copies of variables: `private`, `firstprivate`, `lastprivate`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cyclescope.c import Array as CArray
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._control import counted
from cyclescope.hls.front._environment import outer
from cyclescope.hls.front._layout import is_flat, leaves, size_of
from cyclescope.hls.front._memory import new_array
from cyclescope.hls.front._structs import hold, load_object, release, store_object
from cyclescope.hls.ir import Op, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import CType, Range, Variable
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front.omp._directives import Directive
    from cyclescope.hls.ir import Array, Value

__all__ = ["in_memory", "private", "release_copy"]


def innermost(kind: CType) -> CType:
    """The type of an array's innermost elements."""
    while isinstance(kind, CArray):
        kind = kind.element
    return kind


def in_memory(ctx: Context, name: str) -> Variable | None:
    """The variable of a name that is in a memory; None if there is none."""
    known = [v for v in (*ctx.vars.memories, *ctx.vars.bases) if v.name == name]
    if not known and name in ctx.host.mentioned and not any(v.name == name for v in ctx.vars.env):
        outer(ctx, ctx.host.mentioned[name])  # only a function that is called later names it
        known = [v for v in ctx.vars.memories if v.name == name]
    return known[0] if known else None


@contextmanager
def private(ctx: Context, directive: Directive) -> Iterator[None]:
    """The copies that `private` and `firstprivate` ask for."""
    names = dict.fromkeys(directive.names("private"), False)
    names |= dict.fromkeys(directive.names("firstprivate"), True)
    for name in directive.names("lastprivate"):  # seen to with the loop they are of
        names.pop(name, None)
    own = {v: names.get(ctx.vars.whole.get(v, v).name) for v in ctx.vars.env}
    kept = {v: ctx.vars.env[v] for v, is_given in own.items() if is_given is not None}
    fixed = ctx.vars.fixed & set(kept)
    ctx.vars.fixed -= fixed
    for variable, value in kept.items():
        if not own[variable]:
            ctx.vars.env[variable] = ctx.b.const(value.width, 0)
    shared = {v: a for v, a in ctx.vars.memories.items() if names.get(v.name) is not None}
    for variable, array in shared.items():
        own_copy(ctx, variable, array, directive.where, is_given=bool(names[variable.name]))
    yield
    for variable, array in shared.items():
        release_copy(ctx, variable, array)
    ctx.vars.env.update(kept)
    ctx.vars.fixed |= fixed


def own_copy(
    ctx: Context, variable: Variable, array: Array, where: Range, *, is_given: bool
) -> None:
    """A thread's own copy of a variable in memory."""
    kind = variable.type
    zero = ctx.b.const(64, 0)
    if is_flat(kind):
        value = load_object(ctx, Location(array, zero, kind), where) if is_given else None
        del ctx.vars.memories[variable]
        hold(ctx, variable, value)
        return
    size = size_of(kind, where)
    own = ctx.vars.memories[variable] = new_array(
        ctx, variable, Place.LOCAL, size, to=False, back=False
    )
    if is_given:
        one = innermost(kind)
        each = size_of(one, where)
        parts = leaves(one, where)

        def copy(number: Value) -> None:
            start = ctx.b.op(Op.MUL, number, ctx.b.const(64, each), width=64, exact=True)
            for offset, sort in parts:
                at = ctx.b.op(Op.ADD, start, ctx.b.const(64, offset), width=64, exact=True)
                value = load_object(ctx, Location(array, at, sort), where)
                store_object(ctx, Location(own, at, sort), value, where)

        counted(ctx, where, ctx.b.const(64, size // each), copy)


def release_copy(ctx: Context, variable: Variable, array: Array) -> None:
    """The shared variable again in the place of the thread's own."""
    if is_flat(variable.type):
        release(ctx, variable)
    ctx.vars.memories[variable] = array
