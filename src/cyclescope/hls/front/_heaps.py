"""Heaps: memories of the blocks that pointers in the host's memory lead to, one after another.

What an array of the host's contains pointers to is known when the host runs: blocks of `malloc`,
other arrays, elements of the same one. The hardware has them in a heap for each type that the
pointers of an array lead to; those of a type that leads to itself, as a list's or tree's nodes do,
are all in one. The host's hooks put the blocks there before the region and take them back behind
it, and make offsets of addresses and addresses of offsets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cyclescope.c import Array, Pointer, Scalar, Struct, Unknown, Variable, Void, placed_fields
from cyclescope.c import size_of as layout_size
from cyclescope.errors import SourceError
from cyclescope.hls.front._memory import new_array
from cyclescope.hls.ir import Op, Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cyclescope.c import CType, Range
    from cyclescope.hls.front._context import Context, Environment
    from cyclescope.hls.ir import Array as Memory
    from cyclescope.hls.ir import Value

__all__ = [
    "HEAP",
    "Cells",
    "JoinedError",
    "cells_of",
    "heap_behind",
    "leads_to_itself",
    "merged",
    "root_of",
    "sort_of",
]

HEAP = "*"
"""The mark of a heap's name among those of variables that lead into one block."""


class JoinedError(SourceError):
    """Memories of the host that one pointer may lead into: they must be one of the hardware's.

    Attributes:
        names: theirs.
    """

    def __init__(self, message: str, names: tuple[str, ...]) -> None:
        super().__init__(message)
        self.names = names


@dataclass(frozen=True, slots=True)
class Cells:
    """The pointers in the elements of a memory of the host.

    Attributes:
        bytes: of an element.
        at: the place of each in it, with the name of the heap that it leads to, and whether to
            objects of that heap's type; else to parts of them.
    """

    bytes: int
    at: tuple[tuple[int, str, bool], ...] = field(default=())


def merged(
    groups: tuple[tuple[str, ...], ...], names: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    """Groups of names with another one, joined with those that share a name with it."""
    apart = [group for group in groups if not set(group) & set(names)]
    whole = [n for group in groups if group not in apart for n in group]
    return (*apart, tuple(dict.fromkeys([*whole, *names])))


def sort_of(kind: CType) -> str:
    """The name of a type, also where it isn't complete."""
    return str(kind).removeprefix("struct ")


def _whole(structs: Mapping[str, Struct], kind: CType) -> CType:
    """A struct, where only its name is said; bytes for what has no size."""
    if isinstance(kind, Unknown):
        return structs.get(sort_of(kind), Scalar("uint", 8))
    return Scalar("uint", 8) if isinstance(kind, Void) else kind


def _cells(structs: Mapping[str, Struct], kind: CType, at: int) -> Iterator[tuple[int, CType]]:
    """The pointers in an element: where each is, and the type that it leads to."""
    match kind:
        case Pointer(target=target):
            yield at, target
        case Array(element=element, extent=extent) if extent is not None:
            if next(_cells(structs, element, 0), None) is not None:
                for n in range(extent):
                    yield from _cells(structs, element, at + n * layout_size(element))
        case Struct():
            for start, _, part in placed_fields(kind):
                yield from _cells(structs, part, at + start)


def leads_to_itself(ctx: Context, kind: CType) -> bool:
    """Return whether pointers lead from an object to another one of its type."""
    structs = ctx.unit.structs
    first = _whole(structs, kind)
    waiting, seen = [first], {sort_of(first)}
    while waiting:
        for _, target in _cells(structs, waiting.pop(), 0):
            inner = _whole(structs, target)
            if sort_of(inner) == sort_of(first):
                return True
            if sort_of(inner) not in seen:
                seen.add(sort_of(inner))
                waiting.append(inner)
    return False


def _element(kind: CType) -> CType:
    return kind.target if isinstance(kind, Pointer) else kind


def cells_of(host: Environment, structs: Mapping[str, Struct], array: Memory) -> Cells | None:
    """The pointers in a memory of the host that the region follows; None: there are none."""
    kind = _element(host.hosts[array].type)
    while isinstance(kind, Array):
        kind = kind.element
    kind = _whole(structs, kind)
    leads = {
        sort: (heap.name, sort == sort_of(_element(host.hosts[heap].type)))
        for (own, sort), heap in host.leads.items()
        if own is array
    }
    found = [
        (at, *leads[sort_of(to)]) for at, to in _cells(structs, kind, 0) if sort_of(to) in leads
    ]
    return Cells(layout_size(kind), tuple(found)) if found else None


def heap_behind(ctx: Context, array: Memory, kind: CType, where: Range) -> Memory:
    """The heap that the pointers in a memory to objects of a type lead to."""
    key = (array, sort_of(kind))
    known = ctx.host.leads.get(key)
    if known is None:
        name = f"{array.name}_points_to"
        if any(own is array for own, _ in ctx.host.leads):
            name += "_" + re.sub(r"[^0-9A-Za-z]+", "_", sort_of(kind))
        known = ctx.host.leads[key] = _heap(ctx, name, kind, where)
    return known


def root_of(ctx: Context, variable: Variable, kind: CType) -> tuple[Memory, Value]:
    """The heap that a variable of the host is in, or points into, and where in it.

    Args:
        ctx: the region's lowering.
        variable: of the host.
        kind: of the heap's objects.
    """
    heap = _heap(ctx, variable.name, kind, variable.where)
    number = sum(map(len, ctx.host.heaps.values()))
    where = Variable(f"cyclescope_root_{number}", Scalar("uint", 64), variable.where, "global")
    ctx.host.heaps[heap][variable] = where
    ctx.host.scalars.append((where, 64))
    return heap, ctx.b.leaf(Op.SCALAR, 64, len(ctx.host.scalars) - 1)


def _widen(ctx: Context, heap: Memory, kind: CType, where: Range) -> None:
    """Let a heap have objects of a type, too.

    Raises:
        SourceError: there are pointers in both, at different places.
    """
    own = _element(ctx.host.hosts[heap].type)
    if sort_of(own) == sort_of(kind) or not _contains_pointers(ctx, kind):
        return
    if _contains_pointers(ctx, own):
        raise SourceError(
            f"{where}: pointers to {own} and to {kind} lead into one block of the host's memory; "
            f"let each type have blocks of its own"
        )
    ctx.host.hosts[heap] = replace(ctx.host.hosts[heap], type=Pointer(kind))


def _contains_pointers(ctx: Context, kind: CType) -> bool:
    return next(_cells(ctx.unit.structs, kind, 0), None) is not None


def _heap(ctx: Context, name: str, kind: CType, where: Range) -> Memory:
    kind, host = _whole(ctx.unit.structs, kind), ctx.host
    group = next((g for g in host.joined if f"{HEAP}{name}" in g or name in g), ())
    known = [h for h in host.heaps if f"{HEAP}{h.name}" in group]
    if leads_to_itself(ctx, kind):
        known += [h for h in host.heaps if sort_of(_element(host.hosts[h].type)) == sort_of(kind)]
    if known:
        _widen(ctx, known[0], kind, where)
        return known[0]
    name = next((n.removeprefix(HEAP) for n in group if n.startswith(HEAP)), name)
    stands = Variable(name, Pointer(kind), where, "global")
    heap = new_array(ctx, stands, Place.EXTERNAL, None, to=True, back=True)
    host.hosts[heap] = stands
    host.heaps[heap] = {}
    return heap
