"""Comparisons of floating-point numbers, all quiet, and the smaller and larger of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cyclescope.rtl._expr import cat, const, mux
from cyclescope.rtl._format import float_format, unpack

if TYPE_CHECKING:
    from cyclescope.rtl._expr import Expr
    from cyclescope.rtl._format import Number
    from cyclescope.rtl._module import Module
    from cyclescope.rtl._stages import Stages

__all__ = ["compare", "extreme", "relations"]


def compare(v: Stages, width: int, relation: Literal["eq", "lt", "le"]) -> None:
    """Builds a comparison. False if an operand is a NaN."""
    x, y, a, b = _operands(v.module, width)
    v.unordered = a.nan | b.nan
    v.equal = _equal(x, y, a, b)
    holds = v.equal
    if relation != "eq":
        _less(v, x, y, a, b)
        holds = v.less | v.equal if relation == "le" else v.less
    v.result = holds & ~v.unordered
    v.cut()


def relations(v: Stages, width: int) -> None:
    """Builds all relations at once: `v.result` is less, equal, greater, unordered from the top.

    `v.raised` is whether an operand is a signaling NaN.
    """
    x, y, a, b = _operands(v.module, width)
    v.unordered = a.nan | b.nan
    v.raised = a.signaling | b.signaling
    v.equal = _equal(x, y, a, b)
    _less(v, x, y, a, b)
    v.result = cat(
        v.less & ~v.unordered,
        v.equal & ~v.unordered,
        ~v.less & ~v.equal & ~v.unordered,
        v.unordered,
    )
    v.cut()


def extreme(v: Stages, width: int, *, larger: bool) -> None:
    """Builds C's `fmin` or `fmax` as glibc has them.

    The first of equal ones, so fmin(-0, +0) is -0 and fmin(+0, -0) is +0. A number beats a quiet
    NaN; a signaling one, or two NaNs, give a NaN (`minNum` of IEEE 754-2008).
    """
    form = float_format(width)
    x, y, a, b = _operands(v.module, width)
    v.a, v.b = x, y
    quiet = form.fraction - 1
    v.nan = (a.nan & b.nan) | (a.nan & ~x[quiet]) | (b.nan & ~y[quiet])
    v.only_first, v.only_second = b.nan, a.nan & ~b.nan
    _less(v, *((x, y, a, b) if larger else (y, x, b, a)))
    v.second = (v.less & ~v.only_first) | v.only_second
    v.cut()
    v.result = mux(v.nan, const(form.nan, width), mux(v.second, v.b, v.a))
    v.cut()


def _operands(m: Module, width: int) -> tuple[Expr, Expr, Number, Number]:
    form = float_format(width)
    x, y = m.input("a", width), m.input("b", width)
    return x, y, unpack(m, form, x, "a"), unpack(m, form, y, "b")


def _equal(x: Expr, y: Expr, a: Number, b: Number) -> Expr:
    """Is x equal to y, neither a NaN?"""
    return x.eq(y) | (a.zero & b.zero)


def _less(v: Stages, x: Expr, y: Expr, a: Number, b: Number) -> None:
    """Leaves `v.less`: is x less than y, neither a NaN?

    The bits but the sign are in the order of magnitudes. Of 64 bits that takes a stage of its own.
    """
    top = x.width - 2
    v.smaller, v.alike = x[top:0].ult(y[top:0]), x[top:0].eq(y[top:0])
    v.negative, v.both = a.sign, a.sign.eq(b.sign)
    v.below = a.sign & ~b.sign & ~(a.zero & b.zero)
    if x.width == 64:
        v.cut()
    larger = ~v.smaller & ~v.alike
    v.less = mux(v.both, mux(v.negative, larger, v.smaller), v.below)
    v.drop("smaller", "alike", "negative", "both", "below")
