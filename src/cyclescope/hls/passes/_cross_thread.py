"""Cross-thread races: a thread reads what another one's iteration of a work-sharing loop writes."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from cyclescope.hls.ir import Array, Graph, Node, Op, Place, Value
from cyclescope.hls.passes._affine import Forms, Sum, inductions
from cyclescope.hls.passes._dead_code import graphs

if TYPE_CHECKING:
    from collections.abc import Set

    from cyclescope.hls.ir import Shared
    from cyclescope.hls.passes._affine import Induction
    from cyclescope.hls.passes._races import Threads

__all__ = ["cross_thread_races"]

Key = frozenset[tuple[Value, int]]

_ORDERED = frozenset({Op.SLT, Op.SLE, Op.ULT, Op.ULE})
_NEAR = 4  # iterations: farther ones may well be outside the loop
_TOGETHER = frozenset({Op.ACQUIRE, Op.BARRIER, Op.FENCE})


def cross_thread_races(
    root: Graph, guarded: Set[Node], shared: Shared, own: Threads, threads: int
) -> list[str]:
    """List a warning for each load whose element another thread stores in the same loop.

    Only what is certain counts: both subscripts are the same sum of the loops' variables but for
    a constant, and that constant is a whole number of iterations of another thread.

    Args:
        root: the region's graph.
        guarded: effects under mutual exclusion.
        shared: what is known of the region's nodes.
        own: what differs from thread to thread.
        threads: in the team.
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
        view = _View(graph, loops, shared, threads)
        # Subscripts that differ in more than a constant are not compared.
        loads: dict[tuple[Array | None, Key], list[tuple[int, Node]]] = {}
        for load in sides:
            if load.op is Op.LOAD:
                key, constant = view.place(load.operands[0])
                loads.setdefault((load.array, key), []).append((constant, load))
        checked: dict[tuple[Key, int], int | None] = {}
        for store in sides:
            if store.op is not Op.STORE:
                continue
            key, base = view.place(store.operands[0])
            for constant, load in loads.get((store.array, key), ()):
                pair = (key, constant - base)
                if pair not in checked:
                    checked[pair] = view.race_distance(dict(key), constant - base, own)
                distance = checked[pair]
                if distance is not None:
                    assert load.array is not None
                    more = f" if the loop has more than {distance} of them" if distance else ""
                    found.setdefault(
                        f"{load.where}: data race: this element of {load.array.name} is written by "
                        f"another thread's iteration ({store.where}){more}; read a copy, or put a "
                        f"barrier between"
                    )
    return list(found)


def _is_open(node: Node) -> bool:
    return node.array is not None and node.array.place is not Place.LOCAL


def _usual(node: Node, own: Threads) -> bool:
    """Return whether an access happens in most iterations: at most a bound is its condition."""
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
        self,
        graph: Graph,
        loops: dict[Graph, tuple[Graph, Node]],
        shared: Shared,
        threads: int,
    ) -> None:
        self._forms = forms = Forms(shared.exact)
        self._work_sharing = shared.work_sharing
        self._threads = threads
        self._known: dict[Value, Induction] = {}
        self._given: dict[Value, Value] = {}  # invariant → the value outside
        self._sums: dict[Value, Sum] = {}
        while graph in loops:
            around, loop = loops[graph]
            self._known |= inductions(loop, forms)
            count = len(graph.carried)
            for position, node in enumerate(graph.invariants):
                self._given[node.result] = loop.operands[count + position]
            graph = around

    def place(self, value: Value) -> tuple[Key, int]:
        """A subscript: what is the same for those that differ in a constant only, and that."""
        total = self._sum(value)
        return frozenset(total.terms.items()), total.constant

    def _sum(self, value: Value) -> Sum:
        """A subscript in terms of the loops' variables and what none of them changes."""
        if value not in self._sums:
            self._sums[value] = self._expanded(value)
        return self._sums[value]

    def _expanded(self, value: Value) -> Sum:
        result = self._forms.of(value)
        while True:
            inner = next((v for v in result.terms if v in self._given), None)
            if inner is None:
                return result
            factor = result.terms[inner]
            result = result.plus(Sum(0, {inner: factor}), -1)
            result = result.plus(self._forms.of(self._given[inner]), factor)

    def _grain(self, value: Value) -> int:
        """The difference of which all those between values of two threads are multiples."""
        if value.node.op is Op.THREAD:
            return 1
        known = self._known[value]
        start = self._sum(known.first)
        grain = known.step.number or 0
        for term, factor in (*start.terms.items(), *known.step.terms.items()):
            grain = gcd(grain, factor) if term.node.op is Op.THREAD else grain
        return abs(grain) or 1

    def _reaches(self, value: Value, difference: int) -> bool:
        """Return whether two values in a loop of each thread's own can differ by so much."""
        known = self._known.get(value)
        step = known.step.number if known is not None else None
        if known is None or known.count is None or not step:
            return True
        return difference % step == 0 and abs(difference // step) < known.count

    def _is_of_another(self, value: Value, difference: int) -> bool:
        """Return whether a value that differs by so much is one of another thread."""
        others = [sign * t for t in range(1, self._threads) for sign in (1, -1)]
        if value.node.op is Op.THREAD:
            return difference in others
        known = self._known[value]
        step = known.step.number
        factor = sum(f for v, f in self._sum(known.first).terms.items() if v.node.op is Op.THREAD)
        if not step or not factor:
            grain = self._grain(value)
            return difference % grain == 0 and abs(difference) <= _NEAR * grain
        # The threads' first values differ by `factor`, each thread's successive ones by `step`.
        ways = [divmod(difference - factor * t, step) for t in others]
        most = known.count if known.count is not None else _NEAR + self._threads
        return any(rest == 0 and abs(count) < most for count, rest in ways)

    def race_distance(self, terms: dict[Value, int], offset: int, own: Threads) -> int | None:
        """The distance in iterations at which some thread loads what another one stores.

        Args:
            terms: of both subscripts.
            offset: by how much the load's is larger.
            own: what differs from thread to thread.

        Returns:
            How many iterations a work-sharing loop must have for it, if only the run knows how many
            it has, else 0; None: no thread does.
        """
        if not offset:
            return None
        shared = {v for v in terms if own.differs(v)}
        steps = {v for v in terms if v in self._known or v.node.op is Op.THREAD}
        if not shared or not shared <= steps:
            return None
        rest, moved, least = offset, 0, 0
        # Rows before columns: what is left of each is less than half of it.
        for value in sorted(steps, key=lambda v: -abs(terms[v])):
            factor = terms[value]
            difference = (2 * rest + abs(factor)) // (2 * abs(factor)) * (1 if factor > 0 else -1)
            rest -= difference * factor
            if not difference:
                continue
            if value not in shared:
                if not self._reaches(value, difference):
                    return None
                continue
            schedule = self._work_sharing.get(value.node)
            if schedule is None:
                if not self._is_of_another(value, difference):
                    return None
            else:
                if not schedule.separates(difference):
                    return None
                if schedule.count is None:
                    least = max(least, abs(difference // schedule.step))
            moved += 1
        if least > _NEAR:
            return None
        return least if rest == 0 and moved else None
