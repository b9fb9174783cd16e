"""A construct's own copies of variables: `private`, `firstprivate`, `lastprivate`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cyclescope.c import Array as CArray
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._control import counted
from cyclescope.hls.front._environment import outer
from cyclescope.hls.front._joint import by_first, own_place
from cyclescope.hls.front._layout import is_flat, size_of
from cyclescope.hls.front._memory import new_array
from cyclescope.hls.front._scopes import visible
from cyclescope.hls.front._structs import hold, is_held, load_object, release
from cyclescope.hls.ir import Op, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import CType, Range, Variable
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front.omp._directives import Directive
    from cyclescope.hls.ir import Array, Value

__all__ = ["named", "own_copy", "private", "release_copy", "shared_inside"]


def innermost(kind: CType) -> CType:
    """The type of an array's innermost elements."""
    while isinstance(kind, CArray):
        kind = kind.element
    return kind


def named(ctx: Context, directive: Directive, name: str) -> Variable | None:
    """The variable that a directive names; None if nothing in the region uses it."""
    variable = visible(ctx.unit, directive.where).get(name)
    if variable is None or variable in ctx.vars.memories or variable in ctx.vars.bases:
        return variable
    if is_held(ctx, variable):
        return variable
    if variable is not ctx.host.mentioned.get(name):
        return None
    outer(ctx, variable)  # only a function that is called later names it
    return variable


@contextmanager
def private(ctx: Context, directive: Directive) -> Iterator[None]:
    """The copies that `private` and `firstprivate` ask for."""
    names = dict.fromkeys(directive.names("private"), False)
    names |= dict.fromkeys(directive.names("firstprivate"), True)
    for name in directive.names("lastprivate"):  # seen to with the loop they are of
        names.pop(name, None)
    seen = visible(ctx.unit, directive.where) if names else {}
    wanted = {seen[name]: is_given for name, is_given in names.items() if name in seen}
    own = {v: wanted.get(ctx.vars.whole.get(v, v)) for v in ctx.vars.env}
    kept = {v: ctx.vars.env[v] for v, is_given in own.items() if is_given is not None}
    fixed = ctx.vars.fixed & set(kept)
    ctx.vars.fixed -= fixed
    for variable, value in kept.items():
        if not own[variable]:
            ctx.vars.env[variable] = ctx.b.const(value.width, 0)
    shared = {v: a for v, a in ctx.vars.memories.items() if v in wanted}
    for variable, array in shared.items():
        own_copy(ctx, variable, array, directive.where, is_given=wanted[variable])
    yield
    for variable, array in shared.items():
        release_copy(ctx, variable, array)
    ctx.vars.env.update(kept)
    ctx.vars.fixed |= fixed


def own_copy(
    ctx: Context, variable: Variable, array: Array, where: Range, *, is_given: bool
) -> None:
    """A thread's own copy of a variable in memory."""
    with by_first(ctx):
        _copy(ctx, variable, array, where, is_given=is_given)


def _copy(ctx: Context, variable: Variable, array: Array, where: Range, *, is_given: bool) -> None:
    # They lower expressions, which ask for what constructs there are.
    from cyclescope.hls.front._blocks import copy_object
    from cyclescope.hls.front._pointers import copy_parts, has_pointers

    kind = variable.type
    zero = ctx.b.const(64, 0)
    if is_flat(kind) and _on_wires(ctx, variable):
        value = load_object(ctx, Location(array, zero, kind), where) if is_given else None
        del ctx.vars.memories[variable]
        hold(ctx, variable, value)
        return
    size = size_of(kind, where)
    own = ctx.vars.memories[variable] = new_array(
        ctx, variable, own_place(ctx), size, to=False, back=False
    )
    if is_given and not has_pointers(innermost(kind)):
        copy_object(ctx, Location(own, zero, kind), Location(array, zero, kind), where)
    elif is_given:
        one = innermost(kind)
        each = size_of(one, where)

        def copy(number: Value) -> None:
            start = ctx.b.op(Op.MUL, number, ctx.b.const(64, each), width=64, exact=True)
            given = Location(array, start, one)
            copy_parts(ctx, Location(own, start, one), given, one, where)

        counted(ctx, where, ctx.b.const(64, size // each), copy)


def shared_inside(ctx: Context, directive: Directive) -> frozenset[Variable]:
    """The variables that the team of a `parallel` region inside the region shares."""
    own = {*directive.names("private"), *directive.names("firstprivate")}
    known = {ctx.vars.whole.get(v, v) for v in (*ctx.vars.env, *ctx.vars.memories)}
    return frozenset(v for v in known if v.name not in own)


def _on_wires(ctx: Context, variable: Variable) -> bool:
    """Return whether a copy is on wires: not if its address is a value, or the team shares it."""
    is_shared = own_place(ctx) is Place.SHARED and variable in ctx.host.written_by_team
    return variable not in ctx.vars.addressed and not is_shared


def release_copy(ctx: Context, variable: Variable, array: Array) -> None:
    """The shared variable again in the place of the thread's own."""
    if is_flat(variable.type) and _on_wires(ctx, variable):
        release(ctx, variable)
    ctx.vars.memories[variable] = array
