"""The compiler's functions that count and find bits, as trees of plain logic.

`__builtin_popcount`, `parity`, `clz`, `ctz`, `ffs`, `clrsb` and `bswap`, and the library's `ffs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import Op

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Value

__all__ = ["bit_call"]

_RESULT = 32  # bits of an int


def bit_call(ctx: Context, function: str, argument: Callable[[], Value]) -> Value | None:
    """The value of a function of bits, of its argument's width; None: it is another function.

    Args:
        ctx: the region's lowering.
        function: as the text calls it.
        argument: lowers the only argument.
    """
    name = function.removeprefix("__builtin_")
    if name == function and name not in ("ffs", "ffsl", "ffsll"):
        return None
    if name in ("bswap16", "bswap32", "bswap64"):
        return _swapped(ctx, argument())
    # One for int, long and long long each.
    lower = _OF_BITS.get(name.removesuffix("l").removesuffix("l"))
    if lower is None:
        return None
    found = lower(ctx, argument())
    return ctx.b.resized(found, _RESULT, is_signed=False)


def _halves(ctx: Context, value: Value) -> tuple[Value, Value]:
    """The lower and the upper half of a value."""
    half = value.width // 2
    return (
        ctx.b.op(Op.EXTRACT, value, width=half),
        ctx.b.op(Op.EXTRACT, value, width=half, constant=half),
    )


def _count(ctx: Context, value: Value) -> Value:
    """The number of ones: of pairs, of fours and so on, side by side in one word."""
    width, step = value.width, 1
    total = value
    while step < width:
        mask = sum(((1 << step) - 1) << low for low in range(0, width, 2 * step))
        kept = ctx.b.const(width, mask)
        moved = ctx.b.op(Op.LSHR, total, ctx.b.const(width, step), width=width)
        even, odd = (ctx.b.op(Op.AND, part, kept, width=width) for part in (total, moved))
        total = ctx.b.op(Op.ADD, even, odd, width=width)
        step *= 2
    return ctx.b.resized(total, min(width, _RESULT), is_signed=False)


def _parity(ctx: Context, value: Value) -> Value:
    """The number of ones, modulo 2."""
    while value.width > 1:
        low, high = _halves(ctx, value)
        value = ctx.b.op(Op.XOR, low, high, width=low.width)
    return value


def _zeros(ctx: Context, value: Value, *, from_top: bool) -> Value:
    """The zeros in front of the first one from an end, one less than the width if there is none.

    The first half, if it is zero, counts whole; the search goes on in the other one.
    """
    bits: list[Value] = []
    while value.width > 1:
        low, high = _halves(ctx, value)
        first, other = (high, low) if from_top else (low, high)
        empty = ctx.b.op(Op.EQ, first, ctx.b.const(first.width, 0), width=1)
        bits.append(empty)
        value = ctx.b.select(empty, other, first)
    return ctx.b.op(Op.CONCAT, *reversed(bits), width=len(bits))


def _leading(ctx: Context, value: Value) -> Value:
    return _zeros(ctx, value, from_top=True)


def _trailing(ctx: Context, value: Value) -> Value:
    return _zeros(ctx, value, from_top=False)


def _first(ctx: Context, value: Value) -> Value:
    """The number of the lowest one, from 1 on; 0 if there is none."""
    place = ctx.b.resized(_trailing(ctx, value), _RESULT, is_signed=False)
    number = ctx.b.op(Op.ADD, place, ctx.b.const(_RESULT, 1), width=_RESULT)
    empty = ctx.b.op(Op.EQ, value, ctx.b.const(value.width, 0), width=1)
    return ctx.b.select(empty, ctx.b.const(_RESULT, 0), number)


def _repeated_sign(ctx: Context, value: Value) -> Value:
    """The bits behind the sign that are equal to it."""
    width = value.width
    sign = ctx.b.op(Op.ASHR, value, ctx.b.const(width, width - 1), width=width)
    changes = ctx.b.op(Op.XOR, value, sign, width=width)
    # A one behind all of them ends the search.
    moved = ctx.b.op(Op.SHL, changes, ctx.b.const(width, 1), width=width)
    return _leading(ctx, ctx.b.op(Op.OR, moved, ctx.b.const(width, 1), width=width))


def _swapped(ctx: Context, value: Value) -> Value:
    """The bytes in the opposite order."""
    parts = [ctx.b.op(Op.EXTRACT, value, width=8, constant=low) for low in range(0, value.width, 8)]
    return ctx.b.op(Op.CONCAT, *reversed(parts), width=value.width)


_OF_BITS: dict[str, Callable[[Context, Value], Value]] = {
    "popcount": _count,
    "parity": _parity,
    "clz": _leading,
    "ctz": _trailing,
    "ffs": _first,
    "clrsb": _repeated_sign,
}
