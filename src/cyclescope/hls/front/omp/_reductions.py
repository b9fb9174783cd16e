"""Reductions: a copy for each thread, joined one thread at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import Array as CArray
from cyclescope.c import Pointer, Scalar
from cyclescope.hls.front._context import Location, SharedScalarError
from cyclescope.hls.front._control import counted
from cyclescope.hls.front._conversions import truth
from cyclescope.hls.front._expressions import arithmetic
from cyclescope.hls.front._joint import own_place
from cyclescope.hls.front._layout import size_of
from cyclescope.hls.front._memory import load_from, new_array, store_to
from cyclescope.hls.front.omp._privatization import innermost, named
from cyclescope.hls.front.omp._team import locked
from cyclescope.hls.ir import Op, Place, bits_of

if TYPE_CHECKING:
    from cyclescope.c import CType, Range, Variable
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front.omp._directives import Directive, Reduction
    from cyclescope.hls.ir import Array, Value

__all__ = ["begin_reductions", "end_reductions"]

_COMBINED = frozenset({"+", "-", "*", "&", "|", "^", "&&", "||", "min", "max"})


_LARGEST = {32: 0x7F800000, 64: 0x7FF0000000000000}


@dataclass(frozen=True, slots=True)
class Entered:
    """A reduction that has begun.

    Attributes:
        operator: how values are joined.
        variable: the variable.
        kind: of its elements.
        array: where the team's values are; None: on wires, as the team is one thread.
        own: where the thread's are; None: on wires.
        before: the team's value on wires.
        start: the team's first element there, in elements; the thread's has the same number.
        count: how many elements there are.
    """

    operator: str
    variable: Variable
    kind: Scalar
    array: Array | None
    own: Array | None
    start: int = 0
    count: int = 1
    before: Value | None = None


def begin_reductions(ctx: Context, directive: Directive) -> list[Entered]:
    """Give each thread its own copies.

    Raises:
        SourceError: of something that can't be reduced.
    """
    entered = []
    for reduction in directive.reductions:
        name, where = reduction.name, directive.where
        if reduction.operator not in _COMBINED:
            raise ctx.refuse(where, f"reduction({reduction.operator}: …) isn't supported")
        variable = named(ctx, directive, name)
        if variable is None:
            continue
        kind = innermost(variable.type)
        if isinstance(kind, Pointer):
            kind = innermost(kind.target)
        if ctx.team.is_alone and isinstance(kind, Scalar) and variable in ctx.vars.env:
            before = ctx.vars.env[variable]
            ctx.vars.env[variable] = _identity(ctx, reduction.operator, kind)
            one = Entered(reduction.operator, variable, kind, None, None, before=before)
            entered.append(one)
            continue
        if isinstance(variable.type, Scalar) and variable in ctx.vars.fixed:
            raise SharedScalarError(f"{where}: {name} is shared by all threads", variable)
        array = ctx.vars.memories.get(variable) or ctx.vars.bases.get(variable)
        is_own = array is not None and array.place in (Place.LOCAL, own_place(ctx))
        if ctx.team.is_alone and is_own:
            continue  # the one thread of the team has it for itself, and adds to what is there
        if array is None or not isinstance(kind, Scalar) or array.place is Place.LOCAL:
            raise ctx.refuse(
                where, f"reduction of {name}: only scalars of the host can be reduced, and "
                f"arrays of them"
            )  # fmt: skip
        if isinstance(variable.type, Scalar):
            del ctx.vars.memories[variable]
            entered.append(Entered(reduction.operator, variable, kind, array, None))
            ctx.vars.env[variable] = _identity(ctx, reduction.operator, kind)
        else:
            entered.append(_begin_array(ctx, reduction, variable, kind, array, where))
    return entered


def _begin_array(
    ctx: Context, reduction: Reduction, variable: Variable, kind: Scalar, array: Array, where: Range
) -> Entered:
    first, count = _section(ctx, reduction, variable.type, kind, where)
    own = new_array(
        ctx, variable, Place.LOCAL, (first + count) * kind.bits // 8, to=False, back=False
    )
    if variable in ctx.vars.memories:
        ctx.vars.memories[variable] = own
    else:
        ctx.vars.bases[variable] = own
    identity = _identity(ctx, reduction.operator, kind)

    def clear(number: Value) -> None:
        store_to(ctx, _element(ctx, own, number, first, kind), identity)

    counted(ctx, where, ctx.b.const(64, count), clear)
    return Entered(reduction.operator, variable, kind, array, own, first, count)


def _section(
    ctx: Context, reduction: Reduction, kind: CType, element: Scalar, where: Range
) -> tuple[int, int]:
    """The first element of what is reduced, and how many there are."""
    name, size = reduction.name, element.bits // 8
    if not reduction.count:
        if not isinstance(kind, CArray) or kind.extent is None:
            raise ctx.refuse(where, f"reduction of {name}: say how much of it, {name}[0:count]")
        return 0, size_of(kind, where) // size
    low, count = (ctx.constants.value(w, where) for w in (reduction.low, reduction.count))
    if low is None or count is None or low < 0 or count < 1:
        raise ctx.refuse(
            where, f"reduction of {name}: its section must have constant bounds, since the "
            f"threads' copies are block RAM"
        )  # fmt: skip
    inner = kind.element if isinstance(kind, CArray) else kind
    inner = inner.target if isinstance(inner, Pointer) else inner
    each = size_of(inner, where) // size
    return low * each, count * each


def _element(ctx: Context, array: Array, number: Value, first: int, kind: Scalar) -> Location:
    size = kind.bits // 8
    start = ctx.b.op(Op.MUL, number, ctx.b.const(64, size), width=64, exact=True)
    at = ctx.b.op(Op.ADD, start, ctx.b.const(64, first * size), width=64, exact=True)
    return Location(array, at, kind)


def end_reductions(ctx: Context, directive: Directive, entered: list[Entered]) -> None:
    """Join the threads' copies, one thread at a time."""
    for one in entered:
        if one.before is not None:
            own = ctx.vars.env[one.variable]
            joined = _combined(ctx, one.operator, one.before, own, one.kind)
            ctx.vars.env[one.variable] = joined
    shared = [(one, one.array) for one in entered if one.array is not None]
    if not shared:
        return
    with ctx.at(directive.where), locked(ctx, "reduction"):
        for one, array in shared:
            _join(ctx, one, array, directive.where)


def _join(ctx: Context, one: Entered, array: Array, where: Range) -> None:
    kind, variable = one.kind, one.variable

    def join(number: Value, own: Value) -> None:
        place = _element(ctx, array, number, one.start, kind)
        total = load_from(ctx, place, kind.bits)
        store_to(ctx, place, _combined(ctx, one.operator, total, own, kind))

    if one.own is None:
        join(ctx.b.const(64, 0), ctx.vars.env.pop(variable))
        ctx.vars.memories[variable] = array
        return
    copies = one.own
    counted(
        ctx,
        where,
        ctx.b.const(64, one.count),
        lambda number: join(
            number, load_from(ctx, _element(ctx, copies, number, one.start, kind), kind.bits)
        ),
    )
    if variable in ctx.vars.memories:
        ctx.vars.memories[variable] = array
    else:
        ctx.vars.bases[variable] = array


def _identity(ctx: Context, operator: str, kind: Scalar) -> Value:
    bits = kind.bits
    if operator in ("min", "max"):
        if kind.is_float:
            infinity = _LARGEST[bits]
            sign = 1 << (bits - 1) if operator == "max" else 0
            return ctx.b.const(bits, infinity | sign)
        if kind.kind == "int":
            smallest = 1 << (bits - 1)
            return ctx.b.const(bits, smallest if operator == "max" else smallest - 1)
        return ctx.b.const(bits, 0 if operator == "max" else -1)
    if operator in ("*", "&&"):
        return ctx.b.const(bits, bits_of(1.0, bits) if kind.is_float else 1)
    return ctx.b.const(bits, -1 if operator == "&" else 0)


def _combined(ctx: Context, operator: str, total: Value, own: Value, kind: Scalar) -> Value:
    if operator in ("min", "max"):
        a, b = (own, total) if operator == "min" else (total, own)
        if kind.is_float:
            less = ctx.b.op(Op.FLT, a, b, width=1)
        else:
            less = ctx.b.op(Op.SLT if kind.kind == "int" else Op.ULT, a, b, width=1)
        return ctx.b.select(less, own, total)
    if operator in ("&&", "||"):
        op = Op.AND if operator == "&&" else Op.OR
        bit = ctx.b.op(op, truth(ctx, total, kind), truth(ctx, own, kind), width=1)
        return ctx.b.resized(bit, kind.bits, is_signed=False)
    return arithmetic(ctx, "+" if operator == "-" else operator, total, own, kind)
