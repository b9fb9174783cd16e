"""A `parallel` region of a target region that has no team: fork and join (OpenMP 4.5, 2.5)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cyclescope.c import Name, Scalar, called, expressions, walk
from cyclescope.hls.front._conversions import convert
from cyclescope.hls.front._joint import by_first, handed_over, is_even, wait_for_all
from cyclescope.hls.front._structs import wires_of
from cyclescope.hls.front.omp._privatization import shared_inside
from cyclescope.hls.ir import Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import Stmt, Variable
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front.omp._directives import Directive
    from cyclescope.hls.ir import Value

__all__ = ["forked"]


@contextmanager
def forked(ctx: Context, directive: Directive, stmt: Stmt) -> Iterator[None]:
    """Let a team execute a region: threads get the first one's values, and wait at its end.

    Args:
        ctx: the region's lowering; all threads are in step.
        directive: the region's.
        stmt: its statement.
    """
    team, variables = ctx.team, ctx.vars
    with ctx.at(directive.where):
        most, size = _size(ctx, directive)
        own = set(directive.names("private"))
        wires = [w for w in _used(ctx, stmt) if variables.whole.get(w, w).name not in own]
        open_ = [w for w in wires if not is_even(ctx, variables.env[w])]
        values = [(variables.env[w], w.name) for w in open_]
        if size is not None and not is_even(ctx, size):
            *given, size = handed_over(ctx, [*values, (size, "threads")])
        elif values:
            given = handed_over(ctx, values)
        else:
            given = []
            wait_for_all(ctx)
        variables.env.update(zip(open_, given, strict=True))
    env, fixed, shared = dict(variables.env), set(variables.fixed), team.shared
    team.shared = shared_inside(ctx, directive)
    pred, threads, each, inside = ctx.flow.pred, ctx.threads, team.each, team.inside
    # What threads may differ in is the first one's alone: it can't be used by mistake.
    variables.env = {v: value for v, value in env.items() if v in wires or is_even(ctx, value)}
    variables.fixed |= set(variables.env)
    for wire, value in env.items():
        if variables.whole.get(wire, wire).name in own:
            variables.env[wire] = ctx.b.const(value.width, 0)
    team.is_joint, team.is_alone, team.fork, team.inside = False, False, directive, []
    team.nested += 1
    ctx.threads = team.each = most
    if size is not None or most != ctx.most_threads:
        team.size = size if size is not None else ctx.b.const(32, most)
        number = ctx.b.leaf(Op.THREAD, 32)
        ctx.flow.pred = ctx.b.both(pred, ctx.b.op(Op.ULT, number, team.size, width=1))
    yield
    team.is_joint, team.is_alone, team.fork, team.inside = True, True, None, inside
    team.nested -= 1
    team.size, team.shared = None, shared
    ctx.threads, team.each, ctx.flow.pred = threads, each, pred
    variables.env, variables.fixed = env, fixed
    with ctx.at(directive.where):
        wait_for_all(ctx)


def _used(ctx: Context, stmt: Stmt) -> list[Variable]:
    """The variables on wires that a region names, in the order of their values."""
    parts = list(expressions(stmt))
    inside = [e for f in called(parts, ctx.unit.functions) for e in expressions(f.body)]
    named = {e.variable for e in parts if isinstance(e, Name)}
    named |= {e.variable for e in inside if isinstance(e, Name) and e.variable.scope == "global"}
    waiting = list(named)
    while waiting:  # lengths of rows
        lengths = [e for extent in waiting.pop().extents for e in walk(extent)]
        more = {e.variable for e in lengths if isinstance(e, Name)} - named
        named |= more
        waiting += more
    named |= {ctx.vars.aliases[v] for v in named if v in ctx.vars.aliases}
    found = {wire for variable in named for wire in wires_of(ctx, variable)}
    return [v for v in ctx.vars.env if v in found]


def _size(ctx: Context, directive: Directive) -> tuple[int, Value | None]:
    """The most threads that a team may have, and how many it has, if only the run knows."""
    # They lower expressions, which ask for what constructs there are.
    from cyclescope.hls.front._dispatch import condition_of, rvalue

    most, size = min(ctx.team.most, ctx.most_threads), None
    words = directive.clause("num_threads")
    if words is not None:
        known = ctx.constants.value(words, directive.where)
        if known is not None and known < 1:
            raise ctx.refuse(directive.where, f"num_threads({known}): give a positive number")
        most = ctx.most_threads if known is None else min(known, ctx.most_threads)
        if known is None:
            expr = ctx.constants.expression(words, directive.where)
            if expr is None or not ctx.constants.is_whole(words, directive.where):
                text = " ".join(words)
                raise ctx.refuse(directive.where, f"num_threads({text}): give a whole number")
            with by_first(ctx):
                size = convert(
                    ctx, rvalue(ctx, expr), expr.type, Scalar("int", 32), directive.where
                )
            bound = ctx.b.const(32, most)
            size = ctx.b.select(ctx.b.op(Op.ULT, bound, size, width=1), bound, size)
    asked = directive.condition("parallel")
    if asked is not None:
        test = ctx.constants.expression(("!", "!", "(", *asked, ")"), directive.where)
        if test is None:
            text = " ".join(asked)
            raise ctx.refuse(directive.where, f"if({text}): give a condition")
        with by_first(ctx):
            holds = condition_of(ctx, test)
        given = size if size is not None else ctx.b.const(32, most)
        size = ctx.b.select(holds, given, ctx.b.const(32, 1))
        if size.node.op is Op.CONST:
            most, size = size.node.constant, None
    return most, size
