"""Data races that can be seen: all threads write the same place, unprotected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls._clean import graphs
from cyclescope.hls._ir import Graph, Node, Op, Place, Value

if TYPE_CHECKING:
    from collections.abc import Set

__all__ = ["races"]


def races(root: Graph, guarded: Set[Node]) -> list[str]:
    """A warning for each store that every thread of the team does, at the same place.

    A store is suspicious if nothing that says where, or whether it happens at all, depends on the
    thread's number, and no critical section, atomic or reduction protects it.

    Args:
        root: the region's graph.
        guarded: effects under mutual exclusion.
    """
    own = _Threads(root)
    found: dict[str, None] = {}
    for graph in graphs(root):
        for node in graph.nodes:
            array = node.array
            if node.op is not Op.STORE or array is None or array.place is Place.LOCAL:
                continue
            if node in guarded or own.differs(node.operands[0]) or own.selects(graph, node):
                continue
            found.setdefault(
                f"{node.where}: data race: every thread writes the same place of {array.name}; "
                f"protect it (critical, atomic, reduction) or give each thread its own"
            )
    return list(found)


class _Threads:
    """Which values may differ from thread to thread."""

    def __init__(self, root: Graph) -> None:
        self._loops: dict[Graph, tuple[Graph, Node]] = {}
        for graph in graphs(root):
            for node in graph.nodes:
                if node.body is not None:
                    self._loops[node.body] = (graph, node)
        self._own: set[Value] = set()
        before = -1
        while before != len(self._own):
            before = len(self._own)
            for graph in graphs(root):
                self._walk(graph)

    def differs(self, value: Value) -> bool:
        """Whether a value may differ from thread to thread."""
        return value in self._own

    def selects(self, graph: Graph, node: Node) -> bool:
        """Whether threads may differ in doing an effect, or in how often."""
        if node.when is not None and self.differs(node.when):
            return True
        if graph.stay is not None and self.differs(graph.stay):
            return True
        around = self._loops.get(graph)
        return around is not None and self.selects(*around)

    def _walk(self, graph: Graph) -> None:
        around = self._loops.get(graph)
        if around is not None:
            _, loop = around
            count = len(graph.carried)
            uneven = graph.stay is not None and self.differs(graph.stay)
            for index, carried in enumerate(graph.carried):
                start = loop.operands[index]
                if self.differs(start) or self.differs(carried.next):
                    self._own.add(carried.param.result)
                    self._own.add(loop.results[index])
                if uneven:
                    self._own.add(loop.results[index])
            for position, param in enumerate(graph.invariants):
                if self.differs(loop.operands[count + position]):
                    self._own.add(param.result)
        for node in graph.nodes:
            if node.op is Op.THREAD or any(map(self.differs, node.operands)):
                self._own.update(node.results if node.op is not Op.LOOP else ())
