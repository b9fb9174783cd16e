"""Calls: of the user's functions, of OpenMP's and of the library's that hardware can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Call, Construct, Tool, Void, refusal
from cyclescope.hls.front._blocks import Blocks
from cyclescope.hls.front._calls import (
    BLOCKS,
    INFINITIES,
    KINDS_OF_NUMBERS,
    MATHS,
    constant_call,
)
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._layout import width_of
from cyclescope.hls.ir._graph import Op, Value
from cyclescope.hls.ir._semantics import bits_of

if TYPE_CHECKING:
    from cyclescope.c import Expr

__all__ = ["Library"]


_MATHS = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "cbrt", "hypot"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
}
_OUTPUT = {"printf", "fprintf", "puts", "putchar", "fputs", "fputc", "putc", "fflush", "perror"}


def _kind(name: str) -> Construct:
    """As what a call without a body is refused."""
    if name in _MATHS or name.removesuffix("f") in _MATHS:
        return Construct.MATHS
    return Construct.OUTPUT if name in _OUTPUT else Construct.NO_BODY


class Library(Blocks):
    """Lowers calls."""

    def address(self, expr: Expr) -> Location:
        """What a pointer points to; of a call, what it gives back."""
        if isinstance(expr, Call) and expr.function.removeprefix("__builtin_") in BLOCKS:
            place = self.block_call(expr, expr.function.removeprefix("__builtin_"))
            if isinstance(place, Location):
                return place
        return super().address(expr)

    def call(self, expr: Call) -> Value:
        """The value of a call.

        Raises:
            SourceError: of a function that has no text and isn't known.
        """
        name = expr.function.removeprefix("__builtin_")
        if name in self.of_teams:
            raise self.refuse(
                expr.where, f"{name}() isn't supported here, as the hardware has one team; write "
                f"`target parallel`, whose threads have numbers"
            )  # fmt: skip
        fixed = constant_call(name)
        if fixed is not None:
            return self.b.const(32, self.threads if fixed == "threads" else int(fixed))
        if name == "omp_get_thread_num":
            return self.b.leaf(Op.THREAD, 32)
        function = self.unit.functions.get(expr.function)
        if function is not None and function.body is not None:
            return self.inline(function, expr)
        if name in BLOCKS:
            place = self.block_call(expr, name)
            return place.offset if isinstance(place, Location) else self.b.const(64, 0)
        width = width_of(expr.type, expr.where) if not isinstance(expr.type, Void) else 32
        if name in INFINITIES:
            return self.b.const(width, bits_of(INFINITIES[name], width))
        if name in MATHS:
            operands = [self.rvalue(a) for a in expr.args]
            return self.b.op(MATHS[name], *operands, width=width)
        if name in KINDS_OF_NUMBERS:
            return self._is_number(name, self.rvalue(expr.args[0]))
        if name in ("abs", "labs", "llabs"):
            value = self.rvalue(expr.args[0])
            negative = self.b.op(Op.SLT, value, self.b.const(width, 0), width=1)
            opposite = self.b.op(Op.SUB, self.b.const(width, 0), value, width=width, exact=True)
            return self.b.select(negative, opposite, value)
        exact = self.exact_call(
            name.removesuffix("f"), lambda: [self.rvalue(a) for a in expr.args], width
        )
        if exact is not None:
            return exact
        if name.startswith("omp_"):
            instead = "; use omp critical" if name.endswith("_lock") else ""
            raise self.refuse(expr.where, f"{name}() isn't supported in a target region{instead}")
        if name in ("fma", "fmaf"):
            raise refusal(Construct.FMA, Tool.HLS, expr.where, f"{expr.function}()")
        raise refusal(_kind(name), Tool.HLS, expr.where, f"{expr.function}()")

    def _is_number(self, name: str, value: Value) -> Value:
        """`isnan`, `isfinite`, `isinf` (1, or -1 for minus infinity)."""
        width = value.width
        if name == "isnan":
            bit = self.b.negated(self.b.op(Op.FEQ, value, value, width=1))
            return self.b.resized(bit, 32, is_signed=False)
        infinity = self.b.const(width, bits_of(float("inf"), width))
        size = self.b.op(Op.FABS, value, width=width)
        test = Op.FLT if name == "isfinite" else Op.FEQ
        bit = self.b.resized(self.b.op(test, size, infinity, width=1), 32, is_signed=False)
        if name == "isfinite":
            return bit
        negative = self.b.op(Op.FLT, value, self.b.const(width, 0), width=1)
        opposite = self.b.op(Op.SUB, self.b.const(32, 0), bit, width=32)
        return self.b.select(negative, opposite, bit)
