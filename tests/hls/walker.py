"""Walks a region's graphs node by node, for one thread, and notes what meets in memory.

Nothing is shared with the interpreter but the meaning of single operations: so it is a second
route to the results, and it sees which dependences there really were.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cyclescope.hls import Graph, Node, Op, Region
from cyclescope.hls.ir._graph import Array, Place, Value
from cyclescope.hls.ir._semantics import evaluate

__all__ = ["Walker"]


@dataclass
class Walker:
    """One thread's walk.

    Attributes:
        meetings: (graph, effect, later effect) → the least number of iterations between them at
            which they touched the same byte, one of them writing.
    """

    region: Region
    arrays: dict[str, bytes]
    scalars: list[int]
    thread: int = 0
    meetings: dict[tuple[Graph, Node, Node], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.memory = {
            a: bytearray(self.arrays[a.name] if a.place is Place.EXTERNAL else a.bytes or 0)
            for a in self.region.arrays
        }
        # Around each access: the effects it happens in, with graph and iteration.
        self.path: list[tuple[Graph, Node, int, int]] = []
        # Byte → who touched it, by (graph, activation).
        self.touched: dict[tuple[Array, int], dict[tuple[Node, bool, int], int]] = {}
        self.activations = 0

    def run(self) -> dict[str, bytes]:
        self.graph(self.region.root, [], [])
        return {a.name: bytes(m) for a, m in self.memory.items() if a.place is Place.EXTERNAL}

    def graph(self, graph: Graph, starts: list[int], given: list[int]) -> list[int]:
        self.activations += 1
        activation = self.activations
        carried = list(starts)
        iteration = 0
        while True:
            values: dict[Value, int] = {}
            for entry, bits in zip(graph.carried, carried, strict=True):
                values[entry.param.result] = bits
            for node, bits in zip(graph.invariants, given, strict=True):
                values[node.result] = bits
            if graph.continues is not None and not self.known(graph.continues, values):
                return carried
            for node in graph.nodes:
                self.node(graph, node, values, iteration, activation)
            if graph.continues is None:
                return []
            carried = [self.known(c.next, values) for c in graph.carried]
            iteration += 1

    def known(self, value: Value, values: dict[Value, int]) -> int:
        """A value that no effect is needed for, or that has been computed."""
        if value not in values:
            node = value.node
            assert node.op not in (Op.LOAD, Op.LOOP, Op.PARAM)
            operands = [self.known(v, values) for v in node.operands]
            values[value] = self.pure(node, operands)
        return values[value]

    def pure(self, node: Node, operands: list[int]) -> int:
        match node.op:
            case Op.CONST:
                return node.constant
            case Op.SCALAR:
                return self.scalars[node.constant]
            case Op.THREAD:
                return self.thread
            case Op.THREADS:
                return self.region.threads
        widths = [v.width for v in node.operands]
        return evaluate(node.op, operands, widths, node.widths[0], node.constant)

    def node(
        self, graph: Graph, node: Node, values: dict[Value, int], iteration: int, activation: int
    ) -> None:
        if node.op is Op.PARAM:
            return
        if node.op not in (Op.LOAD, Op.STORE, Op.COPY, Op.LOOP):
            if node.widths:
                self.known(node.result, values)
            return
        if node.when is not None and not self.known(node.when, values):
            values.update(dict.fromkeys(node.results, 0))
            return
        operands = [self.known(v, values) for v in node.operands]
        self.path.append((graph, node, iteration, activation))
        if node.body is not None:
            count = len(node.body.carried)
            results = self.graph(node.body, operands[:count], operands[count:])
            values.update(zip(node.results, results, strict=True))
        elif node.op is Op.COPY:
            assert node.array is not None
            assert node.source is not None
            target, source, size = operands
            data = self.memory[node.source][source : source + size]
            self.touch(node.source, source, size, writes=False)
            self.touch(node.array, target, size, writes=True)
            self.memory[node.array][target : target + size] = data
        elif node.op is Op.LOAD:
            assert node.array is not None
            size = node.widths[0] // 8
            memory = self.memory[node.array]
            values[node.result] = int.from_bytes(memory[operands[0] : operands[0] + size], "little")
            self.touch(node.array, operands[0], size, writes=False)
        else:
            assert node.array is not None
            size = node.operands[1].width // 8
            data = operands[1].to_bytes(size, "little")
            self.memory[node.array][operands[0] : operands[0] + size] = data
            self.touch(node.array, operands[0], size, writes=True)
        self.path.pop()

    def touch(self, array: Array, offset: int, size: int, *, writes: bool) -> None:
        for byte in range(offset, offset + size):
            seen = self.touched.setdefault((array, byte), {})
            for graph, node, iteration, activation in self.path:
                for (other, wrote, where), last in seen.items():
                    if where != activation or not (wrote or writes):
                        continue
                    if other is node and last == iteration:
                        continue
                    key = (graph, other, node)
                    apart = iteration - last
                    self.meetings[key] = min(self.meetings.get(key, apart), apart)
            for _, node, iteration, activation in self.path:
                seen[node, writes, activation] = iteration
