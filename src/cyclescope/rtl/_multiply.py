"""Multiplication: of integers, and of floating-point numbers."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from cyclescope.rtl._expr import Expr, cat, const, mux
from cyclescope.rtl._format import depth, finish, float_format, judge_special, note_special, unpack
from cyclescope.rtl._stages import leading_zeros, shift_left

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.rtl._stages import Stages

__all__ = ["fmul", "mul", "multiply"]

# What one multiplier of a DSP block takes, unsigned: 18 bits in ECP5, Cyclone V and Stratix 10.
TILE = 18
_UNSEEN = 6  # so far below the last bit that is kept a partial product may be left out
_LONG = 72  # bits of a carry chain: more are too much for a stage
_ROWS = 3  # that a stage adds


def mul(v: Stages, width: int) -> None:
    """Builds the low `width` bits of a product."""
    m = v.module
    v.a, v.b = m.input("a", width), m.input("b", width)
    terms = _products(v, v.a, v.b, width)
    v.cut()
    v.result = _total(v, _rows(v, terms), width)
    if len(terms) > 1:
        v.cut()


def multiply(
    v: Stages,
    a: Expr,
    b: Expr,
    result: str,
    *,
    below: int = 0,
    width: int = 0,
    plus: Sequence[tuple[str, int]] = (),
    apart: bool = False,
) -> None:
    """Makes `v.<result>` the bits of a product from bit `below` on: products, a cut, sums, a cut.

    Parts that reach only far below that bit are left out, so that the result may be one less.

    Args:
        v: where.
        a: the first factor, unsigned.
        b: the second one.
        result: a name.
        below: bits of the product that are dropped.
        width: of the result; what is above is lost. All bits if it is 0.
        plus: names of values of `v` to add to the product, and the bit of it where each begins.
        apart: the multipliers lie far from the sums: the wires between them have a stage.
    """
    size = below + width if width else a.width + b.width
    if a.value is not None and b.value is not None:
        setattr(v, result, _multiplied(v, a, b, below, size, plus))
        return
    tiles = _products(v, a, b, size, least=below - _UNSEEN)
    base = min([low for low, _ in tiles] + [low for _, low in plus])
    v.cut()
    if apart:
        v.cut()
    rows = _rows(v, [(low - base, name) for low, name in tiles])
    rows += [(low - base, getattr(v, name)) for name, low in plus]
    whole = v.module.named(_total(v, rows, size - base, quick=True), "whole")
    setattr(v, result, whole[size - base - 1 : below - base])
    v.cut()


def _multiplied(
    v: Stages, a: Expr, b: Expr, below: int, size: int, plus: Sequence[tuple[str, int]]
) -> Expr:
    """The same of constants, many times quicker than by parts: to evaluate a functional unit."""
    assert a.value is not None
    assert b.value is not None
    whole = a.value * b.value
    ones = (1 << TILE) - 1
    for i in range(0, a.width, TILE):
        for j in range(0, b.width, TILE):
            if min(i + TILE, a.width) + min(j + TILE, b.width) <= below - _UNSEEN:
                whole -= (a.value >> i & ones) * (b.value >> j & ones) << i + j
    for name, low in plus:
        whole += (getattr(v, name).value or 0) << low
    return const(whole % (1 << size) >> below, size - below)


def _products(v: Stages, a: Expr, b: Expr, width: int, least: int = 0) -> list[tuple[int, str]]:
    """The products of 18-bit parts that reach below bit `width`, as (shift, name in `v`).

    Those that end below bit `least` are left out.
    """
    tiles: list[tuple[int, str]] = []
    for i in range(0, a.width, TILE):
        for j in range(0, b.width, TILE):
            if i + j >= width:
                continue
            x, y = (n[min(k + TILE, n.width) - 1 : k] for n, k in ((a, i), (b, j)))
            size = x.width + y.width
            if i + j + size <= least:
                continue
            name = f"tile_{i // TILE}_{j // TILE}"
            setattr(v, name, x.zext(size) * y.zext(size))
            tiles.append((i + j, name))
    return tiles


_Row = tuple[int, "Expr"]
"""The weight of a row's lowest bit, as a power of two, and its bits."""


def _rows(v: Stages, tiles: list[tuple[int, str]]) -> list[_Row]:
    """The products as rows to add: those that do not overlap share one."""
    rows: list[list[_Row]] = []
    for low, name in sorted(tiles):
        tile = getattr(v, name)
        for row in rows:
            last_low, last = row[-1]
            if low >= last_low + last.width:
                row.append((low, tile))
                break
        else:
            rows.append([(low, tile)])
    return [_joined(row) for row in rows]


def _joined(tiles: list[_Row]) -> _Row:
    parts: list[Expr] = []
    first = end = tiles[0][0]
    for low, tile in tiles:
        if low > end:
            parts.insert(0, const(0, low - end))
        parts.insert(0, tile)
        end = low + tile.width
    return first, cat(*parts)


def _total(v: Stages, rows: list[_Row], size: int, *, quick: bool = False) -> Expr:
    """The lowest `size` bits of a sum: three rows added in a stage, a cut between the stages."""
    if size > _LONG:
        return _long_total(v, rows, size)
    while len(rows) > _ROWS:
        groups = [rows[i : i + _ROWS] for i in range(0, len(rows), _ROWS)]
        sums = [_added(group, size, quick=quick) for group in groups]
        for number, (_, bits) in enumerate(sums):
            setattr(v, f"part{number}", bits)
        v.cut()
        rows = [(low, getattr(v, f"part{number}")) for number, (low, _) in enumerate(sums)]
    return _padded(_added(rows, size, quick=quick), 0, size)


def _long_total(v: Stages, rows: list[_Row], size: int) -> Expr:
    """The same if that is too long for one carry chain: in parts, and two rows at a time.

    A part is added a stage after the one below it, whose carry is in a register then. A sum of
    sums begins when their lowest parts are known, so a level more takes one stage more.
    """
    count = -(-size // _LONG)
    each = -(-size // count)
    parts = [(start, min(start + each, size)) for start in range(0, size, each)]
    names = [f"row{number}" for number in range(len(rows))]
    for name, row in zip(names, rows, strict=True):
        bits = _padded(row, 0, size)
        for n, (start, end) in enumerate(parts):
            setattr(v, f"{name}_{n}", bits[end - 1 : start])
    levels: list[list[tuple[str, str, str]]] = []
    while len(names) > 1:
        pairs = zip(names[::2], names[1::2], strict=False)
        levels.append([(f"sum{len(levels)}_{i}", *pair) for i, pair in enumerate(pairs)])
        names = [name for name, _, _ in levels[-1]] + names[len(names) & ~1 :]
    for stage in range(len(levels) + count - 1):
        if stage:
            v.cut()
        for number, level in enumerate(levels):
            if 0 <= (n := stage - number) < count:
                for name, first, second in level:
                    _add_part(v, name, first, second, n)
    return cat(*(getattr(v, f"{names[0]}_{n}") for n in reversed(range(count))))


def _add_part(v: Stages, name: str, first: str, second: str, n: int) -> None:
    """Makes part `n` of a sum `v.<name>` of two, and the carry out of it."""
    a, b = getattr(v, f"{first}_{n}"), getattr(v, f"{second}_{n}")
    carry = getattr(v, f"{name}_carry") if n else const(0, 1)
    # The carry into the lowest bit comes from one more below it.
    wide = a.width + 2
    total = v.module.wire("total", cat(a, const(1, 1)).zext(wide) + cat(b, carry).zext(wide))
    setattr(v, f"{name}_{n}", total[a.width : 1])
    setattr(v, f"{name}_carry", total[a.width + 1])


def _added(rows: list[_Row], size: int, *, quick: bool = False) -> _Row:
    """The sum of up to three rows below bit `size`, as a row.

    Three take two carry chains, one behind the other; or, `quick`, a level of logic and one chain.
    The carry chain is as long as what they overlap: the bits of one row below all others go past
    it, and there is none above the highest carry.
    """
    (low, lowest), *others = sorted(rows, key=lambda row: row[0])
    if not others:
        return low, lowest.trunc(min(lowest.width, size - low))
    start = min(others[0][0], low + lowest.width)
    end = max(row_low + bits.width for row_low, bits in rows) + (len(rows) - 1).bit_length()
    end = min(end, size)
    upper = (start, lowest[lowest.width - 1 : start - low])
    terms = [_padded(row, start, end) for row in (upper, *others)]
    if quick and len(terms) > 2:
        x, y, z = terms
        carries = (x & y) | (z & (x | y))
        terms = [x ^ y ^ z, cat(carries, const(0, 1)).trunc(x.width)]
    above = reduce(add, terms)
    return low, cat(above, lowest[start - low - 1 : 0]) if start > low else above


def _padded(row: _Row, start: int, end: int) -> Expr:
    """The bits `start` to `end` of a row that begins there or above."""
    low, bits = row
    if low + bits.width > end:
        bits = bits.trunc(end - low)
    if low > start:
        bits = cat(bits, const(0, low - start))
    return bits.zext(end - start)


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
    note_special(v, a, b)
    v.a, v.b = a.significand, b.significand
    v.small = mux(a.hidden, b.significand, a.significand)
    v.e_a, v.e_b = a.exponent.zext(extended), b.exponent.zext(extended)
    # Whether there is a hidden bit is known late, and a multiplier takes most of a cycle. It is far
    # from those of other units, which may have the same operand.
    v.cut(separate=("a", "b"))
    wrong = (v.infinite_a & v.zero_b) | (v.zero_a & v.infinite_b)
    judge_special(v, wrong=wrong, infinite=v.infinite_a | v.infinite_b)
    v.divided = const(0, 1)
    v.power = v.e_a + v.e_b
    v.drop("e_a", "e_b")
    size = 2 * f + 2
    tiles = _products(v, v.a, v.b, size)
    if wide:
        v.cut()
        # The sum of five rows in three stages, beside the count. Each adds two: a third would cost
        # a level of logic in front of a chain of up to 73 bits. The lowest row comes last, as its
        # lowest bits are those of the sum.
        rows = _rows(v, tiles)
        low, v.lowest = rows[0]
        (first_low, v.first), (second_low, v.second) = (
            _added([rows[i] for i in chosen], size) for chosen in ((1, 2), (3, 4))
        )
        v.left = leading_zeros(v, v.small, cut=16)
        others_low, v.others = _added([(first_low, v.first), (second_low, v.second)], size)
        v.cut()
        v.product = _padded(_added([(low, v.lowest), (others_low, v.others)], size), 0, size)
    else:
        v.left = leading_zeros(v, v.small, cut=16)
        v.product = _total(v, _rows(v, tiles), size)
    v.e = v.power - (form.bias - 1)
    # By how much it is below 1; by how much, if the product is below 2.
    v.below, v.below_more = form.bias - v.power, form.bias + 1 - v.power
    v.drop("power")
    v.cut()

    # left by the leading zeros
    shift_left(v, product="left")
    v.sig = v.product
    v.e = v.e - v.left.zext(extended)
    v.below = v.below + v.left.zext(extended)
    v.below_more = v.below_more + v.left.zext(extended)
    v.cut()

    # one further if the product is below 2: its top bit has the weight of e
    high = v.sig[2 * f + 1]
    v.e = v.e - (~high).zext(extended)
    v.deep = depth(mux(high, v.below, v.below_more), f + 3)
    v.sticky = v.sig[f - 3 : 0].any() | (high & v.sig[f - 2])
    v.sig = mux(high, v.sig[2 * f + 1 : f - 1], v.sig[2 * f : f - 2])
    v.cut()

    finish(v, form, underflow=True)
