"""Threads in step: statements around `parallel` regions of a target region without a team.

The hardware's threads exist from the begin on. What is in front of a `parallel` region, between two
of them and behind is the first thread's: its effects have that as their condition. Where such a
statement contains a `parallel` region, all threads go through it in step, and a condition of the
text is the first thread's for all. Values on wires that all threads compute alike need nothing for
that; others go through block RAM, between two barriers.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cyclescope.c import Scalar, Variable
from cyclescope.hls.ir import EFFECTS, Array, Op, Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclescope.c import Range
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Value

__all__ = [
    "agreed",
    "by_first",
    "expect",
    "handed_over",
    "is_even",
    "keep_even",
    "own_place",
    "wait_for_all",
]


@contextmanager
def by_first(ctx: Context) -> Iterator[None]:
    """A part that, of threads in step, the first one alone executes."""
    team = ctx.team
    if not team.is_joint:
        yield
        return
    pred, builder = ctx.flow.pred, ctx.b
    ctx.flow.pred, team.is_joint = ctx.b.both(pred, _is_first(ctx)), False
    yield
    assert ctx.b is builder
    ctx.flow.pred, team.is_joint = pred, True


def own_place(ctx: Context) -> Place:
    """The memory of a variable that is declared here."""
    return Place.SHARED if ctx.team.forks and ctx.team.fork is None else Place.LOCAL


def agreed(ctx: Context, condition: Value) -> Value:
    """A condition, where threads are in step the first one's."""
    if not ctx.team.is_joint or is_even(ctx, condition):
        return condition
    (found,) = handed_over(ctx, [(condition, "condition")])
    wait_for_all(ctx)  # the next time may come before all have read
    return found


def handed_over(ctx: Context, values: Sequence[tuple[Value, str]]) -> list[Value]:
    """The first thread's values, with names, for all threads, which wait for them."""
    where, pred = ctx.shared.where, ctx.flow.pred
    when = ctx.b.both(pred, _is_first(ctx))
    zero = ctx.b.const(64, 0)
    given: list[tuple[Array, Value, str]] = []
    for value, name in values:
        bits = -(-value.width // 8) * 8
        bits = 1 << (bits - 1).bit_length()
        array = Array(
            f"{name}_at_L{where.line}", Place.SHARED, bits // 8, bits // 8, False, False, where
        )
        ctx.host.arrays.append(array)
        ctx.host.owners[array] = Variable(array.name, Scalar("uint", bits), where, "local")
        ctx.b.effect(
            Op.STORE,
            zero,
            ctx.b.resized(value, bits, is_signed=False),
            when=when,
            array=array,
        )
        given.append((array, value, name))
    wait_for_all(ctx)
    found: list[Value] = []
    for array, value, name in given:
        assert array.bytes is not None
        node = ctx.b.effect(Op.LOAD, zero, widths=(8 * array.bytes,), when=pred, array=array)
        ctx.team.even[node.result] = True
        found.append(ctx.b.resized(node.result, value.width, is_signed=False))
        if not found[-1].node.name:
            found[-1].node.name = name
    return found


def wait_for_all(ctx: Context) -> None:
    """All the hardware's threads, which are in step, wait for each other."""
    number = len(ctx.team.barriers)
    ctx.team.barriers.append(ctx.shared.where)
    ctx.b.effect(Op.BARRIER, when=ctx.flow.pred, constant=number)


def is_even(ctx: Context, value: Value) -> bool:
    """Return whether a value is the same in all threads that are in step, as they compute it."""
    known = ctx.team.even.get(value)
    if known is not None:
        return known
    node = value.node
    if node.op in (Op.CONST, Op.SCALAR):
        found = True
    elif node.op is Op.PARAM:
        outer = ctx.shared.owner[node].outside(value)
        found = outer is not None and is_even(ctx, outer)
    elif node.op is Op.THREAD or node.op in EFFECTS:
        found = False
    else:
        found = all(is_even(ctx, v) for v in node.operands)
    ctx.team.even[value] = found
    return found


def expect(ctx: Context, where: Range, starts: Sequence[tuple[Variable, Value, Value]]) -> None:
    """Suppose of a loop's variables that begin alike in all threads that they stay so.

    Args:
        ctx: the region's lowering.
        where: the loop, which threads go through in step.
        starts: its variables, their first values, and their values in an iteration.
    """
    for variable, start, param in starts:
        if (where, variable.name) not in ctx.host.uneven and is_even(ctx, start):
            ctx.team.even[param] = True


def keep_even(
    ctx: Context, where: Range, ends: Sequence[tuple[Variable, Value, Value, Value]]
) -> None:
    """Note which of a loop's variables do not stay alike: the region is lowered again then.

    Args:
        ctx: the region's lowering.
        where: the loop.
        ends: its variables, their values in an iteration, behind it, and behind the loop.
    """
    for variable, param, last, result in ends:
        if not ctx.team.even.get(param):
            continue
        if is_even(ctx, last):
            ctx.team.even[result] = True
        else:
            ctx.host.uneven.add((where, variable.name))


def _is_first(ctx: Context) -> Value:
    return ctx.b.op(Op.EQ, ctx.b.leaf(Op.THREAD, 32), ctx.b.const(32, 0), width=1)
