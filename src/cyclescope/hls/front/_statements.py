"""Statements, and functions in the place of their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import (
    Assign,
    Binary,
    Block,
    Break,
    Continue,
    Declare,
    Empty,
    Evaluate,
    Goto,
    If,
    OpaqueStmt,
    Pointer,
    Return,
    Stmt,
    Switch,
    Tool,
    refusal,
)
from cyclescope.hls.front._assigned import may_jump
from cyclescope.hls.front._blocks import copy_object
from cyclescope.hls.front._context import Location, flag
from cyclescope.hls.front._control import branch, going_on
from cyclescope.hls.front._conversions import convert
from cyclescope.hls.front._declarations import declare
from cyclescope.hls.front._dispatch import (
    STATEMENTS,
    address,
    condition_of,
    object_of,
    rvalue,
    statement,
)
from cyclescope.hls.front._labels import go_to, labelled
from cyclescope.hls.front._layout import is_block
from cyclescope.hls.front._pointers import begin_view, is_object, is_view, point
from cyclescope.hls.front._printing import print_call, printed_by
from cyclescope.hls.front._structs import hold
from cyclescope.hls.front.omp._constructs import standalone
from cyclescope.hls.front.omp._directives import directives
from cyclescope.hls.ir import Op, Value

if TYPE_CHECKING:
    from cyclescope.hls.front._context import Context

__all__: list[str] = []


@STATEMENTS.of(Block)
def _block(ctx: Context, stmt: Block) -> None:
    _sequence(ctx, stmt.body)
    for directive in directives(stmt.trailing):
        standalone(ctx, directive)


@STATEMENTS.of(Declare)
def _declare(ctx: Context, stmt: Declare) -> None:
    for variable in stmt.variables:
        declare(ctx, variable)


@STATEMENTS.of(Evaluate)
def _evaluate(ctx: Context, stmt: Evaluate) -> None:
    call = printed_by(stmt)
    if call is not None and ctx.unit.functions.get(call.function) is None:
        print_call(ctx, call)
        return
    match stmt.value:
        case Assign(op="=", target=target, value=value) if (
            is_block(target.type, stmt.where) and is_object(value) and not is_view(target.type)
        ):
            given, to = object_of(ctx, value), object_of(ctx, target)
            assert isinstance(given, Location)
            assert isinstance(to, Location)
            copy_object(ctx, to, given, stmt.where)
        case Binary(op=",", left=left, right=right):
            for value in (left, right):
                _evaluate(ctx, Evaluate(stmt.where, value))
        case value:
            rvalue(ctx, value)


@STATEMENTS.of(If)
def _if(ctx: Context, stmt: If) -> None:
    other = stmt.other
    branch(
        ctx,
        condition_of(ctx, stmt.condition),
        lambda: statement(ctx, stmt.then),
        (lambda: statement(ctx, other)) if other is not None else None,
    )


@STATEMENTS.of(Break)
def _break(ctx: Context, _stmt: Break) -> None:
    ctx.vars.env[ctx.flow.loop_flags[-1][0]] = ctx.b.const(1, 1)


@STATEMENTS.of(Continue)
def _continue(ctx: Context, _stmt: Continue) -> None:
    ctx.vars.env[ctx.flow.loop_flags[-1][1]] = ctx.b.const(1, 1)


@STATEMENTS.of(OpaqueStmt)
def _opaque(_ctx: Context, stmt: OpaqueStmt) -> None:
    raise refusal(stmt.construct, Tool.HLS, stmt.where)


@STATEMENTS.of(Empty)
def _empty(_ctx: Context, _stmt: Empty) -> None:
    """Nothing happens."""


@STATEMENTS.of(Goto)
def _goto(ctx: Context, stmt: Goto) -> None:
    go_to(ctx, stmt)


def _sequence(ctx: Context, body: tuple[Stmt, ...]) -> None:
    """Statements in a row, with labels that some of them may go to."""
    labelled(ctx, body, lambda part: _in_order(ctx, part))


def _in_order(ctx: Context, body: tuple[Stmt, ...]) -> None:
    """Statements in a row; what a jump leaves out is conditional on there being none."""
    for position, stmt in enumerate(body):
        statement(ctx, stmt)
        rest = body[position + 1 :]
        if rest and may_jump(stmt):
            branch(ctx, going_on(ctx), lambda rest=rest: _in_order(ctx, rest))  # type: ignore[misc]
            return


@STATEMENTS.of(Switch)
def _switch(ctx: Context, stmt: Switch) -> None:
    """Each section in turn, if its label was chosen or the one before it leads on to it."""
    where, sections = stmt.where, stmt.sections
    chosen = rvalue(ctx, stmt.condition)
    here: list[Value] = []
    for section in sections:
        own = [ctx.b.const(chosen.width, v) for v in section.values if v is not None]
        equal = [ctx.b.op(Op.EQ, chosen, v, width=1) for v in own]
        here.append(ctx.b.either(equal))
    other = ctx.b.negated(ctx.b.either(here))
    broken, entered = flag("broken", where), flag("entered", where)
    off = ctx.b.const(1, 0)
    ctx.vars.env[broken] = ctx.vars.env[entered] = off
    flags = ctx.flow.flags
    ctx.flow.flags = [*flags, broken]
    around = ctx.flow.loop_flags[-1][1] if ctx.flow.loop_flags else broken  # of `continue`
    ctx.flow.loop_flags.append((broken, around))
    for section, value in zip(sections, here, strict=True):
        default = other if None in section.values else off
        ctx.vars.env[entered] = ctx.b.either([ctx.vars.env[entered], value, default])
        enters = ctx.b.both(ctx.vars.env[entered], going_on(ctx))
        assert enters is not None
        branch(ctx, enters, lambda body=section.body: _sequence(ctx, body))  # type: ignore[misc]
    ctx.flow.loop_flags.pop()
    ctx.flow.flags = flags
    del ctx.vars.env[broken], ctx.vars.env[entered]


@STATEMENTS.of(Return)
def _return(ctx: Context, stmt: Return) -> None:
    value, where = stmt.value, stmt.where
    if not ctx.flow.returning:
        raise ctx.refuse(where, "return out of a target region; use if")
    returned, result = ctx.flow.returning[-1]
    if value is not None and result is not None and isinstance(result.type, Pointer):
        point(ctx, result, address(ctx, value))
    elif value is not None and result is not None and is_view(result.type):
        begin_view(ctx, result, value, where)
    elif value is not None and result is not None:
        given = rvalue(ctx, value)
        hold(ctx, result, convert(ctx, given, value.type, result.type, where))
    ctx.vars.env[returned] = ctx.b.const(1, 1)
