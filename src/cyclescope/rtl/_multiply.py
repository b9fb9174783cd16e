"""Multiplication: of integers, and of floating-point numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.rtl._expr import Expr, cat, const, mux
from cyclescope.rtl._format import depth_below, finish, float_format, unpack
from cyclescope.rtl._stages import leading_zeros, total

if TYPE_CHECKING:
    from cyclescope.rtl._stages import Stages

__all__ = ["fmul", "mul"]

# What one multiplier of a DSP block takes, unsigned: 18 bits in ECP5, Cyclone V and Stratix 10.
TILE = 18
TERMS = 4  # that one stage adds: two rows of carry-save logic and one carry chain


def mul(v: Stages, width: int) -> None:
    """Builds the low `width` bits of a product."""
    m = v.module
    v.a, v.b = m.input("a", width), m.input("b", width)
    terms = _products(v, width)
    v.cut()
    v.result = total(v, _rows(v, terms, width), TERMS)
    if len(terms) > 1:
        v.cut()


def _products(v: Stages, width: int) -> list[tuple[int, str]]:
    """The products of 18-bit parts that reach below bit `width`, as (shift, name in `v`)."""
    a, b = v.a, v.b
    tiles: list[tuple[int, str]] = []
    for i in range(0, a.width, TILE):
        for j in range(0, b.width, TILE):
            if i + j >= width:
                continue
            x, y = (n[min(k + TILE, n.width) - 1 : k] for n, k in ((a, i), (b, j)))
            size = x.width + y.width
            name = f"tile_{i // TILE}_{j // TILE}"
            setattr(v, name, x.zext(size) * y.zext(size))
            tiles.append((i + j, name))
    return tiles


def _rows(v: Stages, tiles: list[tuple[int, str]], width: int) -> list[Expr]:
    """The products as terms of `width` bits; those that do not overlap share one."""
    rows: list[list[tuple[int, Expr]]] = []
    for low, name in sorted(tiles):
        tile = getattr(v, name)
        for row in rows:
            last_low, last = row[-1]
            if low >= last_low + last.width:
                row.append((low, tile))
                break
        else:
            rows.append([(low, tile)])
    return [_row(row, width) for row in rows]


def _row(tiles: list[tuple[int, Expr]], width: int) -> Expr:
    parts: list[Expr] = []
    end = 0
    for low, tile in tiles:
        if low > end:
            parts.insert(0, const(0, low - end))
        if low + tile.width > width:
            tile = tile[width - low - 1 : 0]
        parts.insert(0, tile)
        end = low + tile.width
    if end < width:
        parts.insert(0, const(0, width - end))
    return cat(*parts)


def fmul(v: Stages, width: int) -> None:
    """Builds the product of two numbers.

    While the significands are multiplied, the leading zeros of the subnormal one are counted: of
    two subnormal numbers the product is nothing but lost bits, wherever it goes.
    """
    form = float_format(width)
    f, wide = form.fraction, form.width == 64
    extended = form.exponent + 2
    m = v.module
    x, y = m.input("a", width), m.input("b", width)

    # products of parts; which operand may have leading zeros
    a, b = unpack(m, form, x, "a"), unpack(m, form, y, "b")
    v.sign = a.sign ^ b.sign
    v.nan = a.nan | b.nan | (a.infinite & b.zero) | (a.zero & b.infinite)
    v.infinite = a.infinite | b.infinite
    v.invalid = a.signaling | b.signaling | (v.nan & ~a.nan & ~b.nan)
    v.divided = const(0, 1)
    v.a, v.b = a.significand, b.significand
    v.small = mux(a.hidden, b.significand, a.significand)
    v.e_a, v.e_b = a.exponent.zext(extended), b.exponent.zext(extended)
    # Whether there is a hidden bit is known late, and a multiplier takes most of a cycle.
    v.cut()
    v.e = v.e_a + v.e_b - (form.bias - 1)
    tiles = _products(v, 2 * f + 2)
    if wide:
        v.cut()
        # the sum, in two stages, beside the count
        terms = _rows(v, tiles, 2 * f + 2)
        v.first, v.second = terms[0] + terms[1], terms[2] + terms[3] + terms[4]
        v.left = leading_zeros(v, v.small, (4,))
        v.product = v.first + v.second
    else:
        v.left = leading_zeros(v, v.small, (8,))
        v.product = total(v, _rows(v, tiles, 2 * f + 2), TERMS)
    v.cut()

    # left by the leading zeros
    v.sig = v.product << v.left
    v.e = v.e - v.left.zext(extended)
    v.cut()

    # one further if the product is below 2: its top bit has the weight of e
    high = v.sig[2 * f + 1]
    v.e = v.e - (~high).zext(extended)
    v.deep = depth_below(v.e, f + 3)
    v.sticky = v.sig[f - 3 : 0].any() | (high & v.sig[f - 2])
    v.sig = mux(high, v.sig[2 * f + 1 : f - 1], v.sig[2 * f : f - 2])
    v.cut()

    finish(v, form, underflow=True)
