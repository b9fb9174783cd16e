"""Pointer variables, and structs on wires that hold pointers.

What a pointer points into is known at compile time; its value is the offset there. A struct with
pointers is thus no value that could be selected, stored or given back: it is copied from variable
to variable, or made of a list.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from cyclescope.c import (
    Construct,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    Pointer,
    Struct,
    Tool,
    Unary,
    refusal,
)
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._layout import is_flat
from cyclescope.hls.front._library import Library
from cyclescope.hls.front._objects import OnWire

if TYPE_CHECKING:
    from cyclescope.c import Assign, CType, Expr, Range, Variable
    from cyclescope.hls.ir._graph import Value

__all__ = ["Pointers", "is_object"]


class Pointers(Library):
    """Lowers what gives pointers their values."""

    def assign_pointer(self, expr: Assign) -> Value:
        """A pointer is given another place, or moved.

        Raises:
            SourceError: it is in a memory.
        """
        pointer = self.object(expr.target)
        if not isinstance(pointer, OnWire):
            raise refusal(Construct.POINTER_IN_MEMORY, Tool.HLS, expr.where)
        if expr.op == "=":
            place = self.address(expr.value)
        else:
            sign = -1 if expr.op == "-=" else 1
            place = self._moved(self.address(expr.target), expr.value, sign, expr.where)
        self.point(pointer.variable, place, expr.where)
        return place.offset

    def point(self, variable: Variable, place: Location, where: Range) -> None:
        """Let a pointer variable point somewhere."""
        known = self.bases.get(variable)
        if known is not None and known is not place.array and variable in self.env and self.moving:
            what = f"{variable.name}, a pointer into {known.name} or {place.array.name},"
            raise refusal(Construct.TWO_ARRAYS, Tool.HLS, where, what)
        self.bases[variable] = place.array
        self.env[variable] = place.offset

    @property
    def moving(self) -> bool:
        """Whether a variable's base could depend on what happens at run time."""
        return self.pred is not None or self.b is not self.root

    def is_view(self, kind: CType) -> bool:
        """Whether a type is a struct on wires that holds pointers."""
        return isinstance(kind, Struct) and is_flat(kind, pointers=True) and not is_flat(kind)

    def assign_view(self, expr: Assign) -> Value:
        """A struct with pointers is given another one's fields; there is no value."""
        place = self.object(expr.target)
        if not isinstance(place, OnWire):
            raise refusal(Construct.POINTER_IN_MEMORY, Tool.HLS, expr.where)
        self.begin_view(place.variable, expr.value, expr.where)
        return self.b.const(32, 0)

    def begin_view(self, variable: Variable, init: Expr | None, where: Range) -> None:
        """Give a struct with pointers its fields.

        Raises:
            SourceError: they aren't those of a variable or of a list.
        """
        if init is None:
            self.hold(variable, None)
        elif isinstance(init, InitList):
            self._listed_view(variable, init, where)
        elif is_object(init):
            place = self.object(init)
            if not isinstance(place, OnWire):
                raise refusal(Construct.POINTER_IN_MEMORY, Tool.HLS, where)
            self.copy_view(variable, place.variable, where)
        else:
            raise self.refuse(
                where, f"a {variable.type} holds pointers: copy it from a variable, or field by "
                f"field"
            )  # fmt: skip

    def copy_view(self, variable: Variable, given: Variable, where: Range) -> None:
        """The fields of one struct with pointers for another."""
        for to, wire in zip(self.wires(variable), self.wires(given), strict=True):
            if not isinstance(wire.type, Pointer):
                self.env[to] = self.b.use(self.env[wire])
            elif wire in self.bases and wire in self.env:
                at = self.b.use(self.env[wire])
                self.point(to, Location(self.bases[wire], at, wire.type.target), where)
            else:
                self.env.pop(to, None)
                self.bases.pop(to, None)

    def _listed_view(self, variable: Variable, init: InitList, where: Range) -> None:
        assert isinstance(variable.type, Struct)
        fields = variable.type.fields
        for (name, kind), value in zip_longest(fields, init.values[: len(fields)]):
            part = self.part(variable, name)
            if self.is_view(kind):
                self.begin_view(part, value, where)
            elif not isinstance(kind, Pointer):
                given = self.rvalue(value) if value is not None else None
                if given is not None and value is not None and not isinstance(value, InitList):
                    given = self.convert(given, value.type, kind, where)
                self.hold(part, given)
            elif value is not None and not isinstance(value, Literal | InitList):
                self.point(part, self.address(value), where)
            else:
                self.env.pop(part, None)
                self.bases.pop(part, None)


def is_object(expr: Expr) -> bool:
    """Whether an expression names an object, and isn't just a value."""
    match expr:
        case Name() | Index() | Unary() | Member(arrow=True):
            return True
        case Member(base=base):
            return is_object(base)
    return False
