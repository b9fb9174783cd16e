"""The target region of a text: found, with all that its directives say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import Block, statements
from cyclescope.errors import SourceError
from cyclescope.hls.front.omp._clauses import check, check_file_level
from cyclescope.hls.front.omp._constructs import within
from cyclescope.hls.front.omp._directives import Directive, directives

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.c import Function, Pragma, Stmt, Unit

__all__ = ["Target", "find_target"]

_SHARING = frozenset({"distribute", "for", "loop", "sections"})
_WORDS = _SHARING | {"target", "teams", "parallel", "simd"}


@dataclass(frozen=True, slots=True)
class Target:
    """A target region in the text.

    Attributes:
        function: that it is in.
        stmt: the outermost statement, with the directive.
        body: the statement that each thread executes.
        directive: all directives between them in one.
        pragmas: that the directives are in, the outermost first.
        condition: the words that say whether hardware runs the region; empty if it always does.
        team: the words that say whether it has a team; empty if it always has.
    """

    function: Function
    stmt: Stmt
    body: Stmt
    directive: Directive
    pragmas: tuple[Pragma, ...]
    condition: tuple[str, ...] = ()
    team: tuple[str, ...] = ()

    @property
    def is_parallel(self) -> bool:
        """Return whether it has more than one thread."""
        return self.directive.has("parallel") or self.directive.has("teams")

    @property
    def is_shared(self) -> bool:
        """Return whether the region itself is a work-sharing construct."""
        return not _SHARING.isdisjoint(self.directive.words)

    @property
    def is_league(self) -> bool:
        """Return whether its threads are teams of one thread each."""
        return self.directive.has("teams") and not self.directive.has("parallel")


def find_target(unit: Unit) -> Target:
    """The only target region of a text.

    Raises:
        SourceError: there is none, there are several, or it has a form that isn't supported.
    """
    found: list[tuple[Function, Stmt, list[Directive]]] = []
    for function in unit.functions.values():
        for stmt in statements(function.body):
            own = [d for d in directives(stmt.pragmas) if d.words]
            if any(d.has("target") for d in own):
                found.append((function, stmt, own))
    if not found:
        raise SourceError(
            f"{unit.file}: no statement has `#pragma omp target` before it; mark the region"
        )
    for _, _, own in found:
        unfit = {"data", "enter", "exit", "update", "declare"} & {w for d in own for w in d.words}
        if unfit:
            raise SourceError(
                f"{own[0].where}: omp target {sorted(unfit)[0]} isn't supported; map at the region"
            )
    if len(found) > 1:
        first, second = (d[-1].where for _, _, d in found[:2])
        raise SourceError(f"{second}: a second target region; only one is supported ({first})")
    function, stmt, own = found[0]
    if stmt.where.file != unit.file:
        raise SourceError(f"{stmt.where}: the target region must be in {unit.file} itself")
    own, within_it = _leading(own)
    pragmas = _at(stmt, own)
    body = within(stmt, within_it)
    while not within_it and not any(d.has("parallel") for d in own):
        inner = body.body if isinstance(body, Block) else ()
        nested, within_it = _leading(directives(inner[0].pragmas)) if len(inner) == 1 else ([], [])
        if not any(d.has("parallel") or d.has("teams") for d in nested):
            break
        own += nested
        pragmas += _at(inner[0], nested)
        body = within(inner[0], within_it)
    words = tuple(w for d in own for w in d.words)
    clauses = tuple(c for d in own for c in d.clauses)
    merged = Directive(words, clauses, own[0].where)
    if any(pragma.is_operator for pragma in pragmas):
        raise SourceError(
            f"{merged.where}: the region's own directive as _Pragma isn't supported; write it as "
            f"#pragma"
        )
    for one in own:
        if not set(one.words) <= _WORDS:
            raise SourceError(f"{one.where}: omp {' '.join(one.words)} isn't supported")
        check(one)
    outside = [p for f in unit.functions.values() for p in f.pragmas]
    outside += [p for p in unit.stray if not _is_inside(p, unit)]
    for one in directives(outside):
        check_file_level(one)
    conditions = [
        next((c for d in own if (c := d.condition(part)) is not None), ())
        for part in ("target", "parallel")
    ]
    return Target(function, stmt, body, merged, tuple(pragmas), *conditions)


def _leading(found: list[Directive]) -> tuple[list[Directive], list[Directive]]:
    """The directives that begin a region, and those that are inside it."""
    for position, directive in enumerate(found):
        if position and not set(directive.words) <= _WORDS:
            return found[:position], found[position:]
    return found, []


def _is_inside(pragma: Pragma, unit: Unit) -> bool:
    """Return whether a pragma is in a function's body, which the region may not be part of."""
    return any(
        f.where.file == pragma.where.file and f.where.start <= pragma.where.start < f.where.end
        for f in unit.functions.values()
        if f.body is not None
    )


def _at(stmt: Stmt, own: Sequence[Directive]) -> list[Pragma]:
    places = {d.where for d in own}
    return [p for p in stmt.pragmas if p.where in places]
