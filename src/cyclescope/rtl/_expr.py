"""Expressions: bit vectors of a known width that print as Verilog.

Values are unsigned bit vectors; what depends on a sign says so (`slt`, `ashr`, `sext`). Operands
of an operator have one width, which is the result's too, so Verilog's rules about the width of
a context never matter; a Python integer takes the width of the other operand. An expression is
its text: to use one in many places, name it by `Module.wire`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Expr", "Net", "cat", "choose", "const", "mux"]

_ATOM, _UNARY, _OTHER = "atom", "unary", "?:"
_ASSOCIATIVE = frozenset({"&", "|", "^", "+"})


class Scope(Protocol):
    """The parts of a module that an expression needs."""

    name: str

    def wire(self, name: str, value: Expr | int, width: int = 0, *, note: str = "") -> Net:
        """A named net."""


class Expr:
    """A value of `width` bits.

    Operators: `+ - * & | ^ ~ << >>`, all modulo 2^width; a shift by the width or more gives 0.
    `a[i]` is one bit, `a[high:low]` bits as in Verilog, both ends included.

    Attributes:
        width: bits, at least 1.
        text: as Verilog.
        value: its value if it is a constant, else None.
    """

    __slots__ = ("_kind", "_net", "_scope", "text", "uses", "value", "width")

    def __init__(
        self,
        width: int,
        text: str,
        kind: str,
        scope: Scope | None,
        uses: tuple[tuple[Net, int], ...],
        value: int | None = None,
    ) -> None:
        self.width = width
        self.text = text
        self._kind = kind
        self._net: Net | None = None
        self._scope = scope
        self.uses = uses
        self.value = value

    def __repr__(self) -> str:
        return f"<{self.width} bits: {self.text}>"

    def __bool__(self) -> bool:
        raise TypeError(f"{self.text}: a value in hardware; mux() chooses by it")

    @property
    def simple(self) -> bool:
        """Is it a net, a part of one, or a constant: as short as a name?"""
        return self.value is not None or isinstance(self, Net | _Part)

    # Arithmetic and logic

    def __add__(self, other: Expr | int) -> Expr:
        return _binary(self, "+", other)

    def __radd__(self, other: int) -> Expr:
        return _binary(const(other, self.width), "+", self)

    def __sub__(self, other: Expr | int) -> Expr:
        return _binary(self, "-", other)

    def __rsub__(self, other: int) -> Expr:
        return _binary(const(other, self.width), "-", self)

    def __mul__(self, other: Expr | int) -> Expr:
        return _binary(self, "*", other)

    def __and__(self, other: Expr | int) -> Expr:
        return _binary(self, "&", other)

    def __or__(self, other: Expr | int) -> Expr:
        return _binary(self, "|", other)

    def __xor__(self, other: Expr | int) -> Expr:
        return _binary(self, "^", other)

    def __invert__(self) -> Expr:
        return self._unary("~", self.width)

    def __lshift__(self, amount: Expr | int) -> Expr:
        return _shift(self, "<<", amount)

    def __rshift__(self, amount: Expr | int) -> Expr:
        return _shift(self, ">>", amount)

    def ashr(self, amount: Expr | int) -> Expr:
        """Shifted right, filled with the sign; by the width or more: sign bits alone."""
        # $unsigned keeps the sign inside: an unsigned neighbour would turn >>> into >>.
        if isinstance(amount, int):
            if amount == 0:
                return self
            amount = const(min(amount, self.width), self.width.bit_length())
        if self.value is not None and amount.value is not None:
            number = self.value - (self.value >> self.width - 1 << self.width)
            return const(number >> min(amount.value, self.width), self.width)
        return Expr(
            self.width,
            f"$unsigned($signed({self.text}) >>> {_operand(amount)})",
            _ATOM,
            _common(self, amount),
            self.uses + amount.uses,
        )

    # Comparison: one bit

    def eq(self, other: Expr | int) -> Expr:
        """Equal?"""
        return _binary(self, "==", other)

    def ne(self, other: Expr | int) -> Expr:
        """Different?"""
        return _binary(self, "!=", other)

    def ult(self, other: Expr | int) -> Expr:
        """Less, both unsigned?"""
        return _binary(self, "<", other)

    def ule(self, other: Expr | int) -> Expr:
        """Less or equal, both unsigned?"""
        return _binary(self, "<=", other)

    def slt(self, other: Expr | int) -> Expr:
        """Less, both in two's complement?"""
        return _signed(self, "<", other)

    def sle(self, other: Expr | int) -> Expr:
        """Less or equal, both in two's complement?"""
        return _signed(self, "<=", other)

    # Reduction: one bit

    def any(self) -> Expr:
        """Is a bit set?"""
        return self if self.width == 1 else self._unary("|", 1)

    def all(self) -> Expr:
        """Are all bits set?"""
        return self if self.width == 1 else self._unary("&", 1)

    def parity(self) -> Expr:
        """Is the number of set bits odd?"""
        return self if self.width == 1 else self._unary("^", 1)

    def none(self) -> Expr:
        """Is no bit set?"""
        return ~self if self.width == 1 else self.eq(0)

    # Parts and other widths

    def __getitem__(self, index: int | slice) -> Expr:
        if isinstance(index, slice):
            high, low = index.start, index.stop
            if index.step is not None or not isinstance(high, int) or not isinstance(low, int):
                raise ValueError(f"{self.text}: a part is written [high:low]")
        else:
            high = low = index
        if not 0 <= low <= high < self.width:
            raise ValueError(f"{self.text}[{high}:{low}]: it has bits {self.width - 1} to 0")
        return self if high - low + 1 == self.width else self._part(high, low)

    def _part(self, high: int, low: int) -> Expr:
        if self.value is not None:
            return const(self.value >> low & ((1 << high - low + 1) - 1), high - low + 1)
        # Verilog has parts of named nets only.
        return self._named()[high:low]

    def trunc(self, width: int) -> Expr:
        """The low `width` bits."""
        return self[width - 1 : 0]

    def zext(self, width: int) -> Expr:
        """Wider, filled with zeros."""
        if width < self.width:
            raise ValueError(f"{self.text}: {self.width} bits do not fit in {width}")
        if self.value is not None:
            return const(self.value, width)
        return self if width == self.width else cat(const(0, width - self.width), self)

    def sext(self, width: int) -> Expr:
        """Wider, filled with the sign."""
        if width < self.width:
            raise ValueError(f"{self.text}: {self.width} bits do not fit in {width}")
        if width == self.width:
            return self
        named = self if self.simple else self._named()
        return cat(named[self.width - 1].repeat(width - self.width), named)

    def repeat(self, times: int) -> Expr:
        """`times` copies side by side."""
        if times < 1:
            raise ValueError(f"{self.text}: {times} copies")
        if times == 1:
            return self
        if self.value is not None:
            return cat(*[self] * times)
        text = f"{{{times}{{{self.text}}}}}"
        return Expr(self.width * times, text, _ATOM, self._scope, self.uses)

    def _named(self) -> Net:
        if self._net is None:
            assert self._scope
            self._net = self._scope.wire("part", self)
        return self._net

    def _unary(self, operator: str, width: int) -> Expr:
        if self.value is not None:
            return const(_REDUCE[operator](self.value, self.width), width)
        text = self.text if self._kind is _ATOM else f"({self.text})"
        kind = _UNARY if operator == "~" else _OTHER
        return Expr(width, operator + text, kind, self._scope, self.uses)


class Net(Expr):
    """An expression with a name: a port, a wire or a register."""

    __slots__ = ()

    def __init__(self, scope: Scope, name: str, width: int) -> None:
        if width < 1:
            raise ValueError(f"{name}: {width} bits wide")
        super().__init__(width, name, _ATOM, scope, ())
        self.uses = ((self, -1),)

    @property
    def name(self) -> str:
        """Its name in the Verilog text."""
        return self.text

    def _part(self, high: int, low: int) -> Expr:
        return _Part(self, high, low)


class _Part(Expr):
    __slots__ = ("_low", "_whole")

    def __init__(self, net: Net, high: int, low: int) -> None:
        width = high - low + 1
        text = f"{net.text}[{high}]" if width == 1 else f"{net.text}[{high}:{low}]"
        super().__init__(width, text, _ATOM, net._scope, ((net, ((1 << width) - 1) << low),))
        self._whole = net
        self._low = low

    def _part(self, high: int, low: int) -> Expr:
        return _Part(self._whole, high + self._low, low + self._low)


@lru_cache(4096)
def const(value: int, width: int) -> Expr:
    """A constant; negative numbers in two's complement.

    Raises:
        ValueError: it does not fit.
    """
    if width < 1 or not -(1 << width - 1) <= value < 1 << width:
        raise ValueError(f"{value} does not fit in {width} bits")
    if value < 0:
        value += 1 << width
    text = f"{width}'d{value}" if value < 10 else f"{width}'h{value:x}"
    return Expr(width, text, _ATOM, None, (), value)


def cat(*parts: Expr) -> Expr:
    """Side by side, the first in the high bits, as in Verilog.

    Raises:
        ValueError: there are none.
    """
    if len(parts) < 2:
        if not parts:
            raise ValueError("nothing to put side by side")
        return parts[0]
    uses = sum((p.uses for p in parts), ())
    width = sum(p.width for p in parts)
    if all(p.value is not None for p in parts):
        value = 0
        for p in parts:
            value = value << p.width | (p.value or 0)
        return const(value, width)
    text = "{" + ", ".join(p.text for p in parts) + "}"
    return Expr(width, text, _ATOM, _common(*parts), uses)


def mux(condition: Expr, then: Expr | int, otherwise: Expr | int) -> Expr:
    """`then` if the one-bit condition is 1, else `otherwise`; of the two one may be an integer.

    Raises:
        ValueError: widths differ, or neither has one.
    """
    if condition.width != 1:
        raise ValueError(f"{condition.text}: a condition has one bit, this has {condition.width}")
    if isinstance(then, int):
        if isinstance(otherwise, int):
            raise ValueError(f"{then}, {otherwise}: at least one needs a width")
        then = const(then, otherwise.width)
    elif isinstance(otherwise, int):
        otherwise = const(otherwise, then.width)
    if then.width != otherwise.width:
        raise _mismatch(then, "? :", otherwise)
    if condition.value is not None:
        return then if condition.value else otherwise
    # Right-nested conditions read as a chain.
    middle = f"({then.text})" if then._kind is _OTHER else then.text
    text = f"{_operand(condition)} ? {middle} : {otherwise.text}"
    scope = _common(condition, then, otherwise)
    return Expr(then.width, text, _OTHER, scope, condition.uses + then.uses + otherwise.uses)


def choose(index: Expr, values: Sequence[Expr]) -> Expr:
    """The value with this index; one of them, unspecified, for an index beyond the last.

    Raises:
        ValueError: there are no values, or more than the index can count, or widths differ.
    """
    if not values or len(values) > 1 << index.width:
        raise ValueError(f"{index.text}: an index of {index.width} bits for {len(values)} values")
    level = list(values)
    bit = 0
    while len(level) > 1:
        pairs = [
            mux(index[bit], level[i + 1], level[i]) if i + 1 < len(level) else level[i]
            for i in range(0, len(level), 2)
        ]
        level, bit = pairs, bit + 1
    return level[0]


def _operand(expr: Expr) -> str:
    kind = expr._kind
    return expr.text if kind is _ATOM or kind is _UNARY else f"({expr.text})"


def _common(*parts: Expr) -> Scope | None:
    scope = None
    for part in parts:
        if part._scope is not scope and part._scope is not None:
            if scope is not None:
                raise ValueError(
                    f"{part.text} of module {part._scope.name}: used in module {scope.name}"
                )
            scope = part._scope
    return scope


def _mismatch(a: Expr, operator: str, b: Expr) -> ValueError:
    return ValueError(
        f"widths differ: {a.text} has {a.width} bits, {b.text} has {b.width} ({operator})"
    )


_FOLD: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
}
_REDUCE: dict[str, Callable[[int, int], int]] = {
    "~": lambda a, width: a ^ (1 << width) - 1,
    "|": lambda a, _: int(a != 0),
    "&": lambda a, width: int(a == (1 << width) - 1),
    "^": lambda a, _: a.bit_count() & 1,
}
_COMPARISONS = frozenset({"==", "!=", "<", "<="})


def _binary(a: Expr, operator: str, b: Expr | int) -> Expr:
    if isinstance(b, int):
        b = const(b, a.width)
    if a.width != b.width:
        raise _mismatch(a, operator, b)
    width = 1 if operator in _COMPARISONS else a.width
    if a.value is not None or b.value is not None:
        if a.value is not None and b.value is not None:
            return const(_FOLD[operator](a.value, b.value) % (1 << width), width)
        if operator in {"<", "<="} and (known := _bound(a, operator, b)) is not None:
            return const(known, 1)
        if operator == "|" and (1 << width) - 1 in (a.value, b.value):
            return const(-1, width)
        if b.value == 0 and operator in {"+", "-", "|", "^"}:
            return a
        if a.value == 0 and operator in {"+", "|", "^"}:
            return b
    left = (
        a.text if a._kind == operator and operator in _ASSOCIATIVE else _operand(a)
    )  # a chain of one associative operator needs no parentheses
    scope = a._scope if b._scope is None or a._scope is b._scope else _common(a, b)
    return Expr(width, f"{left} {operator} {_operand(b)}", operator, scope, a.uses + b.uses)


def _bound(a: Expr, operator: str, b: Expr) -> int | None:
    """The answer of an unsigned comparison that one constant decides: lint dislikes those."""
    last = (1 << a.width) - 1
    if operator == "<":
        return 0 if b.value == 0 or a.value == last else None
    return 1 if a.value == 0 or b.value == last else None


def _signed(a: Expr, operator: str, b: Expr | int) -> Expr:
    # In two's complement the order is that of unsigned numbers with the sign bit flipped.
    if isinstance(b, int):
        b = const(b, a.width)
    if a.width != b.width:
        raise _mismatch(a, operator, b)
    flip = 1 << a.width - 1
    if a.value is not None or b.value is not None:
        if a.value is not None and b.value is not None:
            return _binary(const(a.value ^ flip, a.width), operator, b.value ^ flip)
        x = a if a.value is None else const(a.value ^ flip, a.width)
        y = b if b.value is None else const(b.value ^ flip, b.width)
        if (known := _bound(x, operator, y)) is not None:
            return const(known, 1)
    text = f"$signed({a.text}) {operator} $signed({b.text})"
    return Expr(1, text, operator, _common(a, b), a.uses + b.uses)


def _shift(a: Expr, operator: str, amount: Expr | int) -> Expr:
    if isinstance(amount, Expr) and a.value is not None and amount.value is not None:
        amount = amount.value
    if isinstance(amount, int):
        if amount < 0:
            raise ValueError(f"{a.text}: a shift by {amount}")
        if amount == 0:
            return a
        if amount >= a.width:
            return const(0, a.width)
        if a.value is not None:
            moved = a.value << amount if operator == "<<" else a.value >> amount
            return const(moved % (1 << a.width), a.width)
        amount = const(amount, amount.bit_length())
    text = f"{_operand(a)} {operator} {_operand(amount)}"
    return Expr(a.width, text, operator, _common(a, amount), a.uses + amount.uses)
