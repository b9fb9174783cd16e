"""Division and square root by subtraction: of integers, and of floating-point numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.rtl._expr import Expr, cat, const, mux
from cyclescope.rtl._format import depth_below, finish, float_format, unpack
from cyclescope.rtl._stages import leading_zeros

if TYPE_CHECKING:
    from cyclescope.rtl._stages import Stages

__all__ = ["divide", "fdiv", "fsqrt"]


def _root_steps(width: int) -> int:
    """Bits of a root that one stage finds: two carry chains in a row if they are short."""
    return 2 if width <= 26 else 1


def _bits(width: int) -> int:
    """Bits of a quotient that one stage finds: two if three subtractions and a choice are fast."""
    return 2 if width <= 32 else 1


def divide(v: Stages, width: int, *, signed: bool, remainder: bool) -> None:
    """Builds an integer division toward zero, or its remainder.

    By zero the quotient is all ones and the remainder the dividend; the smallest number divided
    by -1 is itself, with remainder 0.
    """
    m = v.module
    a, b = m.input("a", width), m.input("b", width)
    if signed:
        v.negative_a, v.negative_b = a[width - 1], b[width - 1]
        v.a = mux(v.negative_a, 0 - a, a)
        v.b = mux(v.negative_b, 0 - b, b)
        v.zero = b.none()
        v.cut()
    else:
        v.a, v.b = a, b
    if (each := _bits(width)) == 2:
        _triple(v)
        v.cut()

    # The dividend leaves at the top of `a` while the quotient enters at its end.
    v.rest = const(0, width)
    for i in range(0, width, each):
        if i:
            v.cut()
        v.rest, found = _step(v, cat(v.rest, v.a[width - 1 : width - each]))
        v.a = cat(v.a[width - each - 1 : 0], found)
    v.cut()

    if signed:
        if remainder:
            v.result = mux(v.negative_a, 0 - v.rest, v.rest)
        else:
            v.result = mux((v.negative_a ^ v.negative_b) & ~v.zero, 0 - v.a, v.a)
        v.cut()
    else:
        v.result = v.rest if remainder else v.a


def _triple(v: Stages) -> None:
    """Makes three times the divisor `v.b`, for `_step`."""
    wide = v.b.width + 2
    v.b3 = v.b.zext(wide) + cat(v.b, const(0, 1)).zext(wide)


def _step(v: Stages, part: Expr) -> tuple[Expr, Expr]:
    """One or two bits of a quotient by `v.b`: (new rest, bits).

    `part` has so many bits more than the divisor. For two bits the divisor is subtracted once,
    twice and three times side by side, so that they take one carry chain.
    """
    width = v.b.width
    each = part.width - width
    part = v.module.named(part, "part")
    multiples = (v.b,) if each == 1 else (v.b, cat(v.b, const(0, 1)), v.b3)
    rests: list[Expr] = []
    fits: list[Expr] = []
    for multiple in multiples:
        # Not negative: the bit in front of the others is the borrow.
        less = part.zext(part.width + 1) - multiple.zext(part.width + 1)
        less = v.module.wire("less", less)
        fits.append(~less[part.width])
        rests.append(less[width - 1 : 0])
    rest = mux(fits[0], rests[0], part[width - 1 : 0])
    if each == 1:
        return rest, fits[0]
    one, two, three = fits
    return mux(two, mux(three, rests[2], rests[1]), rest), cat(two, three | (one & ~two))


def fdiv(v: Stages, width: int) -> None:
    """Builds the quotient of two numbers."""
    form = float_format(width)
    f = form.fraction
    extended = form.exponent + 3
    m = v.module
    a = unpack(m, form, m.input("a", width), "a")
    b = unpack(m, form, m.input("b", width), "b")
    v.sign = a.sign ^ b.sign
    v.nan = a.nan | b.nan | (a.infinite & b.infinite) | (a.zero & b.zero)
    v.infinite = a.infinite | b.zero
    v.invalid = a.signaling | b.signaling | (v.nan & ~a.nan & ~b.nan)
    v.divided = b.zero & ~a.infinite
    v.none = a.zero | b.infinite
    v.e_a, v.e_b = a.exponent.zext(extended), b.exponent.zext(extended)
    v.a, v.b = a.significand, b.significand

    # normalise both
    v.left_a = leading_zeros(v, v.a, cut=16)
    v.left_b = leading_zeros(v.beside(), b.significand, cut=16)
    v.cut()
    v.a, v.b = v.a << v.left_a, v.b << v.left_b
    v.e = (v.e_a - v.e_b) + (v.left_b.zext(extended) - v.left_a.zext(extended))
    v.drop("e_a", "e_b", "left_a", "left_b")
    v.cut()

    # so that the quotient is at least 1 and less than 2, and its first bit known
    v.less = v.a.ult(v.b)
    v.e = v.e + form.bias
    if (each := _bits(f)) == 2:
        _triple(v)
    v.cut()
    dividend = mux(v.less, cat(v.a, const(0, 1)), cat(const(0, 1), v.a))
    v.rest = (dividend - v.b.zext(f + 2))[f:0]
    v.e = v.e - v.less.zext(extended)
    v.quotient = const(1, 1)
    v.drop("a", "less")
    for _ in range(0, f + 1, each):
        v.cut()
        v.rest, found = _step(v, cat(v.rest, const(0, each)))
        v.quotient = cat(v.quotient, found)
    v.cut()

    v.sticky = v.rest.any() & ~v.none
    v.sig = v.quotient & (~v.none).repeat(v.quotient.width)
    v.deep = depth_below(v.e, v.quotient.width)
    v.cut()
    finish(v, form, underflow=True)


def fsqrt(v: Stages, width: int) -> None:
    """Builds the square root."""
    form = float_format(width)
    f = form.fraction
    extended = form.exponent + 2
    m = v.module
    a = unpack(m, form, m.input("a", width), "a")
    v.sign = a.sign
    v.nan = a.nan | (a.sign & ~a.zero)
    v.invalid = a.signaling | (v.nan & ~a.nan)
    v.divided = const(0, 1)
    v.infinite = a.infinite
    v.none = a.zero
    v.e, v.a = a.exponent.zext(extended), a.significand
    v.left = leading_zeros(v, v.a, cut=16)
    v.cut()
    v.a = v.a << v.left
    v.e = v.e - v.left.zext(extended)
    v.cut()

    # An even power of two: m in 1 … 4. The bias is odd, so e is odd if the power is even.
    v.root_e = (v.e + form.bias).ashr(1)
    v.radicand = cat(mux(v.e[0], cat(const(0, 1), v.a), cat(v.a, const(0, 1))), const(0, f + 2))
    v.drop("a", "left", "e")
    # Two bits of the radicand a step for one of the root; the rest is at most twice the root.
    steps = f + 2
    v.root, v.rest = const(0, 1), const(0, 1)
    for i in range(steps):
        if i % _root_steps(f) == 0:
            v.cut()
        size = i + 3
        left = v.radicand.width
        pair = v.radicand[left - 1 : left - 2]
        rest = v.module.wire("part", cat(v.rest, pair))
        trial = cat(v.root, const(1, 2))
        less = v.module.wire("less", rest.zext(size + 1) - trial.zext(size + 1))
        borrow = less[size]
        v.rest = mux(borrow, rest[size - 2 : 0], less[size - 2 : 0])
        v.root = cat(v.root, ~borrow) if i else ~borrow
        if left > 2:
            v.radicand = v.radicand[left - 3 : 0]
    v.cut()

    v.sticky = v.rest.any() & ~v.none
    v.sig = v.root & (~v.none).repeat(steps)
    v.e = v.root_e
    v.cut()
    finish(v, form, underflow=False)
