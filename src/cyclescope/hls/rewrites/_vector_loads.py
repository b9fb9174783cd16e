"""Neighbouring elements that neighbouring iterations read, loaded as one vector.

Precondition: the loop counts by one, with a known number of iterations; the array is read at
neighbouring elements in neighbouring iterations, for sure, at addresses that are multiples of the
vector's size; the loop doesn't write it. If threads share the loop out, its iterations are
independent but for sums of whole numbers, or, on request, of floating point.

Law: the iterations' operations stay in their order and have the same operands; so all results are
equal bit for bit. Only of a work-sharing loop that sums up floating point the threads' parts, and
with them the roundings, are others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._rewrites import Claim, Rewrite
from cyclescope.c import (
    Block,
    Break,
    Continue,
    Expr,
    Index,
    Name,
    Return,
    Scalar,
    children,
    expressions,
    outermost,
    statements,
    walk,
)
from cyclescope.hls.front import directives
from cyclescope.hls.rewrites._candidates import Rewriter, candidate, vector_type
from cyclescope.hls.rewrites._independence import (
    asks_for_thread,
    declared,
    independent,
    redistributable,
    reduced,
)
from cyclescope.hls.rewrites._lanes import aligned, strip
from cyclescope.hls.rewrites._print import UnprintableError, changes, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._edits import Edit
    from cyclescope._rewrites import Candidate
    from cyclescope.c import Variable
    from cyclescope.hls.rewrites._nest import Access, Loop, Nest

__all__ = ["LOADS"]

_BYTES = 16  # of a vector
_REWRITE = Rewrite(
    "vector-loads", "loads what neighbouring iterations read as one vector, and unrolls the loop"
)


def _find(nest: Nest, reassociate: bool) -> Iterator[Candidate]:
    if not nest.kernel.is_simple:
        return
    for loop in nest.loops:
        claim = _claim(nest, loop, reassociate)
        if claim is None:
            continue
        found = _loads(nest, loop)
        if not found:
            continue
        try:
            edits = _edits(nest, loop, found)
        except UnprintableError:
            continue
        reason = "operations stay in their order, and the loop does not write what it loads"
        if claim is Claim.ROUNDING:
            reason = "the loop does not write what it loads; threads sum up other parts"
        names = ", ".join(dict.fromkeys(a.variable.name for a in found))
        yield candidate(_REWRITE, nest, loop, names, reason, edits, claim)


LOADS = Rewriter(_REWRITE, _find)


def _claim(nest: Nest, loop: Loop, reassociate: bool) -> Claim | None:
    """The claim with which the loop may be cut into pieces; None: it may not be."""
    body = loop.stmt.body
    if loop.step != 1 or loop.stmt.pragmas[:-1] or any(
        isinstance(s, Break | Continue | Return)
        for s in statements(body)
    ):  # fmt: skip
        return None
    if any(p.tokens[:1] != ("omp",) for p in loop.stmt.pragmas) or nest.loops_in(body):
        return None
    if not loop.is_parallel:
        return None if loop.stmt.pragmas else Claim.CONSTRUCTION
    if loop.pragma is not None:
        allowed = {"nowait", "reduction", "private", "map", "num_threads", "shared", "default"}
        if {c.name for d in directives([loop.pragma]) for c in d.clauses} - allowed:
            return None
    sums = reduced(loop)
    summed = [v for v in _variables(nest) if v.name in sums]
    if asks_for_thread(nest, body) or not independent(nest, loop, but=summed):
        return None
    if not redistributable(nest, loop):
        return None
    floats = [v for v in summed if not isinstance(v.type, Scalar) or v.type.is_float]
    if not floats:
        return Claim.CONSTRUCTION
    return Claim.ROUNDING if reassociate else None


def _variables(nest: Nest) -> set[Variable]:
    return {e.variable for e in expressions(nest.kernel.target.stmt) if isinstance(e, Name)}


def _loads(nest: Nest, loop: Loop) -> list[Access]:
    """The accesses that become vectors."""
    inside = nest.inside(loop.stmt.body)
    written = {a.variable for a in inside if a.writes}
    found = []
    for access in inside:
        forms, kind = access.subscripts, access.node.type
        if forms is None or access.conditional or not access.reads or not access.is_known_loop:
            continue
        if access.variable in written or access.lanes > 1 or not isinstance(access.node, Index):
            continue
        if not isinstance(kind, Scalar) or kind.bits < 16 or kind.kind == "bool":
            continue
        lanes = _BYTES * 8 // kind.bits
        if (loop.trips or 0) < lanes or any(loop.variable in f.variables for f in forms[:-1]):
            continue
        if forms[-1].factor(loop.variable) != 1:
            continue
        if aligned(nest, access, loop, lanes, _BYTES):
            found.append(access)
    widths = {a.node.type.bits for a in found if isinstance(a.node.type, Scalar)}
    return found if len(widths) == 1 else []


def _edits(nest: Nest, loop: Loop, found: list[Access]) -> list[Edit]:
    kernel, stmt = nest.kernel, loop.stmt
    body = stmt.body
    if not kernel.is_plain(body.where) or body.pragmas:
        raise UnprintableError
    kind = found[0].node.type
    assert isinstance(kind, Scalar)
    lanes = _BYTES * 8 // kind.bits
    counter = kernel.fresh("v")
    edits: list[Edit] = []
    new: dict[Expr, str] = {}
    loaded: dict[tuple[object, ...], str] = {}
    lines: list[str] = []
    for access in found:
        element = access.node.type
        assert isinstance(element, Scalar)
        key = access.variable, access.subscripts
        if key not in loaded:
            type_name, needed = vector_type(kernel, element, lanes)
            edits += [e for e in needed if e not in edits]
            taken = [counter, *loaded.values()]
            loaded[key] = kernel.fresh(f"{access.variable.name}_vector", taken)
            where = _element(nest, access, declared(body))
            lines.append(f"{type_name} {loaded[key]} = *({type_name} *)&{where};")
        new[access.node] = f"{loaded[key]}[{counter}]"
    name = loop.variable.name
    replaced = [e for top in outermost(body) for e in _outside(top, new)]
    new |= {
        e: f"({name} + {counter})" for e in replaced
        if isinstance(e, Name) and e.variable is loop.variable
    }  # fmt: skip
    start, end = kernel.statement_span(body)
    outer = kernel.indent(kernel.span(stmt.where)[0])
    inner = outer + b"    "
    lines += [f"#pragma unroll {lanes}"]
    lines += [f"for (int {counter} = 0; {counter} < {lanes}; ++{counter})"]
    head = b"{" + b"".join(b"\n" + inner + line.encode() for line in lines)
    head += b" " if isinstance(body, Block) else b"\n" + inner + b"    "
    edits.append(kernel.edit(start, start, head))
    edits += changes(kernel, outermost(body), new)
    edits.append(kernel.edit(end, end, b"\n" + outer + b"}"))
    # What is left over comes behind that.
    return [*edits, *strip(nest, loop, lanes)]


def _element(nest: Nest, access: Access, inner: set[Variable]) -> str:
    """The text of the first element, in front of what the body declares."""
    if not any(isinstance(e, Name) and e.variable in inner for e in walk(access.node)):
        return text_of(nest.kernel, access.node)
    forms = access.subscripts or ()
    if any(form.variables & inner for form in forms):
        raise UnprintableError
    return access.variable.name + "".join(f"[{form.shown()}]" for form in forms)


def _outside(expr: Expr, new: dict[Expr, str]) -> Iterator[Expr]:
    """An expression and its parts that are in none of the replaced ones."""
    if expr in new:
        return
    yield expr
    for inner in children(expr):
        yield from _outside(inner, new)
