"""A loop in tiles: what a tile reads of arrays is copied into local arrays first.

Precondition: as for a local copy, with a tile of the loop as the piece; if threads share the loop
out, its iterations are independent, since others come to a thread.

Law: the iterations stay in their order (of a work-sharing loop their
order is of no matter), and each read gives the same value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._rewrites import Rewrite
from cyclescope.c import Name, Variable, outermost, walk
from cyclescope.hls.front import directives
from cyclescope.hls.rewrites._candidates import Rewriter, candidate
from cyclescope.hls.rewrites._independence import (
    asks_for_thread,
    declared,
    independent,
    redistributable,
)
from cyclescope.hls.rewrites._lanes import first_value, left_over, sooner
from cyclescope.hls.rewrites._local_copy import copy_lines
from cyclescope.hls.rewrites._print import UnprintableError, changes, text_of
from cyclescope.hls.rewrites._slices import readable, slice_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._edits import Edit
    from cyclescope._rewrites import Candidate
    from cyclescope.c import Expr
    from cyclescope.hls.rewrites._nest import Loop, Nest

__all__ = ["BLOCKING"]

_TILES = (16, 64)  # iterations
_REWRITE = Rewrite(
    "blocking", "cuts a loop into tiles and copies what each reads into local memory"
)


def _find(nest: Nest, reassociate: bool) -> Iterator[Candidate]:
    del reassociate
    if not nest.kernel.is_simple:
        return
    for loop in nest.loops:
        for tile in _TILES:
            if not _is_possible(nest, loop, tile):
                continue
            try:
                edits = _edits(nest, loop, tile)
            except UnprintableError:
                continue
            if edits:
                reason = "the region only reads the arrays, and iterations stay in their order"
                if loop.is_parallel:
                    reason = "the region only reads the arrays, and iterations are independent"
                yield candidate(_REWRITE, nest, loop, f"tiles of {tile}", reason, edits)


BLOCKING = Rewriter(_REWRITE, _find)


def _is_possible(nest: Nest, loop: Loop, tile: int) -> bool:
    trips = loop.trips or 0
    if trips <= tile or not loop.declares:
        return False
    if loop.is_parallel:
        clauses = {c.name for d in directives(loop.stmt.pragmas) for c in d.clauses}
        words = {w for d in directives(loop.stmt.pragmas) for w in d.words}
        if clauses - {"nowait", "schedule", "private", "firstprivate"} or words - {"omp", "for"}:
            return False
        if not independent(nest, loop) or not redistributable(nest, loop):
            return False
        return not asks_for_thread(nest, loop.stmt.body)
    return not loop.stmt.pragmas


def _edits(nest: Nest, loop: Loop, tile: int) -> list[Edit]:
    kernel, stmt = nest.kernel, loop.stmt
    body = stmt.body
    if not kernel.is_plain(stmt.where) or not kernel.is_plain(body.where) or body.pragmas:
        raise UnprintableError
    name = loop.variable.name
    outer = kernel.fresh(f"{name}_tile")
    counter = Variable(outer, loop.variable.type, loop.variable.where, "local")
    taken = [outer]
    lines: list[str] = []
    edits: list[Edit] = []
    new: dict[Expr, str] = {}
    for accesses in readable(nest, nest.inside(body)).values():
        if not any(
            f is not None and loop.variable in f.variables for a in accesses for f in a.forms
        ):
            continue
        part = slice_of(accesses, nest.loops_in(body), (loop, counter, tile))
        if part is None or part.reads < part.size:
            continue
        if {v for form in part.begin for v in form.variables} & declared(body):
            continue
        copied, local, needed = copy_lines(kernel, part, taken)
        taken.append(local)
        lines += copied
        edits += needed
        new |= part.replaced(local)
    if not new:
        return []
    condition = stmt.condition
    assert condition is not None
    kind, step = loop.variable.type, loop.step
    new_test: dict[Expr, str] = {
        e: outer for e in walk(condition) if isinstance(e, Name) and e.variable is loop.variable
    }
    assert loop.trips is not None
    left = loop.trips % tile
    if left:
        new_test |= sooner(nest, loop, (tile - 1) * step)
    test = text_of(kernel, condition, new_test)
    test = test[1:-1] if test.startswith("(") else test
    first = text_of(kernel, first_value(stmt))
    if kernel.is_plain(first_value(stmt).where):
        first = kernel.written(first_value(stmt).where).decode("utf-8", "surrogateescape")
    by = str(tile * step)
    if loop.cyclic is not None:
        number, size = loop.cyclic
        begin = f" + {loop.lower.constant}" if loop.lower.constant else ""
        first, by = f"{number.name} * {by}{begin}", f"{size.name} * {by}"
    start, _ = kernel.span(stmt.where)
    inside, end = kernel.statement_span(body)
    indent = kernel.indent(start)
    more = indent + b"    "
    each = f"{name} < {outer} + {tile * step}; " + (
        f"++{name}" if step == 1 else f"{name} += {step}"
    )
    head = [
        f"for ({kind} {outer} = {first}; {test}; {outer} += {by}) {{".encode(),
        *(more + line.encode() for line in lines),
        more + f"for ({kind} {name} = {outer}; {each}) ".encode(),
    ]
    edits.append(kernel.edit(start, inside, b"\n".join(head)))
    edits += changes(kernel, outermost(body), new)
    edits.append(kernel.edit(end, end, b"\n" + indent + b"}"))
    if left:
        edits += left_over(nest, loop, left)
    return edits
