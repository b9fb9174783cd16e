"""OpenMP's directives inside a region: which functions lower them, and where they may be.

A module that lowers a construct registers its function here, by the words of its name; the
construct's clauses are in the table of `_clauses.py`.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from cyclescope.c import Block, Stmt
from cyclescope.hls.front.omp._clauses import check
from cyclescope.hls.front.omp._fork import forked
from cyclescope.hls.front.omp._privatization import private

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front.omp._directives import Directive

__all__ = [
    "INSTEAD",
    "construct",
    "is_standalone",
    "lowers",
    "lowers_alone",
    "names_taken",
    "standalone",
    "within",
]

_CONSTRUCTS: dict[tuple[str, ...], Callable[[Context, Directive, Stmt], None]] = {}
_STANDALONE: dict[tuple[str, ...], Callable[[Context, Directive], None]] = {}

# What all threads of the team must come to, and what parts them.
_MEETINGS = frozenset({"for", "loop", "sections", "single", "scope", "barrier", "master", "masked"})
_PARTING = _MEETINGS - {"barrier", "scope"} | {"distribute", "critical", "task", "taskloop"}

INSTEAD = {
    "allocate": "declare the variable where it is used",
    "cancel": "let the remaining iterations do nothing, by a condition",
    "cancellation point": "let the remaining iterations do nothing, by a condition",
    "depobj": "name the variables in depend",
    "dispatch": "call the function",
    "error": "remove it",
    "interchange": "exchange the loops",
    "interop": "do so on the host's side",
    "scan": "write the sum of what is before as a loop",
    "section": "write it inside omp sections",
    "target data": "write it around the region",
    "target enter data": "write it in front of the region",
    "target exit data": "write it behind the region",
    "target update": "write it behind the region",
    "teams": "write it at the region",
    "tile": "write the loops over tiles",
    "unroll": "write #pragma unroll",
    "workshare": "write omp for",
}
"""Directives that a region can't contain, and what to write in their place."""

_Whole = TypeVar("_Whole", bound="Callable[[Context, Directive, Stmt], None]")
_Alone = TypeVar("_Alone", bound="Callable[[Context, Directive], None]")


def lowers(*names: str) -> Callable[[_Whole], _Whole]:
    """Register the function that lowers constructs of some names."""

    def register(function: _Whole) -> _Whole:
        _CONSTRUCTS.update(dict.fromkeys((tuple(name.split()) for name in names), function))
        return function

    return register


def lowers_alone(name: str) -> Callable[[_Alone], _Alone]:
    """Register the function that lowers a directive without a statement."""

    def register(function: _Alone) -> _Alone:
        _STANDALONE[(name,)] = function
        return function

    return register


def names_taken() -> list[tuple[str, ...]]:
    """The constructs that a region may contain."""
    return sorted({*_CONSTRUCTS, *_STANDALONE})


def within(stmt: Stmt, inner: Sequence[Directive]) -> Stmt:
    """A statement with the last of its directives alone, for use in a construct.

    Args:
        stmt: the statement.
        inner: those of its directives that are inside the construct.
    """
    left = {d.where for d in inner}
    kept = [p for p in stmt.pragmas if p.tokens[:1] != ("omp",) or p.where in left]
    bare = replace(stmt, pragmas=tuple(kept))
    return Block(stmt.where, (bare,)) if inner else bare


def is_standalone(directive: Directive) -> bool:
    """Return whether a directive has no statement."""
    if directive.words == ("ordered",) and directive.clause("depend") is None:
        return False
    return directive.words[:1] in _STANDALONE


def standalone(ctx: Context, directive: Directive) -> None:
    """A directive without a statement.

    Raises:
        SourceError: it isn't supported.
    """
    if not is_standalone(directive):
        name = _shown(directive)
        raise ctx.refuse(directive.where, f"omp {name} needs a statement behind it")
    check(directive)
    _check_nest(ctx, directive)
    _STANDALONE[directive.words[:1]](ctx, directive)


def construct(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    """A directive with its statement.

    Raises:
        SourceError: it isn't supported.
    """
    words = directive.words
    if not words:
        written = _shown(directive)
        raise ctx.refuse(directive.where, f"omp {written} is not a known directive".strip())
    if words not in _CONSTRUCTS:
        name = " ".join(words)
        instead = INSTEAD.get(name) or INSTEAD.get(words[0], "write its parts as constructs")
        raise ctx.refuse(
            directive.where, f"omp {name} isn't supported inside a target region; {instead}"
        )
    check(directive)
    _check_nest(ctx, directive)
    with forked(ctx, directive, stmt) if ctx.team.is_joint else nullcontext():
        ctx.team.inside.append(directive)
        with private(ctx, directive):
            _CONSTRUCTS[words](ctx, directive, stmt)
        ctx.team.inside.pop()


def _check_nest(ctx: Context, directive: Directive) -> None:
    """Return whether all threads of the team come to what they meet in (OpenMP 4.5, 2.17).

    Raises:
        SourceError: a construct around it, also of a function that calls this one, lets
            only some of them come, or one at a time.
    """
    if directive.words[0] not in _MEETINGS:
        return
    around = next((d for d in ctx.team.inside if d.words and _parts_team(d)), None)
    if around is not None:
        raise ctx.refuse(
            directive.where, f"omp {' '.join(directive.words)} inside omp "
            f"{' '.join(around.words)} ({around.where}): not all threads come there together; "
            f"move it out"
        )  # fmt: skip


def _shown(directive: Directive) -> str:
    """A directive's name, or what is in its place."""
    return " ".join(directive.words) or str(next(iter(directive.clauses), ""))


def _parts_team(directive: Directive) -> bool:
    return not _PARTING.isdisjoint(directive.words)
