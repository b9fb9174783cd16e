"""Conversions between integers and floating-point numbers, and between the two formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.rtl._expr import cat, const, mux
from cyclescope.rtl._format import BINARY32, BINARY64, depth_below, finish, float_format, unpack
from cyclescope.rtl._stages import leading_zeros, shift_left

if TYPE_CHECKING:
    from cyclescope.rtl._expr import Expr
    from cyclescope.rtl._stages import Stages

__all__ = ["extend", "from_integer", "to_integer", "truncate"]


def from_integer(v: Stages, width: int, source: int, *, signed: bool) -> None:
    """Builds the conversion of an integer of `source` bits."""
    form = float_format(width)
    f = form.fraction
    m = v.module
    a = m.input("a", source)
    v.sign = a[source - 1] if signed else const(0, 1)
    v.a = mux(v.sign, 0 - a, a) if signed else a
    v.cut()
    v.left = leading_zeros(v, v.a, cut=16)
    v.cut()
    shift_left(v, a="left")
    # Space for a guard bit where the integer is shorter than the significand.
    size = max(source, f + 2)
    v.sig = v.a if size == source else cat(v.a, const(0, size - source))
    v.e = const(form.bias + source - 1, form.exponent + 1) - v.left.zext(form.exponent + 1)
    v.e = v.e.zext(form.exponent + 2)
    v.nan = v.infinite = v.sticky = v.invalid = v.divided = const(0, 1)
    v.cut()
    finish(v, form, underflow=False)


def to_integer(v: Stages, width: int, source: int, *, signed: bool, saturate: bool = False) -> None:
    """Builds the conversion to an integer of `width` bits.

    Toward zero. What does not fit becomes 0x80…0, as x86's `cvttss2si` has it. To an unsigned
    integer compilers for x86 go by way of 64 bits: a negative number that fits in a signed one
    of 64 bits wraps around, for 32 bits the low half is taken.

    With `saturate` what does not fit in a signed integer becomes the nearest one that does, a
    NaN the largest.
    """
    form = float_format(source)
    f = form.fraction
    inner = width if signed else 64
    m = v.module
    a = unpack(m, form, m.input("a", source), "a")
    # The integer is the top of `sig`, moved right by what the exponent lacks to 2^(size - 1).
    size = max(inner, f + 1)
    v.sign, v.nan = a.sign, a.nan
    v.sig = a.significand if size == f + 1 else cat(a.significand, const(0, size - f - 1))
    extended = form.exponent + 2
    # Of a subnormal number nothing is left, so its exponent need not be made 1.
    lacking = m.wire("lacking", const(form.bias + size - 1, extended) - a.stored.zext(extended))
    bits = size.bit_length()
    v.large = lacking[extended - 1]  # infinities and NaNs among them
    v.right = mux(lacking[extended - 1 : bits].any(), const(-1, bits), lacking[bits - 1 : 0])
    v.cut()
    v.sig = v.sig >> v.right
    v.cut()

    sig = v.sig
    low = sig[inner - 1 : 0]
    minus = mux(v.sign, 0 - low, low)
    above = v.large if size == inner else v.large | sig[size - 1 : inner].any()
    # With the top bit set only the smallest negative number fits in a signed integer: 0x80…0, too.
    v.over = above | (sig[inner - 1] if signed or width < 64 else v.sign & sig[inner - 1])
    beyond: Expr = const(1 << inner - 1, inner)
    if saturate:
        beyond = mux(v.sign & ~v.nan, beyond, ~beyond)
    v.result = mux(v.over, beyond, minus)[width - 1 : 0]
    v.cut()


def extend(v: Stages) -> None:
    """Builds the conversion from 32 to 64 bits, which is exact."""
    small, large = BINARY32, BINARY64
    m = v.module
    a = unpack(m, small, m.input("a", 32), "a")
    v.sign, v.nan, v.infinite, v.zero = a.sign, a.nan, a.infinite, a.zero
    v.sig, v.e = a.significand, a.exponent.zext(large.exponent)
    v.left = leading_zeros(v, v.sig, cut=16)
    v.cut()
    v.sig = v.sig << v.left
    v.e = v.e + (large.bias - small.bias) - v.left.zext(large.exponent)
    v.cut()
    rest = large.fraction - small.fraction
    finite = cat(v.e, v.sig[small.fraction - 1 : 0], const(0, rest))
    infinity = cat(const(large.top, large.exponent), const(0, large.fraction))
    magnitude = mux(v.infinite, infinity, mux(v.zero, const(0, 63), finite))
    v.result = mux(v.nan, const(large.nan, 64), cat(v.sign, magnitude))
    v.cut()


def truncate(v: Stages) -> None:
    """Builds the conversion from 64 to 32 bits."""
    small, large = BINARY32, BINARY64
    extended = large.exponent + 2
    m = v.module
    a = unpack(m, large, m.input("a", 64), "a")
    v.sign, v.nan, v.infinite = a.sign, a.nan, a.infinite
    v.invalid, v.divided = a.signaling, const(0, 1)
    # A number that is subnormal in 64 bits is far below the smallest of 32: all is lost.
    v.sig = a.significand[large.fraction : large.fraction - small.fraction - 2]
    v.sticky = a.significand[large.fraction - small.fraction - 3 : 0].any()
    v.e = a.exponent.zext(extended) - (large.bias - small.bias)
    v.deep = depth_below(v.e, v.sig.width)
    v.cut()
    finish(v, small, underflow=True)
