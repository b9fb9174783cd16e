"""The sizes of the region's league and teams, as clauses say them and as hardware has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import STEPS, Assign, Call, Unary, expressions, fold, walk
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.c import Expr
    from cyclescope.hls.front._target import Target
    from cyclescope.hls.front.omp._directives import Constants, Directive

__all__ = ["League", "league_of"]

_DEFAULT_THREADS, _OPEN_THREADS, _MOST_THREADS = 8, 16, 256


@dataclass(frozen=True, slots=True)
class League:
    """The threads of a region.

    Attributes:
        threads: of all teams together.
        teams: their number.
        each: the threads in each of them, as far as the program can tell: of teams of one thread
            each that share a loop, the hardware may have several play one.
        is_overruled: it is not as the text says.
        is_open: only the run knows whether there is a team, or one thread alone.
        size: the words that say how many threads of its one team there are, if only the run
            knows; empty: all.
        warnings: for people; each begins with file and line.
    """

    threads: int
    teams: int = 1
    each: int = 1
    is_overruled: bool = False
    is_open: bool = False
    size: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def league_of(
    target: Target,
    constants: Constants,
    threads: int | None,
    forks: Sequence[Directive] = (),
) -> League:
    """The region's league.

    OpenMP lets an implementation have fewer teams and threads than a clause asks for (4.5, 2.7
    and 2.5.1): so what isn't a constant, or is too large, is the default, and a warning.

    Args:
        target: the region.
        constants: values of the text's macros.
        threads: of all teams together; None: as the text says.
        forks: the directives of `parallel` regions inside a region without a team.

    Raises:
        SourceError: there is no such league.
    """
    where = target.directive.where
    if forks:
        return _of_forks(target, constants, threads, forks)
    if not target.is_parallel:
        return League(1)
    has_team = constants.value(target.team, where) if target.team else 1
    is_open = has_team is None
    if is_open and target.directive.has("teams"):
        text = " ".join(target.team)
        raise SourceError(
            f"{where}: if(parallel: {text}): the hardware's teams have their size before "
            f"they run; give a constant, or write if(target: {text})"
        )
    sizes = _Sizes(target, constants)
    size: tuple[str, ...] = ()
    if target.is_league:
        said = sizes.of("num_teams", _MOST_THREADS)
        wanted = teams = said or _DEFAULT_THREADS
        sizes.of("thread_limit", _MOST_THREADS)
        if said is None and target.is_shared:
            given = wanted if threads is None else threads
            return League(given, 1, 1, bool(sizes.warnings), warnings=tuple(sizes.warnings))
    else:
        wanted, teams = _teams(sizes, target)
        size = sizes.open_size if threads is None and teams == 1 else ()
    if not has_team and not is_open and not target.is_league:
        return League(1)
    given = wanted if threads is None else threads
    if not 1 <= given <= _MOST_THREADS:
        raise SourceError(f"{where}: {given} threads; from 1 to {_MOST_THREADS} are possible")
    if target.is_league or given % teams:
        teams = given if target.is_league else 1
    overruled = given != wanted if sizes.are_said else target.is_league
    overruled = overruled or bool(sizes.warnings) or bool(sizes.open_size and not size)
    return League(
        given,
        teams,
        given // teams,
        overruled,
        is_open=is_open,
        size=size,
        warnings=tuple(sizes.warnings),
    )


def _of_forks(
    target: Target, constants: Constants, threads: int | None, forks: Sequence[Directive]
) -> League:
    """The threads of the largest of several teams, and of one that no clause says."""
    usual = _Sizes(target, constants, target.directive).set_before() or _DEFAULT_THREADS
    most, warnings = 1, list[str]()
    for fork in forks:
        sizes = _Sizes(target, constants, fork)
        words = fork.clause("num_threads")
        is_open = words is not None and constants.value(words, fork.where) is None
        said = None if is_open else sizes.of("num_threads", _MOST_THREADS)
        most = max(most, said or usual)
        warnings += sizes.warnings
    given = most if threads is None else threads
    if not 1 <= given <= _MOST_THREADS:
        where = target.directive.where
        raise SourceError(f"{where}: {given} threads; from 1 to {_MOST_THREADS} are possible")
    overruled = given < most or bool(warnings)
    return League(given, 1, min(usual, given), overruled, warnings=tuple(dict.fromkeys(warnings)))


def _teams(sizes: _Sizes, target: Target) -> tuple[int, int]:
    """The threads of teams with several threads each, and the number of teams."""
    teams = sizes.of("num_teams", _MOST_THREADS)
    if teams is not None and teams > 1 and not target.directive.has("distribute"):
        sizes.tell("num_teams", f"{teams}: each team would do the same; the hardware has one team")
        teams = None
    if teams is not None and teams > 1 and "," in (target.directive.clause("dist_schedule") or ()):
        sizes.tell("num_teams", f"{teams}: with chunks the hardware has one team")
        teams = None
    is_open = bool(sizes.open_size) and (teams or 1) == 1
    each = _OPEN_THREADS if is_open else sizes.of("num_threads", _MOST_THREADS // (teams or 1))
    most = sizes.of("thread_limit", _MOST_THREADS) or _MOST_THREADS
    if each is None:
        set_before = sizes.set_before()
        each = max(1, _DEFAULT_THREADS // (teams or 1)) if set_before is None else set_before
    return (teams or 1) * min(each, most), teams or 1


class _Sizes:
    """The sizes that a region's clauses say."""

    def __init__(
        self, target: Target, constants: Constants, directive: Directive | None = None
    ) -> None:
        self._target = target
        self._directive, self._constants = directive or target.directive, constants
        self.are_said = False
        self.warnings: list[str] = []

    @property
    def open_size(self) -> tuple[str, ...]:
        """The words of `num_threads` if they are no constant, and reading them changes nothing."""
        words, where = self._directive.clause("num_threads") or (), self._directive.where
        if not words or self._constants.value(words, where) is not None:
            return ()
        expr = self._constants.expression(words, where)
        if expr is None or not self._constants.is_whole(words, where):
            return ()
        return () if any(map(_has_effect, walk(expr))) else words

    def of(self, clause: str, most: int) -> int | None:
        """The size that a clause says; None if it says none that the hardware can have.

        Raises:
            SourceError: it is no size.
        """
        words = self._directive.clause(clause)
        if words is None:
            return None
        value = self._constants.value(words, self._directive.where)
        if value is None and not self._constants.is_whole(words, self._directive.where):
            raise SourceError(
                f"{self._directive.where}: {clause}({' '.join(words)}): give a positive constant"
            )
        if value is None:
            self.tell(clause, f"{' '.join(words)}: the hardware's threads are known before it runs")
            return None
        if value < 1:
            raise SourceError(
                f"{self._directive.where}: {clause}({' '.join(words)}): give a positive constant"
            )
        if value > most:
            if clause != "thread_limit":
                self.tell(clause, f"{value}: more than {most} are not possible here")
            return None
        self.are_said = self.are_said or clause != "thread_limit"
        return value

    def set_before(self) -> int | None:
        """The team's size that `omp_set_num_threads` gives in front of the region, a constant."""
        target = self._target
        found = None
        for expr in expressions(target.function.body):
            if isinstance(expr, Call) and expr.function == "omp_set_num_threads" and expr.args:
                before = expr.where.start < self._directive.where.start
                if before and expr.where.file == self._directive.where.file:
                    found = fold(expr.args[0], {})
        return int(found) if found is not None and 1 <= found <= _MOST_THREADS else None

    def tell(self, clause: str, why: str) -> None:
        self.warnings.append(
            f"{self._directive.where}: {clause} of {why}; OpenMP lets it have another size, "
            f"--threads says which"
        )


def _has_effect(expr: Expr) -> bool:
    """Return whether an expression does, or may do, more than give a value."""
    return isinstance(expr, Assign | Call) or (isinstance(expr, Unary) and expr.op in STEPS)
