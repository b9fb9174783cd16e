"""Elementary functions: exp, log, sin, cos, tanh, each one pipeline of fixed-point arithmetic.

All are made alike: the argument is reduced to a number of a short interval, exactly or to many bits
more than the result has; a polynomial of a piece of that interval gives the function, or, where it
comes near zero, its ratio to the argument, so that the relative error stays small; then the parts
are put together and rounded once. The bits beyond the result's (`_GUARD`) keep the whole error a
few thousandths above the half unit in the last place that rounding costs.

Books: J.-M. Muller, "Elementary Functions"; for the arguments of sine and cosine M. Payne and
R. Hanek, "Radian reduction for trigonometric functions" (1983).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from cyclescope.rtl import _real as real
from cyclescope.rtl._expr import cat, const, mux
from cyclescope.rtl._format import depth, finish, float_format, unpack
from cyclescope.rtl._multiply import multiply
from cyclescope.rtl._pieces import BITS, Pieces, fit, look_up, polynomial
from cyclescope.rtl._stages import leading_zeros, shift_left, shift_right

if TYPE_CHECKING:
    from cyclescope.rtl._stages import Stages

__all__ = ["exp", "log", "tanh", "trigonometric"]

_GUARD = 10
_ONE = 1 << BITS


def _even(pieces: int, last: int = _ONE) -> list[tuple[int, int]]:
    """Pieces of one length from 0 to `last`."""
    return [(last * i // pieces, last * (i + 1) // pieces) for i in range(pieces)]


# Exponential


@cache
def _exp_pieces(width: int) -> Pieces:
    grid = float_format(width).fraction + _GUARD
    return fit(real.exp2, _even(512), 4 if width == 64 else 2, grid)


def exp(v: Stages, width: int) -> None:
    """Builds the exponential: 2 to the integer and to the fraction of x log2(e)."""
    form = float_format(width)
    f = form.fraction
    pieces = _exp_pieces(width)
    grid = pieces.grid
    most = form.exponent - 2  # |x| of 2^(most + 1) and more is too large either way
    m = v.module
    a = unpack(m, form, m.input("a", width), "a")
    large = const(form.bias + most, form.exponent).ult(a.exponent)
    v.sign, v.minus = const(0, 1), a.sign
    v.nan, v.invalid, v.divided = a.nan, a.signaling, const(0, 1)
    v.infinite, v.none = large & ~a.sign, large & a.sign
    v.sig, v.exponent = a.significand, a.exponent
    v.cut()

    # |x| log2(e), with `grid` bits behind the point if the exponent were the largest
    fine = grid + most + 2
    multiply(v, v.sig, const(real.log2_e(fine), fine + 1), "y", below=f + 2)
    lacking = const(form.bias + most, form.exponent) - v.exponent
    bits = v.y.width.bit_length()
    v.right = mux(lacking[form.exponent - 1 : bits].any(), -1, lacking[bits - 1 : 0])
    v.cut()
    shift_right(v, y="right")
    v.cut()
    v.y = mux(v.minus, 0 - v.y.zext(v.y.width + 1), v.y.zext(v.y.width + 1))
    v.cut()
    pick = (len(pieces.coefficients) - 1).bit_length()
    v.power = v.y[v.y.width - 1 : grid]
    v.index, v.z = v.y[grid - 1 : grid - pick], v.y[grid - pick - 1 : 0]
    look_up(v, pieces, "index")
    polynomial(v, pieces, "z", "value")

    # 2 at the end of the last piece is the number before it
    value = v.value.zext(grid + 2)
    value = mux(v.none, 0, value[grid:0] | value[grid + 1].repeat(grid + 1))
    v.sig, v.sticky = value[grid : grid - f - 1], value[grid - f - 2 : 0].any()
    v.e = v.power.sext(form.exponent + 2) + form.bias
    v.deep = depth(1 - form.bias - v.power.sext(form.exponent + 2), f + 2)
    v.cut()
    finish(v, form, underflow=True)


# Logarithm


@cache
def _log_pieces(width: int) -> Pieces:
    # By the significand's fraction; from 1.5 on the significand counts as half of it.
    grid = float_format(width).fraction + _GUARD
    count = 512
    low = [(_ONE * i // count, _ONE * (i + 1) // count) for i in range(count // 2)]
    high = [(s // 2 - _ONE // 2, e // 2 - _ONE // 2) for s, e in _even(count)[count // 2 :]]
    return fit(real.log1p_ratio, low + high, 5 if width == 64 else 2, grid)


def log(v: Stages, width: int) -> None:
    """Builds the natural logarithm: that of 2^e, e times a constant, and that of m, 3/4 … 3/2.

    The latter is the product of m - 1 and the ratio to it, which keeps the precision near 1.
    """
    form = float_format(width)
    f = form.fraction
    pieces = _log_pieces(width)
    grid = pieces.grid
    extended = form.exponent + 2
    m = v.module
    a = unpack(m, form, m.input("a", width), "a")
    v.nan = a.nan | (a.sign & ~a.zero)
    v.invalid = a.signaling | (v.nan & ~a.nan)
    v.infinite, v.divided = a.infinite | a.zero, a.zero
    v.sig, v.e = a.significand, a.exponent.zext(extended)
    v.left = leading_zeros(v, v.sig, cut=16)
    v.cut()
    shift_left(v, sig="left")
    v.e = v.e - v.left.zext(extended)
    v.cut()

    # |m - 1| in units of 2^-(f + 1)
    v.less = v.sig[f - 1]
    v.e = v.e - form.bias + v.less.zext(extended)
    fraction = v.sig[f - 1 : 0]
    v.t = mux(v.less, 0 - fraction, cat(fraction[f - 2 : 0], const(0, 1)))
    pick = (len(pieces.coefficients) - 1).bit_length()
    v.index, v.z = fraction[f - 1 : f - pick], fraction[f - pick - 1 : 0]
    v.cut()
    v.alone = v.e.none()
    v.minus = v.e[extended - 1]
    v.opposed = v.minus ^ v.less
    count = form.exponent
    v.count = mux(v.minus, 0 - v.e, v.e)[count - 1 : 0]
    v.small = leading_zeros(v, v.t, cut=16)
    v.cut()
    shift_left(v, t="small")
    look_up(v, pieces, "index")
    polynomial(v, pieces, "z", "ratio")
    v.cut()  # as between its steps

    # |log(m)| 2^small, and e log(2), in units of 2^-unit
    unit = grid + 3
    multiply(v, v.ratio, v.t, "part", below=f + 1 + grid - unit, width=unit)
    two = const(real.logarithm_of_2(unit), unit)
    multiply(v, two, v.count, "whole_part")
    high = v.whole_part.width - unit
    v.moved = v.part
    shift_right(v, moved="small")
    v.moved = v.moved ^ v.opposed.repeat(unit)
    v.cut()
    whole = unit + high
    both = v.whole_part + cat(v.opposed.repeat(high), v.moved) + v.opposed.zext(whole)
    # Alone it is at the top, its zeros in the exponent.
    v.sum = mux(v.alone, cat(v.part, const(0, high)), both)
    near = const(form.bias - 1, extended) - v.small.zext(extended)
    v.offset = mux(v.alone, near, form.bias - 1 + high)
    v.sign = mux(v.alone, v.less, v.minus)  # of zero, too: it counts as very small
    v.cut()
    v.left = leading_zeros(v, v.sum[whole - 1 : whole - 16])
    v.cut()
    v.sig = (v.sum << v.left)[whole - 1 : whole - f - 2]
    v.e = v.offset - v.left.zext(extended)
    v.sticky = const(1, 1)
    v.cut()
    finish(v, form, underflow=False)


# Sine and cosine


@cache
def _trigonometric_pieces(width: int) -> Pieces:
    """The ratio sin(pi u / 2) / u for u of 0 … 1/2, then cos(pi u / 2)."""
    grid = float_format(width).fraction + _GUARD
    degree = 5 if width == 64 else 2
    sines = fit(real.sine_ratio, _even(256, _ONE // 2), degree, grid)
    cosines = fit(real.cosine, _even(256, _ONE // 2), degree, grid)
    return Pieces(grid, sines.coefficients + cosines.coefficients)


def trigonometric(v: Stages, width: int, *, cosine: bool) -> None:
    """Builds sine or cosine of any number.

    The argument is multiplied by those bits of 2 / pi that do not make whole turns and reach far
    enough for the number that comes nearest to a multiple of pi / 2 (Payne and Hanek): all integer
    arithmetic, and exact for every exponent. Below 2^-`least` the sine is x, the cosine 1.
    """
    form = float_format(width)
    f = form.fraction
    pieces = _trigonometric_pieces(width)
    grid = pieces.grid
    extended = form.exponent + 2
    near = 64 if width == 64 else 32  # leading zeros that a fraction of a quarter turn may have
    least = (f + 5) // 2
    size = f + 3 + near + grid + 4  # bits of 2 / pi that are multiplied: two before the point
    m = v.module
    a = unpack(m, form, m.input("a", width), "a")
    v.nan, v.divided = a.nan | a.infinite, const(0, 1)
    v.invalid = a.signaling | a.infinite
    v.infinite, v.given = const(0, 1), const(0, 1) if cosine else a.sign
    # Subnormal numbers are tiny, and nothing else counts then: their exponent need not be made 1.
    v.tiny = a.stored.ult(form.bias - least)
    v.m, v.exponent = a.significand, a.exponent
    v.place = a.stored - (form.bias - least)
    v.cut()

    step = 16
    rows = (form.bias + least) // step + 1
    long = size + step - 1
    words = [
        real.two_over_pi(long + 2 * form.bias) * 2 ** (step * row)
        >> (2 * form.bias + 2 + least + f)
        for row in range(rows)
    ]
    table = m.memory("two_over_pi", long, rows, words=[w % (1 << long) for w in words])
    top = v.place[form.exponent - 1 : 4][(rows - 1).bit_length() - 1 : 0]
    v.window = table.at(top)
    v.place = v.place[3:0]
    v.cut()
    if width == 64:
        # The table is a block RAM, whose word comes late, and there are many multipliers, far away.
        v.cut()
    v.window = (v.window << v.place)[long - 1 : step - 1]
    v.cut()
    if width == 64:
        v.cut()
    multiply(v, v.window, v.m, "turn", below=f - 2, width=size - f + 2)

    # turn: quarters, their fraction; u is the distance to the nearer end of the quarter
    length = v.turn.width - 3
    quarter = v.turn[length + 2 : length + 1]
    if cosine:
        quarter = m.wire("quarter", quarter + 1)
    v.back = v.turn[length]
    v.even = quarter[0] ^ v.back  # the cosine's polynomial
    v.sign = v.given ^ (quarter[1] & ~v.tiny)
    v.u = v.turn[length - 1 : 0] ^ v.back.repeat(length)
    v.cut()
    pick = (len(pieces.coefficients) // 2 - 1).bit_length()
    v.index = cat(v.even, v.u[length - 1 : length - pick])
    v.z = v.u[length - pick - 1 : length - grid]
    v.small = leading_zeros(v, v.u[length - 1 : length - near], cut=16)
    v.cut()
    reach = grid + 2
    shift_left(v, u="small")
    v.u = mux(v.even, const(1 << reach - 1, reach), v.u[length - 1 : length - reach])
    look_up(v, pieces, "index")
    polynomial(v, pieces, "z", "ratio")
    v.cut()  # as between its steps
    v.ratio = v.ratio.zext(grid + 1)
    multiply(v, v.ratio, v.u, "product", below=grid + 1 + reach - (f + 11))
    v.left = leading_zeros(v, v.product[f + 10 : f + 7])
    v.cut()

    # The sine's product counts from 2^-small / 2 on, the cosine's from 2 on.
    below = const(form.bias - 1, extended) - v.small.zext(extended)
    begin = mux(v.even, const(form.bias + 1, extended), below)
    v.sig = (v.product << v.left)[f + 10 : 9]
    v.e = begin - v.left.zext(extended)
    v.cut()
    own = const(1 << f, f + 1) if cosine else v.m
    exponent = const(form.bias, form.exponent) if cosine else v.exponent
    v.sig = mux(v.tiny, cat(own, const(0, 1)), v.sig)
    v.e = mux(v.tiny, exponent.zext(extended), v.e)
    v.sticky = ~v.tiny
    v.cut()
    finish(v, form, underflow=False)


# Hyperbolic tangent


@cache
def _tanh_pieces(width: int) -> Pieces:
    # The ratio falls to a twentieth: it needs as many bits more.
    grid = float_format(width).fraction + _GUARD + 5
    last = 20 if width == 64 else 10
    return fit(real.tanh_ratio, _even(32 * last, last * _ONE), 8 if width == 64 else 4, grid)


def tanh(v: Stages, width: int) -> None:
    """Builds the hyperbolic tangent: x by its ratio to x; x itself, or 1, at the ends."""
    form = float_format(width)
    f = form.fraction
    pieces = _tanh_pieces(width)
    grid = pieces.grid
    extended = form.exponent + 2
    least = (f + 7) // 2
    count = len(pieces.coefficients)
    most = (count // 32).bit_length() - 1  # the exponent of the largest x that a piece has
    m = v.module
    a = unpack(m, form, m.input("a", width), "a")
    v.nan, v.invalid, v.divided, v.sign = a.nan, a.signaling, const(0, 1), a.sign
    v.infinite = const(0, 1)
    # Of subnormal numbers, which are tiny, nothing else counts.
    v.tiny = a.stored.ult(form.bias - least)
    v.large = const(form.bias + most, form.exponent).ult(a.stored)
    v.m, v.exponent = a.significand, a.exponent
    lacking = const(form.bias + most, form.exponent) - a.stored
    v.right = lacking[5:0]
    v.cut()

    # x with `most` + 1 bits in front of the point, `grid` behind
    whole = cat(v.m, const(0, most + grid - f))
    if width == 64:
        v.x = whole
        shift_right(v, x="right")
    else:
        v.x = whole >> v.right
    v.cut()
    pick = (count - 1).bit_length()
    v.index = v.x[v.x.width - 1 : v.x.width - pick]
    v.z = v.x[v.x.width - pick - 1 : 0]
    v.large = v.large | (const(count - 1, pick).ult(v.index) & ~v.tiny)
    look_up(v, pieces, "index")
    # The 76 multipliers of 64 bits take a large part of a device's rows of them.
    apart = width == 64
    polynomial(v, pieces, "z", "ratio", apart=apart)
    v.cut()  # as between its steps
    v.ratio = v.ratio.zext(grid + 1)
    multiply(v, v.ratio, v.m, "product", below=grid + f + 2 - (f + 14), apart=apart)
    v.left = leading_zeros(v, v.product[f + 13 : f + 6])
    v.cut()
    v.sig = (v.product << v.left)[f + 13 : 12]
    v.e = v.exponent.zext(extended) + 1 - v.left.zext(extended)
    v.cut()
    end = v.tiny | v.large
    own = mux(v.large, const(1 << f, f + 1), v.m)
    exponent = mux(v.large, const(form.bias, form.exponent), v.exponent)
    v.sig = mux(end, cat(own, const(0, 1)), v.sig)
    v.e = mux(end, exponent.zext(extended), v.e)
    v.sticky = ~end
    v.cut()
    finish(v, form, underflow=False)
