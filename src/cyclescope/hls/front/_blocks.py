"""memcpy, memmove, memset: loops of the widest accesses that are known to be aligned."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from cyclescope.c import Array, Binary, Cast, Literal, Scalar, Struct, Unary, Vector
from cyclescope.hls.front._assigned import without_casts
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._layout import alignment, size_of, width_of
from cyclescope.hls.front._objects import OnWire
from cyclescope.hls.front._rounding import Rounding
from cyclescope.hls.ir._builder import constant_of
from cyclescope.hls.ir._graph import Op, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.c import Call, CType, Expr, Range

__all__ = ["Blocks"]

_MOST_BYTES = 64  # of an access
_MOST_AT_ONCE = 8  # accesses that aren't worth a loop


class Blocks(Rounding):
    """Lowers calls that move or fill bytes."""

    def copy_object(self, to: Location, given: Location, where: Range) -> None:
        """A copy of an object in memory, piece by piece; the two are the same or apart."""
        unit = min(alignment(to.type), _MOST_BYTES)
        kind = Scalar("uint", 8 * unit)

        def move(number: Value) -> None:
            value = self.load(self._access(given, number, unit, kind), kind.bits)
            self.store(self._access(to, number, unit, kind), value)

        self.counted(where, self.b.const(64, size_of(to.type, where) // unit), move)

    def block_call(self, call: Call, name: str) -> OnWire | Location:
        """A call of `memcpy`, `memmove` or `memset`; gives the target."""
        target, source, size = call.args
        if name == "memset":
            self._fill(target, source, size, call.where)
        else:
            self._copy(target, source, size, call.where, may_overlap=name == "memmove")
        return self._place(target)

    def _copy(
        self, target: Expr, source: Expr, size: Expr, where: Range, *, may_overlap: bool
    ) -> None:
        to, given = self._place(target), self._place(source)
        bytes_ = self._bytes(size)
        if isinstance(to, OnWire) or isinstance(given, OnWire):
            self._copy_wires(to, given, constant_of(bytes_), where)
            return
        unit = gcd(_grain(to), _grain(given), _factor(size), _MOST_BYTES)
        kind = Scalar("uint", 8 * unit)

        def load(number: Value) -> Value:
            return self.load(self._access(given, number, unit, kind), kind.bits)

        def store(number: Value, value: Value) -> None:
            self.store(self._access(to, number, unit, kind), value)

        count = self.b.op(Op.UDIV, bytes_, self.b.const(64, unit), width=64)
        known = constant_of(count)
        if known is not None and known <= _MOST_AT_ONCE:
            numbers = [self.b.const(64, n) for n in range(known)]
            values = [load(n) for n in numbers]  # all before any is written over
            for number, value in zip(numbers, values, strict=True):
                store(number, value)
            return
        if may_overlap and to.array is given.array:
            behind = self.b.op(Op.ULT, given.offset, to.offset, width=1)
            last = self.b.op(Op.SUB, count, self.b.const(64, 1), width=64, exact=True)

            def move(number: Value) -> None:
                other = self.b.op(Op.SUB, last, number, width=64, exact=True)
                number = self.b.select(behind, other, number)
                store(number, load(number))

            self.counted(where, count, move)
            return
        self.counted(where, count, lambda number: store(number, load(number)))

    def _copy_wires(
        self, to: OnWire | Location, given: OnWire | Location, size: int | None, where: Range
    ) -> None:
        """A copy from or to a variable on wires, which is copied whole."""
        sort = to.variable.type if isinstance(to, OnWire) else None
        if sort is None and isinstance(given, OnWire):
            sort = given.variable.type
        assert sort is not None
        if size != size_of(sort, where):
            raise self.refuse(where, f"a copy of a part of a {sort} on wires; assign what is meant")
        if isinstance(to, OnWire) and isinstance(given, OnWire):
            self.write(to, self.read(given, where), where)
            return
        memory = given if isinstance(to, OnWire) else to
        assert isinstance(memory, Location)
        if memory.type == sort:
            place = memory
        else:
            place = Location(memory.array, memory.offset, Scalar("uint", 8 * size))
        unit = min(size, alignment(memory.type)) if memory.type != sort else size
        if isinstance(to, OnWire):
            if unit == size:
                self.write(to, self.read(place, where), where)
                return
            kind = Scalar("uint", 8 * unit)
            parts = [
                self.load(self._access(memory, self.b.const(64, n), unit, kind), kind.bits)
                for n in range(size // unit)
            ]
            self.write(to, self.joined(parts), where)
            return
        value = self.read(given, where)
        if unit == size:
            self.write(place, value, where)
            return
        kind = Scalar("uint", 8 * unit)
        for n in range(size // unit):
            part = self.b.op(Op.EXTRACT, value, width=kind.bits, constant=n * kind.bits)
            self.store(self._access(memory, self.b.const(64, n), unit, kind), part)

    def _fill(self, target: Expr, value: Expr, size: Expr, where: Range) -> None:
        to = self._place(target)
        byte = self.b.resized(self.rvalue(value), 8, is_signed=False)
        bytes_ = self._bytes(size)
        if isinstance(to, OnWire):
            kind = to.variable.type
            if constant_of(bytes_) != size_of(kind, where):
                raise self.refuse(
                    where, f"memset of a part of a {kind} on wires; assign what is meant"
                )
            filled = self.joined([byte] * (width_of(kind, where) // 8))
            self.write(to, filled, where)
            return
        unit = gcd(_grain(to), _factor(size), _MOST_BYTES)
        sort = Scalar("uint", 8 * unit)
        filled = self.joined([byte] * unit)
        count = self.b.op(Op.UDIV, bytes_, self.b.const(64, unit), width=64)

        def store(number: Value) -> None:
            self.store(self._access(to, number, unit, sort), filled)

        self._repeated(count, store, where)

    def _repeated(self, count: Value, body: Callable[[Value], None], where: Range) -> None:
        known = constant_of(count)
        if known is None or known > _MOST_AT_ONCE:
            self.counted(where, count, body)
            return
        for number in range(known):
            body(self.b.const(64, number))

    def _place(self, pointer: Expr) -> OnWire | Location:
        pointer = without_casts(pointer)  # which say nothing of what is copied
        wire = self.wire(pointer)
        return wire if wire is not None else self.address(pointer)

    def _bytes(self, size: Expr) -> Value:
        signed = isinstance(size.type, Scalar) and size.type.kind == "int"
        return self.b.resized(self.rvalue(size), 64, is_signed=signed)

    def _access(self, place: Location, number: Value, unit: int, kind: Scalar) -> Location:
        moved = self.b.op(Op.MUL, number, self.b.const(64, unit), width=64, exact=True)
        at = self.b.op(Op.ADD, place.offset, moved, width=64, exact=True)
        return Location(place.array, at, kind)


def _grain(place: Location) -> int:
    """Bytes to a multiple of which a pointer is aligned."""
    kind: CType = place.type
    return alignment(kind) if isinstance(kind, Scalar | Vector | Struct | Array) else 1


def _factor(size: Expr) -> int:
    """A number that a size is a multiple of, whatever its variables are."""
    match size:
        case Literal(value=value):
            return int(value)
        case Cast(operand=operand) | Unary(op="-", operand=operand):
            return _factor(operand)
        case Binary(op="*", left=left, right=right):
            return _factor(left) * _factor(right)
        case Binary(op="+" | "-", left=left, right=right):
            return gcd(_factor(left), _factor(right))
    return 1
