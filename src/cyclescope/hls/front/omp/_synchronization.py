"""Constructs that order the team's threads: critical, barrier, flush, single, master."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cyclescope.c import Variable
from cyclescope.hls.front._blocks import copy_object
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._control import branch
from cyclescope.hls.front._dispatch import bare
from cyclescope.hls.front._layout import size_of
from cyclescope.hls.front._memory import new_array
from cyclescope.hls.front._structs import held_value, hold, is_held, load_object, store_object
from cyclescope.hls.front.omp._constructs import lowers, lowers_alone
from cyclescope.hls.front.omp._privatization import named
from cyclescope.hls.front.omp._reductions import begin_reductions, end_reductions
from cyclescope.hls.front.omp._team import barrier, fence, is_first, locked
from cyclescope.hls.ir import Place

if TYPE_CHECKING:
    from cyclescope.c import Range, Stmt
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front.omp._directives import Directive
    from cyclescope.hls.ir import Value

__all__: list[str] = []


@lowers("critical")
def _critical(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    with locked(ctx, "critical", " ".join(directive.clause("name") or ())):
        bare(ctx, stmt)


@lowers("scope")
def _scope(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    """A statement that all threads execute, with copies of variables, which they join."""
    entered = begin_reductions(ctx, directive)
    bare(ctx, stmt)
    end_reductions(ctx, directive, entered)
    if directive.clause("nowait") is None:
        barrier(ctx, directive.where)


@lowers("ordered")
def _ordered(ctx: Context, _directive: Directive, stmt: Stmt) -> None:
    """One thread has all iterations of the loop around it."""
    bare(ctx, stmt)


@lowers_alone("ordered")
def _in_order(ctx: Context, directive: Directive) -> None:
    """Iterations that are waited for are over."""


@lowers("master", "masked", "single")
def _one_thread(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    """A statement that the first thread executes; behind `single` the others wait for it."""
    first = is_first(ctx)
    before = ctx.team.single
    if directive.has("single"):
        ctx.team.singles += 1
        ctx.team.single = ctx.team.singles
    branch(ctx, first, lambda: bare(ctx, stmt))
    ctx.team.single = before
    names = directive.names("copyprivate")
    if names and not ctx.team.is_alone:
        _broadcast(ctx, directive, names, first)
        return
    if directive.words == ("single",) and directive.clause("nowait") is None:
        barrier(ctx, directive.where)


def _broadcast(ctx: Context, directive: Directive, names: list[str], first: Value) -> None:
    """The first thread's values of variables that each thread has, for all of them.

    Raises:
        SourceError: one is not each thread's own.
    """
    where = directive.where
    given: list[tuple[Variable, Location]] = []
    for name in names:
        variable = named(ctx, directive, name)
        if variable is None:
            continue
        own = ctx.vars.memories.get(variable)
        has_own = own.place is Place.LOCAL if own is not None else is_held(ctx, variable)
        if not has_own or variable in ctx.vars.fixed:
            raise ctx.refuse(
                where, f"copyprivate({name}): all threads share it; only of what each thread has"
            )
        size = size_of(variable.type, where)
        shown = Variable(f"{name}_of_L{where.line}", variable.type, where, "local")
        array = new_array(ctx, shown, Place.SHARED, size, to=False, back=False)
        given.append((variable, Location(array, ctx.b.const(64, 0), variable.type)))
    for variable, place in given:
        branch(ctx, first, partial(_hand_over, ctx, variable, place, where))
    barrier(ctx, where)
    for variable, place in given:
        if variable in ctx.vars.memories:
            copy_object(ctx, _own_place(ctx, variable), place, where)
        else:
            hold(ctx, variable, load_object(ctx, place, where))
    barrier(ctx, where)


def _hand_over(ctx: Context, variable: Variable, place: Location, where: Range) -> None:
    if variable in ctx.vars.memories:
        copy_object(ctx, place, _own_place(ctx, variable), where)
    else:
        store_object(ctx, place, held_value(ctx, variable), where)


def _own_place(ctx: Context, variable: Variable) -> Location:
    return Location(ctx.vars.memories[variable], ctx.b.const(64, 0), variable.type)


@lowers_alone("threadprivate")
def _of_each_thread(ctx: Context, directive: Directive) -> None:
    """The variables that it names have been made each thread's own.

    Raises:
        SourceError: they are no static locals.
    """
    known = {variable.name for variable in ctx.host.target.thread_private}
    for name in directive.names("list"):
        if name not in known:
            raise ctx.refuse(
                directive.where, f"threadprivate({name}): it is each thread's own, or the host's; "
                f"declare it static, or outside of functions"
            )  # fmt: skip


@lowers_alone("barrier")
def _barrier(ctx: Context, directive: Directive) -> None:
    barrier(ctx, directive.where)


@lowers_alone("flush")
def _flush(ctx: Context, directive: Directive) -> None:
    fence(ctx, directive.where)
