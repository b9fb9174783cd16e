"""The size of the team, and which thread has which iterations.

Precondition of equality: threads share out all loops in which the region writes the host's arrays,
the iterations of these are independent but for sums of whole numbers, and nothing else depends on
which thread, or how many, there are. Where that can't be told, a rewrite is checked on this data
only; of sums of floating point, on request, it is equal but for rounding.

Law: each iteration is executed once, whoever does it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cyclescope._rewrites import Candidate, Claim, Rewrite
from cyclescope.c import (
    Array,
    Block,
    Call,
    Name,
    Pointer,
    Scalar,
    expressions,
    statements,
    walk,
    without_casts,
)
from cyclescope.hls.front import directives
from cyclescope.hls.rewrites._candidates import Rewriter, fixed_values
from cyclescope.hls.rewrites._independence import (
    asks_for_thread,
    assigned,
    declared,
    independent,
    redistributable,
    reduced,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._edits import Edit
    from cyclescope.c import Pragma, Variable
    from cyclescope.hls.rewrites._kernel import Kernel
    from cyclescope.hls.rewrites._nest import Loop, Nest

__all__ = ["SCHEDULE", "TEAM"]

_SIZES = (1, 2, 4, 8, 16)
_DEFAULT = 8
_SCHEDULES = ("static, 1", "dynamic, 1", "dynamic, 4")
_TEAM = Rewrite("team-size", "gives the region's team more threads, or fewer")
_SCHEDULE = Rewrite("schedule", "shares a loop's iterations out in another way")
# A clause in a directive: the macros in it are its own tokens.
_CLAUSE = rb"\b%s\s*\("


def _find_team(nest: Nest, reassociate: bool) -> Iterator[Candidate]:
    kernel = nest.kernel
    target = kernel.target
    if not target.directive.has("parallel") or target.directive.has("teams"):
        return
    claim, reason = _claim(nest, reassociate)
    words = target.directive.clause("num_threads")
    now = _DEFAULT if words is None else kernel.values.value(words, target.directive.where)
    if now is None or claim is None:
        return
    pragma = next((p for p in target.pragmas if "parallel" in p.tokens), None)
    if pragma is None:
        return
    for size in _SIZES:
        if size != now and size <= 4 * now and now <= 4 * size:
            edit = _with_clause(kernel, pragma, "num_threads", str(size))
            if edit is not None:
                place = f"{target.function.name}: {size} threads"
                line = pragma.where.line
                said = reason + fixed_values(nest)
                yield Candidate(_TEAM.name, place, line, claim, said, (edit,))


TEAM = Rewriter(_TEAM, _find_team)


def _find_schedule(nest: Nest, reassociate: bool) -> Iterator[Candidate]:
    kernel = nest.kernel
    for loop in nest.loops:
        if loop.pragma is None or loop.pragma.is_operator or not kernel.is_simple:
            continue
        (directive,) = directives([loop.pragma])
        if directive.has("distribute") or {"ordered", "linear", "collapse"} & {
            c.name for c in directive.clauses
        }:
            continue
        now = " ".join(directive.clause("schedule") or ()).replace(" ,", ",")
        claim, reason = _of_loop(nest, loop, reassociate)
        if claim in (None, Claim.DATA):
            continue  # no data show that
        assert claim is not None
        for schedule in _SCHEDULES:
            edit = _with_clause(kernel, loop.pragma, "schedule", schedule)
            if schedule == now or edit is None:
                continue
            place = f"{nest.path(loop)}, {schedule}"
            line = loop.stmt.where.line
            said = reason + fixed_values(nest)
            yield Candidate(_SCHEDULE.name, place, line, claim, said, (edit,))


SCHEDULE = Rewriter(_SCHEDULE, _find_schedule)


def _with_clause(kernel: Kernel, pragma: Pragma, name: str, inside: str) -> Edit | None:
    """The edit that gives a directive a clause; None: macros are in the way."""
    if pragma.is_operator or pragma.where.file != kernel.unit.file:
        return None
    start, end = kernel.span(pragma.where)
    if name not in pragma.tokens:
        # The last character with it: two clauses of one name exclude each other.
        last = kernel.text[end - 1 : end]
        return kernel.edit(end - 1, end, last + f" {name}({inside})".encode())
    text = kernel.text[start:end]
    found = [*re.finditer(_CLAUSE % name.encode(), text)]
    if len(found) != 1:
        return None
    close = text.find(b")", found[0].end())
    if close < 0 or b"(" in text[found[0].end() : close]:
        return None
    return kernel.edit(start + found[0].end(), start + close, inside)


def _of_loop(nest: Nest, loop: Loop, reassociate: bool) -> tuple[Claim | None, str]:
    """The extent to which another schedule of a loop changes no result."""
    sums = reduced(loop)
    summed = [v for v in _variables(nest) if v.name in sums]
    floats = [v for v in summed if _is_float(v)]
    if asks_for_thread(nest, loop.stmt.body) or not independent(nest, loop, but=summed):
        return Claim.DATA, "the iterations may depend on each other, or on the thread"
    if not redistributable(nest, loop):
        return Claim.DATA, "a thread may rely on what it did in another loop"
    if floats:
        said = f"{', '.join(v.name for v in floats)}: threads sum up other parts"
        return (Claim.ROUNDING if reassociate else None), said
    return Claim.CONSTRUCTION, "the iterations are independent"


def _claim(nest: Nest, reassociate: bool) -> tuple[Claim | None, str]:
    """The extent to which a team of another size changes no result."""
    unsure = Claim.DATA, "what the region does may depend on the team's size"
    kernel = nest.kernel
    stmt = kernel.target.stmt
    if not kernel.is_simple:
        return unsure
    shared = [one for one in nest.loops if one.is_parallel]
    rounding = ""
    for loop in shared:
        if any(one.is_parallel for one in loop.around):
            return unsure
        claim, reason = _of_loop(nest, loop, True)
        if claim is Claim.ROUNDING:
            rounding = reason
        elif claim is not Claim.CONSTRUCTION:
            return unsure
    heads = {id(e) for one in shared for e in _heads(one)}
    for access in nest.accesses:
        own = access.variable in kernel.own
        if access.writes and not own and not any(one.is_parallel for one in access.loops):
            return unsure
    outside = assigned(stmt) - declared(stmt) - {
        v for v in _variables(nest) for one in shared if v.name in reduced(one)
    } - {one.variable for one in nest.loops}  # fmt: skip
    if outside or _asks_elsewhere(nest, heads) or _synchronizes(nest):
        return unsure
    if rounding:
        return (Claim.ROUNDING if reassociate else None), rounding
    return Claim.CONSTRUCTION, "threads share out all that writes, in independent iterations"


def _variables(nest: Nest) -> list[Variable]:
    stmt = nest.kernel.target.stmt
    return list({e.variable: 0 for e in expressions(stmt) if isinstance(e, Name)})


def _is_float(variable: Variable) -> bool:
    kind = variable.type
    while isinstance(kind, Array | Pointer):
        kind = kind.target if isinstance(kind, Pointer) else kind.element
    return not isinstance(kind, Scalar) or kind.is_float


def _heads(loop: Loop) -> list[object]:
    """The expressions in a cyclic loop's head: there a thread's number is looked after."""
    if loop.cyclic is None or loop.stmt.step is None:
        return []
    return [*expressions(loop.stmt.init), *walk(loop.stmt.step)]


def _asks_elsewhere(nest: Nest, heads: set[int]) -> bool:
    """Return whether the region asks for a thread's number but in the heads of cyclic loops."""
    kernel = nest.kernel
    numbers = {
        v for v in kernel.own
        if v.init is not None and kernel.is_fixed(v) and isinstance(without_casts(v.init), Call)
    }  # fmt: skip
    inits = {id(e) for v in numbers if v.init is not None for e in walk(v.init)}
    for expr in expressions(kernel.target.stmt):
        if id(expr) in heads or id(expr) in inits:
            continue
        if isinstance(expr, Name) and expr.variable in numbers:
            return True
        if isinstance(expr, Call) and expr.function.startswith("omp_"):
            return True
    return False


def _synchronizes(nest: Nest) -> bool:
    """Return whether directives other than those of the work-sharing loops are in the region."""
    known = {id(p) for one in nest.loops if one.pragma is not None for p in [one.pragma]}
    known |= {id(p) for p in nest.kernel.target.pragmas}
    return any(
        p.tokens[:1] == ("omp",) and id(p) not in known
        and p.tokens not in (("omp", "barrier"), ("omp", "simd"))
        for s in statements(nest.kernel.target.stmt)
        for p in (*s.pragmas, *(s.trailing if isinstance(s, Block) else ()))
    )  # fmt: skip
