"""Floating-point addition and subtraction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.rtl._expr import cat, const, mux
from cyclescope.rtl._format import finish, float_format, unpack
from cyclescope.rtl._stages import leading_zeros, shift_right_coarsely, shift_right_sticky

if TYPE_CHECKING:
    from cyclescope.rtl._stages import Stages

__all__ = ["add"]


def add(v: Stages, width: int, *, subtract: bool) -> None:
    """Build the adder.

    The number of larger magnitude keeps its place, the other moves right; three bits more, the
    last of them sticky, are enough for any rounding (Goldberg, "What every computer scientist
    should know about floating-point arithmetic", section on guard digits).
    """
    form = float_format(width)
    f, wide = form.fraction, form.width == 64
    m = v.module
    x, y = m.input("a", width), m.input("b", width)
    if subtract:
        y = m.wire("negated", cat(~y[width - 1], y[width - 2 : 0]))

    # 1: which is larger, and by how much the exponents differ
    a, b = unpack(m, form, x, "a"), unpack(m, form, y, "b")
    v.swap = x[width - 2 : 0].ult(y[width - 2 : 0])
    v.ahead = a.exponent - b.exponent
    v.behind = b.exponent - a.exponent
    v.sig_a, v.sig_b, v.e_a, v.e_b = a.significand, b.significand, a.exponent, b.exponent
    v.sign_a, v.sign_b = a.sign, b.sign
    v.nan = a.nan | b.nan | (a.infinite & b.infinite & (a.sign ^ b.sign))
    v.infinite = a.infinite | b.infinite
    v.invalid = a.signaling | b.signaling | (v.nan & ~a.nan & ~b.nan)
    v.divided = const(0, 1)
    v.cut()

    # 2: the larger one, the smaller one, the distance; beyond all bits it does not matter
    v.sign = mux(v.swap, v.sign_b, v.sign_a)
    v.minus = v.sign_a ^ v.sign_b
    v.e = mux(v.swap, v.e_b, v.e_a)
    v.large = mux(v.swap, v.sig_b, v.sig_a)
    v.small = cat(mux(v.swap, v.sig_a, v.sig_b), const(0, 3))
    distance = m.wire("distance", mux(v.swap, v.behind, v.ahead))
    bits = (f + 4).bit_length()
    v.distance = mux(distance[form.exponent - 1 : bits].any(), -1, distance[bits - 1 : 0])
    v.cut()

    # 3, and 4 for 64 bits: align
    if wide:
        v.lost = shift_right_coarsely(v, "small", "distance")
        v.cut()
        v.small, lost = shift_right_sticky(v.small, v.distance)
        v.lost = v.lost | lost
    else:
        v.small, v.lost = shift_right_sticky(v.small, v.distance)
    v.cut()

    # add; the top bit has the weight of exponent + 1. In a difference what was lost borrows.
    n = f + 5
    larger = cat(const(0, 1), v.large, const(0, 3))
    smaller = cat(const(0, 1), v.small[f + 3 : 1], v.small[0] | v.lost)
    smaller = m.wire("smaller", smaller)
    v.sum = larger + (smaller ^ v.minus.repeat(n)) + v.minus.zext(n)
    # A subnormal number stops to move left after exponent places.
    v.ones = v.sum | (const(1 << n - 1, n) >> v.e)
    v.cut()

    # how far left
    v.left = leading_zeros(v, v.ones, cut=16 if wide else 0)
    v.cut()

    # normalise
    extended = form.exponent + 2
    v.sig = v.sum << v.left
    v.sign = v.sign & ~(v.minus & v.sum.none())
    v.e = v.e.zext(extended) + 1 - v.left.zext(extended)
    v.sticky = const(0, 1)
    v.cut()

    finish(v, form, underflow=False)
