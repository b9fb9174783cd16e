"""Regions by hand, and a scheduler that is as simple as can be: as soon as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Range
from cyclescope.hls.ir._graph import (
    EFFECTS,
    Array,
    Carried,
    Graph,
    Node,
    Op,
    Order,
    Place,
    Region,
    Schedule,
)

if TYPE_CHECKING:
    from cyclescope.hls.ir._graph import Value

__all__ = ["HERE", "Maker", "at", "local", "outside", "region", "schedules"]


def at(line: int) -> Range:
    """A line of the C text that these regions would have."""
    return Range("by_hand.c", line, 1, line, 2)


HERE = at(1)


def outside(name: str, size: int | None = None) -> Array:
    """An external array."""
    return Array(name, Place.EXTERNAL, size, 4, True, True, HERE)


def local(name: str, size: int, word: int = 4) -> Array:
    """A block RAM, one a thread."""
    return Array(name, Place.LOCAL, size, word, False, False, HERE)


class Maker:
    """Adds nodes to a graph."""

    def __init__(self, label: str = "region", line: int = 1) -> None:
        self.graph = Graph(label, at(line))
        self.line = line

    def node(self, op: Op, *operands: Value, width: int = 0, **more: object) -> Node:
        widths = (width,) if width else ()
        node = Node(op, operands, widths, at(self.line), **more)  # type: ignore[arg-type]
        self.graph.nodes.append(node)
        return node

    def op(self, op: Op, *operands: Value, width: int = 0, **more: object) -> Value:
        """A node with one result, as wide as its first operand unless said."""
        return self.node(op, *operands, width=width or operands[0].width, **more).result

    def const(self, value: int, width: int = 32) -> Value:
        return self.op(Op.CONST, width=width, constant=value)

    def thread(self) -> Value:
        return self.op(Op.THREAD, width=32)

    def param(self, name: str, width: int = 32) -> Value:
        return self.op(Op.PARAM, width=width, name=name)

    def carried(self, name: str, width: int = 32) -> Value:
        """A carried value; `becomes` says what it is next."""
        return self.param(name, width)

    def becomes(self, param: Value, value: Value) -> None:
        self.graph.carried.append(Carried(param.node, value))

    def invariant(self, name: str, width: int = 32) -> Value:
        value = self.param(name, width)
        self.graph.invariants.append(value.node)
        return value

    def offset(self, index: Value, size: int = 4) -> Value:
        """The byte offset of an element."""
        wide = self.op(Op.SEXT, index, width=64)
        return self.op(Op.MUL, wide, self.const(size, 64))

    def load(self, array: Array, index: Value, width: int = 32, **more: object) -> Value:
        place = self.offset(index, width // 8)
        return self.op(Op.LOAD, place, width=width, array=array, **more)

    def store(self, array: Array, index: Value, value: Value, **more: object) -> Node:
        place = self.offset(index, value.width // 8)
        return self.node(Op.STORE, place, value, array=array, **more)

    def loop(self, body: Maker, *operands: Value, **more: object) -> tuple[Value, ...]:
        """A loop: initial carried values, then invariants."""
        node = Node(
            Op.LOOP,
            operands,
            tuple(c.param.widths[0] for c in body.graph.carried),
            at(body.line),
            body=body.graph,
            **more,  # type: ignore[arg-type]
        )
        self.graph.nodes.append(node)
        return node.results

    def order(self, before: Node, after: Node) -> None:
        self.graph.orders.append(Order(before, after))


def region(
    root: Maker, arrays: tuple[Array, ...], threads: int, *, locks: int = 0, barriers: int = 0
) -> Region:
    """A region without scalars."""
    return Region(
        "by_hand",
        root.graph,
        arrays,
        (),
        threads,
        tuple(f"lock{i}" for i in range(locks)),
        (HERE,) * barriers,
        HERE,
    )


def schedules(graph: Graph, latency: dict[Op, int] | None = None) -> dict[Graph, Schedule]:
    """Every graph scheduled as soon as possible."""
    found = {graph: _schedule(graph, latency or {})}
    for node in graph.nodes:
        if node.body is not None:
            found |= schedules(node.body, latency)
    return found


def _varies(node: Node) -> bool:
    if node.op in (Op.LOAD, Op.STORE):
        return node.array is not None and node.array.place is Place.EXTERNAL
    return node.op in (Op.COPY, Op.LOOP, Op.ACQUIRE, Op.BARRIER)


def _schedule(graph: Graph, latencies: dict[Op, int]) -> Schedule:
    stage: dict[Node, int] = {}
    latency: dict[Node, int] = {}
    waiting: set[int] = set()
    spans: list[tuple[int, int]] = []
    floor = 0
    if graph.continues is not None:
        floor = _stay_stage(graph, latencies)
    for node in graph.nodes:
        takes = 1 if _varies(node) or node.op is Op.LOAD else latencies.get(node.op, 0)
        begin = max(
            [0]
            + [stage[v.node] + latency[v.node] for v in node.operands]
            + ([stage[node.when.node] + latency[node.when.node]] if node.when else [])
            + [stage[n] + 1 for n in node.after]
        )
        if node.op in EFFECTS:
            begin = max(begin, floor)
        if _varies(node):
            while any(a <= begin < b for a, b in spans):
                begin += 1
            waiting.add(begin)
        elif takes:
            while any(begin <= w < begin + takes for w in waiting):
                begin += 1
            spans.append((begin, begin + takes))
        stage[node], latency[node] = begin, takes
    bounds = {
        f"carried {c.param.name}": stage[c.next.node] + latency[c.next.node] - stage[c.param] + 1
        for c in graph.carried
    }
    bounds |= {f"order {i}": stage[o.before] + 1 - stage[o.after] + 1
               for i, o in enumerate(graph.orders)}  # fmt: skip
    return Schedule(
        graph,
        stage,
        latency,
        tuple(sorted(waiting)),
        max((stage[n] + latency[n] for n in graph.nodes), default=0) + 1,
        max([1, *bounds.values()]),
        bounds,
    )


def _stay_stage(graph: Graph, latencies: dict[Op, int]) -> int:
    assert graph.continues is not None

    def ready(node: Node) -> int:
        return max([ready(v.node) for v in node.operands], default=0) + latencies.get(node.op, 0)

    return ready(graph.continues.node)
