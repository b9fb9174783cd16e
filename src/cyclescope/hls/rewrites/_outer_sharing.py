"""Threads that share an inner loop out and add their parts under a lock: they share an outer one.

Precondition: in a loop that all threads execute alike, they share one inner loop out, in which each
adds to variables of its own that begin with zero; then each adds those to elements of an array in a
critical section, and the outer loop's iterations add to elements of their own. Nothing else is
written, or depends on the thread.

Law: an element's sum is made of the same terms. Of whole numbers it is the same; of floating point
it is so but for rounding, so that is done on request alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._rewrites import Claim, Rewrite
from cyclescope.c import (
    Assign,
    Block,
    Declare,
    Empty,
    Evaluate,
    For,
    Index,
    Literal,
    Name,
    Scalar,
    Stmt,
    Variable,
    expressions,
    statements,
    walk,
    without_casts,
)
from cyclescope.hls.front import directives
from cyclescope.hls.rewrites._candidates import Rewriter, candidate
from cyclescope.hls.rewrites._independence import asks_for_thread, declared, never_meet
from cyclescope.hls.rewrites._lanes import first_value
from cyclescope.hls.rewrites._print import UnprintableError, text_of
from cyclescope.hls.rewrites._privatise import remove_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._edits import Edit
    from cyclescope._rewrites import Candidate
    from cyclescope.hls.rewrites._nest import Loop, Nest

__all__ = ["OUTER"]

_REWRITE = Rewrite(
    "outer-sharing", "lets threads share an outer loop out, so that no two add to one element"
)


def _find(nest: Nest, reassociate: bool) -> Iterator[Candidate]:
    kernel = nest.kernel
    if not kernel.is_simple or kernel.target.is_league or kernel.target.is_shared:
        return
    taken: set[Loop] = set()
    for loop in nest.loops:
        inner = [one for one in nest.loops_in(loop.stmt.body) if one.is_parallel]
        if loop.is_parallel or len(inner) != 1 or any(o.is_parallel for o in loop.around):
            continue
        found = _added(nest, loop, inner[0])
        # Of several loops around it one can be shared out: the outermost.
        if found is None or inner[0] in taken:
            continue
        floats = any(isinstance(a.type, Scalar) and a.type.is_float for a in found)
        if floats and not reassociate:
            continue
        try:
            edits = _edits(nest, loop, inner[0])
        except UnprintableError:
            continue
        taken.add(inner[0])
        claim = Claim.ROUNDING if floats else Claim.CONSTRUCTION
        reason = "each element is the sum of the same terms, added by one thread"
        yield candidate(_REWRITE, nest, loop, "", reason, edits, claim)


OUTER = Rewriter(_REWRITE, _find)


def _added(nest: Nest, loop: Loop, shared: Loop) -> list[Index] | None:
    """The elements that critical sections add to; None: the loop does something else, too."""
    body = loop.stmt.body
    own = declared(body)
    partial: set[Variable] = set()  # sums of a thread's own, which begin with zero
    for stmt in statements(body):
        if isinstance(stmt, Declare):
            for v in stmt.variables:
                bare = without_casts(v.init) if v.init is not None else None
                if isinstance(bare, Literal) and bare.value == 0:
                    partial.add(v)
    sections = [s for s in statements(body) if _is_critical(s)]
    locked = {id(s) for section in sections for s in statements(section)}
    found: list[Index] = []
    summed: set[Variable] = set()
    for stmt in statements(body):
        if id(stmt) in locked:
            continue
        match stmt:
            case Block() | Empty() | Declare():
                pass
            case For():
                if not any(one.stmt is stmt for one in nest.loops):
                    return None
            case Evaluate() if isinstance(nest.parents.get(stmt), For) and _is_head(nest, stmt):
                pass
            case Evaluate(value=Assign(op=op, target=Name(variable=v), value=value)):
                # In the work-sharing loop sums grow; nothing else uses them.
                inside = shared in nest.places[stmt]
                if v not in partial or op not in ("+=", "-=") or not inside:
                    return None
                if any(isinstance(e, Name) and e.variable is v for e in walk(value)):
                    return None
                summed.add(v)
            case _:
                return None
        if stmt is not body and any(
            d.words not in (("for",), ("critical",)) for d in directives(stmt.pragmas)
        ):
            return None
    for section in sections:
        if shared in nest.places[section]:
            return None
        for stmt in statements(section):
            match stmt:
                case Block() | Empty():
                    pass
                case Evaluate(value=Assign(op="+=" | "-=", target=Index() as target, value=value)):
                    bare = without_casts(value)
                    if not isinstance(bare, Name) or bare.variable not in summed:
                        return None
                    if bare.type != target.type:
                        return None
                    found.append(target)
                case _:
                    return None
    if not found or not summed <= own:
        return None
    # Sums are nowhere but in the loop, each added once: where a name is, that is one of these.
    names = [e.variable for e in expressions(body) if isinstance(e, Name)]
    adds = [
        e for e in expressions(shared.stmt.body)
        if isinstance(e, Assign) and isinstance(e.target, Name) and e.target.variable in summed
    ]  # fmt: skip
    if sum(v in summed for v in names) != len(adds) + len(found):
        return None
    # A sum begins anew where it is added: both are in the same iteration of the same loops.
    begins = {
        v: nest.places[s] for s in statements(body) if isinstance(s, Declare) for v in s.variables
    }
    if any(begins[v] != nest.places[s] for s in sections for v in _sums_in(s, summed)):
        return None
    if any(shared in begins[v] for v in summed) or any(begins[v] != shared.around for v in summed):
        return None
    return found if _apart(nest, loop, shared, found) else None


def _sums_in(section: Stmt, summed: set[Variable]) -> set[Variable]:
    return {
        e.variable for e in expressions(section) if isinstance(e, Name) and e.variable in summed
    }


def _apart(nest: Nest, loop: Loop, shared: Loop, found: list[Index]) -> bool:
    """Return whether iterations add to elements of their own, and nothing else depends on that."""
    body = loop.stmt.body
    inside = nest.inside(body)
    elements = {id(e) for e in found}
    arrays = {a.variable for a in inside if id(a.node) in elements}
    added = [a for a in inside if a.variable in arrays]
    if any(id(a.node) not in elements or a.conditional for a in added):
        return False
    if any(a.writes and id(a.node) not in elements for a in inside):
        return False
    if any(a.variable in nest.written for a in inside if id(a.node) not in elements):
        return False
    if not all(never_meet(a, b, loop) for a in added for b in added if a.variable is b.variable):
        return False
    # Elsewhere in the region nobody asks for them.
    if any(a.variable in arrays and a not in added for a in nest.accesses):
        return False
    if asks_for_thread(nest, shared.stmt.body):
        return False
    asked = [s for s in statements(body) if s is not shared.stmt and isinstance(s, Evaluate)]
    heads = _head_statements(shared.stmt)
    return not any(asks_for_thread(nest, s) for s in asked if id(s) not in heads)


def _head_statements(stmt: For) -> set[int]:
    return {id(stmt.init)} if stmt.init is not None else set()


def _is_head(nest: Nest, stmt: Stmt) -> bool:
    parent = nest.parents.get(stmt)
    return isinstance(parent, For) and parent.init is stmt


def _is_critical(stmt: Stmt) -> bool:
    return any(d.words in (("critical",), ("atomic",)) for d in directives(stmt.pragmas))


def _edits(nest: Nest, loop: Loop, shared: Loop) -> list[Edit]:
    kernel = nest.kernel
    pragmas = [
        p for s in statements(loop.stmt.body) for p in s.pragmas
        if p.tokens[:2] in (("omp", "critical"), ("omp", "atomic"))
    ]  # fmt: skip
    if any(p.is_operator or p.where.file != kernel.unit.file for p in pragmas):
        raise UnprintableError
    edits = [remove_line(kernel, kernel.span(p.where)) for p in pragmas]
    if shared.pragma is not None:
        directive = directives([shared.pragma])[0]
        if directive.words != ("for",) or directive.clauses or shared.pragma.is_operator:
            raise UnprintableError
        edits.append(remove_line(kernel, kernel.span(shared.pragma.where)))
        if loop.stmt.pragmas:
            raise UnprintableError
        start, _ = kernel.span(loop.stmt.where)
        if not kernel.is_plain(loop.stmt.where):
            raise UnprintableError
        text = b"#pragma omp for\n" + kernel.indent(start)
        return [*edits, kernel.edit(start, start, text)]
    assert shared.cyclic is not None
    number, size = shared.cyclic
    if {number, size} & declared(loop.stmt.body):
        raise UnprintableError
    edits += _head(nest, shared, str(shared.lower.constant), str(shared.step))
    first = text_of(kernel, first_value(loop.stmt))
    own = number.name if loop.step == 1 else f"{number.name} * {loop.step}"
    begin = own if loop.lower.constant == 0 and loop.lower.is_number else f"{first} + {own}"
    by = size.name if loop.step == 1 else f"{size.name} * {loop.step}"
    return [*edits, *_head(nest, loop, begin, by)]


def _head(nest: Nest, loop: Loop, begin: str, by: str) -> list[Edit]:
    """Edits of where a loop begins, and by what it counts."""
    kernel, stmt = nest.kernel, loop.stmt
    first = first_value(stmt)
    assert stmt.step is not None
    if not kernel.is_plain(stmt.where) or not kernel.is_plain(stmt.step.where):
        raise UnprintableError
    if not kernel.is_plain(first.where) and not kernel.is_use(first.where):
        raise UnprintableError
    step = f"++{loop.variable.name}" if by == "1" else f"{loop.variable.name} += {by}"
    return [
        kernel.edit(*kernel.span(first.where), begin),
        kernel.edit(*kernel.span(stmt.step.where), step),
    ]
