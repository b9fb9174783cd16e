"""Layout of C types in memory: sizes, alignments and offsets, as on x86-64 (System V ABI, 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c._types import Array, Placed, Pointer, Scalar, Struct, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c._types import CType

__all__ = ["alignment_of", "placed_fields", "size_of"]


def size_of(kind: CType) -> int:
    """Bytes of a value; 0 where the text gives no constant size."""
    match kind:
        case Scalar(bits=bits):
            return bits // 8
        case Vector(element=element, lanes=lanes):
            return element.bits * lanes // 8
        case Pointer():
            return 8
        case Array(element=element, extent=extent):
            return (extent or 0) * size_of(element)
        case Struct():
            end = 0
            for at, _, field in placed_fields(kind):
                end = at + size_of(field)
            return _aligned(end, alignment_of(kind))
        case Placed(bytes=size):
            return size
    return 0


def alignment_of(kind: CType) -> int:
    """Bytes to a multiple of which a value is aligned."""
    match kind:
        case Array(element=element):
            return alignment_of(element)
        case Struct(fields=fields):
            return max((alignment_of(field) for _, field in fields), default=1)
        case Placed(alignment=to):
            return to
    return size_of(kind) or 1


def placed_fields(kind: Struct) -> Iterator[tuple[int, str, CType]]:
    """The fields of a struct: bytes before it, name and type of each."""
    end = 0
    for name, field in kind.fields:
        at = _aligned(end, alignment_of(field))
        yield at, name, field
        end = at + size_of(field)


def _aligned(position: int, to: int) -> int:
    return -(-position // to) * to
