"""Objects: variables on wires, lanes of vectors, places in memories; pointers to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import (
    Array,
    Assign,
    Binary,
    Cast,
    Conditional,
    Construct,
    Index,
    Member,
    Name,
    Opaque,
    Pointer,
    Scalar,
    Struct,
    Tool,
    Unary,
    Variable,
    Vector,
    refusal,
)
from cyclescope.hls.front._addresses import is_plain
from cyclescope.hls.front._assigned import root
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._layout import field_offset, size_of
from cyclescope.hls.front._structs import Structs
from cyclescope.hls.ir._graph import Op, Value

if TYPE_CHECKING:
    from cyclescope.c import CType, Expr, Range

__all__ = ["Object", "OnLane", "OnWire", "Places"]


@dataclass(frozen=True, slots=True)
class OnWire:
    """A scalar, vector, pointer or struct variable."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class OnLane:
    """One element of a vector."""

    base: OnWire | Location
    vector: Vector
    lane: Value
    whole: bool


Object = OnWire | OnLane | Location


def open_extents(kind: CType, given: tuple[Expr, ...]) -> tuple[Expr | None, ...]:
    """The extents that a type leaves open, where the declaration says them."""
    count = 0
    while isinstance(kind, Array):
        count += kind.extent is None
        kind = kind.element
    return (None,) * (count - len(given)) + given


class Places(Structs):
    """Finds the object of an expression, reads and writes it."""

    def object(self, expr: Expr) -> Object:
        """The object that an lvalue names.

        Raises:
            SourceError: it isn't one that hardware can have.
        """
        match expr:
            case Name(variable=variable):
                return self._variable(variable)
            case Index(base=base, index=index) if isinstance(base.type, Vector):
                inner = self.object(base)
                if isinstance(inner, OnLane):
                    raise self.refuse(expr.where, "this subscript isn't supported")
                return OnLane(inner, base.type, self._lane(index), self._is_whole(base))
            case Index(base=base, index=index):
                return self._moved(self.address(base), index, 1, expr.where)
            case Unary(op="*", operand=operand):
                return self._pointed(operand)
            case Member(base=base, field=name, arrow=arrow):
                place = self._pointed(base) if arrow else self.object(base)
                if isinstance(place, OnWire) and isinstance(place.variable.type, Struct):
                    return OnWire(self.part(place.variable, name))
                if isinstance(place, Location) and isinstance(place.type, Struct):
                    offset = field_offset(place.type, name, expr.where)
                    at = self._plus(place.offset, self.b.const(64, offset))
                    return Location(place.array, at, expr.type)
        text = self.unit.text(expr.where)
        if isinstance(expr.type, Struct):
            raise self.refuse(expr.where, f"`{text}` has no place; give it to a variable first")
        raise self.refuse(expr.where, f"`{text}` isn't supported here")

    def _pointed(self, pointer: Expr) -> Object:
        """What a pointer points to, which may be on wires."""
        match pointer:
            case Name(variable=variable) if variable in self.aliases:
                return self._variable(self.aliases[variable])
            case Unary(op="&", operand=operand):
                return self.object(operand)
        return self.address(pointer)

    def _variable(self, variable: Variable) -> Object:
        if variable not in self.memories and not self.is_held(variable):
            self.outer(variable)
        array = self.memories.get(variable)
        if array is None:
            return OnWire(variable)
        extents = open_extents(variable.type, variable.extents)
        return Location(array, self.b.const(64, 0), variable.type, extents)

    def _is_whole(self, base: Expr) -> bool:
        """Whether a vector in memory is better read whole: all its elements in one access."""
        first = root(base)
        if not self.laned:
            return True
        # A pointer may lead anywhere.
        sure = all(v is not None and isinstance(v.type, Array) for v in (*self.laned, first))
        return sure and first not in self.laned

    def _lane(self, index: Expr) -> Value:
        signed = isinstance(index.type, Scalar) and index.type.kind == "int"
        return self.b.resized(self.rvalue(index), 64, is_signed=signed)

    def address(self, expr: Expr) -> Location:
        """What a pointer (or an array, as a pointer) points to.

        Raises:
            SourceError: it can't be told at compile time into which memory it points.
        """
        kind = expr.type
        match expr:
            case Name(variable=variable):
                place = self._variable(variable)
                if isinstance(place, Location) and isinstance(kind, Array):
                    return _element(place)
                if isinstance(place, OnWire) and variable in self.bases:
                    extents = open_extents(kind, variable.extents)
                    if isinstance(kind, Array) and kind.extent is None:
                        extents = extents[1:]
                    at = self.b.use(self.env[variable])
                    return Location(self.bases[variable], at, _target(kind), extents)
                raise self.refuse(
                    expr.where, f"it isn't known what {variable.name} points to; "
                    f"let it point into a mapped or local array"
                )  # fmt: skip
            case Binary(op="+" | "-" as op, left=left, right=right):
                if isinstance(left.type, Scalar):
                    left, right = right, left
                return self._moved(self.address(left), right, -1 if op == "-" else 1, expr.where)
            case Cast(operand=operand) if isinstance(operand.type, Pointer | Array):
                place = self.address(operand)
                return Location(place.array, place.offset, _target(kind))
            case Unary(op="&", operand=operand):
                inner = self.object(operand)
                if isinstance(inner, Location):
                    return inner
                raise self.refuse(
                    expr.where, "the address of a value on wires; pass it to a function, or use "
                    "an array"
                )  # fmt: skip
            case Unary(op="pre++" | "pre--" | "post++" | "post--") | Assign():
                at = self.rvalue(expr)
                target = expr.operand if isinstance(expr, Unary) else expr.target
                pointer = self.object(target)
                assert isinstance(pointer, OnWire)
                return Location(self.bases[pointer.variable], at, _target(kind))
            case Member() if isinstance(kind, Pointer):
                pointer = self.object(expr)
                if isinstance(pointer, OnWire) and pointer.variable in self.bases:
                    at = self.b.use(self.env[pointer.variable])
                    return Location(self.bases[pointer.variable], at, _target(kind))
                raise self.refuse(
                    expr.where, f"it isn't known what `{self.unit.text(expr.where)}` points to; "
                    f"let it point into a mapped or local array"
                )  # fmt: skip
            case Conditional(condition=condition, then=then, other=other):
                return self._either(expr, self.condition(condition), then, other)
            case Index() | Member() | Unary(op="*") if isinstance(kind, Array):
                inner = self.object(expr)
                if isinstance(inner, Location):
                    return _element(inner)
            case Opaque(construct=construct):
                raise refusal(construct, Tool.HLS, expr.where)
        raise self.refuse(
            expr.where,
            f"the pointer `{self.unit.text(expr.where)}` isn't supported; subscript",
        )

    def _either(self, expr: Expr, chosen: Value, then: Expr, other: Expr) -> Location:
        arms: dict[bool, Location] = {}

        def arm(which: bool, given: Expr) -> None:
            arms[which] = self.address(given)

        self.branch(chosen, lambda: arm(True, then), lambda: arm(False, other))
        if len(arms) == 1:
            return next(iter(arms.values()))
        first, second = arms[True], arms[False]
        if first.array is not second.array:
            names = f"{first.array.name} or {second.array.name}"
            what = f"a pointer into {names}"
            raise refusal(Construct.TWO_ARRAYS, Tool.HLS, expr.where, what)
        at = self.b.select(chosen, first.offset, second.offset)
        return Location(first.array, at, first.type, first.extents)

    def _moved(self, place: Location, index: Expr, sign: int, where: Range) -> Location:
        given = index.type
        signed = isinstance(given, Scalar) and given.kind == "int"
        count = self.b.resized(self.rvalue(index), 64, is_signed=signed)
        step = self.stride(place, where)
        moved = self.b.op(Op.MUL, count, step, width=64, exact=True)
        op = Op.ADD if sign > 0 else Op.SUB
        at = self.b.op(op, place.offset, moved, width=64, exact=True)
        return Location(place.array, at, place.type, place.extents)

    def stride(self, place: Location, where: Range) -> Value:
        """Bytes of what a location holds."""
        kind, extents = place.type, list(place.extents)
        result = self.b.const(64, 1)
        while isinstance(kind, Array):
            if kind.extent is not None:
                factor = self.b.const(64, kind.extent)
            else:
                extent = extents.pop(0) if extents else None
                if extent is None:
                    raise self.refuse(where, "the length of a row isn't known; give it a constant")
                signed = isinstance(extent.type, Scalar) and extent.type.kind == "int"
                factor = self.b.resized(self.rvalue(extent), 64, is_signed=signed)
            result = self.b.op(Op.MUL, result, factor, width=64, exact=True)
            kind = kind.element
        size = self.b.const(64, size_of(kind, where))
        return self.b.op(Op.MUL, result, size, width=64, exact=True)

    def wire(self, expr: Expr) -> OnWire | None:
        """The variable on wires that an argument is the address of."""
        match expr:
            case Name(variable=variable) if variable in self.aliases:
                return OnWire(self.aliases[variable])
            case Unary(op="&", operand=operand) if is_plain(operand):
                place = self.object(operand)
                return place if isinstance(place, OnWire) else None
        return None

    def _lane_place(self, base: Location, vector: Vector, lane: Value) -> Location:
        size = self.b.const(64, vector.element.bits // 8)
        moved = self.b.op(Op.MUL, lane, size, width=64, exact=True)
        return Location(base.array, self._plus(base.offset, moved), vector.element)

    def _plus(self, a: Value, b: Value) -> Value:
        return self.b.op(Op.ADD, a, b, width=64, exact=True)

    def read(self, place: Object, where: Range) -> Value:
        """The value of an object."""
        match place:
            case OnWire(variable):
                return self.held(variable)
            case Location():
                return self.load_object(place, where)
            case OnLane(Location() as base, vector, lane, whole):
                if whole and lane.node.op is Op.CONST:
                    return self.lane(self.read(base, where), vector, lane)
                return self.load(self._lane_place(base, vector, lane), vector.element.bits)
            case OnLane(base, vector, lane, _):
                return self.lane(self.read(base, where), vector, lane)

    def lane(self, value: Value, vector: Vector, lane: Value) -> Value:
        """One element of a vector's value; lanes chosen at run time by selects."""
        bits = vector.element.bits
        if lane.node.op is Op.CONST:
            number = lane.node.constant % vector.lanes
            return self.b.op(Op.EXTRACT, value, width=bits, constant=number * bits)
        result = self.b.op(Op.EXTRACT, value, width=bits, constant=0)
        for number in range(1, vector.lanes):
            part = self.b.op(Op.EXTRACT, value, width=bits, constant=number * bits)
            here = self.b.op(Op.EQ, lane, self.b.const(64, number), width=1)
            result = self.b.select(here, part, result)
        return result

    def write(self, place: Object, value: Value, where: Range) -> None:
        """Give an object a value of its type."""
        match place:
            case OnWire(variable):
                if self.fixed.intersection(self.wires(variable)):
                    raise self.refuse(
                        where, f"{variable.name} is shared by all threads and isn't mapped: declare"
                        f" it inside the region, or add private or map(tofrom) to the directive"
                    )  # fmt: skip
                self.hold(variable, value)
            case Location():
                self.store_object(place, value, where)
            case OnLane(Location() as base, vector, lane, _):
                self.store(self._lane_place(base, vector, lane), value)
            case OnLane(base, vector, lane, _):
                whole = self.read(base, where)
                bits = vector.element.bits
                parts = []
                for number in range(vector.lanes):
                    part = self.b.op(Op.EXTRACT, whole, width=bits, constant=number * bits)
                    here = self.b.op(Op.EQ, lane, self.b.const(64, number), width=1)
                    parts.append(self.b.select(here, value, part))
                self.write(base, self.b.op(Op.CONCAT, *parts, width=whole.width), where)


def _target(kind: CType) -> CType:
    if isinstance(kind, Pointer):
        return kind.target
    assert isinstance(kind, Array)
    return kind.element


def _element(place: Location) -> Location:
    kind = place.type
    assert isinstance(kind, Array)
    extents = place.extents[1:] if kind.extent is None else place.extents
    return Location(place.array, place.offset, kind.element, extents)
