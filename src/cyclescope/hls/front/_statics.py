"""Static locals: memories outside, which begin with their initial values.

All threads share such a variable, as in C. The host has one of its own: what the region makes of
its is not seen there, so the host must not use what is written.
"""

from __future__ import annotations

import ast
import struct
from dataclasses import replace
from typing import TYPE_CHECKING

from cyclescope.c import (
    STEPS,
    Assign,
    Call,
    InitList,
    Name,
    Scalar,
    Struct,
    Text,
    Unary,
    Variable,
    Vector,
    expressions,
    fold,
    placed_fields,
)
from cyclescope.c import Array as CArray
from cyclescope.hls.front._assigned import root
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._dispatch import ADDRESSES
from cyclescope.hls.front._layout import size_of
from cyclescope.hls.front._memory import new_array
from cyclescope.hls.front._structs import is_held
from cyclescope.hls.ir import Place, bits_of

if TYPE_CHECKING:
    from cyclescope.c import CType, Expr
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Array

__all__ = ["check_own", "declare_static"]


def declare_static(ctx: Context, variable: Variable) -> None:
    """A static local, the first time that the text comes to it.

    Raises:
        SourceError: its initial value is not known, or the host uses it, too.
    """
    if variable in ctx.vars.memories or is_held(ctx, variable):
        return
    size = size_of(variable.type, variable.where)
    first = bytearray(size)
    check_own(ctx, variable)
    if variable.init is not None:
        _place(ctx, first, 0, variable.type, variable.init)
    stem = f"{variable.name}_in_line_{variable.where.line}"
    stands = Variable(stem, variable.type, variable.where, "static", volatile=variable.volatile)
    ctx.vars.memories[variable] = _memory(ctx, stands, bytes(first))


def _memory(ctx: Context, variable: Variable, first: bytes) -> Array:
    """A memory that the host's text gets for the region, under a name that nothing else has."""
    names = {array.name for array in ctx.host.arrays} | set(ctx.unit.variables)
    stem = name = variable.name
    number = 1
    while name in names:
        number += 1
        name = f"{stem}_{number}"
    stands = replace(variable, name=name, scope="global")
    array = new_array(ctx, stands, Place.EXTERNAL, len(first), to=True, back=False)
    ctx.host.hosts[array] = stands
    ctx.host.statics[name] = first
    return array


def check_own(ctx: Context, variable: Variable) -> None:
    """Return whether a static local is the region's alone, or never written.

    Raises:
        SourceError: it is not: the host would go on with another value.
    """
    if _is_written(ctx, variable) and _is_the_hosts(ctx, variable):
        raise ctx.refuse(
            variable.where, f"{variable.name}, a static local, is written by the region, and the "
            f"host calls its function, too; declare it outside and map it"
        )  # fmt: skip


@ADDRESSES.of(Text)
def _text(ctx: Context, expr: Text) -> Location:
    """A string: a memory that nothing writes, one for each spelling."""
    assert isinstance(expr.type, CArray)
    array = ctx.host.strings.get(expr.spelling)
    if array is None:
        try:
            text: bytes = ast.literal_eval(f"b{expr.spelling.removeprefix('u8')}")
        except (SyntaxError, ValueError):
            raise ctx.refuse(
                expr.where, f"the string {expr.spelling[:40]} is not an array of char; write one"
            ) from None
        first = text.ljust(size_of(expr.type, expr.where), b"\0")
        stands = Variable(
            f"text_in_line_{expr.where.line}", expr.type, expr.where, "static", init=expr
        )
        array = ctx.host.strings[expr.spelling] = _memory(ctx, stands, first)
    return Location(array, ctx.b.const(64, 0), expr.type.element)


def _place(ctx: Context, data: bytearray, at: int, kind: CType, init: Expr) -> None:
    """Put an initial value where it is in memory."""
    if isinstance(init, InitList) and isinstance(kind, CArray | Struct | Vector):
        parts: list[tuple[int, CType]]
        if isinstance(kind, Struct):
            parts = [(offset, sort) for offset, _, sort in placed_fields(kind)]
        else:
            size = size_of(kind.element, init.where)
            parts = [(number * size, kind.element) for number in range(len(init.values))]
        for (offset, sort), value in zip(parts, init.values, strict=False):
            _place(ctx, data, at + offset, sort, value)
        return
    if isinstance(init, InitList) and not init.values:
        return
    if isinstance(init, InitList):
        (init,) = init.values
    given = fold(init, {})
    if given is None or not isinstance(kind, Scalar):
        text = ctx.unit.text(init.where)
        raise ctx.refuse(
            init.where, f"`{text}` is not a number known here; let the static local start "
            f"with one"
        )  # fmt: skip
    bits = kind.bits
    if kind.is_float:
        number = bits_of(struct.unpack("f", struct.pack("f", given))[0], 32) if bits == 32 else 0
        number = number if bits == 32 else bits_of(float(given), 64)
    else:
        number = int(given != 0) if kind.kind == "bool" else int(given) & (1 << bits) - 1
    data[at : at + bits // 8] = number.to_bytes(bits // 8, "little")


def _is_written(ctx: Context, variable: Variable) -> bool:
    """Return whether anything in the text may give a static local, or a part of it, a value."""
    for function in ctx.unit.functions.values():
        for expr in expressions(function.body):
            places: tuple[Expr, ...] = ()
            match expr:
                case Assign(target=target):
                    places = (target,)
                case Unary(op=op, operand=operand) if op in STEPS or op == "&":
                    places = (operand,)
                case Call(args=args):
                    places = tuple(a for a in args if not isinstance(a.type, Scalar))
            if any(root(place) is variable for place in places):
                return True
    return False


def _is_the_hosts(ctx: Context, variable: Variable) -> bool:
    """Return whether the host may come to a variable outside of the region."""
    region = ctx.host.target.body.where

    def is_outside(expr: Expr) -> bool:
        inside = region.start <= expr.where.start < region.end
        return expr.where.file != region.file or not inside

    waiting, seen = ["main"], {"main"}
    while waiting:
        function = ctx.unit.functions.get(waiting.pop())
        for expr in expressions(function.body) if function is not None else ():
            if not is_outside(expr):
                continue
            if isinstance(expr, Name) and expr.variable is variable:
                return True
            if isinstance(expr, Call) and expr.function not in seen:
                seen.add(expr.function)
                waiting.append(expr.function)
    return False
