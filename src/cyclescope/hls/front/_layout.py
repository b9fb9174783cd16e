"""Widths and layouts of C types in memory and on wires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import (
    Array,
    CType,
    Placed,
    Pointer,
    Scalar,
    Struct,
    Tool,
    Unknown,
    Vector,
    placed_fields,
    refusal,
)
from cyclescope.c import size_of as layout_size
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from cyclescope.c import Range

__all__ = ["field_offset", "is_block", "is_flat", "is_stream", "leaves", "size_of", "width_of"]

_STREAM = "cyclescope_file"  # of our <stdio.h>
_MOST_LEAVES = 256
_MOST_AT_ONCE = 64  # bytes


def width_of(kind: CType, where: Range) -> int:
    """Bits of a value on wires; a pointer is an offset in its array.

    Raises:
        SourceError: no value of this type fits on wires.
    """
    match kind:
        case Scalar(bits=bits):
            return bits
        case Vector(element=element, lanes=lanes):
            return element.bits * lanes
        case Pointer():
            return 64
        case Struct() | Placed():
            return sum(width_of(leaf, where) for _, leaf in leaves(kind, where))
    raise refused_type(kind, where)


def leaves(kind: CType, where: Range) -> list[tuple[int, CType]]:
    """The scalars and vectors that a value is made of: byte offset and type of each.

    Raises:
        SourceError: there are none, or too many to handle at once.
    """
    match kind:
        case Struct():
            parts = [(at, field) for at, _, field in placed_fields(kind)]
        case Array(element=element, extent=extent) if extent is not None:
            size = size_of(element, where)
            parts = [(n * size, element) for n in range(min(extent, _MOST_LEAVES + 1))]
        case Placed(bytes=count, alignment=alignment) if count >= 0:
            size_of(kind, where)
            word = min(alignment, 8)
            parts = [(at, Scalar("uint", 8 * word)) for at in range(0, count, word)]
        case Pointer():
            raise SourceError(
                f"{where}: a value that contains pointers can't be handled as a whole here; use "
                f"its fields"
            )
        case _:
            return [(0, kind)]
    found = []
    for offset, part in parts:
        found += [(offset + inner, leaf) for inner, leaf in leaves(part, where)]
        if len(found) > _MOST_LEAVES:
            raise SourceError(
                f"{where}: a value of type {kind} has more than {_MOST_LEAVES} parts; pass "
                f"its address, or copy it separately"
            )
    if not found:
        raise SourceError(f"{where}: a value of type {kind} has no parts; leave it out")
    return found


def is_flat(kind: CType, *, pointers: bool = False) -> bool:
    """Return whether a type is made of scalars and vectors alone, each named at compile time.

    Args:
        kind: the type.
        pointers: whether a struct may also hold pointers.
    """
    if isinstance(kind, Pointer):
        return pointers
    if isinstance(kind, Struct):
        return bool(kind.fields) and all(is_flat(t, pointers=pointers) for _, t in kind.fields)
    return isinstance(kind, Scalar | Vector)


def is_stream(kind: CType) -> bool:
    """Return whether a type is the library's `FILE *`."""
    target = kind.target if isinstance(kind, Pointer) else None
    return isinstance(target, Struct | Unknown) and _STREAM in str(target).split()


def is_block(kind: CType, where: Range) -> bool:
    """Return whether a value is better copied in a loop than all at once."""
    if not isinstance(kind, Struct) or is_flat(kind, pointers=True):
        return False
    return size_of(kind, where) > _MOST_AT_ONCE


def size_of(kind: CType, where: Range) -> int:
    """Bytes of a value in memory.

    Raises:
        SourceError: the text gives no constant size.
    """
    match kind:
        case Array(extent=None):
            raise SourceError(f"{where}: the size of {kind} isn't known; give constant extents")
        case Array(element=element):
            size_of(element, where)
        case Struct(fields=fields):
            for _, field in fields:
                _check_member(field, where)
        case Placed(fields=members):
            for member in members:
                _check_member(member.type, where)
        case Scalar() | Vector() | Pointer():
            pass
        case _:
            raise refused_type(kind, where)
    return layout_size(kind)


def _check_member(kind: CType, where: Range) -> None:
    """Raise `SourceError` if a struct or union in memory can't have such a member."""
    inner = kind
    while isinstance(inner, Array):
        inner = inner.element
    size_of(kind, where)


def refused_type(kind: CType, where: Range) -> SourceError:
    """The error for a type without a width."""
    what = f"a value of type {kind}"
    if isinstance(kind, Unknown):
        return refusal(kind.construct, Tool.HLS, where, what)
    return SourceError(f"{where}: {what} isn't supported; use its elements")


def field_offset(kind: Struct, name: str, where: Range) -> int:
    """Bytes before a field.

    Raises:
        SourceError: a field before it has no constant size.
    """
    for at, field, sort in placed_fields(kind):
        if field == name:
            return at
        size_of(sort, where)
    raise SourceError(f"{where}: {kind} has no field {name}")
