"""The target region of a text: found, with all that its directives say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cyclescope.c import Array, Block, Name, Pointer, Struct, expressions, statements
from cyclescope.errors import RegionError, SourceError
from cyclescope.hls.front._assigned import may_write
from cyclescope.hls.front._scopes import is_inside, visible
from cyclescope.hls.front.omp._clauses import check, check_file_level
from cyclescope.hls.front.omp._constructs import within
from cyclescope.hls.front.omp._directives import Clause, Directive, directives, is_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclescope.c import Function, Pragma, Range, Stmt, Unit, Variable

    _Candidate: TypeAlias = tuple[Function, Stmt, list[Directive]]

__all__ = ["Target", "find_target"]

_SHARING = frozenset({"distribute", "for", "loop", "sections"})
_WORDS = _SHARING | {"target", "teams", "parallel", "simd"}
# Directives of this kind speak of memory, which the host and the hardware share.
_MEMORY = frozenset({"data", "enter", "exit", "update", "declare"})


@dataclass(frozen=True, slots=True)
class Target:
    """A target region in the text.

    Attributes:
        function: that it is in.
        stmt: the outermost statement, with the directive.
        body: the statement that each thread executes.
        directive: all directives between them in one.
        pragmas: that the directives are in, the outermost first.
        first: the directive that says `target`, alone.
        condition: the words that say whether hardware runs the region; empty if it always does.
        team: the words that say whether it has a team; empty if it always has.
        others: the program's other target regions, which the host runs.
        present: what data directives in front of it in its function map: its own clauses leave
            that as it is.
        thread_private: variables of which each thread has one, as `threadprivate` says.
        declared: global variables that `declare target` names: the region has them, not copies.
    """

    function: Function
    stmt: Stmt
    body: Stmt
    directive: Directive
    pragmas: tuple[Pragma, ...]
    first: Directive
    condition: tuple[str, ...] = ()
    team: tuple[str, ...] = ()
    others: tuple[Range, ...] = ()
    declared: frozenset[Variable] = frozenset()
    thread_private: frozenset[Variable] = frozenset()
    present: frozenset[str] = frozenset()

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


def find_target(unit: Unit, line: int | None = None) -> Target:
    """The target region of a text that becomes hardware; the host runs all others.

    Args:
        unit: the text.
        line: of the region or of one of its directives; None: it is the only one that a macro
            doesn't make.

    Raises:
        SourceError: there is none, it isn't known which, or it has a form that isn't supported.
    """
    found: list[_Candidate] = []
    made: list[Range] = []
    for function in unit.functions.values():
        for stmt in statements(function.body):
            marks = [p for p in stmt.pragmas if p.tokens[:2] == ("omp", "target")]
            hidden = {p for p in marks if p.is_operator and p.trouble}
            if hidden:
                made.append(stmt.where)
            shown = directives([p for p in stmt.pragmas if p not in hidden])
            own = [d for d in shown if d.words and not _is_memory(d)]
            # What is in front of `target` is the host's.
            while own and not own[0].has("target"):
                own.pop(0)
            if own:
                found.append((function, stmt, own))
    chosen = _chosen(unit, found, made, line)
    function, stmt, own = chosen
    others = (*made, *(one[1].where for one in found if one is not chosen))
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
        if not set(nested[0].words) <= _WORDS:
            break
        own += nested
        pragmas += _at(inner[0], nested)
        body = within(inner[0], within_it)
    words = tuple(w for d in own for w in d.words)
    clauses = tuple(c for d in own for c in d.clauses)
    clauses += tuple(_mapped_before(unit, function, own))
    clauses += tuple(_own_by_default(Directive(words, clauses, own[0].where), body))
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
    at_file_level = directives(outside)
    for one in at_file_level:
        check_file_level(one)
    condition, team = (
        next((c for d in own if (c := d.condition(part)) is not None), ())
        for part in ("target", "parallel")
    )
    return Target(
        function,
        stmt,
        body,
        merged,
        tuple(pragmas),
        own[0],
        condition,
        team,
        others,
        _declared(unit, at_file_level),
        frozenset(_thread_private(unit, at_file_level)),
        frozenset(item.name for one, _ in _data_before(function, own) for item in one.maps),
    )


def _chosen(
    unit: Unit, found: Sequence[_Candidate], made: Sequence[Range], line: int | None
) -> _Candidate:
    """The region that becomes hardware.

    Raises:
        RegionError: there is none.
        SourceError: it isn't known which.
    """
    if not found:
        if made:
            raise SourceError(
                f"{made[0]}: a macro contains both this target region's _Pragma and its "
                f"statements; write the pragma before the macro"
            )
        raise RegionError(
            f"{unit.file}: no statement has `#pragma omp target` before it; mark the region"
        )
    lines = ", ".join(str(own[0].where.line) for _, _, own in found)
    if line is not None:
        for one in found:
            if one[2][0].where.line <= line <= one[1].where.end_line:
                return one
        raise SourceError(f"{unit.file}:{line}: no target region; they begin in lines {lines}")
    if len(found) > 1:
        raise SourceError(
            f"{found[1][2][0].where}: a second target region; choose the one that becomes "
            f"hardware with --region LINE (lines {lines}), the host runs the others"
        )
    return found[0]


def _declared(unit: Unit, at_file_level: Sequence[Directive]) -> frozenset[Variable]:
    """The global variables that `declare target` names, or is around."""
    found: set[Variable] = set()
    opened: list[Range] = []
    for one in sorted(at_file_level, key=lambda d: (d.where.file, d.where.start)):
        if not one.has("declare", "target"):
            continue
        if one.has("end"):
            first = opened.pop() if opened else one.where
            found |= {
                v
                for v in unit.variables.values()
                if v.where.file == first.file and first.end <= v.where.start < one.where.start
            }
            continue
        lists = [w for c in one.clauses if c.name in ("to", "enter", "link") for w in c.words or ()]
        names = {w for w in (*one.rest, *lists) if is_name(w)}
        found |= {v for name, v in unit.variables.items() if name in names}
        if not names:
            opened.append(one.where)
    return frozenset(found)


def _thread_private(unit: Unit, at_file_level: Sequence[Directive]) -> Iterator[Variable]:
    """The variables of which each thread has one: globals, and static locals."""
    for one in at_file_level:
        if one.words == ("threadprivate",):
            yield from (unit.variables[n] for n in one.names("list") if n in unit.variables)
    for function in unit.functions.values():
        for stmt in statements(function.body):
            for pragma in (*stmt.pragmas, *(stmt.trailing if isinstance(stmt, Block) else ())):
                if pragma.tokens[:2] == ("omp", "threadprivate") and not pragma.trouble:
                    seen = visible(unit, pragma.where)
                    (one,) = directives([pragma])
                    named = (seen[n] for n in one.names("list") if n in seen)
                    yield from (v for v in named if v.scope == "static")


def _own_by_default(directive: Directive, body: Stmt) -> Iterator[Clause]:
    """The copies that `defaultmap(firstprivate)` gives a region of arrays and structs.

    Raises:
        SourceError: a region with a team writes into one, which its threads would share.
    """
    said = [c.words or () for c in directive.clauses if c.name == "defaultmap"]
    if not any(w[0] == "firstprivate" and w[2:] in ((), ("aggregate",)) for w in said):
        return
    listed = {word for c in directive.clauses for word in c.words or ()}
    named = dict.fromkeys(e.variable for e in expressions(body) if isinstance(e, Name))
    written = may_write(body)
    for variable in named:
        is_aggregate = isinstance(variable.type, Array | Struct) and variable.scope != "param"
        if not is_aggregate or variable.name in listed or is_inside(variable.where, body.where):
            continue
        if directive.has("parallel") or directive.has("teams"):
            if variable in written:
                raise SourceError(
                    f"{directive.where}: omp target: defaultmap(firstprivate) of {variable.name}, "
                    f"which the team writes; name it in map or firstprivate"
                )
            continue
        yield Clause("firstprivate", (variable.name,))


def _is_memory(directive: Directive) -> bool:
    return directive.has("target") and not _MEMORY.isdisjoint(directive.words)


def _mapped_before(unit: Unit, function: Function, own: Sequence[Directive]) -> Iterator[Clause]:
    """The sections that directives of the same function map, of pointers that the region's don't.

    The region finds there what they have mapped (OpenMP 4.5, 2.15.5).
    """
    here = own[0].where
    known = visible(unit, here)
    mapped = {item.name for d in own for item in d.maps if item.count}
    found: dict[str, tuple[str, ...]] = {}
    for directive, pragma in _data_before(function, own):
        there = visible(unit, pragma.where)
        for item in directive.maps:
            used = {item.name, *(w for w in (*item.low, *item.count) if is_name(w))}
            same = all(known.get(name) is there.get(name) for name in used)
            kind = known[item.name].type if item.name in known else None
            if same and item.count and isinstance(kind, Pointer | Array):
                found[item.name] = (item.name, "[", *item.low, ":", *item.count, "]")
    for name, words in found.items():
        if name not in mapped and (
            isinstance(known[name].type, Pointer) or known[name].scope == "param"
        ):
            yield Clause("map", ("tofrom", ":", *words))


def _data_before(
    function: Function, own: Sequence[Directive]
) -> Iterator[tuple[Directive, Pragma]]:
    """The `target data` and `enter data` in front of a region in its function."""
    here = own[0].where
    for stmt in statements(function.body):
        for pragma in (*stmt.pragmas, *(stmt.trailing if isinstance(stmt, Block) else ())):
            words = pragma.tokens[2:4]
            if pragma.tokens[:2] != ("omp", "target") or pragma.trouble:
                continue
            if words[:1] != ("data",) and words != ("enter", "data"):
                continue
            if pragma.where.start < here.start and pragma.where.file == here.file:
                yield directives([pragma])[0], pragma


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
