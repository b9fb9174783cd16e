"""Members of unions, and of structs with bit-fields or packed: where they are, read, written.

A bit-field is read and written with what is beside it in its word, as compilers do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import Placed, Scalar, alignment_of
from cyclescope.hls.front._layout import width_of
from cyclescope.hls.front._memory import inside, load_from, store_to
from cyclescope.hls.ir import Op

if TYPE_CHECKING:
    from cyclescope.c import Field, Range
    from cyclescope.hls.front._context import Context, Location
    from cyclescope.hls.ir import Value

__all__ = ["OnBits", "fitted", "on_bits", "read_bits", "write_bits"]


@dataclass(frozen=True, slots=True)
class OnBits:
    """A number that is some bits of words in memory.

    Attributes:
        words: of a width, consecutive; together they have all its bits.
        low: its lowest bit there.
        bits: its width there.
        type: its type.
    """

    words: tuple[Location, ...]
    low: int
    bits: int
    type: Scalar


def on_bits(ctx: Context, place: Location, field: Field, where: Range) -> Location | OnBits:
    """The place of a member of an object in memory.

    Raises:
        SourceError: it is no number, and not where the hardware could reach it.
    """
    assert isinstance(place.type, Placed)
    least = 8 * min(alignment_of(field.type), place.type.alignment)
    if (
        not field.bits
        and not field.at % (8 * alignment_of(field.type))
        and (least == 8 * alignment_of(field.type))
    ):
        return inside(ctx, place, field.at // 8, field.type)
    if not isinstance(field.type, Scalar):
        raise ctx.refuse(
            where, f"{field.name}, a {field.type}, lies where its numbers are not aligned; declare "
            f"it where they are"
        )  # fmt: skip
    bits = field.bits or width_of(field.type, where)
    for width in (8, 16, 32, 64):
        first = field.at // width
        whole = width <= 8 * place.type.alignment
        if whole and first == (field.at + bits - 1) // width:
            words = range(first, first + 1)
            break
    else:
        width = 8
        words = range(field.at // 8, (field.at + bits - 1) // 8 + 1)
    kind = Scalar("uint", width)
    found = [inside(ctx, place, number * width // 8, kind) for number in words]
    return OnBits(tuple(found), field.at - words[0] * width, bits, field.type)


def read_bits(ctx: Context, place: OnBits) -> Value:
    """The number, in its type's width."""
    part = ctx.b.op(Op.EXTRACT, _joined(ctx, place), width=place.bits, constant=place.low)
    return fitted(ctx, place, part)


def fitted(ctx: Context, place: OnBits, value: Value) -> Value:
    """The part of a value that the number keeps when it is given it."""
    part = ctx.b.op(Op.EXTRACT, value, width=place.bits, constant=0)
    return ctx.b.resized(part, place.type.bits, is_signed=place.type.kind == "int")


def write_bits(ctx: Context, place: OnBits, value: Value) -> None:
    """Give the number a value, of its type's width; what is too large for it is lost."""
    joined = _joined(ctx, place)
    part = ctx.b.op(Op.EXTRACT, value, width=place.bits, constant=0)
    end = place.low + place.bits
    parts = [part]
    if place.low:
        parts.insert(0, ctx.b.op(Op.EXTRACT, joined, width=place.low, constant=0))
    if end < joined.width:
        parts.append(ctx.b.op(Op.EXTRACT, joined, width=joined.width - end, constant=end))
    whole = parts[0] if len(parts) == 1 else ctx.b.op(Op.CONCAT, *parts, width=joined.width)
    width = joined.width // len(place.words)
    for number, word in enumerate(place.words):
        piece = ctx.b.op(Op.EXTRACT, whole, width=width, constant=number * width)
        store_to(ctx, word, piece)


def _joined(ctx: Context, place: OnBits) -> Value:
    """All bits of the words."""
    assert isinstance(place.words[0].type, Scalar)
    width = place.words[0].type.bits
    values = [load_from(ctx, word, width) for word in place.words]
    if len(values) == 1:
        return values[0]
    return ctx.b.op(Op.CONCAT, *values, width=width * len(values))
