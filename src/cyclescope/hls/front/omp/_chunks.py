"""Dynamic and guided schedules: chunks of iterations from a counter that the team shares.

The counter is a word of block RAM: how many iterations have been handed out, and of which instance
of the construct. A thread takes its next chunk under a lock of the construct's own. Who comes first
to a new instance begins it at zero; it can come there only when nothing is left of the one before
(OpenMP 4.5, 2.7.1), so that who is still in an earlier instance finds no further chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import Scalar, Variable
from cyclescope.hls.front._context import Location, flag
from cyclescope.hls.front._control import branch, looped
from cyclescope.hls.front._memory import load_from, new_array, store_to
from cyclescope.hls.front.omp._team import locked, shared_by
from cyclescope.hls.ir import Op, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cyclescope.c import Range
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Value

__all__ = ["Chunks", "take_chunks"]


@dataclass(frozen=True, slots=True)
class Chunks:
    """The sizes of the chunks that threads take.

    Attributes:
        least: iterations in a chunk, but for the last one; guided ones may have more.
        is_guided: a chunk is a thread's share of what is left.
    """

    least: int
    is_guided: bool

    def size(self, ctx: Context, left: Value) -> Value:
        """The size of the next chunk, at most what is left."""
        size = ctx.b.const(left.width, min(self.least, (1 << left.width) - 1))
        if self.is_guided:
            share = ctx.b.op(Op.UDIV, left, shared_by(ctx, left.width), width=left.width)
            size = _larger(ctx, share, size)
        return ctx.b.select(ctx.b.op(Op.ULT, left, size, width=1), left, size)


def take_chunks(
    ctx: Context,
    where: Range,
    total: Value,
    chunks: Chunks,
    changed: Iterable[Variable],
    run: Callable[[Value, Value], Value],
) -> Value:
    """A loop's iterations, in the chunks that this thread takes.

    Args:
        ctx: the region's lowering.
        where: the loop's text.
        total: how many iterations the team has, unsigned.
        chunks: their sizes.
        changed: the variables that iterations give values to.
        run: lowers the iterations from a number up to another one; returns whether there were any,
            known when they are over, so that no chunk is taken before.

    Returns:
        Whether the last iteration was this thread's.
    """
    name = f"chunks_of_L{where.line}"
    kind = Scalar("uint", 2 * total.width)
    counter = _memory(ctx, Variable(name, kind, where, "local"), Place.SHARED)
    instance = _next_instance(ctx, name, where, total.width)
    more, last = flag("more", where), flag("last chunk", where)
    ctx.vars.env[more], ctx.vars.env[last] = ctx.b.const(1, 1), ctx.b.const(1, 0)

    def body() -> None:
        begin, end = _take(ctx, counter, instance, total, chunks)
        some = ctx.b.op(Op.ULT, begin, end, width=1)
        ends = ctx.b.op(Op.EQ, end, ctx.b.use(total), width=1)
        is_last = ctx.b.op(Op.AND, some, ends, width=1)
        ctx.vars.env[last] = ctx.b.op(Op.OR, ctx.vars.env[last], is_last, width=1)
        ctx.vars.env[more] = run(begin, end)

    looped(
        ctx,
        where,
        [more, last, *changed],
        test=lambda: ctx.vars.env[more],
        body=body,
        step=None,
        test_first=False,
    )
    del ctx.vars.env[more]
    return ctx.vars.env.pop(last)


def _memory(ctx: Context, variable: Variable, place: Place) -> Location:
    assert isinstance(variable.type, Scalar)
    size = variable.type.bits // 8
    array = new_array(ctx, variable, place, size, to=False, back=False, zeroed=True)
    return Location(array, ctx.b.const(64, 0), variable.type)


def _next_instance(ctx: Context, name: str, where: Range, width: int) -> Value:
    """The number of this instance of a construct, from 1 on; a thread counts them by itself."""
    variable = Variable(f"{name}_instance", Scalar("uint", width), where, "local")
    place = _memory(ctx, variable, Place.LOCAL)
    before = load_from(ctx, place, width)
    number = ctx.b.op(Op.ADD, before, ctx.b.const(width, 1), width=width)
    store_to(ctx, place, number)
    return number


def _take(
    ctx: Context, counter: Location, instance: Value, total: Value, chunks: Chunks
) -> tuple[Value, Value]:
    """The next chunk of an instance: its first iteration, and the one after its last."""
    width = total.width
    with locked(ctx, "schedule", counter.array.name):
        word = load_from(ctx, counter, 2 * width)
        given = ctx.b.op(Op.EXTRACT, word, width=width)
        present = ctx.b.op(Op.EXTRACT, word, width=width, constant=width)
        is_new = ctx.b.op(Op.ULT, present, instance, width=1)
        is_over = ctx.b.op(Op.ULT, instance, present, width=1)
        other = ctx.b.select(is_new, ctx.b.const(width, 0), ctx.b.use(total))
        is_other = ctx.b.op(Op.OR, is_new, is_over, width=1)
        begin = ctx.b.select(is_other, other, given)
        left = ctx.b.op(Op.SUB, total, begin, width=width)
        end = ctx.b.op(Op.ADD, begin, chunks.size(ctx, left), width=width)
        changed = ctx.b.op(Op.CONCAT, end, instance, width=2 * width)
        branch(ctx, ctx.b.negated(is_over), lambda: store_to(ctx, counter, changed))
    return begin, end


def _larger(ctx: Context, a: Value, b: Value) -> Value:
    return ctx.b.select(ctx.b.op(Op.ULT, a, b, width=1), b, a)
