"""Loops: as nodes with graphs of their own, or unrolled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Call, DoWhile, Expr, For, While, walk
from cyclescope.hls.front._assigned import has_effects, may_jump, returns, variables_read
from cyclescope.hls.front._context import copied
from cyclescope.hls.front._control import branch, changed_in, iteration, looped
from cyclescope.hls.front._dispatch import STATEMENTS, condition_of, rvalue, statement
from cyclescope.hls.front.omp._directives import unroll_pragma
from cyclescope.hls.ir import constant_of

if TYPE_CHECKING:
    from cyclescope.c import Range, Stmt
    from cyclescope.hls.front._context import Context

__all__: list[str] = []

_MOST_COPIES = 1024


@STATEMENTS.of(For, While, DoWhile)
def _loop(ctx: Context, stmt: For | While | DoWhile) -> None:
    """A loop of the text."""
    test: Expr | None = stmt.condition
    step: Expr | None = None
    if isinstance(stmt, For):
        if stmt.init is not None:
            statement(ctx, stmt.init)
        step = stmt.step
    unroll = unroll_pragma(stmt.pragmas)
    if unroll is not None and test is not None and not isinstance(stmt, DoWhile):
        asked = _asked(ctx, *unroll)
        count = _trips(ctx, stmt.body, test, step)
        if count is not None and (asked is None or count <= asked):
            _unrolled(ctx, stmt.body, step, count)
            return
        if asked is None:
            ctx.warnings.append(
                f"{unroll[1]}: the number of iterations isn't known, or over {_MOST_COPIES}; the"
                " loop stays as it is"
            )
        else:
            whole = count is not None and count % asked == 0
            _partly(ctx, stmt.body, test, step, asked, whole=whole, where=stmt.where)
            return
    looped(
        ctx,
        stmt.where,
        changed_in(ctx, [stmt.body], [test, step]),
        test=(lambda: condition_of(ctx, test)) if test is not None else None,
        body=lambda: statement(ctx, stmt.body),
        step=(lambda: _evaluate(ctx, step)) if step is not None else None,
        test_first=not isinstance(stmt, DoWhile),
        rotate=test is not None and _has_effects(ctx, test),
        jumps=may_jump(stmt.body) or returns(stmt.body),
    )


def _evaluate(ctx: Context, expr: Expr) -> None:
    rvalue(ctx, expr)


def _asked(ctx: Context, words: tuple[str, ...], where: Range) -> int | None:
    if not words:
        return None
    asked = ctx.constants.value(words, where)
    if asked is None or asked < 1:
        raise ctx.refuse(where, f"unroll {' '.join(words)}: give a positive constant")
    if asked > _MOST_COPIES:
        raise ctx.refuse(where, f"unroll {asked}: more than {_MOST_COPIES} copies")
    return asked


def _has_effects(ctx: Context, test: Expr) -> bool:
    return has_effects(test, ctx.unit.functions, set(ctx.vars.memories))


def _trips(ctx: Context, body: Stmt, test: Expr, step: Expr | None) -> int | None:
    """The trip count of a loop, if that can be computed now; leaves no trace."""
    if _has_effects(ctx, test) or (step is not None and may_not_repeat(step)):
        return None
    inside = set(changed_in(ctx, [body]))
    names = set(changed_in(ctx, [], [step]))
    if inside & names or not names or variables_read(test) & inside:
        return None
    before, bases = dict(ctx.vars.env), dict(ctx.vars.bases)
    count = 0
    try:
        while count <= _MOST_COPIES:
            known = constant_of(condition_of(ctx, test))
            if known is None:
                return None
            if not known:
                return count
            count += 1
            if step is not None:
                rvalue(ctx, step)
    finally:
        ctx.vars.env, ctx.vars.bases = before, bases
    return None


def _unrolled(ctx: Context, body: Stmt, step: Expr | None, count: int) -> None:
    jumps = may_jump(body) or returns(body)

    def end() -> None:
        if step is not None:
            rvalue(ctx, step)

    def copy(number: int) -> None:
        copied(ctx, body.where)
        left = iteration(ctx, body.where, lambda: statement(ctx, body), jumps=True)

        def on() -> None:
            end()
            if number + 1 < count:
                copy(number + 1)

        branch(ctx, ctx.b.negated(left), on)

    if jumps and count:
        copy(0)
        return
    for _ in range(count):
        copied(ctx, body.where)
        statement(ctx, body)
        end()


def _partly(
    ctx: Context,
    body: Stmt,
    test: Expr,
    step: Expr | None,
    copies: int,
    *,
    whole: bool,
    where: Range,
) -> None:
    """Several iterations in one; each but the first asks whether it takes place."""
    if may_jump(body) or returns(body):
        raise ctx.refuse(where, "a loop with break, continue or return isn't unrolled partly")

    def copy(number: int) -> None:
        copied(ctx, where)
        statement(ctx, body)
        if step is not None:
            rvalue(ctx, step)
        if number + 1 < copies:
            if whole:
                copy(number + 1)
            else:
                branch(ctx, condition_of(ctx, test), lambda: copy(number + 1))

    looped(
        ctx,
        where,
        changed_in(ctx, [body], [test, step]),
        test=lambda: condition_of(ctx, test),
        body=lambda: copy(0),
        step=None,
        rotate=_has_effects(ctx, test),
    )


def may_not_repeat(step: Expr) -> bool:
    """Return whether a step does more than change variables."""
    return any(isinstance(e, Call) for e in walk(step))
