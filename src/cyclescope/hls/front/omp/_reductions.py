"""Reductions: a copy for each thread, joined one thread at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import Array as CArray
from cyclescope.c import InitList, Pointer, Scalar
from cyclescope.hls.front._context import Location, SharedScalarError
from cyclescope.hls.front._control import counted
from cyclescope.hls.front._conversions import convert, truth
from cyclescope.hls.front._declarations import initialise
from cyclescope.hls.front._dispatch import rvalue
from cyclescope.hls.front._expressions import arithmetic
from cyclescope.hls.front._joint import own_place
from cyclescope.hls.front._layout import is_flat, size_of
from cyclescope.hls.front._memory import load_from, new_array, store_to
from cyclescope.hls.front._structs import (
    held_value,
    hold,
    is_held,
    load_object,
    release,
    wires_of,
)
from cyclescope.hls.front.omp._declared_reductions import (
    Declared,
    declared_reduction,
    is_declared,
)
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
        declared: how the program joins them, if it says so.
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
    kind: CType
    array: Array | None
    own: Array | None
    start: int = 0
    count: int = 1
    before: Value | None = None
    declared: Declared | None = None


def begin_reductions(ctx: Context, directive: Directive) -> list[Entered]:
    """Give each thread its own copies.

    Raises:
        SourceError: of something that can't be reduced.
    """
    entered = []
    for reduction in directive.reductions:
        name, where = reduction.name, directive.where
        if reduction.operator not in _COMBINED and not is_declared(
            ctx.constants, reduction.operator
        ):
            raise ctx.refuse(where, f"reduction({reduction.operator}: …) isn't supported")
        variable = named(ctx, directive, name)
        if variable is None:
            continue
        kind = innermost(variable.type)
        if isinstance(kind, Pointer):
            kind = innermost(kind.target)
        declared = declared_reduction(ctx.constants, reduction.operator, kind, where)
        if declared is not None:
            entered.append(_begin_declared(ctx, reduction, variable, kind, declared, where))
            continue
        if reduction.operator not in _COMBINED:
            raise ctx.refuse(
                where, f"reduction({reduction.operator}: …) isn't declared for {kind}; add "
                f"the type to omp declare reduction"
            )  # fmt: skip
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


def _begin_declared(
    ctx: Context,
    reduction: Reduction,
    variable: Variable,
    kind: CType,
    declared: Declared,
    where: Range,
) -> Entered:
    """Give each thread its own copies of what the program says how to reduce."""
    if not ctx.vars.fixed.isdisjoint(wires_of(ctx, variable)) and variable.type == kind:
        raise SharedScalarError(f"{where}: {variable.name} is shared by all threads", variable)
    array = ctx.vars.memories.get(variable) or ctx.vars.bases.get(variable)
    if array is None or (variable.type == kind and is_held(ctx, variable)):
        before = held_value(ctx, variable)
        hold(ctx, variable, _first(ctx, declared, before, where))
        return Entered("", variable, kind, None, None, before=before, declared=declared)
    if array.place is Place.LOCAL and not ctx.team.is_alone:
        raise ctx.refuse(
            where, f"reduction of {variable.name}: each thread has its own; declare it in front of "
            f"the region"
        )  # fmt: skip
    if variable.type == kind and is_flat(kind) and variable not in ctx.vars.addressed:
        start = ctx.vars.starts.get(variable, ctx.b.const(64, 0))
        original = load_object(ctx, Location(array, start, kind), where)
        del ctx.vars.memories[variable]
        hold(ctx, variable, _first(ctx, declared, original, where))
        return Entered("", variable, kind, array, None, declared=declared)
    first, count = _section(ctx, reduction, variable.type, kind, where)
    size = size_of(kind, where)
    own = new_array(ctx, variable, Place.LOCAL, (first + count) * size, to=False, back=False)

    def begin(number: Value) -> None:
        at = _element(ctx, own, number, first, kind)
        _bind(ctx, declared.own, at)
        _bind(ctx, declared.original, Location(array, at.offset, kind))
        if declared.initializer is not None:
            rvalue(ctx, declared.initializer)
        else:
            ctx.vars.starts.pop(declared.own)
            initialise(ctx, at, declared.first)

    counted(ctx, where, ctx.b.const(64, count), begin)
    _lead_to(ctx, variable, own)
    return Entered("", variable, kind, array, own, first, count, declared=declared)


def _lead_to(ctx: Context, variable: Variable, array: Array) -> None:
    """Let an array, or a pointer, stand for what is in a memory."""
    if variable in ctx.vars.memories:
        ctx.vars.memories[variable] = array
    else:
        ctx.vars.bases[variable] = array


def _bind(ctx: Context, variable: Variable, place: Location) -> None:
    """Let a name stand for an object in memory."""
    release(ctx, variable)
    ctx.vars.memories[variable], ctx.vars.starts[variable] = place.array, place.offset


def _first(ctx: Context, declared: Declared, original: Value, where: Range) -> Value:
    """The value that a thread's copy on wires begins with."""
    ctx.vars.memories.pop(declared.own, None)
    ctx.vars.memories.pop(declared.original, None)
    hold(ctx, declared.original, original)
    hold(ctx, declared.own, None)
    if declared.first is not None:
        value = rvalue(ctx, declared.first)
        given = declared.own.type if isinstance(declared.first, InitList) else declared.first.type
        hold(ctx, declared.own, convert(ctx, value, given, declared.own.type, where))
    elif declared.initializer is not None:
        rvalue(ctx, declared.initializer)
    value = held_value(ctx, declared.own)
    release(ctx, declared.own)
    release(ctx, declared.original)
    return value


def _join_declared(ctx: Context, one: Entered, declared: Declared, where: Range) -> None:
    """Join a thread's copy with the team's, as the program says."""
    variable, kind = one.variable, one.kind
    if one.own is None:
        ctx.vars.memories.pop(declared.given, None)
        hold(ctx, declared.given, held_value(ctx, variable))
        if one.array is None:
            assert one.before is not None
            ctx.vars.memories.pop(declared.result, None)
            hold(ctx, declared.result, one.before)
            rvalue(ctx, declared.combiner)
            hold(ctx, variable, held_value(ctx, declared.result))
            release(ctx, declared.result)
        else:
            start = ctx.vars.starts.get(variable, ctx.b.const(64, 0))
            _bind(ctx, declared.result, Location(one.array, start, kind))
            rvalue(ctx, declared.combiner)
            release(ctx, variable)
            ctx.vars.memories[variable] = one.array
        release(ctx, declared.given)
        return
    array, own = one.array, one.own
    assert array is not None

    def join(number: Value) -> None:
        at = _element(ctx, array, number, one.start, kind)
        _bind(ctx, declared.result, at)
        _bind(ctx, declared.given, Location(own, at.offset, kind))
        rvalue(ctx, declared.combiner)

    counted(ctx, where, ctx.b.const(64, one.count), join)
    _lead_to(ctx, variable, array)


def _begin_array(
    ctx: Context, reduction: Reduction, variable: Variable, kind: Scalar, array: Array, where: Range
) -> Entered:
    first, count = _section(ctx, reduction, variable.type, kind, where)
    own = new_array(
        ctx, variable, Place.LOCAL, (first + count) * kind.bits // 8, to=False, back=False
    )
    _lead_to(ctx, variable, own)
    identity = _identity(ctx, reduction.operator, kind)

    def clear(number: Value) -> None:
        store_to(ctx, _element(ctx, own, number, first, kind), identity)

    counted(ctx, where, ctx.b.const(64, count), clear)
    return Entered(reduction.operator, variable, kind, array, own, first, count)


def _section(
    ctx: Context, reduction: Reduction, kind: CType, element: CType, where: Range
) -> tuple[int, int]:
    """The first element of what is reduced, and how many there are."""
    name, size = reduction.name, size_of(element, where)
    if not reduction.count and kind == element:
        return 0, 1
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


def _element(ctx: Context, array: Array, number: Value, first: int, kind: CType) -> Location:
    size = size_of(kind, ctx.shared.where)
    start = ctx.b.op(Op.MUL, number, ctx.b.const(64, size), width=64, exact=True)
    at = ctx.b.op(Op.ADD, start, ctx.b.const(64, first * size), width=64, exact=True)
    return Location(array, at, kind)


def end_reductions(ctx: Context, directive: Directive, entered: list[Entered]) -> None:
    """Join the threads' copies, one thread at a time."""
    for one in entered:
        if one.declared is not None and one.array is None:
            _join_declared(ctx, one, one.declared, directive.where)
        elif one.before is not None:
            assert isinstance(one.kind, Scalar)
            own = ctx.vars.env[one.variable]
            joined = _combined(ctx, one.operator, one.before, own, one.kind)
            ctx.vars.env[one.variable] = joined
    shared = [(one, one.array) for one in entered if one.array is not None]
    if not shared:
        return
    with ctx.at(directive.where), locked(ctx, "reduction"):
        for one, array in shared:
            if one.declared is not None:
                _join_declared(ctx, one, one.declared, directive.where)
            else:
                _join(ctx, one, array, directive.where)


def _join(ctx: Context, one: Entered, array: Array, where: Range) -> None:
    kind, variable = one.kind, one.variable
    assert isinstance(kind, Scalar)

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
    _lead_to(ctx, variable, array)


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
