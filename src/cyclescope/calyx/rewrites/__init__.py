"""Rewrites of Calyx programs: what a compiler does not do, and a person would do by hand.

    for candidate in find_candidates(text, "program.futil", facts):
        print(candidate.rewrite, candidate.place, candidate.claim.value)

A rewrite is one module with one object, `REWRITE`: its name, what it does, and a function from a
component to candidates. Its precondition is in the module's docstring. What a rewrite claims *by
construction* is so for programs whose results do not depend on timing: what one arm of a `par`
writes, no other arm reads or writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.calyx._syntax_read import read_syntax
from cyclescope.calyx.rewrites import (
    _beside,
    _continuous,
    _copies,
    _earliest,
    _flatten,
    _fold,
    _kept,
    _nest,
    _parallel,
    _promote,
    _sequence,
    _static,
)
from cyclescope.calyx.rewrites._rewrite import CalyxRewrite
from cyclescope.calyx.rewrites._scope import Facts, scopes

if TYPE_CHECKING:
    from collections.abc import Collection

    from cyclescope._rewrites import Candidate

__all__ = ["REWRITES", "CalyxRewrite", "Facts", "blocks_of_lines", "find_candidates"]

# In the order in which they are tried: what makes conditions and lengths plain comes first.
REWRITES: tuple[CalyxRewrite, ...] = (
    _continuous.REWRITE,
    _nest.REWRITE,
    _flatten.REWRITE,
    _fold.REWRITE,
    _kept.REWRITE,
    _promote.REWRITE,
    _static.REWRITE,
    _static.BRANCHES,
    _copies.REWRITE,
    _parallel.REWRITE,
    _earliest.REWRITE,
    _beside.REWRITE,
    _sequence.REWRITE,
)


def find_candidates(text: bytes, file: str, facts: Facts | None = None) -> list[Candidate]:
    """The candidates of all rewrites in a program's text.

    Args:
        text: the program's main file.
        file: what to call it in an error.
        facts: of a run.

    Raises:
        SourceError: the text cannot be read as Calyx.
    """
    found = list(scopes(read_syntax(text, file), text, facts or Facts()))
    return [c for rewrite in REWRITES for scope in found for c in rewrite.find(scope)]


def blocks_of_lines(
    text: bytes, file: str, lines: Collection[tuple[str, int]]
) -> frozenset[tuple[str, tuple[str, ...]]]:
    """The `par`s that begin on some lines, as `Facts.exclusive` names them.

    Args:
        text: the program's main file.
        file: what to call it in an error.
        lines: (component, line).

    Raises:
        SourceError: the text cannot be read as Calyx.
    """
    return frozenset(
        (scope.name, scope.names_in(statement))
        for scope in scopes(read_syntax(text, file), text, Facts())
        for statement in scope.statements
        if statement.kind == "par" and (scope.name, scope.line(statement.start)) in lines
    )
