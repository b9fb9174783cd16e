"""Variants of functions (`declare variant`): a region calls the one that its context selects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cyclescope.c import (
    Call,
    called,
    expressions,
    inner_statements,
    own_expressions,
    statements,
    walk,
)
from cyclescope.errors import SourceError
from cyclescope.hls.front.omp._contexts import selector_of
from cyclescope.hls.front.omp._directives import directives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import Function, Stmt, Unit
    from cyclescope.hls.front._target import Target
    from cyclescope.hls.front.omp._contexts import Selector

__all__ = ["with_variants"]


def with_variants(unit: Unit, target: Target) -> Unit:
    """The text with each function that has variants as the one that a region calls.

    Raises:
        SourceError: the region calls several of them.
    """
    known = {f.name: found for f in unit.functions.values() if (found := list(_variants(f)))}
    if not known:
        return unit
    functions = dict(unit.functions)
    places: list[tuple[Stmt | None, tuple[str, ...]]] = [(target.body, target.directive.words)]
    places += [
        (f.body, target.directive.words)
        for f in (
            *called(expressions(target.body), unit.functions),
            *(unit.functions[v] for found in known.values() for v, _ in found if v in functions),
        )
        if f.body is not None
    ]
    chosen: dict[str, str] = {}
    for body, words in places:
        for call, around in _calls(body, words):
            if call.function not in known:
                continue
            name = _selected(call.function, known[call.function], around)
            if chosen.setdefault(call.function, name) != name:
                raise SourceError(
                    f"{call.where}: the region calls {chosen[call.function]} and {name} as "
                    f"{call.function}; call one of them by its name"
                )
    for name, variant in chosen.items():
        if variant not in unit.functions:
            raise SourceError(f"{unit.functions[name].where}: there is no function {variant}")
        functions[name] = unit.functions[variant]
    return replace(unit, functions=functions)


def _variants(function: Function) -> Iterator[tuple[str, Selector]]:
    """The variants that directives in front of a function declare, each with when it is called."""
    for directive in directives(function.pragmas):
        if directive.words != ("declare", "variant"):
            continue
        names = directive.names("list")
        matches = [c for c in directive.clauses if c.name == "match"]
        if len(names) != 1 or len(matches) != 1 or len(directive.clauses) > 2:
            raise SourceError(
                f"{directive.where}: omp declare variant isn't supported in this form; write "
                f"declare variant(function) match(…)"
            )
        yield names[0], selector_of(matches[0].words or (), directive.where)


def _selected(name: str, variants: list[tuple[str, Selector]], around: tuple[str, ...]) -> str:
    best, found = -1, name
    for variant, selector in variants:
        rank = selector.rank(around)
        if rank is not None and rank > best:
            best, found = rank, variant
    return found


def _calls(body: Stmt | None, words: tuple[str, ...]) -> Iterator[tuple[Call, tuple[str, ...]]]:
    """The calls in a statement, with the words of the constructs around each, outermost first."""
    around: dict[int, tuple[str, ...]] = {}
    for stmt in statements(body):
        own = [w for d in directives(stmt.pragmas) for w in d.words] if stmt is not body else []
        here = (*around.get(id(stmt), words), *own)
        around.update((id(inner), here) for inner in inner_statements(stmt) if inner is not None)
        for expr in own_expressions(stmt):
            for part in walk(expr):
                if isinstance(part, Call):
                    yield part, here
