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
    m = v.module
    x, y, a, b = _operands(m, width)
    equal = x.eq(y) | (a.zero & b.zero)
    less = _less(m, x, y, a, b)
    holds = {"eq": equal, "lt": less, "le": equal | less}[relation]
    v.result = holds & ~a.nan & ~b.nan
    v.cut()


def relations(v: Stages, width: int) -> None:
    """Builds all relations at once: `v.result` is less, equal, greater, unordered from the top.

    `v.raised` is whether an operand is a signaling NaN.
    """
    x, y, a, b = _operands(v.module, width)
    v.unordered = a.nan | b.nan
    v.equal = x.eq(y) | (a.zero & b.zero)
    v.less = _less(v.module, x, y, a, b)
    v.result = cat(
        v.less & ~v.unordered,
        v.equal & ~v.unordered,
        ~v.less & ~v.equal & ~v.unordered,
        v.unordered,
    )
    v.raised = a.signaling | b.signaling
    v.cut()


def extreme(v: Stages, width: int, *, larger: bool) -> None:
    """Builds C's `fmin` or `fmax` as glibc has them.

    The first of equal ones, so fmin(-0, +0) is -0 and fmin(+0, -0) is +0. A number beats a quiet
    NaN; a signaling one, or two NaNs, give a NaN (`minNum` of IEEE 754-2008).
    """
    form = float_format(width)
    m = v.module
    x, y, a, b = _operands(m, width)
    v.a, v.b = x, y
    second = _less(m, y, x, b, a) if not larger else _less(m, x, y, a, b)
    quiet = form.fraction - 1
    v.nan = (a.nan & b.nan) | (a.nan & ~x[quiet]) | (b.nan & ~y[quiet])
    v.second = (second | a.nan) & ~b.nan
    v.cut()
    v.result = mux(v.nan, const(form.nan, width), mux(v.second, v.b, v.a))
    v.cut()


def _operands(m: Module, width: int) -> tuple[Expr, Expr, Number, Number]:
    form = float_format(width)
    x, y = m.input("a", width), m.input("b", width)
    return x, y, unpack(m, form, x, "a"), unpack(m, form, y, "b")


def _less(m: Module, x: Expr, y: Expr, a: Number, b: Number) -> Expr:
    """Is x less than y, neither a NaN? The bits but the sign are in the order of magnitudes."""
    top = x.width - 2
    smaller = m.wire("smaller", x[top:0].ult(y[top:0]))
    larger = m.wire("larger", y[top:0].ult(x[top:0]))
    same = mux(a.sign, larger, smaller)
    return mux(a.sign ^ b.sign, a.sign & ~(a.zero & b.zero), same)
