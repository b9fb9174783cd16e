"""Dead-code elimination: removes nodes that no effect needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import Carried, Graph, Node, Op, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.hls.ir import Draft

__all__ = ["clean", "graphs", "remove_dead_code"]

_LASTING = frozenset({Op.STORE, Op.COPY, Op.ACQUIRE, Op.RELEASE, Op.BARRIER, Op.FENCE})


def graphs(root: Graph) -> Iterator[Graph]:
    """A graph and all inside it, outside in."""
    yield root
    for node in root.nodes:
        if node.body is not None:
            yield from graphs(node.body)


def remove_dead_code(draft: Draft) -> None:
    """Remove values, loops and carried values that no effect needs."""
    clean(draft.region.root)


def clean(root: Graph) -> None:
    """Remove dead values, loops that only compute dead values, carried values that don't change."""
    while _fixed_to_invariants(root):
        pass
    alive = _Liveness(root)
    _sweep(root, alive)


def _fixed_to_invariants(root: Graph) -> bool:
    """Carried values that stay as they are become invariants."""
    found = False
    for graph in graphs(root):
        changes: dict[Value, Value] = {}
        for loop in graph.nodes:
            if loop.body is None:
                continue
            body, count = loop.body, len(loop.body.carried)
            kept: list[int] = []
            fixed: list[int] = []
            for index, carried in enumerate(body.carried):
                (fixed if carried.next == carried.param.result else kept).append(index)
            if not fixed:
                continue
            found = True
            for index in fixed:
                changes[loop.results[index]] = loop.operands[index]
            _keep_results(loop, kept, changes)
            moved = [body.carried[i].param for i in fixed]
            inits = [loop.operands[i] for i in fixed]
            starts = [loop.operands[i] for i in kept]
            loop.operands = (*starts, *loop.operands[count:], *inits)
            body.invariants += moved
            body.carried = [body.carried[i] for i in kept]
        if changes:
            substitute(graph, changes)
    return found


def _keep_results(loop: Node, kept: list[int], changes: dict[Value, Value]) -> None:
    widths = loop.widths
    loop.widths = tuple(widths[i] for i in kept)
    for new, old in enumerate(kept):
        if new != old:
            changes[Value(loop, old, widths[old])] = Value(loop, new, widths[old])


def substitute(graph: Graph, changes: dict[Value, Value]) -> None:
    """Replace values in everything that uses them in a graph."""
    resolved: dict[Value, Value] = {}
    # What stands for a removed loop result may itself be removed, or renumbered, which is final.
    for old, new in changes.items():
        before, last = old, new
        while last.node is not before.node and last in changes:
            before, last = last, changes[last]
        resolved[old] = last
    for node in graph.nodes:
        node.operands = tuple(resolved.get(v, v) for v in node.operands)
        if node.when is not None:
            node.when = resolved.get(node.when, node.when)
    graph.carried = [Carried(c.param, resolved.get(c.next, c.next)) for c in graph.carried]
    if graph.continues is not None:
        graph.continues = resolved.get(graph.continues, graph.continues)


class _Liveness:
    """The nodes and carried values that an effect needs."""

    def __init__(self, root: Graph) -> None:
        self.nodes: set[Node] = set()
        self.carried: set[Node] = set()  # their params
        self._place: dict[Node, tuple[Graph, Node | None, int]] = {}
        self._loop: dict[Graph, Node] = {}
        self._graph: dict[Node, Graph] = {}
        roots: list[Node] = []
        for graph in graphs(root):
            for node in graph.nodes:
                self._graph[node] = graph
                if node.body is not None:
                    self._loop[node.body] = node
                if node.op in _LASTING:
                    roots.append(node)
        self._waiting: list[Node] = []
        for node in roots:
            self._need(node)
        while self._waiting:
            self._visit(self._waiting.pop())

    def _need(self, node: Node) -> None:
        if node not in self.nodes:
            self.nodes.add(node)
            self._waiting.append(node)

    def _value(self, value: Value) -> None:
        self._need(value.node)
        if value.node.body is not None:
            self._carry(value.node.body, value.index)

    def _carry(self, body: Graph, index: int) -> None:
        carried = body.carried[index]
        if carried.param in self.carried:
            return
        self.carried.add(carried.param)
        self._need(carried.param)
        self._value(carried.next)
        self._value(self._loop[body].operands[index])

    def _visit(self, node: Node) -> None:
        graph = self._graph[node]
        loop = self._loop.get(graph)
        if loop is not None:
            self._need(loop)
        if node.op is Op.PARAM:
            for index, carried in enumerate(graph.carried):
                if carried.param is node:
                    self._carry(graph, index)
                    return
            assert loop is not None
            position = graph.invariants.index(node)
            self._value(loop.operands[len(graph.carried) + position])
            return
        if node.when is not None:
            self._value(node.when)
        if node.body is not None:
            if node.body.continues is not None:
                self._value(node.body.continues)
            return  # operands are needed one by one
        for operand in node.operands:
            self._value(operand)


def _sweep(graph: Graph, alive: _Liveness) -> None:
    changes: dict[Value, Value] = {}
    graph.nodes = [n for n in graph.nodes if n in alive.nodes]
    for loop in graph.nodes:
        body = loop.body
        if body is None:
            continue
        count = len(body.carried)
        kept = [i for i, c in enumerate(body.carried) if c.param in alive.carried]
        invariants = [i for i, n in enumerate(body.invariants) if n in alive.nodes]
        _keep_results(loop, kept, changes)
        loop.operands = (
            *(loop.operands[i] for i in kept),
            *(loop.operands[count + i] for i in invariants),
        )
        body.carried = [body.carried[i] for i in kept]
        body.invariants = [body.invariants[i] for i in invariants]
    substitute(graph, changes)
    for loop in graph.nodes:
        if loop.body is not None:
            _sweep(loop.body, alive)
