"""The laws of the data-flow form, checked.

Each law has a name, by which a message and a test speak of it. They are those of `_graph.py`: what
the interpreter, the scheduler and the hardware rely on, and none of them checks.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from cyclescope.errors import LawError
from cyclescope.hls.ir._graph import APPROXIMATE, EFFECTS, LEAVES, Graph, Node, Op, Place, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.hls.ir._draft import Draft
    from cyclescope.hls.ir._graph import Array, Region

__all__ = ["Law", "broken", "verify"]


class Law(StrEnum):
    """A law of the form."""

    TYPES = "types agree"
    ATTRIBUTES = "a node has what its operation needs, and nothing else"
    DEFINED = "a value is defined in its graph before it is used"
    ARGUMENTS = "each parameter of a graph is carried or an invariant, once, and given from outside"
    CONTINUE = "a loop has a continue condition, which needs no effect"
    TREE = "a graph is the body of one loop, a node is in one graph, a label is unique"
    MEMORIES = "a memory, lock, barrier or scalar that a node names is the region's"
    ORDER = "effects that meet in memory, or at a lock, are ordered"


_BITS = frozenset({Op.EQ, Op.NE, Op.SLT, Op.SLE, Op.ULT, Op.ULE})
_FLOAT_BITS = frozenset({Op.FEQ, Op.FLT, Op.FLE})
_ALIKE = frozenset(
    {Op.ADD, Op.SUB, Op.MUL, Op.SDIV, Op.UDIV, Op.SREM, Op.UREM, Op.AND, Op.OR, Op.XOR}
    | {Op.SHL, Op.LSHR, Op.ASHR}
)
_FLOATS = frozenset({Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV, Op.FMIN, Op.FMAX})
_FLOAT = frozenset({Op.FSQRT, Op.FNEG, Op.FABS}) | APPROXIMATE
_FROM_FLOAT = frozenset({Op.FPTOSI, Op.FPTOUI})
_TO_FLOAT = frozenset({Op.SITOFP, Op.UITOFP})
_MEETING = frozenset({Op.ACQUIRE, Op.RELEASE, Op.BARRIER})
_NUMBERED = frozenset({Op.CONST, Op.SCALAR, Op.EXTRACT, Op.ACQUIRE, Op.RELEASE, Op.BARRIER})
_BINARY32, _BINARY64 = 32, 64
_OFFSET = 64


def verify(draft: Draft, name: str) -> None:
    """Check the laws of a region's form.

    Args:
        draft: the region.
        name: of the pass after which this is.

    Raises:
        LawError: one is broken; the message says after which pass, which one, and where.
    """
    for law, text in broken(draft.region, is_ordered=draft.is_ordered):
        raise LawError(f"after {name}: {law}: {text}; please report this")


def broken(region: Region, *, is_ordered: bool) -> Iterator[tuple[Law, str]]:
    """The laws that a region breaks, each with what breaks it and where.

    Args:
        region: of any form.
        is_ordered: whether its effects are ordered by `after`, and no longer by their place.
    """
    yield from _Region(region, is_ordered=is_ordered).broken()


class _Region:
    def __init__(self, region: Region, *, is_ordered: bool) -> None:
        self._region, self._is_ordered = region, is_ordered
        self._arrays = frozenset(region.arrays)
        self._home: dict[Node, Graph] = {}
        self._labels: set[str] = set()
        self._graphs: set[Graph] = set()

    def broken(self) -> Iterator[tuple[Law, str]]:
        yield from self._tree(self._region.root)
        names = {a.name for a in self._region.arrays}
        if self._is_ordered and len(names) != len(self._region.arrays):
            yield Law.MEMORIES, "two memories have one name"
        if self._region.root.continues is not None or self._region.root.carried:
            yield Law.CONTINUE, "the region's own graph is no loop, and has a continue condition"
        for graph in self._graphs:
            yield from self._graph(graph)

    def _tree(self, graph: Graph) -> Iterator[tuple[Law, str]]:
        if graph in self._graphs:
            yield Law.TREE, f"{graph.label} is the body of two loops"
            return
        self._graphs.add(graph)
        if graph.label in self._labels:
            yield Law.TREE, f"two graphs are labelled {graph.label}"
        self._labels.add(graph.label)
        for node in graph.nodes:
            if node in self._home:
                yield Law.TREE, f"{_shown(node)} is in two places"
            self._home[node] = graph
            if node.body is not None:
                yield from self._tree(node.body)

    # One graph.

    def _graph(self, graph: Graph) -> Iterator[tuple[Law, str]]:
        yield from self._parameters(graph)
        seen: set[Node] = set()
        for node in graph.nodes:
            for value in (*node.operands, *(() if node.when is None else (node.when,))):
                problem = self._undefined(value, graph, seen)
                if problem:
                    yield Law.DEFINED, f"{_shown(node)} uses {problem}"
            for other in node.after:
                if other not in seen:
                    yield Law.ORDER, f"{_shown(node)} waits for {_shown(other)}, no earlier effect"
            seen.add(node)
            yield from ((law, f"{_shown(node)}: {text}") for law, text in self._node(node))
        for carried in graph.carried:
            problem = self._undefined(carried.next, graph, seen)
            if problem:
                yield Law.DEFINED, f"the next {_shown(carried.param)} is {problem}"
            if carried.next.width != carried.param.widths[0]:
                yield Law.TYPES, f"{_shown(carried.param)} is carried on in another width"
        if graph is not self._region.root:
            yield from self._continue(graph, seen)
        for order in graph.orders:
            if order.distance < 1 or not {order.before, order.after} <= seen:
                yield Law.ORDER, f"an order of {graph.label} is not between iterations of it"
        if self._is_ordered:
            yield from self._order(graph)

    def _undefined(self, value: Value, graph: Graph, seen: set[Node]) -> str:
        node = value.node
        if self._home.get(node) is not graph:
            return f"{_shown(node)}, which is not of {graph.label}"
        if node not in seen:
            return f"{_shown(node)}, which comes later"
        if value.index >= len(node.widths) or node.widths[value.index] != value.width:
            return f"result {value.index} of {_shown(node)} with {value.width} bits, not its own"
        return ""

    def _parameters(self, graph: Graph) -> Iterator[tuple[Law, str]]:
        given = [c.param for c in graph.carried] + graph.invariants
        own = [node for node in graph.nodes if node.op is Op.PARAM]
        if len(set(given)) != len(given):
            yield Law.ARGUMENTS, f"a parameter of {graph.label} is given twice"
        for node in set(own) ^ set(given):
            yield Law.ARGUMENTS, f"{_shown(node)} of {graph.label} is given by nobody, or to nobody"

    def _continue(self, graph: Graph, seen: set[Node]) -> Iterator[tuple[Law, str]]:
        if graph.continues is None:
            yield Law.CONTINUE, f"{graph.label} has none"
            return
        problem = self._undefined(graph.continues, graph, seen)
        if problem:
            yield Law.DEFINED, f"the continue condition of {graph.label} is {problem}"
            return
        if graph.continues.width != 1:
            yield (
                Law.TYPES,
                f"the continue condition of {graph.label} has {graph.continues.width} bits",
            )
        waiting, found = [graph.continues.node], set[Node]()
        while waiting:
            node = waiting.pop()
            if node in found:
                continue
            found.add(node)
            if node.op in EFFECTS:
                yield Law.CONTINUE, f"that of {graph.label} needs {_shown(node)}"
            waiting += [v.node for v in node.operands]

    def _order(self, graph: Graph) -> Iterator[tuple[Law, str]]:
        """Effects that surely meet must be ordered by `after`, directly or through others."""
        effects = [n for n in graph.nodes if n.op in EFFECTS]
        number = {node: i for i, node in enumerate(effects)}
        before: list[int] = []  # as bit sets
        meetings = 0
        touched: dict[tuple[Array, Value], tuple[int, int]] = {}  # loads and stores, stores
        for i, node in enumerate(effects):
            bits = 0
            for other in node.after:
                if other in number:
                    bits |= 1 << number[other] | (before[number[other]] if number[other] < i else 0)
            before.append(bits)
            needed = (1 << i) - 1 if node.op in _MEETING else meetings
            if node.op in _MEETING:
                meetings |= 1 << i
            if node.op in (Op.LOAD, Op.STORE) and node.array is not None:
                key = (node.array, node.operands[0])
                all_, stores = touched.get(key, (0, 0))
                needed |= all_ if node.op is Op.STORE else stores
                is_store = int(node.op is Op.STORE)
                touched[key] = (all_ | 1 << i, stores | is_store << i)
            if missing := needed & ~bits:
                other = effects[missing.bit_length() - 1]
                yield Law.ORDER, f"{_shown(node)} does not wait for {_shown(other)}"

    # One node.

    def _node(self, node: Node) -> Iterator[tuple[Law, str]]:
        op = node.op
        if self._is_ordered and op is Op.FENCE:
            yield Law.ORDER, "a fence is left, though effects are ordered"
        if op not in EFFECTS and (node.when is not None or node.after):
            yield Law.ATTRIBUTES, "only effects have conditions and wait"
        if node.when is not None and node.when.width != 1:
            yield Law.TYPES, f"its condition has {node.when.width} bits"
        if (node.body is not None) != (op is Op.LOOP):
            yield Law.ATTRIBUTES, "a loop has a body, and nothing else has one"
        if (node.array is not None) != (op in (Op.LOAD, Op.STORE, Op.COPY)):
            yield Law.ATTRIBUTES, "loads, stores and copies have a memory, and nothing else has one"
        if (node.source is not None) != (op is Op.COPY):
            yield Law.ATTRIBUTES, "a copy has a source, and nothing else has one"
        if node.constant and op not in _NUMBERED:
            yield Law.ATTRIBUTES, "it has a number that its operation has no use for"
        if op in EFFECTS:
            yield from self._effect(node)
        elif op is Op.CONST and node.constant >> node.widths[0]:
            yield Law.TYPES, f"{node.constant} does not fit in {node.widths[0]} bits"
        elif not _fits(node):
            widths = ", ".join(str(v.width) for v in node.operands)
            yield Law.TYPES, f"operands of ({widths}) bits do not make {node.widths}"
        elif op is Op.SCALAR:
            scalars = self._region.scalars
            if not node.constant < len(scalars):
                yield Law.MEMORIES, f"the region has no scalar {node.constant}"
            elif scalars[node.constant][1] != node.widths[0]:
                yield Law.TYPES, f"the scalar has {scalars[node.constant][1]} bits"

    def _effect(self, node: Node) -> Iterator[tuple[Law, str]]:
        widths, op = tuple(v.width for v in node.operands), node.op
        match op:
            case Op.LOAD:
                fits = widths == (_OFFSET,) and len(node.widths) == 1 and node.widths[0] % 8 == 0
            case Op.STORE:
                fits = widths[:1] == (_OFFSET,) and len(widths) == 2 and not node.widths
                fits = fits and widths[1] % 8 == 0
            case Op.COPY:
                fits = widths == (_OFFSET,) * 3 and not node.widths
            case Op.BARRIER:
                fits = widths in ((), (32,)) and not node.widths
            case Op.LOOP:
                fits = node.body is None or self._enters(node, node.body)
            case _:
                fits = not widths and not node.widths
        if not fits:
            yield Law.TYPES, f"operands of {widths} bits, results of {node.widths}"
        for array in (node.array, node.source):
            if array is not None and array not in self._arrays:
                yield Law.MEMORIES, f"{array.name} is no memory of the region"
        places = [a.place is Place.EXTERNAL for a in (node.array, node.source) if a is not None]
        if op is Op.COPY and places != [False, True]:
            yield Law.MEMORIES, "a copy goes from external memory to a local one"
        if node.array is not None and node.array.zeroed:
            size = {Op.LOAD: node.widths, Op.STORE: widths[1:]}.get(op)
            if node.array.place is Place.EXTERNAL or size != (8 * (node.array.bytes or 0),):
                yield Law.MEMORIES, f"{node.array.name} is not a local word that is used whole"
        if op in (Op.ACQUIRE, Op.RELEASE) and not node.constant < len(self._region.locks):
            yield Law.MEMORIES, f"the region has no lock {node.constant}"
        if op is Op.BARRIER and not node.constant < len(self._region.barriers):
            yield Law.MEMORIES, f"the region has no barrier {node.constant}"

    def _enters(self, node: Node, body: Graph) -> bool:
        """Return whether a loop's operands and results are those of its body's parameters."""
        carried = tuple(c.param.widths[0] for c in body.carried)
        invariants = tuple(n.widths[0] for n in body.invariants)
        return node.widths == carried and tuple(v.width for v in node.operands) == (
            carried + invariants
        )


def _fits(node: Node) -> bool:
    """Return whether the widths of a pure operation are those that it has."""
    if len(node.widths) != 1 or node.widths[0] < 1:
        return False
    op, width = node.op, node.widths[0]
    widths = tuple(v.width for v in node.operands)
    if op in LEAVES or op is Op.PARAM:
        return not widths and (op not in (Op.THREAD, Op.THREADS) or width == 32)
    if op in _ALIKE:
        return widths == (width, width)
    if op in _FLOATS:
        return widths == (width, width) and width in (_BINARY32, _BINARY64)
    if op in _FLOAT:
        return widths == (width,) and width in (_BINARY32, _BINARY64)
    if op in _BITS or op in _FLOAT_BITS:
        alike = len(widths) == 2 and widths[0] == widths[1] and width == 1
        return alike and (op in _BITS or widths[0] in (_BINARY32, _BINARY64))
    if op in _FROM_FLOAT:
        return len(widths) == 1 and widths[0] in (_BINARY32, _BINARY64)
    if op in _TO_FLOAT:
        return len(widths) == 1 and width in (_BINARY32, _BINARY64)
    match op:
        case Op.SELECT:
            return widths == (1, width, width)
        case Op.NOT:
            return widths == (width,)
        case Op.ZEXT | Op.SEXT:
            return len(widths) == 1 and widths[0] < width
        case Op.TRUNC:
            return len(widths) == 1 and widths[0] > width
        case Op.CONCAT:
            return bool(widths) and sum(widths) == width
        case Op.EXTRACT:
            return len(widths) == 1 and node.constant >= 0 and node.constant + width <= widths[0]
        case Op.FPEXT:
            return widths == (_BINARY32,) and width == _BINARY64
        case Op.FPTRUNC:
            return widths == (_BINARY64,) and width == _BINARY32
    return False


def _shown(node: Node) -> str:
    name = f" {node.name}" if node.name else ""
    return f"{node.op}{name} ({node.where})"
