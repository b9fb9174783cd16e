"""Parallel regions inside the region: by the team made for it, or each thread's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.front._control import branch
from cyclescope.hls.front._dispatch import bare
from cyclescope.hls.front.omp._constructs import lowers
from cyclescope.hls.front.omp._privatization import shared_inside
from cyclescope.hls.front.omp._reductions import begin_reductions, end_reductions
from cyclescope.hls.front.omp._team import is_first
from cyclescope.hls.front.omp._worksharing import work_share

if TYPE_CHECKING:
    from cyclescope.c import Stmt
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front.omp._directives import Directive

__all__: list[str] = []

_LOOPS = frozenset({"for", "loop", "sections"})


@lowers(
    "parallel",
    "parallel for",
    "parallel for simd",
    "parallel loop",
    "parallel sections",
    "parallel master",
    "parallel masked",
    "parallel master taskloop",
    "parallel master taskloop simd",
    "parallel masked taskloop",
    "parallel masked taskloop simd",
)
def _nested(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    """The team that has been made for it, else one of one thread (OpenMP 4.5, 2.5.1)."""
    if ctx.team.fork is directive:
        _body(ctx, directive, stmt)
        return
    ctx.warnings.append(
        f"{directive.where}: a parallel region inside the region has a team of one thread; for "
        f"more write target parallel, or teams distribute parallel, at the region"
    )
    team, threads, inside, was_alone = ctx.team, ctx.threads, ctx.team.inside, ctx.team.is_alone
    before = team.shared
    ctx.threads, team.inside, team.is_alone = 1, [directive], True
    team.nested += 1
    team.shared = shared_inside(ctx, directive)
    _body(ctx, directive, stmt)
    ctx.threads, team.inside, team.is_alone = threads, inside, was_alone
    team.nested -= 1
    team.shared = before


def _body(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    """The statement, as each thread of the team executes it."""
    if not _LOOPS.isdisjoint(directive.words):
        work_share(ctx, directive, stmt)
        return
    entered = begin_reductions(ctx, directive)
    # The first thread is the master, and executes tasks at once.
    if directive.has("master") or directive.has("masked"):
        first = is_first(ctx)
        branch(ctx, first, lambda: bare(ctx, stmt))
    else:
        bare(ctx, stmt)
    end_reductions(ctx, directive, entered)
