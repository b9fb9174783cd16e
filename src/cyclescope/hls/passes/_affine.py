"""Offsets as sums: constant + coefficient * value + …, to compare them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cyclescope.hls.ir import Graph, Node, Op, Value, signed

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

__all__ = [
    "Forms",
    "Induction",
    "Sum",
    "differences",
    "disjoint",
    "inductions",
    "is_masked",
    "outside",
]

_PEELED = frozenset({Op.SEXT, Op.ZEXT})


@dataclass(frozen=True, slots=True)
class Sum:
    """`constant` plus each value times its coefficient (never zero)."""

    constant: int = 0
    terms: Mapping[Value, int] = field(default_factory=dict)

    def plus(self, other: Sum, factor: int = 1) -> Sum:
        """This and `factor` times another."""
        if not other.terms:
            return Sum(self.constant + factor * other.constant, self.terms)
        terms = dict(self.terms)
        for value, coefficient in other.terms.items():
            terms[value] = terms.get(value, 0) + factor * coefficient
        kept = {v: c for v, c in terms.items() if c}
        return Sum(self.constant + factor * other.constant, kept)

    def times(self, factor: int) -> Sum:
        """This times a number."""
        return Sum().plus(self, factor)

    @property
    def number(self) -> int | None:
        """Its value if it is constant."""
        return None if self.terms else self.constant


class Forms:
    """Values as sums, each worked out once, as long as nodes stay as they are.

    Args:
        exact: arithmetic that doesn't overflow; below 64 bits only that is looked through.
    """

    def __init__(self, exact: Set[Node]) -> None:
        self.exact = exact
        self._known: dict[tuple[Value, bool], Sum] = {}

    def of(self, value: Value, *, wrap: bool = False) -> Sum:
        """A value as a sum.

        Args:
            value: 64 bits, or narrower and read as signed.
            wrap: look through all arithmetic: right only modulo a power of two.
        """
        key = (value, wrap)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._worked_out(value, wrap=wrap)
        return known

    def _worked_out(self, value: Value, *, wrap: bool) -> Sum:
        node = value.node
        through = wrap or value.width == 64 or node in self.exact
        match node.op:
            case Op.CONST:
                return Sum(signed(node.constant, value.width))
            case Op.SEXT:
                return self.of(node.operands[0])
            case Op.ZEXT if _is_small(node.operands[0]):
                return self.of(node.operands[0])
            case Op.ADD | Op.SUB if through:
                first, second = (self.of(v, wrap=wrap) for v in node.operands)
                return first.plus(second, 1 if node.op is Op.ADD else -1)
            case Op.MUL | Op.SHL if through and node.operands[1].node.op is Op.CONST:
                factor = node.operands[1].node.constant
                factor = 1 << factor if node.op is Op.SHL else signed(factor, value.width)
                return self.of(node.operands[0], wrap=wrap).times(factor)
        return Sum(0, {value: 1})


def _is_small(value: Value) -> bool:
    """Return whether a value's sign bit is 0 for certain, so that both extensions are one."""
    node = value.node
    if node.op is Op.AND:
        mask = node.operands[1].node
        return mask.op is Op.CONST and not mask.constant >> (value.width - 1)
    return node.op is Op.ZEXT


def _masked(value: Value) -> tuple[Value, int, bool] | None:
    """Match a remainder by a power of two: its dividend, the power, and whether it is signed."""
    node = value.node
    if node.op is Op.AND and node.operands[1].node.op is Op.CONST:
        states = node.operands[1].node.constant + 1
        return (node.operands[0], states, False) if states & (states - 1) == 0 else None
    if node.op is not Op.SUB:
        return None
    # x % 2^n of signed numbers: x less its quotient's multiple, `(x + bias) & -2^n`.
    base, multiple = node.operands
    if multiple.node.op is Op.AND and multiple.node.operands[1].node.op is Op.CONST:
        states = -signed(multiple.node.operands[1].node.constant, value.width)
        raised = multiple.node.operands[0].node
        if states > 0 and states & (states - 1) == 0 and raised.op is Op.ADD:
            bias = raised.operands[1].node
            if raised.operands[0] == base and bias.op is Op.AND and _is_bias(bias, base, states):
                return base, states, True
    return None


def _is_bias(node: Node, base: Value, states: int) -> bool:
    sign, mask = (v.node for v in node.operands)
    return (
        sign.op is Op.ASHR
        and sign.operands[0] == base
        and mask.op is Op.CONST
        and mask.constant == states - 1
    )


def is_masked(value: Value) -> bool:
    """Return whether a value is the rest of another one by a power of two."""
    return _masked(value) is not None


def differences(apart: Sum, forms: Forms) -> list[int] | None:
    """The values that a difference can have; None if they aren't known.

    Besides constants this knows `c * (x % m - (x + k) % m)`, the halves of a double buffer.
    """
    if not apart.terms:
        return [apart.constant]
    if len(apart.terms) != 2:
        return None
    (p, first), (q, second) = apart.terms.items()
    a, b = _masked(p), _masked(q)
    if a is None or b is None or a[1:] != b[1:] or first != -second:
        return None
    shift = forms.of(a[0], wrap=True).plus(forms.of(b[0], wrap=True), -1).number
    if shift is None:
        return None
    states, has_sign = a[1:]
    ahead = shift % states
    # Equal rests by a power of two needn't be equal if they may have different signs.
    reach = range(-2, 2) if has_sign else range(-1, 1)
    values = [ahead + states * turns for turns in reach]
    if not has_sign and not ahead:
        values = [0]
    return [apart.constant + first * v for v in values if abs(v) <= 2 * (states - 1)]


def disjoint(a: Sum, a_bytes: int, b: Sum, b_bytes: int, forms: Forms) -> bool:
    """Return whether bytes `[a, a + a_bytes)` and `[b, b + b_bytes)` never meet."""
    if a.terms == b.terms:
        apart = b.constant - a.constant
        return apart >= a_bytes or -apart >= b_bytes
    possible = differences(b.plus(a, -1), forms)
    return possible is not None and all(d >= a_bytes or -d >= b_bytes for d in possible)


@dataclass(frozen=True, slots=True)
class Induction:
    """A carried value that grows by the same step in each iteration.

    Attributes:
        step: a constant, or a value that the loop doesn't change.
        first: its value in the first iteration, of the graph around the loop.
        count: number of iterations if that is constant.
    """

    step: Sum
    first: Value
    count: int | None


def inductions(loop: Node, forms: Forms) -> dict[Value, Induction]:
    """The inductions of a loop's graph by parameter."""
    graph = loop.body
    assert graph is not None
    fixed = {n.result for n in graph.invariants}
    found: dict[Value, Induction] = {}
    for index, carried in enumerate(graph.carried):
        param, after = carried.param.result, carried.next
        if after.width < 64 and after.node not in forms.exact:
            continue
        step = forms.of(after).plus(Sum(0, {param: 1}), -1)
        if all(v in fixed or v.node.op in (Op.SCALAR, Op.THREAD) for v in step.terms):
            first = loop.operands[index]
            found[param] = Induction(step, first, _trips(loop, graph, param, step, first, forms))
    return found


def outside(loop: Node, value: Value) -> Value | None:
    """An invariant or constant of a loop's graph in the graph around it."""
    graph = loop.body
    assert graph is not None
    for position, node in enumerate(graph.invariants):
        if node is value.node:
            return loop.operands[len(graph.carried) + position]
    return value if value.node.op in (Op.SCALAR, Op.THREAD) else None


def _trips(
    loop: Node, graph: Graph, param: Value, step: Sum, first: Value, forms: Forms
) -> int | None:
    condition = graph.continues
    if condition is None or condition.node.op not in (Op.SLT, Op.ULT, Op.SLE, Op.NE):
        return None
    tested, bound = condition.node.operands
    if tested != param or step.number is None:
        return None
    begin = forms.of(first)
    if bound.node.op is Op.CONST:
        end: Sum | None = forms.of(bound)
    else:
        seen = outside(loop, bound)
        end = forms.of(seen) if seen is not None else None
    distance = end.plus(begin, -1).number if end is not None else None
    if distance is None or step.number <= 0:
        return None
    if condition.node.op is Op.SLE:
        distance += 1
    if condition.node.op is Op.NE and distance % step.number:
        return None
    return max(0, -(-distance // step.number))
