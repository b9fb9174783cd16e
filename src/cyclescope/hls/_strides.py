"""How accesses move through memory from iteration to iteration, and in which loops they do not.

What is said here is for advice, not for hardware: arithmetic is taken not to overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls._affine import affine, inductions
from cyclescope.hls._ir import Graph, Node, Op, Value

if TYPE_CHECKING:
    from collections.abc import Collection

    from cyclescope.hls._ir import Array

__all__ = ["Nest"]


class _Everything(frozenset[Node]):
    """All arithmetic: none of it overflows."""

    def __contains__(self, _: object) -> bool:
        return True


_EXACT = _Everything()
_FIXED = frozenset({Op.CONST, Op.SCALAR, Op.THREAD, Op.THREADS})


class Nest:
    """A region's loops inside each other, and what changes in which of them."""

    def __init__(self, root: Graph) -> None:
        self._loop: dict[Graph, tuple[Graph, Node]] = {}  # the graph around it, its node there
        self._stored: set[Array] = set()
        waiting = [root]
        while waiting:
            graph = waiting.pop()
            for node in graph.nodes:
                if node.op in (Op.STORE, Op.COPY) and node.array is not None:
                    self._stored.add(node.array)
                if node.body is not None:
                    self._loop[node.body] = graph, node
                    waiting.append(node.body)
        self._known: dict[tuple[Value, Graph], frozenset[Graph]] = {}

    def around(self, graph: Graph) -> list[Graph]:
        """The loops around what is in a graph, innermost first; the root is no loop."""
        found = []
        while graph in self._loop:
            found.append(graph)
            graph, _ = self._loop[graph]
        return found

    def outer(self, graph: Graph) -> Graph | None:
        """The graph around a loop."""
        return self._loop[graph][0] if graph in self._loop else None

    def node(self, graph: Graph) -> Node:
        """A loop's node in the graph around it."""
        return self._loop[graph][1]

    def trips(self, graph: Graph) -> int | None:
        """Iterations of one execution of a loop, where the text alone fixes them."""
        known = inductions(self.node(graph), _EXACT).values()
        return next((i.count for i in known if i.count is not None), None)

    def stride(self, graph: Graph, offset: Value) -> int | None:
        """Bytes by which an offset grows from one iteration of its loop to the next."""
        if graph not in self._loop:
            return None
        known = inductions(self.node(graph), _EXACT)
        total = 0
        for value, coefficient in affine(offset, _EXACT).terms.items():
            if value in known:
                step = known[value].step.number
                if step is None:
                    return None
                total += coefficient * step
            elif graph in self.varies(value, graph):
                return None
        return total

    def apart(self, one: Value, other: Value) -> int | None:
        """Bytes between two offsets of a graph, if they are always the same."""
        return affine(other, _EXACT).plus(affine(one, _EXACT), -1).number

    def repeats(self, graph: Graph, offset: Value) -> list[Graph]:
        """The loops around an access, innermost first, whose iterations access the same again.

        The addresses of an iteration are meant as a whole: of all iterations of inner loops.
        """
        changing = self.varies(offset, graph)
        return [loop for loop in self.around(graph) if loop not in changing]

    def varies(self, value: Value, graph: Graph) -> frozenset[Graph]:
        """The loops from one iteration of which to the next a value of a graph may change."""
        key = (value, graph)
        if key not in self._known:
            # While it is being worked out: what it hands to itself adds nothing.
            self._known[key] = frozenset()
            self._known[key] = self._varies(value, graph)
        return self._known[key]

    def _varies(self, value: Value, graph: Graph) -> frozenset[Graph]:
        node = value.node
        if node.op in _FIXED:
            return frozenset()
        if node.op is Op.PARAM:
            return self._of_param(value, graph)
        found = self._of_all(node.operands, graph)
        if node.op is Op.LOOP:
            assert node.body is not None
            if self._loads_what_changes(node.body):
                found |= set(self.around(graph))
        if node.op is Op.LOAD and node.array in self._stored:
            found |= set(self.around(graph))
        return found

    def _of_param(self, value: Value, graph: Graph) -> frozenset[Graph]:
        outer, loop = self._loop[graph]
        for index, carried in enumerate(graph.carried):
            if carried.param is value.node:
                first = self.varies(loop.operands[index], outer)
                # Of what an iteration adds only what comes from outside the loop is of interest.
                own = self.varies(carried.next, graph) if carried.next != value else frozenset()
                return first | (own | {graph} if carried.next != value else own)
        place = len(graph.carried) + graph.invariants.index(value.node)
        return self.varies(loop.operands[place], outer)

    def _of_all(self, values: Collection[Value], graph: Graph) -> frozenset[Graph]:
        empty: frozenset[Graph] = frozenset()
        return empty.union(*(self.varies(value, graph) for value in values))

    def _loads_what_changes(self, graph: Graph) -> bool:
        return any(
            (node.op is Op.LOAD and node.array in self._stored)
            or (node.body is not None and self._loads_what_changes(node.body))
            for node in graph.nodes
        )
