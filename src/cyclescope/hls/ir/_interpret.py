"""Runs a region's graphs directly: what the hardware must compute, without any timing.

Each graph becomes a Python function; threads take turns, an iteration at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclescope.errors import RunError
from cyclescope.hls.ir._graph import EFFECTS, Graph, Node, Op, Place, Region, Value
from cyclescope.hls.ir._semantics import bits_of, evaluate, float_of, mask, signed

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Generator, Mapping, Sequence

    from cyclescope.hls.ir._graph import Array

__all__ = ["Interpreter", "InterpreterText", "interpret"]

_GARBAGE = 0x5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A


def interpret(
    region: Region,
    arrays: Mapping[str, bytes],
    scalars: Sequence[int] = (),
    *,
    shuffle: random.Random | None = None,
    limit: int | None = None,
    cleared: bool = False,
) -> dict[str, bytes]:
    """Run a region.

    Args:
        region: its graphs; `after` must be filled in if they are shuffled.
        arrays: contents of the external arrays.
        scalars: bits of the host's scalars, in the region's order.
        shuffle: take the operations of an iteration in a random order that operands and `after`
            allow, threads too, and let effects that don't happen, and words of local arrays that
            nothing has written, give garbage: what depends on an order that nothing guarantees, or
            on zeros, comes out wrong.
        limit: iterations of all threads together, at most.
        cleared: nevertheless, local arrays begin with zeros, as they do without `shuffle`.

    Returns:
        The contents of the external arrays afterwards.

    Raises:
        RunError: an access out of range, a deadlock, or more iterations than the limit.
    """
    return Interpreter(region, arrays, scalars, shuffle, limit, cleared=cleared).run()


class Interpreter:
    """One execution of a region: its threads in turn, its memories, locks and barriers."""

    def __init__(
        self,
        region: Region,
        arrays: Mapping[str, bytes],
        scalars: Sequence[int],
        shuffle: random.Random | None,
        limit: int | None,
        *,
        cleared: bool = True,
    ) -> None:
        first = b"\0" if cleared or shuffle is None else bytes([_GARBAGE & 0xFF])

        def begun(array: Array) -> bytearray:
            return bytearray((b"\0" if array.zeroed else first) * (array.bytes or 0))

        self.region = region
        self.shuffle = shuffle
        self.limit = limit
        self.external = {
            a: bytearray(arrays[a.name]) for a in region.arrays if a.place is Place.EXTERNAL
        }
        shared = {a: begun(a) for a in region.arrays if a.place is Place.SHARED} | self.external
        # Which thread holds each lock; which has come to each barrier, and how often it has opened.
        self.held: list[int | None] = [None] * len(region.locks)
        self.come: list[set[int]] = [set() for _ in region.barriers]
        self.opened = [0] * len(region.barriers)
        self.waits: dict[int, str] = {}
        self.progress = 0
        text = self._text(scalars)
        namespace: dict[str, Any] = {
            "load": self._load, "store": self._store, "copy": self._copy,
            "acquire": self._acquire, "release": self._release, "barrier": self._barrier,
            "evaluate": evaluate, "nodes": text.nodes, **_FLOATS, **self._more(text),
        }  # fmt: skip
        exec(compile(text.source, "<region>", "exec"), namespace)  # noqa: S102 - our own text
        self.threads = []
        for thread in range(region.threads):
            own = [shared[a] if a in shared else begun(a) for a in region.arrays]
            self.threads.append(namespace[text.names[region.root]](own, thread))

    def _text(self, scalars: Sequence[int]) -> InterpreterText:
        return InterpreterText(self.region, scalars, self.shuffle)

    def _more(self, text: InterpreterText) -> dict[str, Any]:  # noqa: ARG002 - for those who count as they go
        """Further names that the text knows."""
        return {}

    def run(self) -> dict[str, bytes]:
        running: dict[int, Generator[None, None, Any]] = dict(enumerate(self.threads))
        turns = 0
        while running:
            before = self.progress
            order = list(running)
            if self.shuffle is not None:
                self.shuffle.shuffle(order)
            for thread in order:
                try:
                    next(running[thread])
                except StopIteration:
                    del running[thread]
                    self.progress += 1
            if self.progress == before and len(self.waits) == len(running):
                who = "; ".join(f"thread {t} waits {w}" for t, w in sorted(self.waits.items()))
                raise RunError(f"{self.region.where}: deadlock: {who}")
            turns += len(order)
            if self.limit is not None and turns > self.limit:
                raise RunError(f"{self.region.where}: more than {self.limit} iterations")
        return {a.name: bytes(data) for a, data in self.external.items()}

    def _check(self, memory: bytearray, offset: int, size: int, node: Node, thread: int) -> None:
        if offset + size > len(memory):
            name = node.array.name if node.array else ""
            if node.array is not None and node.array.beyond:
                raise RunError(f"{node.where}: thread {thread} {node.array.beyond}")
            raise RunError(
                f"{node.where}: thread {thread} leaves {name}: byte {signed(offset, 64)} of "
                f"{len(memory)}"
            )

    def _load(self, memory: bytearray, offset: int, node: Node, thread: int) -> int:
        size = node.widths[0] // 8
        self._check(memory, offset, size, node, thread)
        return int.from_bytes(memory[offset : offset + size], "little")

    def _store(self, memory: bytearray, offset: int, value: int, node: Node, thread: int) -> None:
        size = node.operands[1].width // 8
        self._check(memory, offset, size, node, thread)
        memory[offset : offset + size] = value.to_bytes(size, "little")

    def _copy(
        self, to: bytearray, given: bytearray, place: Sequence[int], node: Node, thread: int
    ) -> None:
        target, source, size = place
        self._check(to, target, size, node, thread)
        self._check(given, source, size, node, thread)
        to[target : target + size] = given[source : source + size]

    def _acquire(self, number: int, thread: int) -> Generator[None, None, None]:
        while self.held[number] is not None:
            self.waits[thread] = (
                f"for {self.region.locks[number]}, which thread {self.held[number]} holds"
            )
            yield
        self.waits.pop(thread, None)
        self.held[number] = thread
        self.progress += 1

    def _release(self, number: int) -> None:
        self.held[number] = None
        self.progress += 1

    def _barrier(
        self, number: int, thread: int, size: int | None = None
    ) -> Generator[None, None, None]:
        opened = self.opened[number]
        self.come[number].add(thread)
        self.progress += 1
        if len(self.come[number]) == (self.region.threads if size is None else size):
            self.come[number].clear()
            self.opened[number] += 1
        while self.opened[number] == opened:
            self.waits[thread] = f"at the barrier in {self.region.barriers[number]}"
            yield
        self.waits.pop(thread, None)
        self.progress += 1


def _fast(operator: Callable[[float, float], float], width: int) -> Callable[[int, int], int]:
    def compute(a: int, b: int) -> int:
        return bits_of(operator(float_of(a, width), float_of(b, width)), width)

    return compute


_FLOATS = {
    f"{name}{width}": _fast(operator, width)
    for width in (32, 64)
    for name, operator in (
        ("fadd", lambda a, b: a + b),
        ("fsub", lambda a, b: a - b),
        ("fmul", lambda a, b: a * b),
    )
}


class InterpreterText:
    """The Python text of a region's graphs."""

    def __init__(
        self, region: Region, scalars: Sequence[int], shuffle: random.Random | None
    ) -> None:
        self.region = region
        self.scalars = scalars
        self.shuffle = shuffle
        self.nodes: list[Node] = []
        self.names: dict[Graph, str] = {}
        self._place = {a: i for i, a in enumerate(region.arrays)}
        self._value: dict[Node, str] = {}
        self._lines: list[str] = []
        self._graph(region.root)
        self.source = "\n".join(self._lines) + "\n"

    def _named(self, graph: Graph) -> str:
        """Writes what is in a graph; gives the graph's name, and its nodes theirs."""
        for node in graph.nodes:
            if node.body is not None:
                self._graph(node.body)
        name = self.names[graph] = f"g{len(self.names)}"
        for node in graph.nodes:
            self._value[node] = f"v{len(self._value)}"
        return name

    def _graph(self, graph: Graph) -> None:
        name = self._named(graph)
        carried = [self._value[c.param] for c in graph.carried]
        given = carried + [self._value[n] for n in graph.invariants]
        lines = [f"def {name}({', '.join(['memories', 'thread', *given])}):"]
        if graph.continues is None:
            lines += [f"    {line}" for node in self._order(graph) for line in self._node(node)]
            lines += ["    if False: yield", "    return ()"]
        else:
            # What decides whether the iteration takes place comes first; it has no effects.
            early, late = self._split(graph)
            lines.append("    while True:")
            lines.append("        yield")
            lines += [f"        {line}" for node in early for line in self._node(node)]
            lines.append(f"        if not {self._name(graph.continues)}: break")
            lines += [f"        {line}" for node in late for line in self._node(node)]
            if carried:
                after = ", ".join(self._name(c.next) for c in graph.carried)
                lines.append(f"        {', '.join(carried)}, = {after},")
            lines.append(
                f"    return ({', '.join([*carried, ''])})" if carried else "    return ()"
            )
        self._lines += lines

    def _split(self, graph: Graph) -> tuple[list[Node], list[Node]]:
        """Split a graph into the nodes that `continues` needs, and the rest."""
        needed: set[Node] = set()
        waiting = [graph.continues.node] if graph.continues is not None else []
        while waiting:
            node = waiting.pop()
            if node not in needed:
                needed.add(node)
                waiting += [v.node for v in node.operands]
        order = self._order(graph)
        return [n for n in order if n in needed], [n for n in order if n not in needed]

    def _order(self, graph: Graph) -> list[Node]:
        if self.shuffle is None:
            return graph.nodes
        users: dict[Node, list[Node]] = {}
        missing: dict[Node, int] = {}
        for node in graph.nodes:
            before = {v.node for v in node.operands} | set(node.after)
            if node.when is not None:
                before.add(node.when.node)
            missing[node] = len(before)
            for earlier in before:
                users.setdefault(earlier, []).append(node)
        ready = [n for n in graph.nodes if not missing[n]]
        order = []
        while ready:
            node = ready.pop(self.shuffle.randrange(len(ready)))
            order.append(node)
            for user in users.get(node, ()):
                missing[user] -= 1
                if not missing[user]:
                    ready.append(user)
        assert len(order) == len(graph.nodes), graph.label
        return order

    def _name(self, value: Value) -> str:
        name = self._value[value.node]
        return f"{name}[{value.index}]" if value.node.op is Op.LOOP else name

    def _node(self, node: Node) -> list[str]:
        if node.op is Op.PARAM:
            return []
        name = self._value[node]
        if node.op not in EFFECTS:
            return [f"{name} = {self._pure(node)}"]
        lines, nothing = self._effect(node, name)
        if node.when is None:
            return lines
        guarded = [f"if {self._name(node.when)}:", *(f"    {line}" for line in lines)]
        return guarded + ([f"else: {name} = {nothing}"] if node.widths else [])

    def _effect(self, node: Node, name: str) -> tuple[list[str], str]:
        number = len(self.nodes)
        self.nodes.append(node)
        own = f"nodes[{number}], thread"
        operands = [self._name(v) for v in node.operands]
        memory = f"memories[{self._place[node.array]}]" if node.array is not None else ""
        width = node.widths[0] if node.widths else 1
        nothing = "0" if self.shuffle is None else str(_GARBAGE & mask(width))
        match node.op:
            case Op.LOAD:
                return [f"{name} = load({memory}, {operands[0]}, {own})"], nothing
            case Op.STORE:
                return [f"store({memory}, {operands[0]}, {operands[1]}, {own})"], ""
            case Op.COPY:
                assert node.source is not None
                source = f"memories[{self._place[node.source]}]"
                return [f"copy({memory}, {source}, ({', '.join(operands)}), {own})"], ""
            case Op.ACQUIRE:
                return [f"yield from acquire({node.constant}, thread)"], ""
            case Op.RELEASE:
                return [f"release({node.constant})"], ""
            case Op.BARRIER:
                given = ", ".join([str(node.constant), "thread", *operands])
                return [f"yield from barrier({given})"], ""
            case Op.FENCE:
                return ["pass"], ""
        assert node.body is not None
        callee = self.names[node.body]
        call = f"{name} = yield from {callee}({', '.join(['memories', 'thread', *operands])})"
        garbage = ["0" if self.shuffle is None else str(_GARBAGE & mask(w)) for w in node.widths]
        return [call], f"({', '.join([*garbage, ''])})"

    def _pure(self, node: Node) -> str:
        operands = [self._name(v) for v in node.operands]
        width = node.widths[0]
        ones = mask(width)
        if node.op in (Op.ADD, Op.SUB, Op.MUL):
            sign = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*"}[node.op]
            return f"({operands[0]} {sign} {operands[1]}) & {ones}"
        if node.op in (Op.AND, Op.OR, Op.XOR):
            sign = {Op.AND: "&", Op.OR: "|", Op.XOR: "^"}[node.op]
            return f"{operands[0]} {sign} {operands[1]}"
        if node.op in (Op.EQ, Op.NE, Op.ULT, Op.ULE):
            sign = {Op.EQ: "==", Op.NE: "!=", Op.ULT: "<", Op.ULE: "<="}[node.op]
            return f"int({operands[0]} {sign} {operands[1]})"
        if node.op in (Op.SLT, Op.SLE):
            top = 1 << (node.operands[0].width - 1)
            sign = "<" if node.op is Op.SLT else "<="
            return f"int({operands[0]} ^ {top} {sign} {operands[1]} ^ {top})"
        if node.op in (Op.FADD, Op.FSUB, Op.FMUL):
            return f"{node.op}{width}({operands[0]}, {operands[1]})"
        match node.op:
            case Op.CONST:
                return str(node.constant)
            case Op.SCALAR:
                return str(self.scalars[node.constant] & ones)
            case Op.THREAD:
                return "thread"
            case Op.THREADS:
                return str(self.region.threads)
            case Op.SELECT:
                return f"{operands[1]} if {operands[0]} else {operands[2]}"
            case Op.NOT:
                return f"{operands[0]} ^ {ones}"
            case Op.ZEXT:
                return operands[0]
            case Op.SEXT:
                top = 1 << (node.operands[0].width - 1)
                return f"(({operands[0]} ^ {top}) - {top}) & {ones}"
            case Op.TRUNC:
                return f"{operands[0]} & {ones}"
            case Op.EXTRACT:
                return f"({operands[0]} >> {node.constant}) & {ones}"
            case Op.SHL if node.operands[1].node.op is Op.CONST:
                return f"({operands[0]} << {min(node.operands[1].node.constant, width)}) & {ones}"
            case Op.CONCAT:
                parts, position = [], 0
                for operand, value in zip(operands, node.operands, strict=True):
                    parts.append(f"{operand} << {position}" if position else operand)
                    position += value.width
                return " | ".join(f"({p})" for p in parts)
        number = len(self.nodes)
        self.nodes.append(node)
        widths = tuple(v.width for v in node.operands)
        given = f"({', '.join([*operands, ''])})"
        return f"evaluate(nodes[{number}].op, {given}, {widths}, {width}, {node.constant})"
