"""A block of an array that a piece of the program reads, copied into a local array first.

Precondition: the region writes the array nowhere; what the piece reads of it is a block of constant
size, whose ends it reads for sure, so that all of the block is the array's.

Law: the local array contains what the array contains, so each read gives the same value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._rewrites import Rewrite
from cyclescope.c import Block, Scalar, Stmt, Vector, outermost
from cyclescope.hls.rewrites._candidates import Rewriter, candidate, vector_type
from cyclescope.hls.rewrites._independence import declared
from cyclescope.hls.rewrites._print import UnprintableError, changes
from cyclescope.hls.rewrites._slices import readable, slice_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclescope._edits import Edit
    from cyclescope._rewrites import Candidate
    from cyclescope.hls.rewrites._kernel import Kernel
    from cyclescope.hls.rewrites._nest import Nest
    from cyclescope.hls.rewrites._slices import Slice

__all__ = ["COPY", "begin_with", "copy_lines"]

_REWRITE = Rewrite(
    "local-copy", "copies what a loop reads of an array into local memory before it reads it"
)


def _find(nest: Nest, reassociate: bool) -> Iterator[Candidate]:
    del reassociate
    kernel = nest.kernel
    if not kernel.is_simple:
        return
    for loop in nest.loops:
        # What does not depend on this loop is copied in front of it.
        for variable, accesses in readable(nest, nest.inside(loop.stmt.body)).items():
            part = slice_of(accesses, nest.loops_in(loop.stmt.body))
            if part is None or part.reads < part.size or part.size < 2:
                continue
            used = {v for form in part.begin for v in form.variables}
            if loop.variable not in used or used & declared(loop.stmt.body):
                continue
            try:
                edits = _edits(nest, loop.stmt.body, part)
            except UnprintableError:
                continue
            yield candidate(_REWRITE, nest, loop, variable.name, _REASON, edits)
    yield from _of_region(nest)


COPY = Rewriter(_REWRITE, _find)
_REASON = "the region only reads the array, and all of the copied block is the array's"


def _of_region(nest: Nest) -> Iterator[Candidate]:
    """Copies at the begin of the region."""
    body = nest.kernel.target.stmt
    if not isinstance(body, Block) or not nest.loops:
        return
    for variable, accesses in readable(nest, nest.inside(body)).items():
        part = slice_of(accesses, nest.loops)
        if part is None or part.reads < part.size or part.size < 2:
            continue
        if any(form.variables for form in part.begin):
            continue
        try:
            edits = _edits(nest, body, part)
        except UnprintableError:
            continue
        what = f"{variable.name} of the region"
        yield candidate(_REWRITE, nest, nest.loops[0], what, _REASON, edits)


def _edits(nest: Nest, body: Stmt, part: Slice) -> list[Edit]:
    kernel = nest.kernel
    lines, name, edits = copy_lines(kernel, part, [])
    edits += begin_with(kernel, body, lines)
    return edits + changes(kernel, outermost(body), part.replaced(name))


def copy_lines(
    kernel: Kernel, part: Slice, taken: Sequence[str]
) -> tuple[list[str], str, list[Edit]]:
    """The lines that copy a block, the local array's name, and edits that they need.

    Args:
        kernel: the program.
        part: the block.
        taken: names that can't be used any more.
    """
    name = kernel.fresh(f"{part.variable.name}_local", taken)
    counters: list[str] = []
    for wanted in ("n", "m", "l", "o")[: len(part.extents)]:
        counters.append(kernel.fresh(wanted, [*taken, *counters]))
    edits: list[Edit] = []
    kind = part.element
    if isinstance(kind, Vector):
        type_name, edits = vector_type(kernel, kind.element, kind.lanes)
    elif isinstance(kind, Scalar):
        type_name = str(kind)
    else:
        raise UnprintableError
    if len(counters) != len(part.extents):
        raise UnprintableError
    return part.copied(name, type_name, counters), name, edits


def begin_with(kernel: Kernel, body: Stmt, lines: Sequence[str]) -> list[Edit]:
    """Edits that put lines in front of what is in a statement."""
    start, end = kernel.statement_span(body)
    if not kernel.is_plain(body.where):
        raise UnprintableError
    if isinstance(body, Block):
        inner = kernel.indent(start) + b"    "
        text = b"".join(b"\n" + inner + line.encode() for line in lines)
        return [kernel.edit(start + 1, start + 1, text)]
    if any(p.is_operator or p.where.file != kernel.unit.file for p in body.pragmas):
        raise UnprintableError
    opened = kernel.span(body.pragmas[0].where)[0] if body.pragmas else start
    outer = kernel.indent(opened)
    inner = outer + b"    "
    text = b"{" + b"".join(b"\n" + inner + line.encode() for line in lines) + b"\n" + inner
    closing = b"\n" + outer + b"}"
    return [kernel.edit(opened, opened, text), kernel.edit(end, end, closing)]
