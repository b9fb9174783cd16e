"""The binary formats of IEEE 754-2008 and what their units share: unpacking and rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.rtl._expr import Expr, cat, const, mux
from cyclescope.rtl._stages import shift_right_coarsely, shift_right_sticky, some_in_parts

if TYPE_CHECKING:
    from cyclescope.rtl._module import Module
    from cyclescope.rtl._stages import Stages

__all__ = [
    "BINARY32",
    "BINARY64",
    "Format",
    "Number",
    "depth",
    "depth_below",
    "finish",
    "float_format",
    "judge_special",
    "note_special",
    "unpack",
    "unpack_in_two",
]


@dataclass(frozen=True, slots=True)
class Format:
    """A binary interchange format: sign, `exponent` bits, `fraction` bits."""

    exponent: int
    fraction: int

    @property
    def width(self) -> int:
        """Of the whole number."""
        return 1 + self.exponent + self.fraction

    @property
    def bias(self) -> int:
        """The bias: the number added to the power of two."""
        return (1 << self.exponent - 1) - 1

    @property
    def top(self) -> int:
        """The exponent of infinities and NaNs."""
        return (1 << self.exponent) - 1

    @property
    def nan(self) -> int:
        """The NaN that units deliver, x86's default: sign set, quiet, no payload."""
        return (1 << self.exponent + 2) - 1 << self.fraction - 1


BINARY32 = Format(8, 23)
BINARY64 = Format(11, 52)


def float_format(width: int) -> Format:
    """The format of this width.

    Raises:
        ValueError: there is none.
    """
    for form in (BINARY32, BINARY64):
        if form.width == width:
            return form
    raise ValueError(f"{width}: binary floating point has 32 or 64 bits here")


@dataclass(frozen=True, slots=True)
class Number:
    """A number taken apart.

    Attributes:
        sign: one bit.
        stored: the exponent's bits.
        exponent: the same, but 1 for subnormal numbers.
        significand: with the hidden bit, `fraction` + 1 bits.
        hidden: one bit: normal, infinite or NaN.
        special: one bit: infinite or NaN.
        quiet: one bit: a NaN would not be a signaling one.
        empty: one bit: the fraction is zero.
    """

    sign: Expr
    stored: Expr
    exponent: Expr
    significand: Expr
    hidden: Expr
    special: Expr
    quiet: Expr
    empty: Expr

    @property
    def infinite(self) -> Expr:
        """One bit."""
        return self.special & self.empty

    @property
    def nan(self) -> Expr:
        """One bit."""
        return self.special & ~self.empty

    @property
    def signaling(self) -> Expr:
        """One bit: a NaN that says so."""
        return self.nan & ~self.quiet

    @property
    def zero(self) -> Expr:
        """One bit."""
        return ~self.hidden & self.empty


def unpack(m: Module, form: Format, x: Expr, name: str) -> Number:
    """Takes a number apart."""
    fraction, stored = x[form.fraction - 1 : 0], x[form.width - 2 : form.fraction]
    hidden = m.wire(f"{name}_normal", stored.any())
    special = m.wire(f"{name}_special", stored.all())
    empty = m.wire(f"{name}_empty", fraction.none())
    low = stored[0] | ~hidden
    return Number(
        sign=x[form.width - 1],
        stored=stored,
        exponent=m.wire(f"{name}_exponent", cat(stored[form.exponent - 1 : 1], low)),
        significand=m.wire(f"{name}_significand", cat(hidden, fraction)),
        hidden=hidden,
        special=special,
        quiet=fraction[form.fraction - 1],
        empty=empty,
    )


_PART = 8  # bits of a fraction that are looked at together


def unpack_in_two(v: Stages, form: Format, x: Expr, y: Expr) -> tuple[Number, Number]:
    """Takes two numbers apart, `a` and `b`; a stage ends in between.

    The first one finds whether there is a one in each part of the fractions, and it has the time
    for wires: a long fraction's bits come from far apart.
    """
    numbers = (("a", unpack(v.module, form, x, "a")), ("b", unpack(v.module, form, y, "b")))
    kept = ("sign", "stored", "exponent", "significand", "hidden", "special", "quiet")
    for name, number in numbers:
        for field in kept:
            setattr(v, f"{field}_{name}", getattr(number, field))
        fraction = number.significand[form.fraction - 1 : 0]
        setattr(v, f"ones_{name}", some_in_parts(fraction, _PART))
    v.cut()
    a, b = (
        Number(
            **{field: getattr(v, f"{field}_{name}") for field in kept},
            empty=v.module.wire(f"{name}_empty", getattr(v, f"ones_{name}").none()),
        )
        for name, _ in numbers
    )
    for name, _ in numbers:
        v.drop(f"ones_{name}", *(f"{field}_{name}" for field in kept))
    return a, b


def note_special(v: Stages, a: Number, b: Number) -> None:
    """Notes what is special about two operands, for `judge_special` behind the next cut.

    To take an operand apart is work enough for the stage before it.
    """
    v.infinite_a, v.nan_a, v.zero_a = a.infinite, a.nan, a.zero
    v.infinite_b, v.nan_b, v.zero_b = b.infinite, b.nan, b.zero
    v.signaling = a.signaling | b.signaling


def judge_special(v: Stages, *, wrong: Expr, infinite: Expr) -> None:
    """Makes `v.nan`, `v.infinite` and `v.invalid` of what was noted, and forgets that.

    Args:
        v: where.
        wrong: there is no such result, though no operand is a NaN.
        infinite: the result is, if it is no NaN.
    """
    v.nan, v.infinite = v.nan_a | v.nan_b | wrong, infinite
    v.invalid = v.signaling | wrong
    v.drop("infinite_a", "nan_a", "zero_a", "infinite_b", "nan_b", "zero_b", "signaling")


_SHORT = 32  # bits of a significand that one stage shifts right


def finish(v: Stages, form: Format, *, underflow: bool) -> None:
    """Rounds to nearest even and packs; the result is `v.result`.

    That takes one stage; with underflow two, or three if `v.sig` is long.

    It reads `v.sign`, `v.e` (signed, so that an exponent too large or small is seen), `v.sig`
    (hidden bit, fraction, guard and any bits more; hidden unless zero or, without `underflow`,
    subnormal), `v.sticky`, `v.nan`, `v.infinite`, `v.invalid`, `v.divided` (by zero); with
    underflow `v.deep`, too: how far to shift right where the exponent is less than 1, else 0
    (see `depth_below`).

    Besides it makes `v.raised`, the exceptions of IEEE 754-2008, section 7 (invalid, by zero,
    overflow, underflow, inexact from the high bit down), where tininess is that after rounding,
    and `v.raised_early`, the underflow flag where it is that before rounding.
    """
    v.tiny = v.late = const(0, 1)
    long = underflow and v.sig.width > _SHORT
    if underflow:
        v.tiny = v.deep.any()
        # One place below the normal numbers, and rounding to their precision carries.
        full = v.sig[v.sig.width - 1 : v.sig.width - form.fraction - 2].all()
        v.late = v.tiny & ~(v.deep.eq(1) & full)
        if long:
            v.sticky = v.sticky | shift_right_coarsely(v, "sig", "deep")
            v.cut()
        v.sig, lost = shift_right_sticky(v.sig, v.deep)
        v.sticky = v.sticky | lost
        if not long:
            v.cut()
    f = form.fraction
    rest = v.sig.width - f - 1
    guard = v.sig[rest - 1]
    below = v.sticky | v.sig[rest - 2 : 0].any() if rest > 1 else v.sticky
    v.up = guard & (below | v.sig[rest])
    beyond = guard | below
    if long:
        # The carry chain takes a stage for itself.
        v.beyond = beyond
        v.cut()
        beyond = v.beyond
    hidden, fraction = v.sig[v.sig.width - 1], v.sig[v.sig.width - 2 : rest]
    stored = v.e[form.exponent - 1 : 0] & hidden.repeat(form.exponent)
    packed = cat(stored, fraction)
    v.rounded = packed + v.up.zext(packed.width)
    over = const(form.top, v.e.width).sle(v.e) & hidden
    v.huge = v.infinite | over
    infinity = cat(const(form.top, form.exponent), const(0, f))
    # Flags are about results that a finite number was rounded to.
    rounding = ~(v.nan | v.infinite)
    v.over = over | v.rounded[packed.width - 1 : f].all()
    v.inexact = rounding & (beyond | v.over)
    v.raised_early = v.inexact & v.tiny
    v.raised = cat(v.invalid, v.divided & ~v.nan, rounding & v.over, v.inexact & v.late, v.inexact)
    v.result = mux(
        v.nan,
        const(form.nan, form.width),
        cat(v.sign, mux(v.huge, infinity, v.rounded)),
    )
    v.cut()


def depth_below(exponent: Expr, width: int) -> Expr:
    """The right shift of a significand of `width` bits for an exponent below 1, else 0."""
    return depth(1 - exponent, width)


def depth(below: Expr, width: int) -> Expr:
    """The right shift of a significand of `width` bits for an exponent of 1 - `below`.

    It stops where nothing is left but what is lost.
    """
    bits = width.bit_length()
    limit = (1 << bits) - 1
    top = below.width - 1
    far = below[top - 1 : bits].any()
    amount = mux(far, const(limit, bits), below[bits - 1 : 0])
    return mux(below[top], const(0, bits), amount)
