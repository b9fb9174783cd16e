"""Pointer variables, and structs that hold pointers.

Into which memories a pointer may lead is known at compile time; its value is the offset there. A
struct with pointers is thus no value that could be selected or put in a row: it is copied field by
field, or made of a list.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from cyclescope.c import (
    Array,
    Call,
    Conditional,
    Index,
    InitList,
    Member,
    Name,
    Pointer,
    Struct,
    Unary,
)
from cyclescope.hls.front._blocks import copy_object
from cyclescope.hls.front._choices import may_lead_to, members, nowhere, null, retagged
from cyclescope.hls.front._context import Location, SharedScalarError
from cyclescope.hls.front._control import branch
from cyclescope.hls.front._conversions import convert
from cyclescope.hls.front._dispatch import address, condition_of, object_of, rvalue
from cyclescope.hls.front._layout import size_of
from cyclescope.hls.front._memory import own_memory
from cyclescope.hls.front._objects import (
    OnWire,
    member_of,
    moved_by,
    read_object,
    target_of,
    write_object,
)
from cyclescope.hls.front._plans import planned
from cyclescope.hls.front._pointees import store_pointer
from cyclescope.hls.front._structs import field_variable, hold, on_wires
from cyclescope.hls.ir import Op

if TYPE_CHECKING:
    from cyclescope.c import Assign, CType, Expr, Range, Variable
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front._objects import Object
    from cyclescope.hls.ir import Value

__all__ = [
    "assign_pointer",
    "assign_view",
    "begin_view",
    "copy_parts",
    "give_view",
    "has_pointers",
    "is_object",
    "is_view",
    "point",
]


def assign_pointer(ctx: Context, expr: Assign) -> Value:
    """A pointer is given another place, or moved; gives the value that it then has."""
    pointer = object_of(ctx, expr.target)
    if not isinstance(pointer, OnWire | Location):
        raise ctx.refuse(
            expr.where, "a pointer in a union or a packed struct isn't supported; use a struct"
        )  # fmt: skip
    if expr.op == "=":
        place = address(ctx, expr.value)
    else:
        sign = -1 if expr.op == "-=" else 1
        place = moved_by(ctx, address(ctx, expr.target), expr.value, sign, expr.where)
    if isinstance(pointer, Location):
        return store_pointer(ctx, pointer, place, expr.where)
    point(ctx, pointer.variable, place)
    return ctx.vars.env[pointer.variable]


def point(ctx: Context, variable: Variable, place: Location) -> None:
    """Let a pointer variable point somewhere."""
    if variable in ctx.vars.fixed and ctx.team.fork is not None:
        raise SharedScalarError(
            f"{ctx.shared.where}: {variable.name} is shared by all threads", variable
        )
    wanted, known = planned(ctx, variable), ctx.vars.bases.get(variable)
    if wanted is not None and set(members(place.array)) <= set(members(wanted)):
        place = retagged(ctx, place, wanted)
    elif wanted is not None:
        may_lead_to(ctx, variable, (wanted, place.array))
    elif known not in (None, place.array) and variable in ctx.vars.env and _is_moving(ctx):
        assert known is not None
        may_lead_to(ctx, variable, (known, place.array))
    ctx.vars.bases[variable] = place.array
    ctx.vars.env[variable] = place.offset


def _is_moving(ctx: Context) -> bool:
    """Return whether a variable's base could depend on what happens at run time."""
    return ctx.flow.pred is not None or ctx.b is not ctx.root


def is_view(kind: CType) -> bool:
    """Return whether a type is a struct that contains pointers.

    It is no value that could be selected or put in a row: its fields are copied one by one.
    """
    return isinstance(kind, Struct) and any(has_pointers(part) for _, part in kind.fields)


def has_pointers(kind: CType) -> bool:
    """Return whether an object of a type contains pointers, or is one."""
    while isinstance(kind, Array):
        kind = kind.element
    return isinstance(kind, Pointer) or is_view(kind)


def assign_view(ctx: Context, expr: Assign) -> Value:
    """A struct with pointers is given another one's fields; there is no value."""
    give_view(ctx, object_of(ctx, expr.target), expr.value, expr.where)
    return ctx.b.const(32, 0)


def begin_view(ctx: Context, variable: Variable, init: Expr | None, where: Range) -> None:
    """Give a struct with pointers its first fields."""
    if not on_wires(ctx, variable):
        if init is not None:
            give_view(ctx, own_memory(ctx, variable), init, where)
    elif init is None:
        hold(ctx, variable, None)
    else:
        give_view(ctx, OnWire(variable), init, where)


def give_view(ctx: Context, to: Object, init: Expr, where: Range) -> None:
    """Give a struct with pointers its fields.

    Raises:
        SourceError: they aren't those of an object or of a list.
    """
    match init:
        case InitList() if isinstance(to, OnWire):
            _listed_view(ctx, to.variable, init, where)
        case Conditional(condition=condition, then=then, other=other):
            branch(
                ctx,
                condition_of(ctx, condition),
                lambda: give_view(ctx, to, then, where),
                lambda: give_view(ctx, to, other, where),
            )
        case _ if is_object(init) or isinstance(init, Call):
            copy_parts(ctx, to, object_of(ctx, init), init.type, where)
        case _:
            raise ctx.refuse(
                where, f"a {init.type} contains pointers: copy it from a variable, or field by "
                f"field"
            )  # fmt: skip


def copy_parts(ctx: Context, to: Object, given: Object, kind: CType, where: Range) -> None:
    """An object for another one, part by part."""
    match kind:
        case Pointer():
            place = target_of(ctx, given, kind, where)
            if isinstance(to, OnWire):
                point(ctx, to.variable, place)
            else:
                assert isinstance(to, Location)
                store_pointer(ctx, Location(to.array, to.offset, kind), place, where)
        case Struct() if is_view(kind):
            for name, part in kind.fields:
                first = member_of(ctx, to, name, part, where)
                second = member_of(ctx, given, name, part, where)
                assert first is not None
                assert second is not None
                copy_parts(ctx, first, second, part, where)
        case Array(element=element, extent=extent) if extent is not None:
            assert isinstance(to, Location)
            assert isinstance(given, Location)
            size = size_of(element, where)
            if not has_pointers(element):
                copy_object(ctx, replace(to, type=kind), replace(given, type=kind), where)
                return
            for n in range(extent):
                at = ctx.b.const(64, n * size)
                pair = [
                    Location(p.array, ctx.b.op(Op.ADD, p.offset, at, width=64, exact=True), element)
                    for p in (to, given)
                ]
                copy_parts(ctx, pair[0], pair[1], element, where)
        case _:
            write_object(ctx, to, read_object(ctx, given, where), where)


def _listed_view(ctx: Context, variable: Variable, init: InitList, where: Range) -> None:
    assert isinstance(variable.type, Struct)
    fields = variable.type.fields
    for (name, kind), value in zip_longest(fields, init.values[: len(fields)]):
        part = field_variable(ctx, variable, name)
        if is_view(kind):
            begin_view(ctx, part, value, where)
        elif not isinstance(kind, Pointer):
            given = rvalue(ctx, value) if value is not None else None
            if given is not None and value is not None and not isinstance(value, InitList):
                given = convert(ctx, given, value.type, kind, where)
            hold(ctx, part, given)
        elif value is not None and not isinstance(value, InitList):
            point(ctx, part, address(ctx, value))
        else:
            point(ctx, part, Location(nowhere(ctx), null(ctx), kind.target))


def is_object(expr: Expr) -> bool:
    """Return whether an expression names an object, and isn't just a value."""
    match expr:
        case Name() | Index() | Unary() | Member(arrow=True):
            return True
        case Member(base=base):
            return is_object(base)
    return False
