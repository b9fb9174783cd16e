"""The target region of a text: its data environment set up, lowered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from cyclescope._stack import deep_recursion
from cyclescope.c import Name, Scalar, Variable, called, expressions, outermost
from cyclescope.errors import SourceError

# Families of constructs: each registers what it lowers.
from cyclescope.hls.front import _expressions, _library, _loops, _objects, _statements  # noqa: F401
from cyclescope.hls.front._addresses import addressed
from cyclescope.hls.front._assigned import lanes_written, may_write
from cyclescope.hls.front._choices import Plan
from cyclescope.hls.front._context import (
    Context,
    Environment,
    SharedScalarError,
    Team,
    Variables,
)
from cyclescope.hls.front._control import branch
from cyclescope.hls.front._dispatch import bare
from cyclescope.hls.front._environment import data_environment, outer, variables_outside
from cyclescope.hls.front._heaps import Cells, JoinedError, cells_of, merged
from cyclescope.hls.front._league import league_of
from cyclescope.hls.front._scopes import in_text_order, is_inside
from cyclescope.hls.front.omp import _atomics, _nested, _synchronization, _tasks  # noqa: F401
from cyclescope.hls.front.omp._directives import directives
from cyclescope.hls.front.omp._forks import forks_in
from cyclescope.hls.front.omp._privatization import private
from cyclescope.hls.front.omp._reductions import begin_reductions, end_reductions
from cyclescope.hls.front.omp._thread_private import thread_private
from cyclescope.hls.front.omp._worksharing import work_share
from cyclescope.hls.ir import Array, Op, Place, Region

if TYPE_CHECKING:
    from cyclescope.c import Range, Stmt, Unit
    from cyclescope.hls.front._printing import PrintCall
    from cyclescope.hls.front._target import Target
    from cyclescope.hls.front.omp._directives import Constants, Directive
    from cyclescope.hls.ir import Shared, Value

__all__ = ["SIZE", "TEAM", "Lowered", "lower"]

TEAM = "cyclescope_team"
"""The host's variable that says whether the region has a team, where only the run knows."""

SIZE = "cyclescope_size"
"""The host's variable that says how many threads the text wants, where only the run knows."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """A region in data-flow form, as the text has it.

    Attributes:
        region: its graphs, with all its memories.
        shared: what is known of their nodes.
        hosts: memory → the host's variable that it is.
        scalars: of the host, in the region's order.
        copied: variables of the host that the region has copies of, which it gives values to.
        statics: initial contents of memories that are static locals, by name.
        cells: name of a memory of the host → the pointers in it that the region follows.
        heaps: name of a memory that these lead to → variables that lead there or are in it, each
            with the scalar of where.
        joined: names of variables whose memories overlap at the host's, by block.
        blocks: name of a memory that several variables of the host lead to → these, each with the
            scalar that says where in it.
        printing: calls that the host makes when the region is over, by number from 1 on.
        warnings: for people; each begins with file and line.
        teams: their number, and the threads in each, as far as the program can tell.
        overruled: the teams are not those that the text says.
        team: the scalar that says whether there is a team at all; None: there always is.
        forks: the statements of `parallel` regions inside that have teams.
        size: the words that say how many threads there are, if only the run knows.
    """

    region: Region
    shared: Shared
    hosts: dict[Array, Variable]
    scalars: tuple[Variable, ...]
    copied: tuple[Variable, ...]
    statics: dict[str, bytes]
    cells: dict[str, Cells]
    heaps: dict[str, dict[Variable, Variable]]
    joined: tuple[tuple[str, ...], ...]
    blocks: dict[str, dict[Variable, Variable]]
    printing: tuple[PrintCall, ...]
    warnings: tuple[str, ...]
    teams: tuple[int, int]
    overruled: bool
    team: Variable | None = None
    forks: frozenset[Range] = frozenset()
    size: tuple[str, ...] = ()


def lower(
    unit: Unit,
    target: Target,
    constants: Constants,
    threads: int | None,
    joined: tuple[tuple[str, ...], ...] = (),
) -> Lowered:
    """The region in data-flow form, without dependences.

    Args:
        unit: the text.
        target: its region.
        constants: values of the text's macros.
        threads: the team's size; None: as `num_threads` says, else 8.
        joined: names of variables whose memories overlap at the host's, by block.

    Raises:
        SourceError: it contains something that isn't supported.
    """
    directive = target.directive
    forks = _forks(unit, target)
    league = league_of(target, constants, threads, [fork for fork, _ in forks])
    shared: set[Variable] = set()
    uneven: set[tuple[Range, str]] = set()
    with deep_recursion():
        plan = Plan()
        while True:
            host = data_environment(unit, target, plan, joined)
            host.written_by_team |= shared
            host.uneven |= uneven
            team = Team(league.teams, league.each)
            if forks:
                team = Team(1, 1, forks=True, is_alone=True, most=league.each)
            ctx = Context(
                unit, constants, league.threads, vars=_variables(unit, target), team=team, host=host
            )
            ctx.warnings += league.warnings
            ctx.warnings += [
                f"{where}: this target region is run by the host; --region {where.line} chooses it"
                for where in target.others
            ]
            try:
                _region(ctx, is_open=league.is_open, has_size=bool(league.size))
                if plan.open:
                    raise plan.open[0]
                more = plan.more()
                if host.uneven - uneven:
                    more = more or Plan(plan.known)
            except SharedScalarError as found:
                # Which of the threads' writes are to copies of their own, the lowering alone says.
                if found.variable in shared:
                    raise
                shared.add(found.variable)
                more = plan.more() or Plan(plan.known)
            except JoinedError as found:
                if any(set(found.names) <= set(group) for group in joined):
                    raise
                joined = merged(joined, found.names)
                more = plan.more() or Plan(plan.known)
            except SourceError:
                more = plan.more()
                if more is None:
                    raise
            if more is None:
                break
            uneven |= host.uneven
            plan = more
    return Lowered(
        Region(
            name=target.function.name,
            root=ctx.root.graph,
            arrays=tuple(_in_order(host)),
            scalars=tuple((v.name, width) for v, width in host.scalars),
            threads=league.threads,
            locks=tuple(team.locks),
            barriers=tuple(team.barriers),
            where=directive.where,
            singles=ctx.shared.singles,
        ),
        ctx.shared,
        host.hosts,
        tuple(v for v, _ in host.scalars),
        _copied(ctx),
        host.statics,
        {a.name: c for a in host.hosts if (c := cells_of(host, unit.structs, a)) is not None},
        {a.name: roots for a, roots in host.heaps.items()},
        joined,
        {a.name: parts for a, parts in host.blocks.items()},
        tuple(host.printing),
        tuple(ctx.warnings),
        (league.teams, league.each),
        league.is_overruled,
        next((v for v, _ in host.scalars if v.name == TEAM), None),
        frozenset(stmt.where for _, stmt in forks),
        league.size,
    )


def _forks(unit: Unit, target: Target) -> list[tuple[Directive, Stmt]]:
    """The `parallel` regions inside that have teams of their own, with their statements."""
    if target.is_parallel:
        return []
    found = list(forks_in(unit, target.body))
    parts = list(expressions(target.body))
    parts += [e for f in called(parts, unit.functions) for e in expressions(f.body)]
    # What is each thread's own outlasts a team: it would have to be kept from one to the next.
    keeps = any(isinstance(e, Name) and e.variable in target.thread_private for e in parts)
    return [] if keeps else found


def _in_order(host: Environment) -> list[Array]:
    """All memories: those of map clauses in their order, then the host's others, then the rest."""
    order = list(host.items)

    def rank(array: Array) -> int:
        if array.place is not Place.EXTERNAL:
            return 2 * len(order) + 2
        return order.index(array.name) if array.name in order else len(order)

    return sorted(host.arrays, key=rank)


def _copied(ctx: Context) -> tuple[Variable, ...]:
    """The variables of the host that the region writes without the host's noticing."""
    host, directive = ctx.host, ctx.host.target.directive
    own = [v for v in host.written_by_team if any(is_inside(v.where, t) for t in host.texts)]
    found = dict.fromkeys(v for v in host.written_by_team if v not in own)
    given = {ctx.vars.whole.get(v, v) for v, _ in host.scalars}
    if not host.target.is_parallel:
        named = {*directive.names("private"), *directive.names("firstprivate")}
        given |= {v for v in host.hosts.values() if v.name in named}
        written = host.written | may_write(host.target.body)
        found |= dict.fromkeys(v for v in written if v in given)
    return tuple(in_text_order(found))


def _variables(unit: Unit, target: Target) -> Variables:
    texts = [f.body for f in unit.functions.values() if f.body is not None]
    everywhere = [e for body in (target.body, *texts) for e in expressions(body)]
    return Variables(
        addressed(outermost(target.body), unit.functions),
        lanes_written(everywhere),
    )


def _region(ctx: Context, *, is_open: bool, has_size: bool) -> None:
    directive, body = ctx.host.target.directive, ctx.host.target.body
    ctx.team.inside.append(directive)
    with ctx.at(directive.where):
        for variable in variables_outside(ctx, body):
            outer(ctx, variable)
        ctx.team.is_joint = ctx.team.forks
        with thread_private(ctx, directive), private(ctx, directive):
            shared = partial(_some, ctx, _size(ctx)) if has_size else partial(_shared, ctx)
            if is_open:
                branch(ctx, _has_team(ctx), shared, lambda: _alone(ctx))
            else:
                shared()
    _check_pragmas(ctx)


def _shared(ctx: Context) -> None:
    """The part that all threads of the team execute."""
    directive, body = ctx.host.target.directive, ctx.host.target.body
    if ctx.host.target.is_shared:
        work_share(ctx, directive, body)
    else:
        entered = begin_reductions(ctx, directive)
        bare(ctx, body)
        end_reductions(ctx, directive, entered)


def _some(ctx: Context, size: Value) -> None:
    """The part that so many of the first threads execute."""
    ctx.team.size = size
    first = ctx.b.op(Op.ULT, ctx.b.leaf(Op.THREAD, 32), size, width=1)
    branch(ctx, first, lambda: _shared(ctx))
    ctx.team.size = None


def _size(ctx: Context) -> Value:
    """The number of threads that the host wants, as far as there are so many."""
    size, most = _told(ctx, SIZE), ctx.b.const(32, ctx.most_threads)
    return ctx.b.select(ctx.b.op(Op.ULT, most, size, width=1), most, size)


def _has_team(ctx: Context) -> Value:
    """Return whether the host has found the condition of the team true: one bit."""
    return ctx.b.op(Op.NE, _told(ctx, TEAM), ctx.b.const(32, 0), width=1)


def _told(ctx: Context, name: str) -> Value:
    """A variable of the host that it computes for the region, 32 bits."""
    variable = Variable(name, Scalar("int", 32), ctx.host.target.directive.where, "global")
    ctx.host.scalars.append((variable, 32))
    return ctx.b.leaf(Op.SCALAR, 32, len(ctx.host.scalars) - 1)


def _alone(ctx: Context) -> None:
    """The region by its first thread, whose team is itself alone."""
    team = ctx.team
    threads, each, shared = ctx.threads, team.each, team.shared
    first = ctx.b.op(Op.EQ, ctx.b.leaf(Op.THREAD, 32), ctx.b.const(32, 0), width=1)
    ctx.threads, team.each, team.is_alone = 1, 1, True
    branch(ctx, first, lambda: _shared(ctx))
    ctx.threads, team.each, team.is_alone, team.shared = threads, each, False, shared


def _check_pragmas(ctx: Context) -> None:
    """A directive that is at no statement would be lost, and change what the program means.

    Raises:
        SourceError: there is one in the region, or in a function that it calls.
    """
    for pragma in ctx.unit.stray:
        for where in ctx.host.texts:
            inside = where.start <= pragma.where.start < where.end
            says = pragma.tokens[:1] == ("omp",) and bool(directives([pragma]))
            if says and pragma.where.file == where.file and inside:
                raise SourceError(
                    f"{pragma.where}: this directive belongs to no statement here; "
                    f"move it before one"
                )
