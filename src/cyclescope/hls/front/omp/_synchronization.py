"""Constructs that order the team's threads: critical, barrier, flush, single, master."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.front._control import branch
from cyclescope.hls.front._dispatch import bare
from cyclescope.hls.front.omp._constructs import lowers, lowers_alone
from cyclescope.hls.front.omp._team import barrier, fence, locked, thread_number
from cyclescope.hls.ir import Op

if TYPE_CHECKING:
    from cyclescope.c import Stmt
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front.omp._directives import Directive

__all__: list[str] = []


@lowers("critical")
def _critical(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    with locked(ctx, "critical", " ".join(directive.clause("name") or ())):
        bare(ctx, stmt)


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
    first = ctx.b.op(Op.EQ, thread_number(ctx), ctx.b.const(32, 0), width=1)
    branch(ctx, first, lambda: bare(ctx, stmt))
    if directive.words == ("single",) and directive.clause("nowait") is None:
        barrier(ctx, directive.where)


@lowers_alone("barrier")
def _barrier(ctx: Context, directive: Directive) -> None:
    barrier(ctx, directive.where)


@lowers_alone("flush")
def _flush(ctx: Context, directive: Directive) -> None:
    fence(ctx, directive.where)
