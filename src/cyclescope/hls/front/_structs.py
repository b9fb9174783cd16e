"""Structs on wires: a variable for each field, values as the fields' bits in a row.

A struct's value has no padding: the first field is in its low bits. In memory each field is
where C has it, and is loaded and stored on its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Placed, Pointer, Struct, Variable
from cyclescope.hls.front._choices import null, put_in_memory
from cyclescope.hls.front._control import named
from cyclescope.hls.front._layout import is_flat, leaves, width_of
from cyclescope.hls.front._memory import inside, load_from, store_to
from cyclescope.hls.ir import Op, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import Range
    from cyclescope.hls.front._context import Context, Location

__all__ = [
    "concatenated",
    "field_of",
    "field_variable",
    "held_value",
    "hold",
    "is_held",
    "load_object",
    "on_wires",
    "release",
    "store_object",
    "wires_of",
]


def on_wires(ctx: Context, variable: Variable) -> bool:
    """Return whether a variable of the region's own is on wires, and not in a memory."""
    kind = variable.type
    is_shared = variable in ctx.vars.addressed or variable in ctx.host.written_by_team
    return not is_shared and is_flat(kind, pointers=True)


def field_variable(ctx: Context, variable: Variable, field: str) -> Variable:
    """The variable that stands for a field of a struct on wires."""
    known = ctx.vars.parts.get(variable)
    if known is None:
        assert isinstance(variable.type, Struct)
        known = ctx.vars.parts[variable] = {
            name: Variable(f"{variable.name}.{name}", kind, variable.where, variable.scope)
            for name, kind in variable.type.fields
        }
        first = ctx.vars.whole.get(variable, variable)
        ctx.vars.whole.update(dict.fromkeys(known.values(), first))
    return known[field]


def wires_of(ctx: Context, variable: Variable) -> list[Variable]:
    """The variables that a variable is made of; itself, if it isn't a struct of scalars."""
    if not isinstance(variable.type, Struct) or not is_flat(variable.type, pointers=True):
        return [variable]
    fields = [field_variable(ctx, variable, name) for name, _ in variable.type.fields]
    return [wire for field in fields for wire in wires_of(ctx, field)]


def is_held(ctx: Context, variable: Variable) -> bool:
    """Return whether a variable is on wires, and has a value."""
    if not isinstance(variable.type, Struct) or not is_flat(variable.type, pointers=True):
        return variable in ctx.vars.env
    wires = wires_of(ctx, variable) if variable in ctx.vars.parts else [variable]
    return all(w in ctx.vars.env for w in wires if not isinstance(w.type, Pointer))


def hold(ctx: Context, variable: Variable, value: Value | None) -> None:
    """Give a variable on wires a value; None: zeros, and pointers to nothing."""
    low = 0
    for wire in wires_of(ctx, variable):
        if isinstance(wire.type, Pointer) and wire is not variable:
            ctx.vars.env[wire] = null(ctx)
            ctx.vars.bases.pop(wire, None)
            continue
        width = width_of(wire.type, wire.where)
        if value is None:
            ctx.vars.env[wire] = ctx.b.const(width, 0)
        else:
            piece = ctx.b.op(Op.EXTRACT, value, width=width, constant=low)
            ctx.vars.env[wire] = named(piece, wire.name)
        low += width


def held_value(ctx: Context, variable: Variable) -> Value:
    """The value of a variable on wires.

    Raises:
        SourceError: there are pointers in it, or it is one that points to nothing.
    """
    if isinstance(variable.type, Struct):
        width_of(variable.type, ctx.shared.where)
    if variable not in ctx.vars.env and isinstance(variable.type, Pointer):
        raise ctx.refuse(
            ctx.shared.where, f"it isn't known what {variable.name} points to; let it point "
            f"into a mapped or local array"
        )  # fmt: skip
    values = [ctx.b.use(ctx.vars.env[w]) for w in wires_of(ctx, variable)]
    return concatenated(ctx, values)


def concatenated(ctx: Context, values: list[Value]) -> Value:
    """Values in a row, the first one in the low bits."""
    if len(values) == 1:
        return values[0]
    return ctx.b.op(Op.CONCAT, *values, width=sum(v.width for v in values))


def release(ctx: Context, variable: Variable) -> None:
    """Forget a variable on wires."""
    for wire in wires_of(ctx, variable):
        ctx.vars.env.pop(wire, None)


def field_of(ctx: Context, value: Value, kind: Struct, name: str, where: Range) -> Value:
    """A field of a struct's value."""
    low = 0
    for field, sort in kind.fields:
        width = sum(width_of(leaf, where) for _, leaf in leaves(sort, where))
        if field == name:
            return ctx.b.op(Op.EXTRACT, value, width=width, constant=low)
        low += width
    raise ctx.refuse(where, f"{kind} has no field {name}")


def _pieces(ctx: Context, place: Location, where: Range) -> Iterator[Location]:
    """The scalars and vectors of an object in memory, in a row."""
    for offset, leaf in leaves(place.type, where):
        yield inside(ctx, place, offset, leaf)


def load_object(ctx: Context, place: Location, where: Range) -> Value:
    """The value of an object in memory."""
    if isinstance(place.type, Struct | Placed):
        found = [load_from(ctx, p, width_of(p.type, where)) for p in _pieces(ctx, place, where)]
        return concatenated(ctx, found)
    value = load_from(ctx, place, width_of(place.type, where))
    return put_in_memory(ctx, value) if isinstance(place.type, Pointer) else value


def store_object(ctx: Context, place: Location, value: Value, where: Range) -> None:
    """Give an object in memory a value of its type."""
    if not isinstance(place.type, Struct | Placed):
        is_pointer = isinstance(place.type, Pointer)
        store_to(ctx, place, put_in_memory(ctx, value) if is_pointer else value)
        return
    low = 0
    for piece in _pieces(ctx, place, where):
        width = width_of(piece.type, where)
        store_to(ctx, piece, ctx.b.op(Op.EXTRACT, value, width=width, constant=low))
        low += width
