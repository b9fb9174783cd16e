"""Conditions that exclude each other, proved: no state makes two of them true.

A condition is a function of comparisons with constants. Between two neighbouring constants no
comparison of a variable changes, so it is enough to try, of each variable, every constant that it
is compared with, its neighbours, and both ends.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from cyclescope.calyx._syntax import Assignment, Statement
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["constant", "exclusive"]

_MOST = 20_000  # states that are tried
_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "std_eq": lambda a, b: a == b,
    "std_neq": lambda a, b: a != b,
    "std_lt": lambda a, b: a < b,
    "std_le": lambda a, b: a <= b,
    "std_gt": lambda a, b: a > b,
    "std_ge": lambda a, b: a >= b,
}
_BITS: Mapping[str, Callable[[int, int], int]] = {
    "std_and": lambda a, b: a & b,
    "std_or": lambda a, b: a | b,
    "std_xor": lambda a, b: a ^ b,
}


@dataclass(frozen=True)
class _Value:
    """A value: a constant, a variable, or a function of two."""

    kind: str
    name: str = ""
    number: int = 0
    width: int = 1
    parts: tuple[_Value, ...] = ()


def exclusive(scope: Scope, statements: Iterable[Statement]) -> bool:
    """Return whether of some ifs no two conditions can hold at once."""
    values = [_Reader(scope, s.with_group).value(s.port) for s in statements]
    return all(_disjoint(a, b) for a, b in combinations(values, 2))


def constant(text: str) -> tuple[int, int] | None:
    """A sized number's value and width in bits; None for a port."""
    width, quote, digits = text.partition("'")
    if not quote or not width.isdecimal():
        return None
    base = {"d": 10, "b": 2, "x": 16, "o": 8}[digits[0]]
    return int(digits[1:], base), int(width)


class _Reader:
    """Reads values as they are while a combinational group is active."""

    def __init__(self, scope: Scope, group: str | None) -> None:
        self._scope, self._group = scope, group
        assignments: dict[str, list[Assignment]] = defaultdict(list)
        for a in scope.continuous:
            assignments[a.dst].append(a)
        if group is not None and group in scope.groups:
            for a in scope.groups[group].assignments:
                assignments[a.dst].append(a)
        self._assignments = assignments

    def value(self, reference: str, depth: int = 0) -> _Value:
        number = constant(reference)
        if number is not None:
            return _Value("constant", number=number[0], width=number[1])
        cell, _, port = reference.partition(".")
        found = self._scope.cells.get(cell)
        if found is None or port != "out" or depth > 20:
            return self._variable(reference)
        if found.type == "std_const":
            return _Value("constant", number=int(found.args[1]), width=int(found.args[0]))
        if found.type in ("std_wire", "std_not"):
            inner = self._operand(f"{cell}.in", depth)
            if inner is None:
                return self._variable(reference)
            if found.type == "std_wire":
                return inner
            return _Value("std_not", width=int(found.args[0]), parts=(inner,))
        if found.type in _COMPARE or found.type in _BITS:
            parts = [self._operand(f"{cell}.{side}", depth) for side in ("left", "right")]
            if parts[0] is None or parts[1] is None:
                return self._variable(reference)
            return _Value(found.type, width=int(found.args[0]), parts=(parts[0], parts[1]))
        return self._variable(reference)

    def _operand(self, port: str, depth: int) -> _Value | None:
        given = self._assignments[port]
        if len(given) != 1 or given[0].guard is not None:
            return None
        return self.value(given[0].src, depth + 1)

    def _variable(self, reference: str) -> _Value:
        cell = reference.partition(".")[0]
        # What a combinational cell gives may be another thing for another group.
        own = f" in {self._group}" if self._scope.is_comb(cell) else ""
        return _Value("variable", reference + own, width=self._width(reference))

    def _width(self, reference: str) -> int:
        cell = self._scope.cells.get(reference.partition(".")[0])
        if cell is not None and cell.type == "std_reg":
            return int(cell.args[0])
        ports = self._scope.component.inputs
        widths = [p.width for p in ports if p.name == reference and p.width.isdecimal()]
        return int(widths[0]) if widths else 0


def _variables(value: _Value, constants: dict[str, set[int]], widths: dict[str, int]) -> bool:
    """Collect what each variable is compared with; False if that is not all that is done to it."""
    if value.kind == "variable":
        widths[value.name] = value.width
        constants[value.name].update((0, 1))
        return value.width == 1  # bare, it is a truth value
    if value.kind in _COMPARE:
        a, b = value.parts
        for one, other in ((a, b), (b, a)):
            if one.kind == "variable" and other.kind == "constant":
                widths[one.name] = one.width or value.width
                constants[one.name].add(other.number)
                return True
        return all(_variables(part, constants, widths) for part in value.parts)
    return all(_variables(part, constants, widths) for part in value.parts)


def _disjoint(a: _Value, b: _Value) -> bool:
    constants: dict[str, set[int]] = defaultdict(set)
    widths: dict[str, int] = {}
    if not (_variables(a, constants, widths) and _variables(b, constants, widths)):
        return False
    names = sorted(constants)
    choices = [list(_points(constants[name], widths[name])) for name in names]
    total = 1
    for choice in choices:
        total *= len(choice)
    if total > _MOST:
        return False
    return not any(
        _truth(a, state) and _truth(b, state)
        for state in (dict(zip(names, point, strict=True)) for point in product(*choices))
    )


def _points(constants: set[int], width: int) -> Iterator[int]:
    last = (1 << width) - 1
    near = {n for c in constants for n in (c - 1, c, c + 1)} | {0, last}
    return iter(sorted(n for n in near if 0 <= n <= last))


def _truth(value: _Value, state: Mapping[str, int]) -> int:
    if value.kind == "constant":
        return value.number
    if value.kind == "variable":
        return state[value.name]
    parts = [_truth(part, state) for part in value.parts]
    if value.kind == "std_not":
        return ~parts[0] & ((1 << value.width) - 1)
    if value.kind in _COMPARE:
        return int(_COMPARE[value.kind](parts[0], parts[1]))
    return _BITS[value.kind](parts[0], parts[1])
