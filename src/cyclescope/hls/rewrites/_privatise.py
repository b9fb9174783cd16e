"""Sums under a lock, which each thread adds up for itself and adds once: OpenMP's reductions.

Precondition: in a loop that threads share out, all that a critical section or atomic does is to
combine scalars of the host, or elements of its arrays of constant size, with `+`, `*`, `&`, `|` or
`^`; the loop accesses them nowhere else, and the operands don't depend on them. The operators are
associative and commutative on whole numbers; of floating point they are so but for rounding, so
that is done on request alone.

Law: what is there at the loop's end is the same, whatever the order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._rewrites import Claim, Rewrite
from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Block,
    Declare,
    Empty,
    Evaluate,
    For,
    Index,
    Name,
    Pointer,
    Scalar,
    Stmt,
    Unary,
    Variable,
    expressions,
    outermost,
    statements,
    walk,
    whole,
)
from cyclescope.hls.front import directives
from cyclescope.hls.rewrites._candidates import Rewriter, candidate
from cyclescope.hls.rewrites._independence import asks_for_thread, declared, reduced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._edits import Edit
    from cyclescope._rewrites import Candidate
    from cyclescope.c import CType, Expr
    from cyclescope.hls.rewrites._kernel import Kernel
    from cyclescope.hls.rewrites._nest import Loop, Nest

__all__ = ["PRIVATE", "remove_line"]

_MOST_BYTES = 1 << 14  # of an array: each thread has its own
_OPERATORS = {"+=": "+", "-=": "+", "*=": "*", "&=": "&", "|=": "|", "^=": "^"}
_REWRITE = Rewrite(
    "private-sums", "gives each thread its own sums in the place of a critical section"
)


def _find(nest: Nest, reassociate: bool) -> Iterator[Candidate]:
    if not nest.kernel.is_simple:
        return
    for loop in nest.loops:
        if loop.pragma is None or nest.kernel.target.is_league:
            continue
        found = _sums(nest, loop)
        if found is None:
            continue
        floats = [v for v in found if _element(v.type).is_float]
        if floats and not reassociate:
            continue
        edits = _edits(nest, loop, found)
        if edits is None:
            continue
        claim = Claim.ROUNDING if floats else Claim.CONSTRUCTION
        reason = "sums of whole numbers are the same in any order"
        if floats:
            reason = f"{', '.join(v.name for v in floats)}: floating point in another order"
        yield candidate(_REWRITE, nest, loop, "", reason, edits, claim)


PRIVATE = Rewriter(_REWRITE, _find)


def _locked(loop: Loop) -> list[Stmt]:
    """The statements in a loop that have a critical section or atomic to themselves."""
    return [
        s for s in statements(loop.stmt.body)
        if any(d.words in (("critical",), ("atomic",)) for d in directives(s.pragmas))
    ]  # fmt: skip


def _sums(nest: Nest, loop: Loop) -> dict[Variable, str] | None:
    """The variables that a loop's critical sections add to, with the operators; None: none."""
    locked = _locked(loop)
    if not locked:
        return None
    directive = directives([loop.pragma]) if loop.pragma is not None else []
    if any(c.name in ("nowait", "ordered", "lastprivate") for d in directive for c in d.clauses):
        return None
    found: dict[Variable, str] = {}
    places: set[int] = set()
    for stmt in locked:
        if any(d.words == ("atomic",) and d.clauses for d in directives(stmt.pragmas)):
            return None  # a read, a write, a capture
        for target, op in _updates(stmt):
            base = whole(target)
            while isinstance(base, Index):
                base = base.base
            if op is None or not isinstance(base, Name):
                return None
            variable = base.variable
            if variable in nest.kernel.own or found.get(variable, op) != op:
                return None
            if _extent(nest, variable) is None:
                return None
            found[variable] = op
            places.add(id(base))
    if not found:
        return None
    # Nothing else in the region asks for them.
    for expr in expressions(nest.kernel.target.stmt):
        if isinstance(expr, Name) and expr.variable in found and id(expr) not in places:
            return None
    if asks_for_thread(nest, loop.stmt.body) or set(reduced(loop)) & {v.name for v in found}:
        return None
    return found if _is_all(nest, loop, locked, set(found)) else None


def _updates(stmt: Stmt) -> Iterator[tuple[Expr, str | None]]:
    """The targets that a statement updates, with operators; None for another one."""
    own = declared(stmt)
    for inner in statements(stmt):
        match inner:
            case Block() | Empty() | Declare():
                continue
            case For():
                continue  # its head changes nothing but what the loop counts
            case Evaluate(value=Assign(target=target, op=op, value=value, common=common)):
                if _is_own(target, own):
                    continue
                operator = _OPERATORS.get(op)
                same = common == target.type or (
                    isinstance(common, Scalar) and isinstance(target.type, Scalar)
                    and not common.is_float and not target.type.is_float
                )  # fmt: skip
                inside = any(isinstance(e, Assign) or _is_step(e) for e in walk(value))
                yield target, operator if same and not inside else None
            case Evaluate(value=Unary(op=op, operand=operand)) if op in STEPS:
                if not _is_own(operand, own):
                    yield operand, "+" if isinstance(operand.type, Scalar) else None
            case _:
                # A loop's head is an `Evaluate` too; anything else decides on something.
                yield from ((e, None) for e in outermost(inner)[:1])


def _is_step(expr: Expr) -> bool:
    return isinstance(expr, Unary) and expr.op in STEPS


def _is_own(target: Expr, own: set[Variable]) -> bool:
    base = whole(target)
    return isinstance(base, Name) and base.variable in own


def _is_all(nest: Nest, loop: Loop, locked: list[Stmt], sums: set[Variable]) -> bool:
    """Return whether nothing but the sums is protected by the sections."""
    for stmt in locked:
        own = declared(stmt)
        for access in nest.inside(stmt):
            if access.writes and access.variable not in sums | own:
                return False
            # What the section reads and others write would be protected, too.
            is_shared = access.variable in nest.written and access.variable not in nest.kernel.own
            if access.reads and is_shared and access.variable not in sums | own:
                return False
    return not any(
        d.words not in (("critical",), ("atomic",))
        for s in statements(loop.stmt.body) for d in directives(s.pragmas)
    )  # fmt: skip


def _element(kind: CType) -> Scalar:
    while isinstance(kind, Array | Pointer):
        kind = kind.target if isinstance(kind, Pointer) else kind.element
    assert isinstance(kind, Scalar)
    return kind


def _extent(nest: Nest, variable: Variable) -> int | None:
    """The number of elements of a variable, if it is known and not too large."""
    kind = variable.type
    if isinstance(kind, Pointer):
        kernel = nest.kernel
        item = next((m for m in kernel.target.directive.maps if m.name == variable.name), None)
        if item is None or not item.count or not isinstance(kind.target, Scalar):
            return None
        where = kernel.target.directive.where
        low, count = (kernel.values.value(words, where) for words in (item.low, item.count))
        if low != 0 or count is None or _bytes(Array(kind.target, count)) is None:
            return None
        return count
    if variable.scope == "param" and isinstance(kind, Array):
        return None
    return 1 if _bytes(kind) is not None else None


def _bytes(kind: CType) -> int | None:
    """The size of a scalar, or of an array of them that is not too large."""
    count = 1
    while isinstance(kind, Array):
        if kind.extent is None:
            return None
        count *= kind.extent
        kind = kind.element
    if not isinstance(kind, Scalar) or kind.kind == "bool":
        return None
    size = count * kind.bits // 8
    return size if size <= _MOST_BYTES else None


def _edits(nest: Nest, loop: Loop, sums: dict[Variable, str]) -> list[Edit] | None:
    kernel = nest.kernel
    assert loop.pragma is not None
    pragmas = [
        p for s in _locked(loop) for p in s.pragmas
        if p.tokens[:2] in (("omp", "critical"), ("omp", "atomic"))
    ]  # fmt: skip
    if any(p.is_operator or p.where.file != kernel.unit.file for p in (*pragmas, loop.pragma)):
        return None
    edits = [remove_line(kernel, kernel.span(p.where)) for p in pragmas]
    clauses: dict[str, list[str]] = {}
    for variable, op in sums.items():
        count = _extent(nest, variable) or 0
        section = f"[0:{count}]" if isinstance(variable.type, Pointer) else ""
        clauses.setdefault(op, []).append(variable.name + section)
    end = kernel.span(loop.pragma.where)[1]
    text = "".join(f" reduction({op}: {', '.join(names)})" for op, names in clauses.items())
    return [*edits, kernel.edit(end, end, text)]


def remove_line(kernel: Kernel, span: tuple[int, int]) -> Edit:
    """The edit that removes a directive, with its line if nothing else is there."""
    start, end = span
    begin = kernel.text.rfind(b"\n", 0, start) + 1
    stop = kernel.text.find(b"\n", end)
    if stop < 0 or kernel.text[begin:start].strip() or kernel.text[end:stop].strip():
        return kernel.edit(start, end, b"")
    return kernel.edit(begin, stop + 1, b"")
