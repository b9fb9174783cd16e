"""Expressions: C's arithmetic on bit vectors."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from cyclescope.c import (
    Array,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    Opaque,
    Pointer,
    Scalar,
    Struct,
    Tool,
    Unary,
    Vector,
    Void,
    refusal,
)
from cyclescope.hls.front._layout import size_of, width_of
from cyclescope.hls.front._pointers import Pointers, is_object
from cyclescope.hls.ir._graph import Op, Value
from cyclescope.hls.ir._semantics import bits_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import CType, Range

__all__ = ["Expressions"]

_INTEGER = {"+": Op.ADD, "-": Op.SUB, "*": Op.MUL, "&": Op.AND, "|": Op.OR, "^": Op.XOR}
_FLOATING = {"+": Op.FADD, "-": Op.FSUB, "*": Op.FMUL, "/": Op.FDIV}
_TESTS = frozenset({"==", "!=", "<", "<=", ">", ">="})


def _is_signed(kind: CType) -> bool:
    return isinstance(kind, Scalar) and kind.kind == "int"


class Expressions(Pointers):
    """Lowers expressions."""

    def rvalue(self, expr: Expr) -> Value:
        """The value of an expression, in its type's width.

        Raises:
            SourceError: it holds something that isn't supported.
        """
        with self.at(expr.where):
            return self._value(expr)

    def _value(self, expr: Expr) -> Value:
        kind = expr.type
        match expr:
            case Literal(value=value):
                return self._literal(value, kind, expr.where)
            case Member(base=base, field=name, arrow=False) if not is_object(base):
                assert isinstance(base.type, Struct)
                return self.field_of(self.rvalue(base), base.type, name, expr.where)
            case Name() | Index() | Member():
                if isinstance(expr, Index) and isinstance(expr.base.type, Vector):
                    return self._lane_of(expr)
                if isinstance(kind, Array):
                    return self.address(expr).offset
                return self.read(self.object(expr), expr.where)
            case Unary(op=op, operand=operand):
                return self._unary(expr, op, operand)
            case Binary(op="&&" | "||"):
                bit = self.condition(expr)
                return self.b.resized(bit, width_of(kind, expr.where), is_signed=False)
            case Binary(op=",", left=left, right=right):
                self.rvalue(left)
                return self.rvalue(right)
            case Binary(op=op, left=left, right=right):
                return self._binary(expr, op, left, right)
            case Assign():
                return self._assign(expr)
            case Conditional(condition=condition, then=then, other=other):
                return self._conditional(condition, then, other)
            case Cast(operand=operand):
                if isinstance(kind, Pointer):
                    return self.address(expr).offset
                if isinstance(kind, Void):
                    return self.rvalue(operand)
                return self.convert(self.rvalue(operand), operand.type, kind, expr.where)
            case Call():
                return self.call(expr)
            case InitList() if isinstance(kind, Vector | Struct):
                width_of(kind, expr.where)
                return self.joined(list(self._listed(expr, kind, expr.where)))
            case InitList(values=(only,)):
                return self.rvalue(only)
            case InitList():
                return self.b.const(width_of(kind, expr.where), 0)
            case Opaque(construct=construct):
                raise refusal(construct, Tool.HLS, expr.where)
        raise self.refuse(
            expr.where, f"`{self.unit.text(expr.where)}` isn't supported in a target region"
        )

    def _listed(self, init: Expr | None, kind: CType, where: Range) -> Iterator[Value]:
        """The values of an initialiser list in a row, zeros where it has none."""
        if isinstance(init, InitList) or init is None:
            match kind:
                case Struct(fields=fields):
                    parts = [t for _, t in fields]
                case Array(element=element, extent=extent) if extent is not None:
                    parts = [element] * extent
                case Vector(element=element, lanes=lanes):
                    parts = [element] * lanes
                case _:
                    parts = []
            given = init.values if init is not None else ()
            if parts:
                for part, value in zip_longest(parts, given[: len(parts)]):
                    yield from self._listed(value, part, where)
                return
        if init is None:
            yield self.b.const(width_of(kind, where), 0)
        else:
            sort = kind if isinstance(init, InitList) else init.type
            yield self.convert(self.rvalue(init), sort, kind, where)

    def _lane_of(self, expr: Index) -> Value:
        if is_object(expr.base):
            return self.read(self.object(expr), expr.where)
        assert isinstance(expr.base.type, Vector)
        return self.lane(self.rvalue(expr.base), expr.base.type, self._lane(expr.index))

    def _literal(self, value: float, kind: CType, where: Range) -> Value:
        width = width_of(kind, where)
        if isinstance(kind, Scalar) and kind.is_float:
            return self.b.const(width, bits_of(float(value), width))
        return self.b.const(width, int(value))

    def condition(self, expr: Expr) -> Value:
        """Whether an expression is not zero: one bit."""
        with self.at(expr.where):
            match expr:
                case Binary(op="&&" | "||" as op, left=left, right=right):
                    return self._shortcut(op, left, right)
                case Unary(op="!", operand=operand):
                    return self.b.negated(self.condition(operand))
                case Binary(op=op, left=left, right=right) if op in _TESTS and isinstance(
                    left.type, Scalar | Pointer | Array
                ):
                    return self._test(op, self.rvalue(left), self.rvalue(right), left.type)
                case Cast(operand=operand, implicit=True) if _is_integer(expr.type) and _is_integer(
                    operand.type
                ):
                    if width_of(expr.type, expr.where) >= width_of(operand.type, expr.where):
                        return self.condition(operand)
            return self.truth(self.rvalue(expr), expr.type)

    def _shortcut(self, op: str, left: Expr, right: Expr) -> Value:
        first = self.condition(left)
        result: list[Value] = []
        self.branch(
            first if op == "&&" else self.b.negated(first),
            lambda: result.append(self.condition(right)),
        )
        if not result:
            return first
        return self.b.op(Op.AND if op == "&&" else Op.OR, first, result[0], width=1)

    def _conditional(self, condition: Expr, then: Expr, other: Expr) -> Value:
        chosen = self.condition(condition)
        arms: dict[bool, Value] = {}

        def arm(which: bool, expr: Expr) -> None:
            arms[which] = self.rvalue(expr)

        self.branch(chosen, lambda: arm(True, then), lambda: arm(False, other))
        if len(arms) == 1:
            return next(iter(arms.values()))
        return self.b.select(chosen, arms[True], arms[False])

    def _unary(self, expr: Unary, op: str, operand: Expr) -> Value:
        kind, where = expr.type, expr.where
        match op:
            case "*":
                if isinstance(kind, Array):
                    return self.address(expr).offset
                return self.read(self.object(expr), where)
            case "&":
                return self.address(expr).offset
            case "!":
                bit = self.condition(expr)
                return self.b.resized(bit, width_of(kind, where), is_signed=False)
            case "pre++" | "pre--" | "post++" | "post--":
                return self._step(op, operand, where)
            case "+":
                return self.convert(self.rvalue(operand), operand.type, kind, where)
        value = self.rvalue(operand)
        if isinstance(kind, Vector):
            parts = self._lanes(value, kind)
            done = [self._negated(op, part, kind.element) for part in parts]
            return self.b.op(Op.CONCAT, *done, width=value.width)
        assert isinstance(kind, Scalar)
        return self._negated(op, self.convert(value, operand.type, kind, where), kind)

    def _negated(self, op: str, value: Value, kind: Scalar) -> Value:
        if op == "~":
            return self.b.op(Op.NOT, value, width=value.width)
        if kind.is_float:
            return self.b.op(Op.FNEG, value, width=value.width)
        zero = self.b.const(value.width, 0)
        return self.b.op(Op.SUB, zero, value, width=value.width, exact=_is_signed(kind))

    def _step(self, op: str, operand: Expr, where: Range) -> Value:
        place = self.object(operand)
        before = self.read(place, where)
        kind = operand.type
        sign = "+" if op.endswith("++") else "-"
        if isinstance(kind, Pointer):
            one = self.stride(self.address(operand), where)
            after = self.b.op(Op.ADD if sign == "+" else Op.SUB, before, one, width=64, exact=True)
        elif isinstance(kind, Scalar):
            common = kind if kind.is_float or kind.bits >= 32 else Scalar("int", 32)
            one = self.convert(self.b.const(32, 1), Scalar("int", 32), common, where)
            wide = self.arithmetic(sign, self.convert(before, kind, common, where), one, common)
            after = self.convert(wide, common, kind, where)
        else:
            raise self.refuse(where, f"{op[-2:]} on {kind} isn't supported")
        self.write(place, after, where)
        return after if op.startswith("pre") else before

    def _binary(self, expr: Binary, op: str, left: Expr, right: Expr) -> Value:
        kind = expr.type
        if isinstance(kind, Pointer):
            return self.address(expr).offset
        if op in _TESTS and not isinstance(kind, Vector):
            bit = self.condition(expr)
            return self.b.resized(bit, width_of(kind, expr.where), is_signed=False)
        a, b = self.rvalue(left), self.rvalue(right)
        if isinstance(left.type, Pointer | Array):
            place = self.address(left)
            size = self.b.const(64, size_of(place.type, expr.where))
            apart = self.b.op(Op.SUB, a, b, width=64, exact=True)
            return self.b.op(Op.SDIV, apart, size, width=64)
        if isinstance(kind, Vector):
            return self._on_lanes(op, a, b, left.type, right.type, kind, expr.where)
        assert isinstance(kind, Scalar)
        if op in ("<<", ">>"):
            a = self.convert(a, left.type, kind, expr.where)
        return self.arithmetic(op, a, b, kind)

    def _lanes(self, value: Value, kind: Vector) -> list[Value]:
        bits = kind.element.bits
        return [
            self.b.op(Op.EXTRACT, value, width=bits, constant=n * bits) for n in range(kind.lanes)
        ]

    def _on_lanes(
        self, op: str, a: Value, b: Value, left: CType, right: CType, kind: Vector, where: Range
    ) -> Value:
        vector = left if isinstance(left, Vector) else right
        assert isinstance(vector, Vector)
        first = self._lanes(self.convert(a, left, vector, where), vector)
        second = self._lanes(self.convert(b, right, vector, where), vector)
        bits = kind.element.bits
        parts = []
        for x, y in zip(first, second, strict=True):
            if op in _TESTS:
                bit = self._test(op, x, y, vector.element)
                parts.append(self.b.op(Op.SEXT, bit, width=bits))
            else:
                parts.append(self.arithmetic(op, x, y, vector.element))
        return self.b.op(Op.CONCAT, *parts, width=bits * kind.lanes)

    def arithmetic(self, op: str, a: Value, b: Value, kind: Scalar) -> Value:
        """`a op b` of two values of one type (a shift's amount may have another)."""
        width = a.width
        if kind.is_float:
            return self.b.op(_FLOATING[op], a, b, width=width)
        signed = kind.kind == "int"
        if op in _INTEGER:
            return self.b.op(_INTEGER[op], a, b, width=width, exact=signed and width >= 32)
        if op in ("<<", ">>"):
            # As the processor has it: the amount's lowest five or six bits count.
            bits = self.b.const(width, 63 if width > 32 else min(31, (1 << width) - 1))
            amount = self.b.op(Op.AND, self.b.resized(b, width, is_signed=False), bits, width=width)
            right = Op.ASHR if signed else Op.LSHR
            return self.b.op(Op.SHL if op == "<<" else right, a, amount, width=width)
        if op == "/":
            return self.b.op(Op.SDIV if signed else Op.UDIV, a, b, width=width)
        return self.b.op(Op.SREM if signed else Op.UREM, a, b, width=width)

    def _test(self, op: str, a: Value, b: Value, kind: CType) -> Value:
        if op in (">", ">="):
            a, b, op = b, a, {">": "<", ">=": "<="}[op]
        if isinstance(kind, Scalar) and kind.is_float:
            if op == "!=":
                return self.b.negated(self.b.op(Op.FEQ, a, b, width=1))
            return self.b.op({"==": Op.FEQ, "<": Op.FLT, "<=": Op.FLE}[op], a, b, width=1)
        names = {"==": Op.EQ, "!=": Op.NE}
        names |= {"<": Op.SLT, "<=": Op.SLE} if _is_signed(kind) else {"<": Op.ULT, "<=": Op.ULE}
        return self.b.op(names[op], a, b, width=1)

    def _assign(self, expr: Assign) -> Value:
        target, where = expr.target, expr.where
        if isinstance(target.type, Pointer):
            return self.assign_pointer(expr)
        if self.is_view(target.type):
            return self.assign_view(expr)
        if expr.op == "=":
            value = self.rvalue(expr.value)
            value = self.convert(value, expr.value.type, target.type, where)
            self.write(self.object(target), value, where)
            return value
        given = self.rvalue(expr.value)
        place = self.object(target)
        before = self.read(place, where)
        op, common = expr.op[:-1], expr.common
        if isinstance(common, Vector):
            after = self._on_lanes(op, before, given, target.type, expr.value.type, common, where)
        else:
            assert isinstance(common, Scalar)
            first = self.convert(before, target.type, common, where)
            if op not in ("<<", ">>"):
                given = self.convert(given, expr.value.type, common, where)
            after = self.convert(
                self.arithmetic(op, first, given, common), common, target.type, where
            )
        self.write(place, after, where)
        return after


def _is_integer(kind: CType) -> bool:
    return isinstance(kind, Scalar) and not kind.is_float
