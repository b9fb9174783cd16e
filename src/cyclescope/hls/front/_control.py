"""Control flow as data flow: branches as selections, loops as nodes with graphs of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Expr, Range, Scalar, Stmt, Variable, expressions, walk
from cyclescope.hls.front._assigned import assigned, gotos_out, returns
from cyclescope.hls.front._context import flag
from cyclescope.hls.front._joint import agreed, expect, is_even, keep_even
from cyclescope.hls.ir import Builder, Carried, Graph, Op, Value, constant_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cyclescope.hls.front._context import Context

__all__ = [
    "branch",
    "changed_in",
    "counted",
    "going_on",
    "iteration",
    "looped",
    "named",
    "stepped",
]


def branch(
    ctx: Context,
    condition: Value,
    then: Callable[[], None],
    other: Callable[[], None] | None = None,
) -> None:
    """Do one or the other: effects under their condition, variables selected."""
    condition = agreed(ctx, ctx.b.use(condition))
    if condition.node.op is Op.CONST:
        if condition.node.constant:
            then()
        elif other is not None:
            other()
        return
    pred, before = ctx.flow.pred, dict(ctx.vars.env)
    ctx.flow.pred = ctx.b.both(pred, condition)
    then()
    after_then = ctx.vars.env
    ctx.vars.env = dict(before)
    if other is not None:
        ctx.flow.pred = ctx.b.both(pred, ctx.b.negated(condition))
        other()
    ctx.flow.pred = pred
    for variable in before:
        first, second = after_then[variable], ctx.vars.env[variable]
        if first != second:
            chosen = ctx.b.select(condition, first, second)
            ctx.vars.env[variable] = named(chosen, variable.name)


def named(value: Value, name: str) -> Value:
    """The value, told by the variable it is given to, if nothing else names it."""
    if not value.node.name and value.node.op is not Op.CONST:
        value.node.name = name
    return value


def going_on(ctx: Context) -> Value:
    """Return whether nothing has jumped yet."""
    jumped = [ctx.vars.env[f] for f in ctx.flow.flags if f in ctx.vars.env]
    return ctx.b.negated(ctx.b.either(jumped))


def changed_in(
    ctx: Context, parts: Iterable[Stmt], tests: Iterable[Expr | None] = ()
) -> list[Variable]:
    """The known variables that a loop's parts give values to, in a stable order."""
    found: list[Expr] = []
    jumps = False
    labels: set[str] = set()
    for part in parts:
        found += expressions(part)
        jumps = jumps or returns(part)
        labels |= gotos_out(part)
    for test in tests:
        if test is not None:
            found += walk(test)
    wanted = assigned(found, ctx.unit.functions, ctx.vars.aliases)
    if jumps:
        for returned, result in ctx.flow.returning[-1:]:
            wanted |= {returned} | ({result} if result is not None else set())
    wanted |= {ctx.flow.labels[label] for label in labels if label in ctx.flow.labels}
    wanted = {ctx.vars.whole.get(v, v) for v in wanted}
    return [v for v in ctx.vars.env if ctx.vars.whole.get(v, v) in wanted]


def looped(
    ctx: Context,
    where: Range,
    variables: list[Variable],
    *,
    test: Callable[[], Value] | None,
    body: Callable[[], None],
    step: Callable[[], None] | None,
    test_first: bool = True,
    rotate: bool = False,
    jumps: bool = False,
) -> None:
    """A loop as a node.

    Args:
        ctx: the region's lowering.
        where: the loop's text.
        variables: what it changes.
        test: lowers the condition; None: always true.
        body: lowers an iteration.
        step: lowers what follows it.
        test_first: not so for `do … while`.
        rotate: the condition has effects, so it is evaluated at an iteration's end.
        jumps: the body contains `break`, `continue` or `return`.
    """
    outer, pred, is_joint = ctx.b, ctx.flow.pred, ctx.team.is_joint
    rotate = rotate or jumps or not test_first or (where, "") in ctx.host.uneven
    going = flag("going on", where)
    if rotate:
        first = agreed(ctx, test()) if test is not None and test_first else outer.const(1, 1)
        if constant_of(first) == 0:
            return  # there is no first iteration
        ctx.vars.env[going] = outer.use(first)
        variables = [*variables, going]
    init = [outer.use(ctx.vars.env[v]) for v in variables]
    # `L12` is the loop in line 12.
    graph = Graph(ctx.flow.label(f"L{where.line}"), where)
    before = ctx.vars.env
    ctx.b, ctx.flow.pred = Builder(graph, ctx.shared, outer), None
    ctx.vars.env = dict(before)
    params = []
    for variable, start in zip(variables, init, strict=True):
        param = ctx.b.param(start.width, variable.name)
        params.append(param)
        ctx.vars.env[variable] = param
    if is_joint:
        expect(ctx, where, list(zip(variables, init, params, strict=True)))
    if rotate:
        graph.continues = ctx.vars.env[going]
    else:
        graph.continues = ctx.b.use(test()) if test is not None else ctx.b.const(1, 1)
        if is_joint and not is_even(ctx, graph.continues):
            ctx.host.uneven.add((where, ""))
    broken = iteration(ctx, where, body, jumps=jumps)
    if rotate:
        _rotated(ctx, going, test, step, broken)
        ctx.vars.env[going] = agreed(ctx, ctx.vars.env[going])
    elif step is not None:
        step()
    lasts = [ctx.b.use(ctx.vars.env[variable]) for variable in variables]
    for param, last in zip(params, lasts, strict=True):
        graph.carried.append(Carried(param.node, last))
    inner = ctx.b
    ctx.b, ctx.flow.pred, ctx.vars.env = outer, pred, before
    outside = list(inner.imported)
    node = outer.effect(
        Op.LOOP,
        *init,
        *outside,
        widths=tuple(v.width for v in init),
        when=pred,
        body=graph,
        name=graph.label,
    )
    if is_joint:
        keep_even(ctx, where, list(zip(variables, params, lasts, node.results, strict=True)))
    for variable, result in zip(variables, node.results, strict=True):
        ctx.vars.env[variable] = result
    ctx.vars.env.pop(going, None)


def counted(ctx: Context, where: Range, count: Value, body: Callable[[Value], None]) -> None:
    """A loop of the compiler's own over the numbers below a count; it assigns no variable.

    Args:
        ctx: the region's lowering.
        where: what it is for.
        count: 64 bits, signed.
        body: lowers an iteration, given its number.
    """
    at = Variable("element", Scalar("int", 64), where, "local")
    ctx.vars.env[at] = ctx.b.const(64, 0)
    stepped(
        ctx,
        where,
        at,
        1,
        test=lambda number: ctx.b.op(Op.SLT, number, count, width=1),
        body=body,
    )
    del ctx.vars.env[at]


def stepped(
    ctx: Context,
    where: Range,
    variable: Variable,
    by: Value | int,
    *,
    changed: Iterable[Variable] = (),
    test: Callable[[Value], Value],
    body: Callable[[Value], None],
    jumps: bool = False,
) -> None:
    """A loop whose variable, which has its first value, moves on by the same step each time.

    Args:
        ctx: the region's lowering.
        where: the loop's text.
        variable: an integer; signed, it does not overflow.
        by: its step.
        changed: what the body gives values to besides.
        test: lowers the condition, given the variable's value.
        body: lowers an iteration, given the variable's value at its begin.
        jumps: the body contains `break`, `continue` or `return`.
    """
    assert isinstance(variable.type, Scalar)
    width, exact = variable.type.bits, variable.type.kind == "int"

    def forward() -> None:
        step = ctx.b.const(width, by) if isinstance(by, int) else by
        now = ctx.vars.env[variable]
        ctx.vars.env[variable] = ctx.b.op(Op.ADD, now, step, width=width, exact=exact)

    looped(
        ctx,
        where,
        [variable, *changed],
        test=lambda: test(ctx.vars.env[variable]),
        body=lambda: body(ctx.vars.env[variable]),
        step=forward,
        jumps=jumps,
    )


def _rotated(
    ctx: Context,
    going: Variable,
    test: Callable[[], Value] | None,
    step: Callable[[], None] | None,
    broken: Value,
) -> None:
    """The end of an iteration whose condition is evaluated there."""
    again: list[Value] = []

    def end() -> None:
        if step is not None:
            step()
        again.append(test() if test is not None else ctx.b.const(1, 1))

    branch(ctx, ctx.b.negated(broken), end)
    off = ctx.b.const(1, 0)
    ctx.vars.env[going] = ctx.b.select(broken, off, again[0]) if again else off


def iteration(ctx: Context, where: Range, body: Callable[[], None], *, jumps: bool) -> Value:
    """One iteration's body; gives whether it has left the loop."""
    if not jumps:
        body()
        return ctx.b.const(1, 0)
    broken, skipped = flag("broken", where), flag("skipped", where)
    ctx.vars.env[broken] = ctx.vars.env[skipped] = ctx.b.const(1, 0)
    flags = ctx.flow.flags
    ctx.flow.flags = [*flags, broken, skipped]
    ctx.flow.loop_flags.append((broken, skipped))
    body()
    ctx.flow.loop_flags.pop()
    ctx.flow.flags = flags
    left = [ctx.vars.env.pop(broken)] + [ctx.vars.env[f] for f in flags if f in ctx.vars.env]
    del ctx.vars.env[skipped]
    return ctx.b.either(left)
