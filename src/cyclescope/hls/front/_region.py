"""The target region of a text: its data environment set up, lowered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cyclescope._stack import deep_recursion
from cyclescope.errors import SourceError

# Families of constructs: each registers what it lowers.
from cyclescope.hls.front import _expressions, _library, _loops, _objects, _statements  # noqa: F401
from cyclescope.hls.front._addresses import addressed
from cyclescope.hls.front._assigned import expressions, lanes_written, outermost
from cyclescope.hls.front._calls import OF_LEAGUES, OF_TEAMS
from cyclescope.hls.front._context import Context, Team, Variables
from cyclescope.hls.front._dispatch import bare
from cyclescope.hls.front._environment import data_environment, outer, variables_outside
from cyclescope.hls.front.omp import _atomics, _synchronization  # noqa: F401
from cyclescope.hls.front.omp._privatization import private
from cyclescope.hls.front.omp._reductions import begin_reductions, end_reductions
from cyclescope.hls.front.omp._worksharing import work_share
from cyclescope.hls.ir._graph import EFFECTS, Array, Node, Op, Place, Region
from cyclescope.hls.passes._dead_code import clean, graphs
from cyclescope.hls.passes._neighbours import neighbours
from cyclescope.hls.passes._preload import preload
from cyclescope.hls.passes._races import Threads, last_writers, races

if TYPE_CHECKING:
    from cyclescope.c import Unit, Variable
    from cyclescope.hls.front._target import Target
    from cyclescope.hls.front.omp._directives import Constants

__all__ = ["Lowered", "lower"]

_MOST_EFFECTS = 4_096  # in one iteration


_DEFAULT_THREADS = 8


@dataclass(frozen=True, slots=True)
class Lowered:
    """A region in data-flow form.

    Attributes:
        region: its graphs.
        variables: of the host, by name of array.
        scalars: of the host, in the region's order.
        exact: arithmetic that cannot overflow.
        guarded: loads and stores under mutual exclusion.
        warnings: for people; each begins with file and line.
        undecided: arrays whose contents depend on which thread is last.
        overruled: the team has not the size that the text says.
    """

    region: Region
    variables: dict[str, Variable]
    scalars: tuple[Variable, ...]
    exact: frozenset[Node]
    guarded: frozenset[Node]
    warnings: tuple[str, ...]
    undecided: frozenset[str] = frozenset()
    overruled: bool = False


def lower(unit: Unit, target: Target, constants: Constants, threads: int | None) -> Lowered:
    """The region in data-flow form, cleaned, without dependences.

    Args:
        unit: the text.
        target: its region.
        constants: values of the text's macros.
        threads: the team's size; None: as `num_threads` says, else 8.

    Raises:
        SourceError: it holds something that isn't supported.
    """
    directive = target.directive
    if not target.is_parallel:
        threads = 1
    elif threads is None:
        threads = _team(target, constants)
    if target.team:
        has_team = constants.value(target.team, directive.where)
        if has_team is None:
            text = " ".join(target.team)
            raise SourceError(
                f"{directive.where}: if(parallel: {text}): the hardware's team has its size before "
                f"it runs; give a constant, or write if(target: {text})"
            )
        threads = threads if has_team else 1
    if not 1 <= threads <= 256:
        raise SourceError(f"{directive.where}: {threads} threads; from 1 to 256 are possible")
    with deep_recursion():
        variables = _variables(unit, target)
        team = Team(_of_teams(target, constants))
        host = data_environment(unit, target)
        ctx = Context(unit, constants, threads, vars=variables, team=team, host=host)
        lowered = _lowered(ctx)
    return replace(lowered, overruled=_overruled(target, constants, threads))


def _variables(unit: Unit, target: Target) -> Variables:
    texts = [f.body for f in unit.functions.values() if f.body is not None]
    everywhere = [e for body in (target.body, *texts) for e in expressions(body)]
    return Variables(
        addressed(outermost(target.body), unit.functions),
        lanes_written(everywhere),
    )


def _overruled(target: Target, constants: Constants, threads: int) -> bool:
    """Whether a clause of the region says another size of the team."""
    clause = target.directive.clause("num_teams" if target.is_league else "num_threads")
    if clause is None or target.team:
        return False
    try:
        return _team(target, constants) != threads
    except SourceError:
        return True


def _team(target: Target, constants: Constants) -> int:
    """The team's size, as the text says it, else the default.

    Raises:
        SourceError: it says something that is no constant, or several teams do the same.
    """
    directive = target.directive

    def constant(clause: str) -> int | None:
        words = directive.clause(clause)
        if words is None:
            return None
        value = constants.value(words, directive.where)
        if value is None or value < 1:
            raise SourceError(
                f"{directive.where}: {clause}({' '.join(words)}): the hardware's team has its size "
                f"before it runs; give a positive constant, or --threads"
            )
        return value

    most, teams = constant("thread_limit"), constant("num_teams")
    if target.is_league:
        return teams or _DEFAULT_THREADS
    if teams not in (None, 1) and not directive.has("distribute"):
        raise SourceError(
            f"{directive.where}: num_teams({teams}): each team would do the same in the region; "
            f"write num_teams(1), or distribute a loop to them"
        )
    threads = constant("num_threads") or _DEFAULT_THREADS
    return threads if most is None else min(threads, most)


def _of_teams(target: Target, constants: Constants) -> frozenset[str]:
    """The calls that tell one team with several threads from what the text has."""
    if target.is_league:
        return OF_TEAMS | OF_LEAGUES
    teams = target.directive.clause("num_teams")
    several = teams is not None and constants.value(teams, target.directive.where) != 1
    return OF_LEAGUES if several else frozenset()


def _check_size(ctx: Context) -> None:
    """Whether what may depend on each other is few enough to look at all pairs.

    Raises:
        SourceError: it is not; neither hardware nor its simulation would come to an end soon.
    """
    for graph in graphs(ctx.root.graph):
        effects = [node for node in graph.nodes if node.op in EFFECTS]
        if len(effects) > _MOST_EFFECTS:
            raise SourceError(
                f"{effects[_MOST_EFFECTS].where}: more than {_MOST_EFFECTS:,} memory accesses,"
                " loops and locks one after the other; put them into loops, or unroll less"
            )


def _check_pragmas(ctx: Context) -> None:
    """A directive that is at no statement would be lost, and change what the program means.

    Raises:
        SourceError: there is one in the region, or in a function that it calls.
    """
    for pragma in ctx.unit.stray:
        for where in ctx.host.texts:
            inside = where.start <= pragma.where.start < where.end
            if pragma.tokens[:1] == ("omp",) and pragma.where.file == where.file and inside:
                raise SourceError(
                    f"{pragma.where}: this directive belongs to no statement here; "
                    f"move it before one"
                )


def _finished(ctx: Context) -> Lowered:
    used: set[Array] = set()
    stored: set[Array] = set()  # a constant of the host must not be written back
    for graph in graphs(ctx.root.graph):
        for node in graph.nodes:
            if node.op is Op.STORE and node.array is not None:
                stored.add(node.array)
            used |= {a for a in (node.array, node.source) if a is not None}
    order = list(ctx.host.items)

    def rank(array: Array) -> int:
        if array.place is not Place.EXTERNAL:
            return 2 * len(order) + 2
        return order.index(array.name) if array.name in order else len(order)

    arrays = sorted((a for a in ctx.host.arrays if a in used), key=rank)
    final: dict[Array, Array] = {}
    names: dict[str, int] = {}
    for array in arrays:
        names[array.name] = names.get(array.name, 0) + 1
        unique = array.name if names[array.name] == 1 else f"{array.name}_{names[array.name]}"
        final[array] = replace(
            array,
            name=unique,
            word=array.word,
            from_device=array.from_device and array in stored,
        )
    for graph in graphs(ctx.root.graph):
        for node in graph.nodes:
            if node.array is not None:
                node.array = final[node.array]
            if node.source is not None:
                node.source = final[node.source]
    region = Region(
        name=ctx.host.target.function.name,
        root=ctx.root.graph,
        arrays=tuple(final.values()),
        scalars=tuple((v.name, width) for v, width in ctx.host.scalars),
        threads=ctx.threads,
        locks=tuple(ctx.team.locks),
        barriers=tuple(ctx.team.barriers),
        where=ctx.host.target.directive.where,
    )
    hosts = {final[a].name: v for a, v in ctx.host.hosts.items() if a in final}
    scalars = tuple(v for v, _ in ctx.host.scalars)
    return Lowered(
        region,
        hosts,
        scalars,
        frozenset(ctx.shared.exact),
        frozenset(ctx.team.guarded),
        tuple(ctx.warnings),
        frozenset(final[a].name for a in ctx.host.undecided),
    )


def _lowered(ctx: Context) -> Lowered:
    directive, body = ctx.host.target.directive, ctx.host.target.body
    ctx.team.inside.append(directive)
    with ctx.at(directive.where):
        for variable in variables_outside(ctx, body):
            outer(ctx, variable)
        with private(ctx, directive):
            if directive.has("for") or directive.has("distribute") or directive.has("loop"):
                work_share(ctx, directive, body)
            else:
                entered = begin_reductions(ctx, directive)
                bare(ctx, body)
                end_reductions(ctx, directive, entered)
    _check_pragmas(ctx)
    clean(ctx.root.graph)
    if preload(ctx.root.graph, ctx.shared):
        clean(ctx.root.graph)
    _check_size(ctx)
    if ctx.threads > 1:
        graph, guarded, own = ctx.root.graph, ctx.team.guarded, Threads(ctx.root.graph)
        ctx.warnings += races(graph, guarded, own)
        ctx.warnings += neighbours(graph, guarded, ctx.shared, own, ctx.threads)
        for warning, array in last_writers(graph, guarded, own):
            ctx.warnings.append(warning)
            ctx.host.undecided.add(array)
    return _finished(ctx)
