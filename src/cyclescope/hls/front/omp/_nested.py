"""Parallel regions inside the region: each thread's own, with a team of itself alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.front._dispatch import bare
from cyclescope.hls.front.omp._constructs import lowers
from cyclescope.hls.front.omp._reductions import begin_reductions, end_reductions
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
    """A team of one thread executes it (OpenMP 4.5, 2.5.1: as many as are there)."""
    ctx.warnings.append(
        f"{directive.where}: a parallel region inside the region has a team of one thread; for "
        f"more write target parallel, or teams distribute parallel, at the region"
    )
    team, threads, inside, was_alone = ctx.team, ctx.threads, ctx.team.inside, ctx.team.is_alone
    before = team.shared
    ctx.threads, team.inside, team.is_alone = 1, [directive], True
    team.nested += 1
    own = {*directive.names("private"), *directive.names("firstprivate")}
    known = {ctx.vars.whole.get(v, v) for v in (*ctx.vars.env, *ctx.vars.memories)}
    team.shared = frozenset(v for v in known if v.name not in own)
    # The only thread is the master, and executes tasks at once.
    if _LOOPS.isdisjoint(directive.words):
        entered = begin_reductions(ctx, directive)
        bare(ctx, stmt)
        end_reductions(ctx, directive, entered)
    else:
        work_share(ctx, directive, stmt)
    ctx.threads, team.inside, team.is_alone = threads, inside, was_alone
    team.nested -= 1
    team.shared = before
