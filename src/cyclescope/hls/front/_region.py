"""The target region of a text: its data environment set up, lowered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope._stack import deep_recursion
from cyclescope.c import expressions, outermost
from cyclescope.errors import SourceError

# Families of constructs: each registers what it lowers.
from cyclescope.hls.front import _expressions, _library, _loops, _objects, _statements  # noqa: F401
from cyclescope.hls.front._addresses import addressed
from cyclescope.hls.front._assigned import lanes_written
from cyclescope.hls.front._calls import OF_LEAGUES, OF_TEAMS
from cyclescope.hls.front._context import Context, Environment, Team, Variables
from cyclescope.hls.front._dispatch import bare
from cyclescope.hls.front._environment import data_environment, outer, variables_outside
from cyclescope.hls.front.omp import _atomics, _nested, _synchronization  # noqa: F401
from cyclescope.hls.front.omp._privatization import private
from cyclescope.hls.front.omp._reductions import begin_reductions, end_reductions
from cyclescope.hls.front.omp._worksharing import work_share
from cyclescope.hls.ir import Array, Place, Region

if TYPE_CHECKING:
    from cyclescope.c import Unit, Variable
    from cyclescope.hls.front._target import Target
    from cyclescope.hls.front.omp._directives import Constants
    from cyclescope.hls.ir import Shared

__all__ = ["Lowered", "lower"]

_DEFAULT_THREADS = 8


@dataclass(frozen=True, slots=True)
class Lowered:
    """A region in data-flow form, as the text has it.

    Attributes:
        region: its graphs, with all its memories.
        shared: what is known of their nodes.
        hosts: memory → the host's variable that it is.
        scalars: of the host, in the region's order.
        warnings: for people; each begins with file and line.
        overruled: the team has not the size that the text says.
    """

    region: Region
    shared: Shared
    hosts: dict[Array, Variable]
    scalars: tuple[Variable, ...]
    warnings: tuple[str, ...]
    overruled: bool


def lower(unit: Unit, target: Target, constants: Constants, threads: int | None) -> Lowered:
    """The region in data-flow form, without dependences.

    Args:
        unit: the text.
        target: its region.
        constants: values of the text's macros.
        threads: the team's size; None: as `num_threads` says, else 8.

    Raises:
        SourceError: it contains something that isn't supported.
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
        _region(ctx)
    return Lowered(
        Region(
            name=target.function.name,
            root=ctx.root.graph,
            arrays=tuple(_in_order(host)),
            scalars=tuple((v.name, width) for v, width in host.scalars),
            threads=threads,
            locks=tuple(team.locks),
            barriers=tuple(team.barriers),
            where=directive.where,
        ),
        ctx.shared,
        host.hosts,
        tuple(v for v, _ in host.scalars),
        tuple(ctx.warnings),
        _overruled(target, constants, threads),
    )


def _in_order(host: Environment) -> list[Array]:
    """All memories: those of map clauses in their order, then the host's others, then the rest."""
    order = list(host.items)

    def rank(array: Array) -> int:
        if array.place is not Place.EXTERNAL:
            return 2 * len(order) + 2
        return order.index(array.name) if array.name in order else len(order)

    return sorted(host.arrays, key=rank)


def _variables(unit: Unit, target: Target) -> Variables:
    texts = [f.body for f in unit.functions.values() if f.body is not None]
    everywhere = [e for body in (target.body, *texts) for e in expressions(body)]
    return Variables(
        addressed(outermost(target.body), unit.functions),
        lanes_written(everywhere),
    )


def _overruled(target: Target, constants: Constants, threads: int) -> bool:
    """Return whether a clause of the region says another size of the team."""
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


def _region(ctx: Context) -> None:
    directive, body = ctx.host.target.directive, ctx.host.target.body
    ctx.team.inside.append(directive)
    with ctx.at(directive.where):
        for variable in variables_outside(ctx, body):
            outer(ctx, variable)
        with private(ctx, directive):
            if ctx.host.target.is_shared:
                work_share(ctx, directive, body)
            else:
                entered = begin_reductions(ctx, directive)
                bare(ctx, body)
                end_reductions(ctx, directive, entered)
    _check_pragmas(ctx)


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
