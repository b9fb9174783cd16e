"""`threadprivate` variables: each thread has one; the first thread's is the host's."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from cyclescope.hls.front._blocks import clear_object, copy_object
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._control import branch
from cyclescope.hls.front._conversions import convert
from cyclescope.hls.front._declarations import initialise, own_memory
from cyclescope.hls.front._dispatch import rvalue
from cyclescope.hls.front._environment import outer
from cyclescope.hls.front._layout import is_flat, width_of
from cyclescope.hls.front._scopes import in_text_order
from cyclescope.hls.front._statics import check_own
from cyclescope.hls.front._structs import held_value, hold, load_object, store_object
from cyclescope.hls.front.omp._privatization import release_copy
from cyclescope.hls.front.omp._team import is_first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import Variable
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front.omp._directives import Directive
    from cyclescope.hls.ir import Array, Value

__all__ = ["thread_private"]


@contextmanager
def thread_private(ctx: Context, directive: Directive) -> Iterator[None]:
    """The threads' own variables (OpenMP 4.5, 2.15.2), with what `copyin` gives them.

    The first thread begins with the host's value, and the host goes on with its one; of a static
    local, which the host must not use, all threads begin with the initial value.

    Raises:
        SourceError: one is an array, or begins with what isn't known.
    """
    where = directive.where
    given = set(directive.names("copyin"))
    wanted = ctx.host.target.thread_private
    for name in given.difference(variable.name for variable in wanted):
        raise ctx.refuse(where, f"copyin({name}): it is not threadprivate; write firstprivate")
    used = {e for e in ctx.host.named if e in wanted}
    if not used:
        yield
        return
    shared: dict[Variable, Array] = {}
    first = is_first(ctx)
    for variable in in_text_order(used):
        if not is_flat(variable.type) and variable.scope == "static":
            raise ctx.refuse(
                where, f"threadprivate({variable.name}): of static locals only scalars, vectors "
                f"and structs of them; declare it outside of functions"
            )  # fmt: skip
        if variable.scope == "static":
            check_own(ctx, variable)
            hold(ctx, variable, _initial(ctx, variable))
            continue
        if variable not in ctx.vars.memories:
            outer(ctx, variable)
        array = shared[variable] = ctx.vars.memories[variable]
        if not is_flat(variable.type):
            _begin_array(ctx, variable, array, None if variable.name in given else first)
            continue
        value = load_object(ctx, Location(array, ctx.b.const(64, 0), variable.type), where)
        if variable.name not in given and ctx.most_threads > 1:
            value = ctx.b.select(first, value, _initial(ctx, variable))
        del ctx.vars.memories[variable]
        hold(ctx, variable, value)
    yield
    for variable, array in shared.items():
        place = Location(array, ctx.b.const(64, 0), variable.type)
        if not is_flat(variable.type):
            own = own_memory(ctx, variable)
            branch(ctx, first, lambda p=place, o=own: copy_object(ctx, p, o, where))  # type: ignore[misc]
            ctx.vars.memories[variable] = array
            continue
        value = held_value(ctx, variable)
        branch(ctx, first, lambda p=place, v=value: store_object(ctx, p, v, where))  # type: ignore[misc]
        release_copy(ctx, variable, array)


def _begin_array(ctx: Context, variable: Variable, array: Array, first: Value | None) -> None:
    """A thread's own array, with the host's contents or, but for the first thread, the text's."""
    given = Location(array, ctx.b.const(64, 0), variable.type)
    del ctx.vars.memories[variable]
    own = own_memory(ctx, variable)

    def copy() -> None:
        copy_object(ctx, own, given, ctx.shared.where)

    if first is None or ctx.most_threads == 1:
        copy()
    else:
        as_written = partial(initialise, ctx, own, variable.init)
        clear = partial(clear_object, ctx, own, ctx.shared.where)
        branch(ctx, first, copy, as_written if variable.init is not None else clear)


def _initial(ctx: Context, variable: Variable) -> Value:
    kind, where = variable.type, variable.where
    if variable.init is None:
        return ctx.b.const(width_of(kind, where), 0)
    return convert(ctx, rvalue(ctx, variable.init), variable.init.type, kind, where)
