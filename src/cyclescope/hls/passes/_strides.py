"""The strides of accesses from iteration to iteration, and the loops in which they do not move.

What is said here is for advice, not for hardware: arithmetic is taken not to overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cyclescope.hls.ir import LEAVES, Graph, Node, Op, Value, evaluate, mask, signed
from cyclescope.hls.passes._affine import Forms, Sum, inductions

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from cyclescope.hls.ir import Array

__all__ = ["Given", "Nest"]


class _Everything(frozenset[Node]):
    """All arithmetic: none of it overflows."""

    def __contains__(self, _: object) -> bool:
        return True


_BELOW = frozenset({Op.SLT, Op.ULT, Op.SLE, Op.ULE, Op.NE})
_REACHED = frozenset({Op.SLE, Op.ULE})


class Given(NamedTuple):
    """The known facts of a run: bits of the host's scalars, in the region's order, and threads."""

    scalars: Sequence[int]
    team: int


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
        self._forms = Forms(_Everything())
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

    def trips(self, graph: Graph, given: Given | None = None) -> int | None:
        """Iterations of one execution of a loop, where they follow from what is given.

        Without anything given, where the text alone fixes them; else the mean's floor over the
        threads.
        """
        if given is None:
            known = inductions(self.node(graph), self._forms).values()
            return next((i.count for i in known if i.count is not None), None)
        counts = [self._count(graph, given, thread) for thread in range(given.team)]
        every = [count for count in counts if count is not None]
        return sum(every) // len(every) if every and len(every) == len(counts) else None

    def counter(self, graph: Graph) -> str:
        """The name of the variable that a loop counts; empty if it counts none.

        An iteration adds a step to it, or leaves it; on it depends whether there is another one.
        """
        carried = {c.param.result: c.next for c in graph.carried}
        fixed = {node.result for node in graph.invariants}
        waiting = [graph.continues] if graph.continues is not None else []
        seen = set(waiting)
        while waiting:
            value = waiting.pop(0)
            after = carried.get(value)
            if after is not None and after != value and _counts(after, value, fixed, self._forms):
                return value.node.name
            # Of an iteration that decides over the next one at its end: what it decided by.
            for other in (*value.node.operands, *([after] if after is not None else ())):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return ""

    def _count(self, graph: Graph, given: Given, thread: int) -> int | None:
        """Iterations of one execution by a thread, of a loop that counts up to a bound."""
        condition = graph.continues
        if condition is None or condition.node.op not in _BELOW:
            return None
        tested, bound = condition.node.operands
        places = [i for i, c in enumerate(graph.carried) if c.param is tested.node]
        if not places:
            return None
        outer, loop = self._loop[graph]
        after = self._forms.of(graph.carried[places[0]].next).plus(Sum(0, {tested: 1}), -1)
        first = self._number(loop.operands[places[0]], outer, given, thread)
        end = self._number(bound, graph, given, thread)
        step = after.constant
        for value, coefficient in after.terms.items():
            number = self._number(value, graph, given, thread)
            if number is None:
                return None
            step += coefficient * signed(number, value.width)
        if first is None or end is None or step <= 0:
            return None
        low, high = signed(first, tested.width), signed(end, bound.width)
        return max(0, -(-(high + (condition.node.op in _REACHED) - low) // step))

    def _number(self, value: Value, graph: Graph, given: Given, thread: int) -> int | None:
        """A value's bits, where they are the same in every execution of its graph."""
        node = value.node
        match node.op:
            case Op.CONST:
                return node.constant & mask(value.width)
            case Op.SCALAR:
                return given.scalars[node.constant]
            case Op.THREAD:
                return thread
            case Op.THREADS:
                return given.team
            case Op.PARAM if node in graph.invariants:
                outer, loop = self._loop[graph]
                place = len(graph.carried) + graph.invariants.index(node)
                return self._number(loop.operands[place], outer, given, thread)
            case Op.PARAM | Op.LOAD | Op.LOOP:
                return None
        parts = [self._number(v, graph, given, thread) for v in node.operands]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        widths = [v.width for v in node.operands]
        return evaluate(node.op, known, widths, value.width, node.constant)

    def stride(self, graph: Graph, offset: Value) -> int | None:
        """Bytes by which an offset grows from one iteration of its loop to the next."""
        if graph not in self._loop:
            return None
        known = inductions(self.node(graph), self._forms)
        total = 0
        for value, coefficient in self._forms.of(offset).terms.items():
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
        return self._forms.of(other).plus(self._forms.of(one), -1).number

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
        if node.op in LEAVES:
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


def _counts(after: Value, before: Value, fixed: Collection[Value], forms: Forms) -> bool:
    """Return whether a value is another one plus, at most, a step that a loop does not change."""
    waiting, seen = [after], {after}
    while waiting:
        value = waiting.pop()
        if value.node.op is Op.SELECT:
            arms = [arm for arm in value.node.operands[1:] if arm not in seen]
            seen.update(arms)
            waiting += arms
            continue
        step = forms.of(value).plus(Sum(0, {before: 1}), -1)
        if any(v not in fixed and v.node.op not in (Op.SCALAR, Op.THREAD) for v in step.terms):
            return False
    return True
