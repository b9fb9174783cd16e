"""Structs on wires: a variable for each field, values as the fields' bits in a row.

A struct's value has no padding: the first field is in its low bits. In memory each field is
where C has it, and is loaded and stored on its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Pointer, Struct, Variable
from cyclescope.hls.front._context import Location, State
from cyclescope.hls.front._layout import is_flat, leaves, width_of
from cyclescope.hls.ir._graph import Op, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import Range

__all__ = ["Structs"]


class Structs(State):
    """Holds variables on wires, and takes values apart."""

    def on_wires(self, variable: Variable) -> bool:
        """Whether a variable of the region's own is on wires, and not in a memory."""
        kind = variable.type
        return variable not in self.addressed and is_flat(kind, pointers=True)

    def part(self, variable: Variable, field: str) -> Variable:
        """The variable that stands for a field of a struct on wires."""
        known = self.parts.get(variable)
        if known is None:
            assert isinstance(variable.type, Struct)
            known = self.parts[variable] = {
                name: Variable(f"{variable.name}.{name}", kind, variable.where, variable.scope)
                for name, kind in variable.type.fields
            }
            first = self.whole.get(variable, variable)
            self.whole.update(dict.fromkeys(known.values(), first))
        return known[field]

    def wires(self, variable: Variable) -> list[Variable]:
        """The variables that a variable is made of; itself, if it isn't a struct of scalars."""
        if not isinstance(variable.type, Struct) or not is_flat(variable.type, pointers=True):
            return [variable]
        fields = [self.part(variable, name) for name, _ in variable.type.fields]
        return [wire for field in fields for wire in self.wires(field)]

    def is_held(self, variable: Variable) -> bool:
        """Whether a variable is on wires, and has a value."""
        if not isinstance(variable.type, Struct) or not is_flat(variable.type, pointers=True):
            return variable in self.env
        wires = self.wires(variable) if variable in self.parts else [variable]
        return all(w in self.env for w in wires if not isinstance(w.type, Pointer))

    def hold(self, variable: Variable, value: Value | None) -> None:
        """Give a variable on wires a value; None: zeros, and pointers to nothing."""
        low = 0
        for wire in self.wires(variable):
            if isinstance(wire.type, Pointer) and wire is not variable:
                self.env.pop(wire, None)
                self.bases.pop(wire, None)
                continue
            width = width_of(wire.type, wire.where)
            if value is None:
                self.env[wire] = self.b.const(width, 0)
            else:
                piece = self.b.op(Op.EXTRACT, value, width=width, constant=low)
                self.env[wire] = self.named(piece, wire.name)
            low += width

    def held(self, variable: Variable) -> Value:
        """The value of a variable on wires.

        Raises:
            SourceError: there are pointers in it, or it is one that points to nothing.
        """
        if isinstance(variable.type, Struct):
            width_of(variable.type, self.shared.where)
        if variable not in self.env and isinstance(variable.type, Pointer):
            raise self.refuse(
                self.shared.where, f"it isn't known what {variable.name} points to; let it point "
                f"into a mapped or local array"
            )  # fmt: skip
        values = [self.b.use(self.env[w]) for w in self.wires(variable)]
        return self.joined(values)

    def joined(self, values: list[Value]) -> Value:
        """Values in a row, the first one in the low bits."""
        if len(values) == 1:
            return values[0]
        return self.b.op(Op.CONCAT, *values, width=sum(v.width for v in values))

    def release(self, variable: Variable) -> None:
        """Forget a variable on wires."""
        for wire in self.wires(variable):
            self.env.pop(wire, None)

    def field_of(self, value: Value, kind: Struct, name: str, where: Range) -> Value:
        """A field of a struct's value."""
        low = 0
        for field, sort in kind.fields:
            width = sum(width_of(leaf, where) for _, leaf in leaves(sort, where))
            if field == name:
                return self.b.op(Op.EXTRACT, value, width=width, constant=low)
            low += width
        raise self.refuse(where, f"{kind} has no field {name}")

    def pieces(self, place: Location, where: Range) -> Iterator[Location]:
        """The scalars and vectors of an object in memory, in a row."""
        for offset, leaf in leaves(place.type, where):
            at = self.b.op(Op.ADD, place.offset, self.b.const(64, offset), width=64, exact=True)
            yield Location(place.array, at, leaf)

    def load_object(self, place: Location, where: Range) -> Value:
        """The value of an object in memory."""
        if isinstance(place.type, Struct):
            found = [self.load(p, width_of(p.type, where)) for p in self.pieces(place, where)]
            return self.joined(found)
        return self.load(place, width_of(place.type, where))

    def store_object(self, place: Location, value: Value, where: Range) -> None:
        """Give an object in memory a value of its type."""
        if not isinstance(place.type, Struct):
            self.store(place, value)
            return
        low = 0
        for piece in self.pieces(place, where):
            width = width_of(piece.type, where)
            self.store(piece, self.b.op(Op.EXTRACT, value, width=width, constant=low))
            low += width
