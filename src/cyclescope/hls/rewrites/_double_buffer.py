"""A loop that first fills local arrays and then computes with them: it gets two of each.

Precondition: the loop's iterations are one thread's own, in order; its body declares local arrays,
fills them in loops of constant length that read nothing that the loop writes, and then only reads
them.

Law: an iteration computes with the same values as before; they come while the one before computes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._edits import Edit, apply_edits
from cyclescope._rewrites import Rewrite
from cyclescope.c import (
    Array,
    Assign,
    Block,
    Break,
    Continue,
    Declare,
    Evaluate,
    Expr,
    For,
    Name,
    Return,
    Scalar,
    Stmt,
    Variable,
    Vector,
    expressions,
    outermost,
    statements,
    walk,
    whole,
)
from cyclescope.hls.rewrites._candidates import Rewriter, candidate, vector_type
from cyclescope.hls.rewrites._independence import declared
from cyclescope.hls.rewrites._lanes import first_value
from cyclescope.hls.rewrites._print import UnprintableError, changes, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._rewrites import Candidate
    from cyclescope.hls.rewrites._kernel import Kernel
    from cyclescope.hls.rewrites._nest import Loop, Nest

__all__ = ["DOUBLE"]

_REWRITE = Rewrite(
    "double-buffering", "fills a second buffer while the loop computes with the first"
)


def _find(nest: Nest, reassociate: bool) -> Iterator[Candidate]:
    del reassociate
    if not nest.kernel.is_simple:
        return
    for loop in nest.loops:
        if loop.pragma is not None or loop.stmt.pragmas or not loop.declares:
            continue
        found = _phases(nest, loop)
        if found is None:
            continue
        try:
            edits = _edits(nest, loop, *found)
        except UnprintableError:
            continue
        names = ", ".join(v.name for v in found[0])
        reason = "what is filled in advance reads nothing that the loop writes"
        yield candidate(_REWRITE, nest, loop, names, reason, edits)


DOUBLE = Rewriter(_REWRITE, _find)


def _phases(nest: Nest, loop: Loop) -> tuple[list[Variable], list[Stmt], list[Stmt]] | None:
    """The local arrays, the statements that fill them, and those that compute; None: others."""
    body = loop.stmt.body
    if not isinstance(body, Block) or body.pragmas or body.trailing or (loop.trips or 0) < 2:
        return None
    if any(isinstance(s, Break | Continue | Return) for s in statements(body)):
        return None
    arrays: list[Variable] = []
    filling: list[Stmt] = []
    rest = list(body.body)
    while rest:
        stmt = rest[0]
        if isinstance(stmt, Declare) and all(_is_buffer(v) for v in stmt.variables):
            arrays += stmt.variables
        elif _fills(nest, loop, stmt, set(arrays)):
            filling.append(stmt)
        else:
            break
        rest.pop(0)
    if not filling or not rest:
        return None
    # A declaration without a copy is no phase.
    copied = {a.variable for s in filling for a in nest.inside(s) if a.writes}
    if copied != set(arrays) or any(p for s in (*filling, rest[0]) for p in s.pragmas):
        return None
    for stmt in rest:
        if any(a.writes and a.variable in copied for a in nest.inside(stmt)):
            return None
    written = {a.variable for s in rest for a in nest.inside(s) if a.writes} | nest.written - copied
    if any(a.variable in written for s in filling for a in nest.inside(s) if a.reads):
        return None
    changed = {
        whole(e.target).variable  # type: ignore[union-attr]
        for s in rest for e in expressions(s)
        if isinstance(e, Assign) and isinstance(whole(e.target), Name)
    }  # fmt: skip
    read = {e.variable for s in filling for e in expressions(s) if isinstance(e, Name)}
    if (changed & read) - copied or declared(Block(body.where, tuple(rest))) & read:
        return None
    return arrays, filling, rest


def _is_buffer(variable: Variable) -> bool:
    kind = variable.type
    while isinstance(kind, Array):
        if kind.extent is None:
            return False
        kind = kind.element
    is_array = isinstance(variable.type, Array)
    return is_array and isinstance(kind, Scalar | Vector) and variable.init is None


def _fills(nest: Nest, loop: Loop, stmt: Stmt, arrays: set[Variable]) -> bool:
    """Return whether a statement is a loop that only fills local arrays."""
    if not isinstance(stmt, For):
        return False
    for one in statements(stmt):
        if isinstance(one, For):
            inner = next((x for x in nest.loops if x.stmt is one), None)
            if inner is None or not inner.trips or inner.is_parallel:
                return False
        elif isinstance(one, Evaluate):
            if not isinstance(one.value, Assign):
                return False
        elif not isinstance(one, Block | Declare):
            return False
    if any(v.type != loop.variable.type and not isinstance(v.type, Scalar) for v in declared(stmt)):
        return False
    inside = nest.inside(stmt)
    return any(a.writes for a in inside) and all(
        (a.variable in arrays) == a.writes and a.writes != a.reads for a in inside
    )


def _edits(
    nest: Nest, loop: Loop, arrays: list[Variable], filling: list[Stmt], rest: list[Stmt]
) -> list[Edit]:
    kernel, stmt = nest.kernel, loop.stmt
    body = stmt.body
    condition = stmt.condition
    assert condition is not None
    assert stmt.step is not None
    assert isinstance(body, Block)
    if not kernel.is_plain(stmt.where) or not kernel.is_plain(body.where):
        raise UnprintableError
    name = loop.variable.name
    turn = kernel.fresh("turn")
    now = kernel.fresh(f"{name}_now", [turn])
    by = str(loop.step)
    if loop.cyclic is not None:
        size = loop.cyclic[1].name
        by = size if loop.step == 1 else f"{size} * {loop.step}"
    test = text_of(kernel, condition).removeprefix("(").removesuffix(")")
    if kernel.is_plain(condition.where):
        test = kernel.written(condition.where).decode("utf-8", "surrogateescape")
    later = text_of(
        kernel, condition,
        {e: f"({name} - {by})" for e in walk(condition)
         if isinstance(e, Name) and e.variable is loop.variable},
    )  # fmt: skip
    later = later[1:-1] if later.startswith("(") else later
    first_node = first_value(stmt)
    first = text_of(kernel, first_node)
    start, _ = kernel.span(stmt.where)
    end = kernel.statement_span(body)[1]
    indent = kernel.indent(start)
    more, most = indent + b"    ", indent + b"        "
    edits: list[Edit] = []
    lines: list[bytes] = [b"{"]
    for variable in arrays:
        kind = variable.type
        shape = ""
        while isinstance(kind, Array):
            shape += f"[{kind.extent}]"
            kind = kind.element
        if isinstance(kind, Vector):
            type_name, needed = vector_type(kernel, kind.element, kind.lanes)
            edits += [e for e in needed if e not in edits]
        else:
            type_name = str(kind)
        lines.append(more + f"{type_name} {variable.name}[2]{shape};".encode())
    head = f"for ({loop.variable.type} {name} = {first}, {turn} = 0; {later}; "
    lines.append(more + f"{head}{name} += {by}, ++{turn}) {{".encode())
    lines.append(most + f"if ({test}) {{".encode())
    lines += [most + b"    " + _moved(kernel, one, arrays, f"{turn} & 1") for one in filling]
    lines.append(most + b"}")
    lines.append(most + f"if ({turn} != 0) {{".encode())
    lines.append(most + f"    {loop.variable.type} {now} = {name} - {by};".encode())
    # From the first statement that computes on, the text stays, with its comments.
    new = _names(arrays, rest, f"({turn} - 1) & 1")
    new |= {
        e: now for s in rest for e in expressions(s)
        if isinstance(e, Name) and e.variable is loop.variable
    }  # fmt: skip
    if any(v.name == name for s in rest for v in declared(s)):
        raise UnprintableError
    begin = max(kernel.statement_span(one)[1] for one in filling)
    edits.append(kernel.edit(start, begin, b"\n".join(lines)))
    edits += changes(kernel, [e for s in rest for e in outermost(s)], new)
    closing = b"        }\n" + more + b"}\n" + indent + b"}"
    edits.append(kernel.edit(end - 1, end, closing))
    return edits


def _names(arrays: list[Variable], stmts: list[Stmt], which: str) -> dict[Expr, str]:
    """The buffers in the place of the arrays."""
    return {
        e: f"{e.variable.name}[{which}]"
        for s in stmts for e in expressions(s)
        if isinstance(e, Name) and e.variable in arrays
    }  # fmt: skip


def _moved(kernel: Kernel, stmt: Stmt, arrays: list[Variable], which: str) -> bytes:
    """A statement's text with buffers in the place of arrays."""
    new = _names(arrays, [stmt], which)
    start, end = kernel.statement_span(stmt)
    edits = changes(kernel, outermost(stmt), new)
    own = [Edit(e.start - start, e.end - start, e.text) for e in edits]
    return apply_edits(kernel.text[start:end], own)
