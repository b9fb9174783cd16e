"""Division and square root by subtraction: of integers, and of floating-point numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.rtl._expr import Expr, cat, const, mux
from cyclescope.rtl._format import (
    depth_below,
    finish,
    float_format,
    judge_special,
    note_special,
    unpack,
    unpack_in_two,
)
from cyclescope.rtl._stages import leading_zeros, shift_left, some_in_parts

if TYPE_CHECKING:
    from cyclescope.rtl._stages import Stages

__all__ = ["divide", "fdiv", "fsqrt"]


_PART = 8  # bits of a rest that are looked at together


class _TwoBits:
    """Steps that find two bits of a quotient each: fast where a divisor has up to 24 bits.

    The divisor `v.b` is subtracted once, twice and three times side by side, so that it takes one
    carry chain. A cut follows, as which of the differences is the rest selects each of its bits:
    that takes a register's strength. A cut belongs before the first step, too: three times the
    divisor is made when the steps are.
    """

    each = 2

    def __init__(self, v: Stages) -> None:
        self._v = v
        wide = v.b.width + 2
        v.b3 = v.b.zext(wide) + cat(v.b, const(0, 1)).zext(wide)

    def step(self, rest: Expr, digits: Expr) -> None:
        """Takes the dividend's next two bits; a cut must follow."""
        v = self._v
        v.part = cat(rest, digits)
        for times, multiple in enumerate((v.b, cat(v.b, const(0, 1)), v.b3), 1):
            less = v.part.zext(v.part.width + 1) - multiple.zext(v.part.width + 1)
            less = v.module.wire("less", less)
            # The bit in front of the others is the borrow.
            setattr(v, f"less{times}", cat(less[v.part.width], less[v.b.width - 1 : 0]))

    def found(self) -> tuple[Expr, Expr]:
        """After the cut: the rest, and the quotient's bits."""
        v = self._v
        top = v.b.width
        one, two, three = ~v.less1[top], ~v.less2[top], ~v.less3[top]
        at_least_two = mux(three, v.less3[top - 1 : 0], v.less2[top - 1 : 0])
        at_most_one = mux(one, v.less1[top - 1 : 0], v.part[top - 1 : 0])
        return mux(two, at_least_two, at_most_one), cat(two, three | (one & ~two))

    def remainder(self, rest: Expr) -> Expr:
        """The remainder, when all steps are done."""
        return rest

    def differs(self, rest: Expr) -> Expr:
        """Bits of which one is 1 if there is a remainder."""
        return rest


class _OneBit:
    """Steps that find one bit of a quotient each, without restoring.

    The divisor `v.b` is subtracted from a rest that is not negative and added to one that is, so a
    step has one carry chain and no choice behind it. The rest is less than the divisor, and at
    least minus the divisor: it has a sign.
    """

    each = 1

    def __init__(self, v: Stages) -> None:
        self._v = v

    def step(self, rest: Expr, digits: Expr) -> None:
        """Takes the dividend's next bit; a cut must follow."""
        v = self._v
        size = v.b.width + 1
        subtracts = ~rest[size - 1] if rest.width == size else const(1, 1)
        addend = v.b.zext(size) ^ subtracts.repeat(size)
        # The carry into the lowest bit comes from one more below it.
        total = cat(rest[size - 2 : 0], digits, const(1, 1)) + cat(addend, subtracts)
        v.rest = v.module.wire("total", total)[size:1]

    def found(self) -> tuple[Expr, Expr]:
        """After the cut: the rest, with its sign, and the quotient's bit."""
        rest = self._v.rest
        return rest, ~rest[rest.width - 1]

    def remainder(self, rest: Expr) -> Expr:
        """The remainder, when all steps are done."""
        width = rest.width - 1
        return rest[width - 1 : 0] + (self._v.b & rest[width].repeat(width))

    def differs(self, rest: Expr) -> Expr:
        """Bits of which one is 1 if there is a remainder.

        Of a negative rest, whether the divisor added gives nothing: if it does, each carry is known
        from the bits below it, without a chain.
        """
        v = self._v
        b = v.b.zext(rest.width)
        carries = cat((rest | b)[rest.width - 2 : 0], const(0, 1))
        return mux(rest[rest.width - 1], rest ^ b ^ carries, rest)


def _steps(v: Stages, width: int) -> _OneBit | _TwoBits:
    """The steps of a division by `v.b`, for a quotient of so many bits.

    Of 32 bits, two at a time take twice the logic, and their chains are too long for the clock.
    """
    return _TwoBits(v) if width <= 24 else _OneBit(v)


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
    steps = _steps(v, width)
    if steps.each > 1:
        v.cut()

    # The dividend leaves at the top of `a` while the quotient enters at its end.
    rest: Expr = const(0, width)
    for _ in range(0, width, steps.each):
        steps.step(rest, v.a[width - 1 : width - steps.each])
        v.cut()
        rest, found = steps.found()
        v.a = cat(v.a[width - steps.each - 1 : 0], found)
    v.rest = steps.remainder(rest)
    if steps.each > 1 or signed or remainder:
        v.cut()

    if signed:
        if remainder:
            v.result = mux(v.negative_a, 0 - v.rest, v.rest)
        else:
            v.result = mux((v.negative_a ^ v.negative_b) & ~v.zero, 0 - v.a, v.a)
        v.cut()
    else:
        v.result = v.rest if remainder else v.a


def fdiv(v: Stages, width: int) -> None:
    """Builds the quotient of two numbers."""
    form = float_format(width)
    f = form.fraction
    extended = form.exponent + 3
    m = v.module
    x, y = m.input("a", width), m.input("b", width)
    if width > 32:
        a, b = unpack_in_two(v, form, x, y)
    else:
        a, b = unpack(m, form, x, "a"), unpack(m, form, y, "b")
    v.sign = a.sign ^ b.sign
    note_special(v, a, b)
    v.e_a, v.e_b = a.exponent.zext(extended), b.exponent.zext(extended)
    v.a, v.b = a.significand, b.significand

    # normalise both
    left_b = leading_zeros(v.beside(), v.b, cut=16)
    v.left_a = leading_zeros(v, v.a, cut=16)
    v.left_b = left_b
    v.e = v.e_a - v.e_b
    v.drop("e_a", "e_b")
    v.cut()
    divided, none = v.zero_b & ~v.infinite_a, v.zero_a | v.infinite_b
    wrong = (v.infinite_a & v.infinite_b) | (v.zero_a & v.zero_b)
    judge_special(v, wrong=wrong, infinite=v.infinite_a | v.zero_b)
    v.divided, v.none = divided, none
    shift_left(v, a="left_a", b="left_b")
    # A sum a stage: the zeros of the last halves are known late.
    v.e = v.e + form.bias
    v.more = v.left_b.zext(extended) - v.left_a.zext(extended)
    v.drop("left_a", "left_b")
    v.cut()

    # so that the quotient is at least 1 and less than 2, and its first bit known
    v.less = v.a.ult(v.b)
    v.e = v.e + v.more
    steps = _steps(v, f)
    v.cut()
    dividend = mux(v.less, cat(v.a, const(0, 1)), cat(const(0, 1), v.a))
    v.rest = (dividend - v.b.zext(f + 2))[f:0]
    v.e = v.e - v.less.zext(extended)
    v.drop("a", "less", "more")
    v.cut()
    rest, v.quotient = v.rest, const(1, 1)
    for _ in range(0, f + 1, steps.each):
        steps.step(rest, const(0, steps.each))
        v.cut()
        rest, found = steps.found()
        v.quotient = cat(v.quotient, found)

    # In two stages: first for parts of the rest.
    differs = v.module.wire("differs", steps.differs(rest))
    v.parts = some_in_parts(differs, _PART)
    v.sig = v.quotient & (~v.none).repeat(v.quotient.width)
    v.deep = depth_below(v.e, v.quotient.width)
    v.cut()
    v.sticky = v.parts.any() & ~v.none
    if width > 32:
        v.cut()  # a rest of 64 bits lies far from where the quotient is shifted
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
    shift_left(v, a="left")
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
