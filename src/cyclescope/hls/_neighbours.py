"""Races between neighbours: a thread reads what another one's iteration of a shared loop writes."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from cyclescope.hls._affine import Sum, affine, inductions
from cyclescope.hls._clean import graphs
from cyclescope.hls._ir import Graph, Node, Op, Place, Value

if TYPE_CHECKING:
    from collections.abc import Set

    from cyclescope.hls._affine import Induction
    from cyclescope.hls._races import Threads

__all__ = ["neighbours"]

_ORDERED = frozenset({Op.SLT, Op.SLE, Op.ULT, Op.ULE})
_NEAR = 4  # iterations: farther ones may well be outside the loop
_TOGETHER = frozenset({Op.ACQUIRE, Op.BARRIER, Op.FENCE})


def neighbours(root: Graph, guarded: Set[Node], exact: Set[Node], own: Threads) -> list[str]:
    """A warning for each load whose element another thread stores in the same loop.

    Only what is certain counts: both subscripts are the same sum of the loops' variables but for
    a constant, and that constant is a whole number of iterations of another thread.

    Args:
        root: the region's graph.
        guarded: effects under mutual exclusion.
        exact: arithmetic that cannot overflow.
        own: what differs from thread to thread.
    """
    loops: dict[Graph, tuple[Graph, Node]] = {}
    for graph in graphs(root):
        for node in graph.nodes:
            if node.body is not None:
                loops[node.body] = (graph, node)
    found: dict[str, None] = {}
    for graph in graphs(root):
        sides = [n for n in graph.nodes if _is_open(n) and n not in guarded and _usual(n, own)]
        if any(n.op in _TOGETHER for n in graph.nodes):
            continue
        view = _View(graph, loops, exact)
        for store in sides:
            if store.op is not Op.STORE:
                continue
            for load in sides:
                if load.op is not Op.LOAD or load.array is not store.array:
                    continue
                if view.meets(load.operands[0], store.operands[0], own):
                    assert load.array is not None
                    found.setdefault(
                        f"{load.where}: data race: this element of {load.array.name} is written by "
                        f"another thread's iteration ({store.where}); read a copy, or put a "
                        f"barrier between"
                    )
    return list(found)


def _is_open(node: Node) -> bool:
    return node.array is not None and node.array.place is not Place.LOCAL


def _usual(node: Node, own: Threads) -> bool:
    """Whether an access happens in most iterations: at most a bound is its condition."""
    waiting = [node.when] if node.when is not None else []
    while waiting:
        value = waiting.pop()
        if not own.differs(value):
            continue
        if value.width == 1 and value.node.op in (Op.AND, Op.NOT):
            waiting += value.node.operands
        elif value.node.op not in _ORDERED:
            return False
    return True


class _View:
    """The loops around a graph, as its subscripts see them."""

    def __init__(
        self, graph: Graph, loops: dict[Graph, tuple[Graph, Node]], exact: Set[Node]
    ) -> None:
        self._exact = exact
        self._known: dict[Value, Induction] = {}
        self._given: dict[Value, Value] = {}  # invariant → the value outside
        self._sums: dict[Value, Sum] = {}
        while graph in loops:
            around, loop = loops[graph]
            self._known |= inductions(loop, exact)
            count = len(graph.carried)
            for position, node in enumerate(graph.invariants):
                self._given[node.result] = loop.operands[count + position]
            graph = around

    def _sum(self, value: Value) -> Sum:
        """A subscript in terms of the loops' variables and what none of them changes."""
        if value not in self._sums:
            self._sums[value] = self._expanded(value)
        return self._sums[value]

    def _expanded(self, value: Value) -> Sum:
        result = affine(value, self._exact)
        while True:
            inner = next((v for v in result.terms if v in self._given), None)
            if inner is None:
                return result
            factor = result.terms[inner]
            result = result.plus(Sum(0, {inner: factor}), -1)
            result = result.plus(affine(self._given[inner], self._exact), factor)

    def _grain(self, value: Value) -> int:
        """By how much a value of one thread may be apart from one of another."""
        if value.node.op is Op.THREAD:
            return 1
        known = self._known[value]
        start = self._sum(known.first)
        grain = known.step.number or 0
        for term, factor in (*start.terms.items(), *known.step.terms.items()):
            grain = gcd(grain, factor) if term.node.op is Op.THREAD else grain
        return abs(grain) or 1

    def meets(self, load: Value, store: Value, own: Threads) -> bool:
        """Whether some thread loads what another one stores."""
        first, second = self._sum(load), self._sum(store)
        apart = first.constant - second.constant
        if not apart or first.terms != second.terms:
            return False
        shared = {v for v in second.terms if own.differs(v)}
        steps = {v for v in second.terms if v in self._known or v.node.op is Op.THREAD}
        if not shared or not shared <= steps:
            return False
        rest, moved = apart, 0
        # Rows before columns: what is left of each is less than half of it.
        for value in sorted(steps, key=lambda v: -abs(second.terms[v])):
            factor = second.terms[value]
            turns = (2 * rest + abs(factor)) // (2 * abs(factor)) * (1 if factor > 0 else -1)
            rest -= turns * factor
            if value in shared and turns:
                if turns % self._grain(value) or abs(turns) > _NEAR * self._grain(value):
                    return False
                moved += 1
        return rest == 0 and moved > 0
