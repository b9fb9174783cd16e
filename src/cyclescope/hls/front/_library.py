"""Calls: of the user's functions, of OpenMP's and of the library's that hardware can do."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cyclescope.c import Array, Call, Construct, Pointer, Scalar, Tool, Variable, Void, refusal
from cyclescope.hls.front._bits import bit_call
from cyclescope.hls.front._blocks import block_call
from cyclescope.hls.front._calls import BLOCKS, INFINITIES, KINDS_OF_NUMBERS, MATHS
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._dispatch import ADDRESSES, OBJECTS, VALUES, address, rvalue
from cyclescope.hls.front._functions import inline
from cyclescope.hls.front._layout import width_of
from cyclescope.hls.front._memory import new_array, store_to
from cyclescope.hls.front._pointers import is_view
from cyclescope.hls.front._power import power
from cyclescope.hls.front._printing import PRINTING
from cyclescope.hls.front._rounding import exact_call
from cyclescope.hls.front.omp._team import acquire, query, release
from cyclescope.hls.ir import Op, Place, Value, bits_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front._objects import Object

__all__: list[str] = []

_MATHS = {
    *("exp2", "expm1", "log2", "log10", "log1p", "pow", "cbrt", "hypot"),
    *("tan", "asin", "acos", "atan", "atan2", "sinh", "cosh"),
}


_LOCKS: dict[str, Callable[[Context, str, str], None]] = {
    "omp_set_lock": acquire,
    "omp_unset_lock": release,
    "omp_test_lock": acquire,
    "omp_set_nest_lock": partial(acquire, nests=True),
    "omp_test_nest_lock": partial(acquire, nests=True),
    "omp_unset_nest_lock": partial(release, nests=True),
}

# What ends the program.
_ENDS = frozenset({"exit", "_Exit", "abort", "__assert_fail"})

# What only lets time pass.
_PAUSES = frozenset({"usleep", "sleep", "sched_yield"})


_INSTEAD = dict.fromkeys(
    ("omp_get_wtime", "omp_get_wtick"), "the profile has the region's times, in cycles"
)


def _kind(name: str) -> Construct:
    """As what a call without a body is refused."""
    if name in _MATHS or name.removesuffix("f") in _MATHS:
        return Construct.MATHS
    return Construct.NO_BODY


@VALUES.of(Call)
def _call(ctx: Context, expr: Call) -> Value:
    """The value of a call.

    Raises:
        SourceError: of a function that has no text and isn't known.
    """
    name = expr.function.removeprefix("__builtin_")
    of_team = query(ctx, name)
    if of_team is not None:
        return of_team
    function = ctx.unit.functions.get(expr.function)
    if function is not None and function.body is not None:
        found = inline(ctx, function, expr)
        if isinstance(found, Value):
            return found
        return found.offset if isinstance(found, Location) else ctx.b.const(32, 0)
    if name in BLOCKS:
        place = block_call(ctx, expr, name)
        return place.offset if isinstance(place, Location) else ctx.b.const(64, 0)
    width = width_of(expr.type, expr.where) if not isinstance(expr.type, Void) else 32
    if name in INFINITIES:
        return ctx.b.const(width, bits_of(INFINITIES[name], width))
    if name in MATHS:
        operands = [rvalue(ctx, a) for a in expr.args]
        return ctx.b.op(MATHS[name], *operands, width=width)
    if name in KINDS_OF_NUMBERS:
        return _is_number(ctx, name, rvalue(ctx, expr.args[0]))
    if name in ("abs", "labs", "llabs"):
        value = rvalue(ctx, expr.args[0])
        negative = ctx.b.op(Op.SLT, value, ctx.b.const(width, 0), width=1)
        opposite = ctx.b.op(Op.SUB, ctx.b.const(width, 0), value, width=width, exact=True)
        return ctx.b.select(negative, opposite, value)
    exact = exact_call(
        ctx, name.removesuffix("f"), lambda: [rvalue(ctx, a) for a in expr.args], width
    )
    if exact is not None:
        return exact
    if name in ("pow", "powf"):
        raised = power(ctx, *(rvalue(ctx, a) for a in expr.args))
        if raised is not None:
            return raised
    of_bits = bit_call(ctx, expr.function, lambda: rvalue(ctx, expr.args[0]))
    if of_bits is not None:
        return of_bits
    if expr.function == "__builtin_expect":
        value, _ = [rvalue(ctx, a) for a in expr.args]
        return value
    if name in _ENDS:
        return _end(ctx, expr, name)
    if name in _PAUSES:
        return ctx.b.const(32, 0)
    if name.startswith("omp_"):
        if name in _LOCKS:
            array = address(ctx, expr.args[0]).array
            given = ctx.host.hosts.get(array)
            if name in ("omp_set_lock", "omp_test_lock"):
                is_one = given is not None and not isinstance(given.type, Array | Pointer)
                acquire(ctx, "lock", array.name, is_one=is_one)
            else:
                _LOCKS[name](ctx, "lock", array.name)
            # Who tests a lock waits for it, as if the lock had been free in time.
            number = ctx.team.numbers["lock", array.name]
            return ctx.b.const(32, ctx.team.held.count(number) if "test" in name else 0)
        instead = _INSTEAD.get(name, "call it on the host")
        raise ctx.refuse(expr.where, f"{name}() isn't supported in a target region; {instead}")
    if name in ("fma", "fmaf"):
        raise refusal(Construct.FMA, Tool.HLS, expr.where, f"{expr.function}()")
    if name in PRINTING:
        raise ctx.refuse(
            expr.where, f"the value of {name}() isn't known in a region, since the host prints "
            f"when that is over; write the call as a statement of its own"
        )  # fmt: skip
    raise refusal(_kind(name), Tool.HLS, expr.where, f"{expr.function}()")


def _end(ctx: Context, expr: Call, name: str) -> Value:
    """The end of the program: hardware can only stop, as at an access that leaves its memory."""
    stands = Variable(f"{name}_in_line_{expr.where.line}", Scalar("int", 32), expr.where, "local")
    array = new_array(ctx, stands, Place.LOCAL, 4, to=False, back=False)
    array.beyond = f"calls {name}: the region stops; let the host end the program, behind it"
    store_to(ctx, Location(array, ctx.b.const(64, 4), stands.type), ctx.b.const(32, 0))
    return ctx.b.const(32, 0)


def _is_number(ctx: Context, name: str, value: Value) -> Value:
    """`isnan`, `isfinite`, `isinf` (1, or -1 for minus infinity)."""
    width = value.width
    if name == "isnan":
        bit = ctx.b.negated(ctx.b.op(Op.FEQ, value, value, width=1))
        return ctx.b.resized(bit, 32, is_signed=False)
    infinity = ctx.b.const(width, bits_of(float("inf"), width))
    size = ctx.b.op(Op.FABS, value, width=width)
    test = Op.FLT if name == "isfinite" else Op.FEQ
    bit = ctx.b.resized(ctx.b.op(test, size, infinity, width=1), 32, is_signed=False)
    if name == "isfinite":
        return bit
    negative = ctx.b.op(Op.FLT, value, ctx.b.const(width, 0), width=1)
    opposite = ctx.b.op(Op.SUB, ctx.b.const(32, 0), bit, width=32)
    return ctx.b.select(negative, opposite, bit)


@OBJECTS.of(Call)
def _returned(ctx: Context, expr: Call) -> Object | None:
    """The struct with pointers that a call returns."""
    function = ctx.unit.functions.get(expr.function)
    if function is None or function.body is None or not is_view(function.result):
        return None
    found = inline(ctx, function, expr)
    return None if isinstance(found, Value) else found


@ADDRESSES.of(Call)
def _address_of_call(ctx: Context, expr: Call) -> Location | None:
    """The target of the pointer that a call returns."""
    name = expr.function.removeprefix("__builtin_")
    function = ctx.unit.functions.get(expr.function)
    if function is not None and function.body is not None:
        found = inline(ctx, function, expr)
        return found if isinstance(found, Location) else None
    place = block_call(ctx, expr, name) if name in BLOCKS else None
    return place if isinstance(place, Location) else None
