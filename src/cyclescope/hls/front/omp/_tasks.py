"""Explicit tasks (OpenMP 4.5, 2.9): the thread that comes to one executes it at once.

That is always allowed: a thread may suspend its own task and begin the new one, and tasks of one
thread in the order of the text obey every dependence. So there is nothing to wait for later.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from cyclescope.c import (
    Assign,
    Block,
    Evaluate,
    For,
    Name,
)
from cyclescope.hls.front._assigned import may_write
from cyclescope.hls.front._control import branch
from cyclescope.hls.front._dispatch import bare
from cyclescope.hls.front._scopes import visible
from cyclescope.hls.front.omp._constructs import lowers, lowers_alone
from cyclescope.hls.front.omp._directives import Clause
from cyclescope.hls.front.omp._privatization import own_copy, private, release_copy
from cyclescope.hls.front.omp._reductions import begin_reductions, end_reductions
from cyclescope.hls.front.omp._team import is_first
from cyclescope.hls.ir import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import Stmt, Variable
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front.omp._directives import Directive
    from cyclescope.hls.ir import Array

__all__: list[str] = []

_SHARING = ("shared", "lastprivate")


@lowers("task")
def _task(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    with _own_values(ctx, directive, stmt):
        bare(ctx, stmt)


@lowers("taskloop", "taskloop simd")
def _taskloop(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    """The loop as it is: its tasks, one after the other."""
    of_loops = Clause("private", tuple(_loop_variables(ctx, directive, stmt)))
    seen = visible(ctx.unit, directive.where)
    in_memory = [
        clause
        for clause in directive.clauses
        if clause.name != "reduction"
        or any(seen.get(word) not in ctx.vars.env for word in clause.words or () if word in seen)
    ]
    with (
        _own_values(ctx, directive, stmt),
        private(ctx, replace(directive, clauses=(of_loops,))),
    ):
        entered = begin_reductions(ctx, replace(directive, clauses=tuple(in_memory)))
        bare(ctx, stmt)
        end_reductions(ctx, directive, entered)


@lowers("master taskloop", "master taskloop simd", "masked taskloop", "masked taskloop simd")
def _of_one_thread(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    first = is_first(ctx)
    branch(ctx, first, lambda: _taskloop(ctx, directive, stmt))


@lowers("taskgroup")
def _taskgroup(ctx: Context, _directive: Directive, stmt: Stmt) -> None:
    """Its tasks are over when it is."""
    bare(ctx, stmt)


@lowers_alone("taskwait")
@lowers_alone("taskyield")
def _nothing_waits(ctx: Context, directive: Directive) -> None:
    """All tasks are over."""


@contextmanager
def _own_values(ctx: Context, directive: Directive, stmt: Stmt) -> Iterator[None]:
    """A task's own values of variables that its team doesn't share (OpenMP 4.5, 2.15.1.1).

    What it only reads needs no copy: nobody writes there before it is over.
    """
    names = {name for clause in _SHARING for name in directive.names(clause)}
    for clause in directive.clauses:
        if clause.name in ("in_reduction", "reduction"):
            names.update(clause.words or ())
    shares_all = directive.clause("default") == ("shared",)

    def is_own(variable: Variable) -> bool:
        first = ctx.vars.whole.get(variable, variable)
        if first in ctx.host.target.thread_private:
            return False
        return not shares_all and first not in ctx.team.shared and first.name not in names

    kept = {v: value for v, value in ctx.vars.env.items() if is_own(v)}
    written = may_write(stmt)
    given = {*directive.names("private"), *directive.names("firstprivate")}
    copied = {
        v: array
        for v, array in ctx.vars.memories.items()
        if v in written and v.name not in given and _is_of_thread(ctx, v, array) and is_own(v)
    }
    for variable, array in copied.items():
        own_copy(ctx, variable, array, directive.where, is_given=True)
    yield
    for variable, array in copied.items():
        release_copy(ctx, variable, array)
    ctx.vars.env.update(kept)


def _is_of_thread(ctx: Context, variable: Variable, array: Array) -> bool:
    """Return whether a variable in memory is not one that all threads of a team share."""
    if variable.scope not in ("local", "param"):
        return False
    has_team = ctx.host.target.is_parallel or ctx.team.nested > 0
    return array.place is Place.LOCAL or not has_team


def _loop_variables(ctx: Context, directive: Directive, stmt: Stmt) -> list[str]:
    """The variables of a taskloop's loops that are declared in front of it."""
    words = directive.clause("collapse")
    depth = ctx.constants.value(words, directive.where) if words is not None else 1
    found: list[str] = []
    inner = stmt
    for _ in range(depth or 1):
        while isinstance(inner, Block) and len(inner.body) == 1:
            inner = inner.body[0]
        if not isinstance(inner, For):
            raise ctx.refuse(inner.where, f"omp {' '.join(directive.words)} needs a for loop")
        match inner.init:
            case Evaluate(value=Assign(op="=", target=Name(variable=variable))):
                found += [",", variable.name] if found else [variable.name]
        inner = inner.body
    return found
