"""Functions by polynomials, one for each piece of the argument: their coefficients, their hardware.

The coefficients interpolate the function in the Chebyshev nodes of each piece, where a polynomial's
error is at most a small factor above the least there is; they are computed exactly and rounded
once, to the grid that all of them share. Horner's rule then multiplies only by as many bits of the
argument as reach the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cyclescope.rtl._expr import const, mux
from cyclescope.rtl._multiply import multiply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.rtl._stages import Stages

__all__ = ["BITS", "Pieces", "fit", "look_up", "polynomial"]

BITS = 192
"""The grid, as a power of two, on which coefficients are computed before they are rounded."""

_SLACK = 2  # units of the grid that a step of Horner's rule may be off, when widths are counted


@dataclass(frozen=True, eq=False, slots=True)
class Pieces:
    """Polynomials in z of 0 … 1, one for each piece.

    Attributes:
        grid: coefficients, and what comes out, count units of 2^-grid.
        coefficients: of each piece, that of the constant first.
    """

    grid: int
    coefficients: tuple[tuple[int, ...], ...]

    @cache  # noqa: B019 - there is one for each table, which stays
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """The coefficients of each power in all pieces, those of the constant first."""
        return tuple(zip(*self.coefficients, strict=True))


def fit(
    function: Callable[[int, int], int],
    starts: Sequence[tuple[int, int]],
    degree: int,
    grid: int,
) -> Pieces:
    """Polynomials for the pieces of a function.

    Args:
        function: from x in units of 2^-`BITS`, and `BITS`, to its value in the same units.
        starts: x at the beginning and at the end of each piece, in the same units.
        degree: of the polynomials.
        grid: of the coefficients.
    """
    nodes = _nodes(degree)
    rows = []
    drop = BITS - grid
    for start, end in starts:
        values = [function(start + ((end - start) * z >> BITS), BITS) for z in nodes]
        exact = [sum(map(int.__mul__, row, values)) >> BITS for row in _inverse(degree)]
        rows.append(tuple((c >> drop - 1) + 1 >> 1 for c in exact))
    return Pieces(grid, tuple(rows))


def _nodes(degree: int) -> list[int]:
    """The Chebyshev nodes of 0 … 1."""
    n = degree + 1
    middle = [(1 - math.cos(math.pi * (2 * k + 1) / (2 * n))) / 2 for k in range(n)]
    return [int(z * (1 << 53)) << BITS - 53 for z in middle]


@cache
def _inverse(degree: int) -> list[list[int]]:
    """The matrix from values in the nodes to coefficients: those of Lagrange's polynomials."""
    nodes = _nodes(degree)
    columns = []
    for k, own in enumerate(nodes):
        row = [1 << BITS]
        for i, z in enumerate(nodes):
            if i != k:
                shifted = [0, *row]
                scaled = [*(c * z >> BITS for c in row), 0]
                row = [((a - b) << BITS) // (own - z) for a, b in zip(shifted, scaled, strict=True)]
        columns.append(row)
    return [list(row) for row in zip(*columns, strict=True)]


def look_up(v: Stages, pieces: Pieces, index: str) -> None:
    """Reads the coefficients of piece `v.<index>` into `v.c0`, `v.c1` …: three stages.

    The word of a block RAM comes late in a cycle, so it has a second register. A multiplier, whose
    own register that would become, is far from the RAM: the third is that.
    """
    sizes, words = _words(pieces)
    rom = v.module.memory("table", sum(sizes), len(words), block=True, words=words)
    address = getattr(v, index)
    word_now = rom.read(address) if v.registers else rom.at(address)
    v.cut()
    low = 0
    for power, size in enumerate(sizes):
        setattr(v, f"c{power}", word_now[low + size - 1 : low])
        low += size
    v.cut()
    v.cut()


@cache
def _words(pieces: Pieces) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The table of coefficients: bits of each power's, that of the constant lowest; the words."""
    sizes = tuple(_size(min(c), max(c)) for c in pieces.columns())
    words = []
    for row in pieces.coefficients:
        word = 0
        for c, size in zip(reversed(row), reversed(sizes), strict=True):
            word = word << size | c % (1 << size)
        words.append(word)
    return sizes, tuple(words)


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of Horner's rule: whether its factor may be negative, and the bits of its result."""

    negative: bool
    size: int


@cache
def _steps(pieces: Pieces) -> tuple[_Step, ...]:
    """The steps from the highest power down, their widths by the range of values in each piece."""
    *rest, last = pieces.columns()
    ranges = [(c, c) for c in last]
    steps = []
    for power, column in reversed(list(enumerate(rest))):
        negative = min(low for low, _ in ranges) < 0
        ranges = [
            (c + min(0, low) - _SLACK, c + max(0, high))
            for c, (low, high) in zip(column, ranges, strict=True)
        ]
        if power == 0:
            # What is below nothing is the slack alone.
            ranges = [(max(0, low), high) for low, high in ranges]
        steps.append(
            _Step(negative, _size(min(low for low, _ in ranges), max(high for _, high in ranges)))
        )
    return tuple(steps)


def polynomial(v: Stages, pieces: Pieces, z: str, result: str, *, apart: bool = False) -> None:
    """Evaluates the polynomial whose coefficients `look_up` has read at 0.`v.<z>`.

    `v.<result>` is not negative and has so many bits as the values of all pieces need. It is at
    most `_SLACK` units of the grid a step below the polynomial's value. `apart` is that of
    `multiply`.
    """
    steps = _steps(pieces)
    v.acc = getattr(v, f"c{len(steps)}")
    for power, step in zip(reversed(range(len(steps))), steps, strict=True):
        if power < len(steps) - 1:
            # A multiplier is far from the sum before it: the wire to its register has a cycle.
            v.cut()
        acc, argument, own = v.acc, getattr(v, z), getattr(v, f"c{power}")
        kept = min(argument.width, acc.width)
        top = argument[argument.width - 1 : argument.width - kept]
        signed = min(pieces.columns()[power]) < 0
        widest = max(own.width, step.size)
        v.term = (own.sext(widest) if signed else own.zext(widest)).trunc(step.size)
        plus = [("term", kept)]
        width = step.size + kept - acc.width
        if step.negative and width > 0:
            # The product takes the sign bit for the weight that it has in an unsigned number.
            opposite = 0 - (top.zext(width) if width >= kept else top.trunc(width))
            v.fix = mux(acc[acc.width - 1], opposite, const(0, width))
            plus.append(("fix", acc.width))
        multiply(v, acc, top, "acc", below=kept, width=step.size, plus=plus, apart=apart)
    setattr(v, result, v.acc)


def _size(least: int, most: int) -> int:
    """Bits for all numbers of least … most; in two's complement if there are negative ones."""
    if least < 0:
        return max((~least).bit_length(), most.bit_length()) + 1
    return max(1, most.bit_length())
