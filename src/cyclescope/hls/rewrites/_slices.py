"""The part of an array that a piece of a program reads, if it is a block of known size."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from cyclescope.c import Array, Pointer, Scalar
from cyclescope.hls.rewrites._forms import Form

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cyclescope.c import CType, Expr, Variable
    from cyclescope.hls.rewrites._nest import Access, Loop, Nest

__all__ = ["Slice", "readable", "slice_of"]

_MOST_BYTES = 1 << 14  # of a local array: a thread has one


@dataclass(frozen=True)
class Slice:
    """A block of an array.

    Attributes:
        variable: the array.
        accesses: that read in it.
        begin: its first element's subscripts.
        extents: of each dimension; of vectors, if it is read so, in the last one.
        lanes: elements of each vector; 1: it is read element by element.
        element: the type of an element, a vector's too.
        reads: how often it is read, at least.
    """

    variable: Variable
    accesses: tuple[Access, ...]
    begin: tuple[Form, ...]
    extents: tuple[int, ...]
    lanes: int
    element: CType
    reads: int

    @property
    def size(self) -> int:
        """Its elements."""
        return prod(self.extents)

    def copied(self, name: str, type_name: str, counters: Sequence[str]) -> list[str]:
        """The lines that declare a local array and fill it.

        Args:
            name: the array's.
            type_name: of its elements.
            counters: unused names, one for each dimension.
        """
        shape = "".join(f"[{extent}]" for extent in self.extents)
        lines = [f"{type_name} {name}{shape};"]
        own = "".join(f"[{counter}]" for counter in counters)
        there = [
            _sum(begin, f"{counter} * {self.lanes}" if self.lanes > 1 and last else counter)
            for begin, counter, last in zip(
                self.begin, counters,
                [n + 1 == len(self.begin) for n in range(len(self.begin))], strict=False,
            )
        ]  # fmt: skip
        element = self.variable.name + "".join(f"[{at}]" for at in there)
        if self.lanes > 1:
            element = f"*({type_name} *)&{element}"
        for depth, (counter, extent) in enumerate(zip(counters, self.extents, strict=False)):
            lines.append(
                "    " * depth + f"for (int {counter} = 0; {counter} < {extent}; ++{counter})"
            )
        lines.append("    " * len(self.extents) + f"{name}{own} = {element};")
        return lines

    def replaced(self, name: str) -> dict[Expr, str]:
        """The texts that take the place of the accesses."""
        found: dict[Expr, str] = {}
        for access in self.accesses:
            forms = access.subscripts
            assert forms is not None
            inside = [f - b for f, b in zip(forms, self.begin, strict=True)]
            if self.lanes > 1:
                last = inside[-1]
                inside[-1] = Form({t: f // self.lanes for t, f in last.terms.items()})
            found[access.node] = name + "".join(f"[{form.shown()}]" for form in inside)
        return found


def _sum(form: Form, more: str) -> str:
    return more if not form.terms else f"{form.shown()} + {more}"


def readable(nest: Nest, inside: Sequence[Access]) -> dict[Variable, list[Access]]:
    """The accesses by array, of the host's arrays that the whole region only reads."""
    found: dict[Variable, list[Access]] = {}
    for access in inside:
        variable = access.variable
        if variable in nest.written or variable in nest.kernel.own or variable.volatile:
            continue
        found.setdefault(variable, []).append(access)
    return found


def slice_of(
    accesses: Sequence[Access],
    inner: Sequence[Loop],
    tile: tuple[Loop, Variable, int] | None = None,
) -> Slice | None:
    """The block that accesses of an array read, if it is one; else None.

    All that is in the block is the array's: of each dimension the first and the last element are
    read for sure.

    Args:
        accesses: all of the array's in a piece of the program.
        inner: the loops in it.
        tile: a loop around it that is cut into tiles: it, the variable that counts them, how many
            iterations one has.
    """
    first = accesses[0]
    if any(
        a.subscripts is None or not a.is_known_loop or a.writes or a.lanes != first.lanes
        or a.node.type != first.node.type or len(a.forms) != len(first.forms)
        for a in accesses
    ):  # fmt: skip
        return None
    kind = first.variable.type
    depth = 0
    while isinstance(kind, Array | Pointer):
        kind = kind.target if isinstance(kind, Pointer) else kind.element
        depth += 1
    if depth != len(first.forms) or not isinstance(kind, Scalar):
        return None
    ranges: dict[Variable, tuple[int, int]] = {}
    for loop in inner:
        if loop.last is None or not loop.lower.is_number:
            return None
        if loop.variable in ranges and ranges[loop.variable] != (loop.lower.constant, loop.last):
            return None
        ranges[loop.variable] = loop.lower.constant, loop.last
    begin: list[Form] = []
    extents: list[int] = []
    for dimension in range(depth):
        found = _hull([(a, a.forms[dimension]) for a in accesses], ranges, tile)
        if found is None:
            return None
        begin.append(found[0])
        extents.append(found[1] + (first.lanes - 1 if dimension + 1 == depth else 0))
    lanes = first.lanes
    if lanes > 1:
        if extents[-1] % lanes:
            return None
        extents[-1] //= lanes
        for access in accesses:
            offset = (access.subscripts or ())[-1] - begin[-1]
            if any(factor % lanes for factor in offset.terms.values()):
                return None
    bits = kind.bits * lanes
    if prod(extents) * bits // 8 > _MOST_BYTES:
        return None
    reads = sum(_executions(a, inner) for a in accesses if not a.conditional)
    return Slice(
        first.variable, tuple(accesses), tuple(begin), tuple(extents), lanes, first.node.type,
        reads * (tile[2] if tile else 1),
    )  # fmt: skip


def _executions(access: Access, inner: Sequence[Loop]) -> int:
    return prod(loop.trips or 0 for loop in access.loops if loop in inner)


def _hull(
    given: Sequence[tuple[Access, Form | None]],
    ranges: Mapping[Variable, tuple[int, int]],
    tile: tuple[Loop, Variable, int] | None,
) -> tuple[Form, int] | None:
    """The first subscript of all, and how many there are from there to the last."""
    base: Form | None = None
    sure: list[int] = []
    every: list[int] = []
    for access, form in given:
        assert form is not None
        outside = form.without(*ranges) - Form.of(form.constant)
        low = high = form.constant
        for variable, (first, last) in ranges.items():
            factor = form.factor(variable)
            if factor is None:
                return None
            ends = sorted((factor * first, factor * last))
            low, high = low + ends[0], high + ends[1]
        if tile is not None:
            loop, counter, count = tile
            factor = outside.factor(loop.variable)
            if factor is None:
                return None
            outside = outside.without(loop.variable) + Form.of(counter).times(factor)
            ends = sorted((0, factor * (count - 1) * loop.step))
            low, high = low + ends[0], high + ends[1]
        if base is not None and outside != base:
            return None
        base = outside
        every += [low, high]
        if not access.conditional:
            sure += [low, high]
    if not sure or min(sure) > min(every) or max(sure) < max(every):
        return None
    assert base is not None
    return base + Form.of(min(sure)), max(sure) - min(sure) + 1
