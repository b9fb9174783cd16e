"""The form in which rewrites say what they found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope._rewrites import Candidate, Claim, Rewrite
from cyclescope.c import Block, Scalar, Stmt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cyclescope._edits import Edit
    from cyclescope.hls.rewrites._kernel import Kernel
    from cyclescope.hls.rewrites._nest import Loop, Nest

__all__ = ["Rewriter", "candidate", "fixed_values", "vector_type", "wrapped"]


@dataclass(frozen=True)
class Rewriter:
    """A rewrite of C kernels.

    Attributes:
        rewrite: its name, and a sentence.
        find: the candidates in a region, exact ones, and on request those exact but for rounding.
    """

    rewrite: Rewrite
    find: Callable[[Nest, bool], Iterable[Candidate]]


def candidate(
    rewrite: Rewrite,
    nest: Nest,
    loop: Loop,
    what: str,
    reason: str,
    edits: Iterable[Edit],
    claim: Claim = Claim.CONSTRUCTION,
) -> Candidate:
    """A candidate at a loop.

    Args:
        rewrite: that found it.
        nest: the region's.
        loop: the place.
        what: more of the place, if a loop has several.
        reason: why it changes no result; the values that it relies on are added.
        edits: of the text.
        claim: how far it changes no result.
    """
    place = nest.path(loop) + (f", {what}" if what else "")
    return Candidate(
        rewrite.name, place, loop.stmt.where.line, claim, reason + fixed_values(nest), tuple(edits)
    )


def fixed_values(nest: Nest) -> str:
    """The parameters that have the same value at every call, which proofs rely on."""
    kernel = nest.kernel
    known = [(p.name, kernel.constant(p)) for p in kernel.target.function.params]
    said = [f"{name} is {value}" for name, value in known if value is not None]
    return f" ({', '.join(said)} at every call)" if said else ""


def vector_type(kernel: Kernel, element: Scalar, lanes: int) -> tuple[str, list[Edit]]:
    """The name of a vector type, and the edits that define it in front of the region's function."""
    name = f"{str(element).replace(' ', '_')}_x{lanes}"
    size = lanes * element.bits // 8
    line = f"typedef {element} {name} __attribute__((vector_size({size})));\n"
    start, _ = kernel.span(kernel.target.function.where)
    begin = kernel.text.rfind(b"\n", 0, start) + 1
    if kernel.text.find(line.encode(), 0, begin) >= 0:
        return name, []  # an earlier rewrite's
    name = kernel.fresh(name)
    line = f"typedef {element} {name} __attribute__((vector_size({size})));\n"
    return name, [kernel.edit(begin, begin, line)]


def wrapped(nest: Nest, stmt: Stmt) -> bool:
    """Return whether a statement that becomes several needs a block of its own."""
    return not isinstance(nest.parents.get(stmt), Block)
