"""The iterations of a loop that need nothing of each other: when two accesses never meet."""

from __future__ import annotations

from itertools import chain
from math import gcd
from typing import TYPE_CHECKING

from cyclescope.c import (
    STEPS,
    Assign,
    Block,
    Call,
    Declare,
    For,
    Name,
    Unary,
    expressions,
    statements,
    walk,
    whole,
)
from cyclescope.hls.front import directives

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.c import Stmt, Variable
    from cyclescope.hls.rewrites._forms import Form
    from cyclescope.hls.rewrites._nest import Access, Loop, Nest

__all__ = [
    "asks_for_thread",
    "assigned",
    "declared",
    "independent",
    "never_meet",
    "redistributable",
    "reduced",
    "synchronizes",
]

_MOST = 1 << 13  # distances of iterations that are looked at one by one


def never_meet(a: Access, b: Access, loop: Loop, *, ever: bool = False) -> bool:
    """Return whether two accesses of an array in different iterations of a loop are apart.

    Args:
        a: an access in it.
        b: another one.
        loop: it.
        ever: also in different iterations of the loops around it.
    """
    mine, other = a.subscripts, b.subscripts
    if mine is None or other is None or len(mine) != len(other):
        return False
    return any(_apart(f, g, a, b, loop, ever=ever) for f, g in zip(mine, other, strict=True))


def _apart(f: Form, g: Form, a: Access, b: Access, loop: Loop, *, ever: bool) -> bool:
    """Return whether one dimension keeps them apart."""
    variable = loop.variable
    factor = f.factor(variable)
    if not factor or factor != g.factor(variable):
        return False
    inner_a = a.loops[a.loops.index(loop) + 1 :]
    inner_b = b.loops[b.loops.index(loop) + 1 :]
    if ever:
        inner_a, inner_b = (*loop.around, *inner_a), (*loop.around, *inner_b)
    mine, other = ({one.variable for one in inner} for inner in (inner_a, inner_b))
    # What neither counts is the same in both.
    rest = f.without(variable, *mine) - g.without(variable, *other)
    if not rest.is_number:
        return False
    # Of a vector, all elements.
    low, high = rest.constant - (b.lanes - 1), rest.constant + (a.lanes - 1)
    common = 0
    for form, inner, sign in ((f, inner_a, 1), (g, inner_b, -1)):
        for one in inner:
            by = form.factor(one.variable)
            if by is None:
                return False
            if not by:
                continue
            last = one.last
            if last is None or any(v is one.variable for v in one.lower.variables):
                return False
            first = one.lower.constant
            ends = sorted((sign * by * first, sign * by * last))
            low, high = low + ends[0], high + ends[1]
            common = gcd(common, by * one.step)
    apart = abs(factor * loop.step)
    if apart > max(abs(low), abs(high)):
        return True
    trips = loop.trips
    if trips is None or trips > _MOST:
        return False
    for distance in chain.from_iterable((t, -t) for t in range(1, trips)):
        at = -factor * loop.step * distance
        if a.lanes > 1 or b.lanes > 1:
            common = 1
        if low <= at <= high and (common == 0 or (at - low) % common == 0):
            return False
    return True


def declared(stmt: Stmt) -> set[Variable]:
    """The variables that a statement declares."""
    return {v for s in statements(stmt) if isinstance(s, Declare) for v in s.variables}


def assigned(stmt: Stmt) -> set[Variable]:
    """The variables that a statement gives values to, themselves or elements of vectors."""
    found = set()
    for expr in expressions(stmt):
        target = None
        if isinstance(expr, Assign):
            target = whole(expr.target)
        elif isinstance(expr, Unary) and expr.op in STEPS:
            target = whole(expr.operand)
        if isinstance(target, Name):
            found.add(target.variable)
    for inner in statements(stmt):
        if isinstance(inner, For) and inner.init is not None:
            for expr in expressions(inner.init):
                if isinstance(expr, Assign) and isinstance(expr.target, Name):
                    found.add(expr.target.variable)
    return found


def independent(nest: Nest, loop: Loop, *, but: Iterable[Variable] = ()) -> bool:
    """Return whether a loop's iterations lead to the same in any order.

    Args:
        nest: the region's.
        loop: in it.
        but: variables and arrays that are looked after otherwise.
    """
    body = loop.stmt.body
    own, left = declared(body), set(but)
    counted = {one.variable for one in nest.loops_in(body)}
    if assigned(body) - own - left - counted or synchronizes(body):
        return False
    inside = [a for a in nest.inside(body) if a.variable not in own | left]
    for access in inside:
        if access.writes and not all(
            never_meet(access, other, loop)
            for other in inside if other.variable is access.variable
        ):  # fmt: skip
            return False
    return True


def redistributable(nest: Nest, loop: Loop) -> bool:
    """Return whether other threads may execute a work-sharing loop's iterations than do now.

    It must be independent; then that is so if no thread relies on having executed the same part of
    another loop, or of this one in another iteration around it, without a barrier between.
    """
    inside = {id(a): a for a in nest.inside(loop.stmt.body)}
    waits = _waits(loop)
    for access in nest.accesses:
        if access.variable in nest.kernel.own or id(access) in inside:
            continue
        for own in inside.values():
            may_meet = own.variable is access.variable and (own.writes or access.writes)
            if may_meet and not (waits and any(_waits(one) for one in access.loops)):
                return False
    if waits or not loop.around:
        return True
    return all(
        never_meet(a, b, loop, ever=True)
        for a in inside.values() for b in inside.values()
        if a.variable is b.variable and a.writes and a.variable not in nest.kernel.own
    )  # fmt: skip


def _waits(loop: Loop) -> bool:
    """Return whether all threads wait for each other behind a loop."""
    return loop.pragma is not None and all(
        d.clause("nowait") is None for d in directives([loop.pragma])
    )


def synchronizes(stmt: Stmt) -> bool:
    """Return whether a directive inside a statement is of OpenMP."""
    return any(
        p.tokens[:1] == ("omp",) and p.tokens != ("omp", "simd")
        for s in statements(stmt)
        for p in (*s.pragmas, *(s.trailing if isinstance(s, Block) else ()))
    )


def asks_for_thread(nest: Nest, stmt: Stmt) -> bool:
    """Return whether a statement depends on which thread executes it."""
    asks = {
        v for v in nest.kernel.own
        if v.init is not None and any(isinstance(e, Call) for e in _calls(v))
    }  # fmt: skip
    return any(
        (isinstance(e, Name) and e.variable in asks)
        or (isinstance(e, Call) and e.function.startswith("omp_"))
        for e in expressions(stmt)
    )


def _calls(variable: Variable) -> list[Call]:
    assert variable.init is not None
    return [e for e in walk(variable.init) if isinstance(e, Call) and e.function.startswith("omp_")]


def reduced(loop: Loop) -> dict[str, str]:
    """The variables of a loop's `reduction` clauses, with their operators."""
    if loop.pragma is None:
        return {}
    return {r.name: r.operator for d in directives([loop.pragma]) for r in d.reductions}
