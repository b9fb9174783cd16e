"""Reductions: a copy for each thread, joined one thread at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import Array as CArray
from cyclescope.c import Pointer, Scalar
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._layout import size_of
from cyclescope.hls.front.omp._privatization import Copies, innermost
from cyclescope.hls.ir._graph import Op, Place
from cyclescope.hls.ir._semantics import bits_of

if TYPE_CHECKING:
    from cyclescope.c import CType, Range, Variable
    from cyclescope.hls.front.omp._directives import Directive, Reduction
    from cyclescope.hls.ir._graph import Array, Value

__all__ = ["Entered", "Reductions"]

_COMBINED = frozenset({"+", "-", "*", "&", "|", "^", "&&", "||", "min", "max"})
_LARGEST = {32: 0x7F800000, 64: 0x7FF0000000000000}


@dataclass(frozen=True, slots=True)
class Entered:
    """A reduction that has begun.

    Attributes:
        operator: how values are joined.
        variable: the variable.
        kind: of its elements.
        array: where the team's values are.
        own: where the thread's are; None: on wires.
        start: the team's first element there, in elements; the thread's has the same number.
        count: how many elements there are.
    """

    operator: str
    variable: Variable
    kind: Scalar
    array: Array
    own: Array | None
    start: int = 0
    count: int = 1


class Reductions(Copies):
    """Lowers reductions."""

    def begin_reductions(self, directive: Directive) -> list[Entered]:
        """Give each thread its own copies.

        Raises:
            SourceError: of something that can't be reduced.
        """
        entered = []
        for reduction in directive.reductions:
            name, where = reduction.name, directive.where
            if reduction.operator not in _COMBINED:
                raise self.refuse(where, f"reduction({reduction.operator}: …) isn't supported")
            variable = self.in_memory(name)
            if variable is None and not any(v.name == name for v in self.env):
                continue  # nothing in the region uses it
            kind = innermost(variable.type) if variable is not None else None
            if isinstance(kind, Pointer):
                kind = innermost(kind.target)
            array = None
            if variable is not None:
                array = self.memories.get(variable) or self.bases.get(variable)
            if array is None or not isinstance(kind, Scalar) or array.place is not Place.EXTERNAL:
                raise self.refuse(
                    where, f"reduction of {name}: only scalars of the host can be reduced, and "
                    f"arrays of them"
                )  # fmt: skip
            assert variable is not None
            if isinstance(variable.type, Scalar):
                del self.memories[variable]
                entered.append(Entered(reduction.operator, variable, kind, array, None))
                self.env[variable] = self._identity(reduction.operator, kind)
            else:
                entered.append(self._begin_array(reduction, variable, kind, array, where))
        return entered

    def _begin_array(
        self, reduction: Reduction, variable: Variable, kind: Scalar, array: Array, where: Range
    ) -> Entered:
        first, count = self._section(reduction, variable.type, kind, where)
        own = self.new_array(
            variable, Place.LOCAL, (first + count) * kind.bits // 8, to=False, back=False
        )
        if variable in self.memories:
            self.memories[variable] = own
        else:
            self.bases[variable] = own
        identity = self._identity(reduction.operator, kind)

        def clear(number: Value) -> None:
            self.store(self._element(own, number, first, kind), identity)

        self.counted(where, self.b.const(64, count), clear)
        return Entered(reduction.operator, variable, kind, array, own, first, count)

    def _section(
        self, reduction: Reduction, kind: CType, element: Scalar, where: Range
    ) -> tuple[int, int]:
        """The first element of what is reduced, and how many there are."""
        name, size = reduction.name, element.bits // 8
        if not reduction.count:
            if not isinstance(kind, CArray) or kind.extent is None:
                raise self.refuse(
                    where, f"reduction of {name}: say how much of it, {name}[0:count]"
                )
            return 0, size_of(kind, where) // size
        low, count = (self.constants.value(w, where) for w in (reduction.low, reduction.count))
        if low is None or count is None or low < 0 or count < 1:
            raise self.refuse(
                where, f"reduction of {name}: its section must have constant bounds, since the "
                f"threads' copies are block RAM"
            )  # fmt: skip
        inner = kind.element if isinstance(kind, CArray) else kind
        inner = inner.target if isinstance(inner, Pointer) else inner
        each = size_of(inner, where) // size
        return low * each, count * each

    def _element(self, array: Array, number: Value, first: int, kind: Scalar) -> Location:
        size = kind.bits // 8
        start = self.b.op(Op.MUL, number, self.b.const(64, size), width=64, exact=True)
        at = self.b.op(Op.ADD, start, self.b.const(64, first * size), width=64, exact=True)
        return Location(array, at, kind)

    def end_reductions(self, directive: Directive, entered: list[Entered]) -> None:
        """Join the threads' copies, one thread at a time."""
        if not entered:
            return
        with self.at(directive.where), self.locked("reduction"):
            for one in entered:
                self._join(one, directive.where)

    def _join(self, one: Entered, where: Range) -> None:
        kind, variable = one.kind, one.variable

        def join(number: Value, own: Value) -> None:
            place = self._element(one.array, number, one.start, kind)
            total = self.load(place, kind.bits)
            self.store(place, self._joined(one.operator, total, own, kind))

        if one.own is None:
            join(self.b.const(64, 0), self.env.pop(variable))
            self.memories[variable] = one.array
            return
        copies = one.own
        self.counted(
            where,
            self.b.const(64, one.count),
            lambda number: join(
                number, self.load(self._element(copies, number, one.start, kind), kind.bits)
            ),
        )
        if variable in self.memories:
            self.memories[variable] = one.array
        else:
            self.bases[variable] = one.array

    def _identity(self, operator: str, kind: Scalar) -> Value:
        bits = kind.bits
        if operator in ("min", "max"):
            if kind.is_float:
                infinity = _LARGEST[bits]
                sign = 1 << (bits - 1) if operator == "max" else 0
                return self.b.const(bits, infinity | sign)
            if kind.kind == "int":
                smallest = 1 << (bits - 1)
                return self.b.const(bits, smallest if operator == "max" else smallest - 1)
            return self.b.const(bits, 0 if operator == "max" else -1)
        if operator in ("*", "&&"):
            return self.b.const(bits, bits_of(1.0, bits) if kind.is_float else 1)
        return self.b.const(bits, -1 if operator == "&" else 0)

    def _joined(self, operator: str, total: Value, own: Value, kind: Scalar) -> Value:
        if operator in ("min", "max"):
            a, b = (own, total) if operator == "min" else (total, own)
            if kind.is_float:
                less = self.b.op(Op.FLT, a, b, width=1)
            else:
                less = self.b.op(Op.SLT if kind.kind == "int" else Op.ULT, a, b, width=1)
            return self.b.select(less, own, total)
        if operator in ("&&", "||"):
            op = Op.AND if operator == "&&" else Op.OR
            bit = self.b.op(op, self.truth(total, kind), self.truth(own, kind), width=1)
            return self.b.resized(bit, kind.bits, is_signed=False)
        return self.arithmetic("+" if operator == "-" else operator, total, own, kind)
