"""The cross-thread race check, as far as it can be seen: races, and who writes last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import Array, Graph, Node, Op, Place, Value
from cyclescope.hls.passes._dead_code import graphs

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

__all__ = ["Threads", "last_writers", "races"]

_RESIZED = frozenset({Op.SEXT, Op.ZEXT, Op.TRUNC})


def races(root: Graph, guarded: Set[Node], own: Threads) -> list[str]:
    """A warning for each store that every thread of the team does, at the same place.

    A store is suspicious if nothing that says where, or whether it happens at all, depends on the
    thread's number, and no critical section, atomic or reduction protects it. One that adds to
    what was there is, even if threads differ in how often they do it.

    Args:
        root: the region's graph.
        guarded: effects under mutual exclusion.
        own: what differs from thread to thread.
    """
    found: dict[str, None] = {}
    for graph, node in _stores(root):
        assert node.array is not None
        if node in guarded or own.differs(node.operands[0]):
            continue
        # A number drawn under a lock is each thread's own, as that of an atomic capture.
        if own.is_drawn(node.operands[0], guarded):
            continue
        if node.when is not None and own.is_drawn(node.when, guarded):
            continue
        adds = own.reads(node.operands[1], node.array)
        if own.picks_one(graph, node) if adds else own.selects(graph, node):
            continue
        found.setdefault(
            f"{node.where}: data race: every thread writes the same place of {node.array.name}; "
            f"protect it (critical, atomic, reduction) or give each thread its own"
        )
    return list(found)


def last_writers(root: Graph, guarded: Set[Node], own: Threads) -> list[tuple[str, Array]]:
    """Arrays whose contents depend on which thread is last, each with a warning.

    All threads store values of their own at the same place, protected, but without looking at
    what is there.

    Args:
        root: the region's graph.
        guarded: effects under mutual exclusion.
        own: what differs from thread to thread.
    """
    found: dict[str, Array] = {}
    for graph, node in _stores(root):
        assert node.array is not None
        place, value = node.operands
        if node not in guarded or own.differs(place) or not own.differs(value):
            continue
        if own.reads(value, node.array) or own.selects(graph, node):
            continue
        warning = (
            f"{node.where}: every thread writes its own value to the same place of "
            f"{node.array.name}: the last one stays, and which that is, is open; combine them (+=)"
        )
        found.setdefault(warning, node.array)
    if any(n.op is Op.FENCE for graph in graphs(root) for n in graph.nodes):
        found |= _taken_turns(root, own)
    return list(found.items())


def _taken_turns(root: Graph, own: Threads) -> dict[str, Array]:
    """The arrays in which threads that synchronise by flushes write the same place, one by one.

    That is one store of all threads, or stores in several loops or branches of theirs.
    """
    stores: dict[Array, list[tuple[Graph, Node]]] = {}
    for graph, node in _stores(root):
        assert node.array is not None
        place, value = node.operands
        if not own.differs(place) and not own.reads(value, node.array):
            stores.setdefault(node.array, []).append((graph, node))
    found = {}
    for array, given in stores.items():
        every = [n for g, n in given if not own.selects(g, n) and own.differs(n.operands[1])]
        apart = {(g, n.when) for g, n in given if own.selects(g, n)}
        if every or len(apart) > 1:
            node = every[0] if every else given[-1][1]
            found[
                f"{node.where}: threads write the same place of {array.name} one after the other: "
                f"the last one's value stays, and which that is, is open"
            ] = array
    return found


def _stores(root: Graph) -> Iterator[tuple[Graph, Node]]:
    for graph in graphs(root):
        for node in graph.nodes:
            array = node.array
            if node.op is Op.STORE and array is not None and array.place is not Place.LOCAL:
                yield graph, node


def _is_own(node: Node) -> bool:
    """Return whether each thread gets a value of its own: its number, what it takes of a team's."""
    taken = node.array is not None and node.array.place is Place.SHARED
    return node.op is Op.THREAD or (node.op is Op.LOAD and taken)


class Threads:
    """The values that may differ from thread to thread."""

    def __init__(self, root: Graph) -> None:
        self._loops: dict[Graph, tuple[Graph, Node]] = {}
        self._given: dict[Node, list[Value]] = {}  # to a graph's parameter
        for graph in graphs(root):
            for node in graph.nodes:
                if node.body is not None:
                    self._loops[node.body] = (graph, node)
                    count = len(node.body.carried)
                    for index, carried in enumerate(node.body.carried):
                        self._given[carried.param] = [node.operands[index], carried.next]
                    for index, param in enumerate(node.body.invariants):
                        self._given[param] = [node.operands[count + index]]
        self._own: set[Value] = set()
        before = -1
        while before != len(self._own):
            before = len(self._own)
            for graph in graphs(root):
                self._walk(graph)

    def differs(self, value: Value) -> bool:
        """Return whether a value may differ from thread to thread."""
        return value in self._own

    def selects(self, graph: Graph, node: Node) -> bool:
        """Return whether threads may differ in doing an effect, or in how often."""
        if node.when is not None and self.differs(node.when):
            return True
        if graph.continues is not None and self.differs(graph.continues):
            return True
        around = self._loops.get(graph)
        return around is not None and self.selects(*around)

    def reads(self, value: Value, array: Array) -> bool:
        """Return whether a value depends on what all threads read at one place of an array."""
        for node in self._behind(value):
            if node.op is Op.LOAD and node.array is array and not self.differs(node.operands[0]):
                return True
        return False

    def is_drawn(self, value: Value, guarded: Set[Node]) -> bool:
        """Return whether a value is computed from what was read under mutual exclusion."""
        return any(n.op is Op.LOAD and n in guarded for n in self._behind(value))

    def picks_one(self, graph: Graph, node: Node) -> bool:
        """Return whether a condition on its number lets a single thread do an effect."""
        around: tuple[Graph, Node] | None = (graph, node)
        while around is not None:
            graph, node = around
            if node.when is not None and self._is_one(node.when):
                return True
            around = self._loops.get(graph)
        return False

    def _is_one(self, condition: Value) -> bool:
        node = condition.node
        if condition not in self._own:
            return False
        if node.op is Op.AND:
            return any(map(self._is_one, node.operands))
        if node.op is Op.PARAM:
            return any(map(self._is_one, self._sources(node)))
        if node.op is Op.NOT and node.operands[0].node.op is not Op.NE:
            return any(map(self._is_thread, node.operands[0].node.operands))
        if node.op in (Op.EQ, Op.NOT):
            return any(n.op is Op.THREAD for n in self._behind(condition, Op.LOAD))
        return any(map(self._is_thread, node.operands))

    def _is_thread(self, value: Value) -> bool:
        node = value.node
        while node.op in _RESIZED or (node.op is Op.PARAM and len(self._sources(node)) == 1):
            (value,) = self._sources(node) if node.op is Op.PARAM else node.operands
            node = value.node
        return node.op is Op.THREAD

    def _sources(self, param: Node) -> list[Value]:
        return self._given.get(param, [])

    def _behind(self, value: Value, *stops: Op) -> Iterator[Node]:
        """The nodes that a value is computed from, also in other graphs."""
        seen = {value}
        waiting = [value]
        while waiting:
            one = waiting.pop()
            node = one.node
            yield node
            more: list[Value] = []
            if node.op is Op.PARAM:
                more = self._sources(node)
            elif node.body is not None:
                index = node.results.index(one)
                more = [node.operands[index], node.body.carried[index].next]
            elif node.op not in stops:
                more = list(node.operands)
            fresh = [v for v in more if v not in seen]
            seen.update(fresh)
            waiting += fresh

    def _walk(self, graph: Graph) -> None:
        around = self._loops.get(graph)
        if around is not None:
            _, loop = around
            count = len(graph.carried)
            uneven = graph.continues is not None and self.differs(graph.continues)
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
            if _is_own(node) or any(map(self.differs, node.operands)):
                self._own.update(node.results if node.op is not Op.LOOP else ())
