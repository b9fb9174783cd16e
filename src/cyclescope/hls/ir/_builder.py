"""Makes the nodes of a graph: folded, simplified, each only once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.hls.ir._graph import EFFECTS, LEAVES, Graph, Node, Op, Value
from cyclescope.hls.ir._semantics import evaluate, mask
from cyclescope.hls.ir._simplify import simplified

if TYPE_CHECKING:
    from cyclescope.c import Range
    from cyclescope.hls.ir._graph import Array

__all__ = ["Builder", "Shared", "StaticSchedule", "constant_of"]

_COMMUTATIVE = frozenset(
    {Op.ADD, Op.MUL, Op.AND, Op.OR, Op.XOR, Op.EQ, Op.NE, Op.FADD, Op.FMUL, Op.FEQ}
)
_ARITHMETIC = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.SHL})


def constant_of(value: Value) -> int | None:
    """The bits of a constant, None for anything else."""
    return value.node.constant if value.node.op is Op.CONST else None


@dataclass(frozen=True, slots=True)
class StaticSchedule:
    """The static schedule of a work-sharing loop: the iterations of each thread.

    Attributes:
        step: from one value of the loop's variable to the next.
        count: how many iterations there are; None if only the run knows.
        chunk: iterations in a row that a thread gets at a time; None: blocks of equal size.
        threads: in the team.
    """

    step: int
    count: int | None
    chunk: int | None
    threads: int

    def separates(self, difference: int) -> bool:
        """Return whether values that differ so much may be those of two threads' iterations."""
        distance, rest = divmod(abs(difference), abs(self.step))
        if rest or not distance or (self.count is not None and distance >= self.count):
            return False
        if self.chunk is None:
            return True  # one of the pairs is on both sides of a block's end
        round_ = self.chunk * self.threads
        pairs = round_ if self.count is None else min(round_, self.count - distance)
        return any(
            i // self.chunk % self.threads != (i + distance) // self.chunk % self.threads
            for i in range(pairs)
        )


class Shared:
    """The common state of all builders of a region.

    Attributes:
        owner: node → the builder of its graph.
        exact: sums and products of signed C arithmetic, which cannot overflow.
        work_sharing: the variables of work-sharing loops.
        guarded: loads and stores under mutual exclusion.
        singles: those in `single` constructs, with the number of the construct.
        where: the C text that new nodes come from.
        name: the variable they compute.
    """

    def __init__(self, where: Range) -> None:
        self.owner: dict[Node, Builder] = {}
        self.exact: set[Node] = set()
        self.work_sharing: dict[Node, StaticSchedule] = {}
        self.guarded: set[Node] = set()
        self.singles: dict[Node, int] = {}
        self.where = where


class Builder:
    """Adds nodes to one graph; operands of graphs around it come in as invariants."""

    def __init__(self, graph: Graph, shared: Shared, parent: Builder | None = None) -> None:
        self.graph = graph
        self.shared = shared
        self.parent = parent
        self.imported: dict[Value, Value] = {}  # outer value → our invariant
        self._outside: dict[Value, Value] = {}  # the other way
        # What memory is known to hold: array, offset, width, condition → the load's result.
        self.loaded: dict[tuple[Array, Value, int, Value | None], Value] = {}
        self._known: dict[tuple[object, ...], Value] = {}
        self._complete = False

    def reopen(self, nodes: list[Node]) -> None:
        """Go on after the graph has been changed: only these nodes may be used again.

        Nothing is moved to the graph around any more, as the loop is complete.
        """
        kept = set(nodes)
        self._known = {k: v for k, v in self._known.items() if v.node in kept}
        self._outside = {}
        self._complete = True

    def add(self, node: Node) -> Node:
        """Append a node as it is."""
        self.graph.nodes.append(node)
        self.shared.owner[node] = self
        return node

    def const(self, width: int, value: int) -> Value:
        """A constant of `width` bits."""
        return self._once(Op.CONST, (), width, value & mask(width))

    def leaf(self, op: Op, width: int, constant: int = 0) -> Value:
        """The thread's number, or a scalar of the host."""
        return self._once(op, (), width, constant)

    def param(self, width: int, name: str = "") -> Value:
        """A new value given from outside."""
        return self.add(Node(Op.PARAM, (), (width,), self.shared.where, name=name)).result

    def use(self, value: Value) -> Value:
        """The value in this graph."""
        if self.shared.owner[value.node] is self:
            return value
        if value.node.op in LEAVES:
            return self._once(value.node.op, (), value.width, value.node.constant)
        known = self.imported.get(value)
        if known is None:
            assert self.parent is not None, "a value of an inner graph"
            self.parent.use(value)
            known = self.imported[value] = self.param(value.width, value.node.name)
            self._outside[known] = value
            self.graph.invariants.append(known.node)
        return known

    def op(
        self, op: Op, *operands: Value, width: int, constant: int = 0, exact: bool = False
    ) -> Value:
        """The result of a pure operation, as simple as it can be had.

        Args:
            op: the operation.
            operands: of this graph or one around it.
            width: of the result.
            constant: as the operation wants it.
            exact: a signed sum or product of C, which cannot overflow.
        """
        given = tuple(map(self.use, operands))
        constants = [constant_of(v) for v in given]
        if all(c is not None for c in constants):
            bits = [c for c in constants if c is not None]
            widths = [v.width for v in given]
            return self.const(width, evaluate(op, bits, widths, width, constant))
        if not self._complete and self.parent is not None and all(map(self._is_invariant, given)):
            # What is the same in every iteration is computed once, before the loop.
            outer = [self._outside.get(v, v) for v in given]
            return self.use(self.parent.op(op, *outer, width=width, constant=constant, exact=exact))
        if op in _COMMUTATIVE and constants[0] is not None:
            given = (given[1], given[0])
        simple = simplified(self, op, given, width, constant, exact=exact)
        if simple is not None:
            return simple
        result = self._once(op, given, width, constant)
        if exact and op in _ARITHMETIC:
            self.shared.exact.add(result.node)
        return result

    def outside(self, value: Value) -> Value | None:
        """The value of a graph around this one that an invariant is; None for anything else."""
        return next((v for v, own in self.imported.items() if own == value), None)

    def _is_invariant(self, value: Value) -> bool:
        return value in self._outside or value.node.op in LEAVES

    def is_exact(self, value: Value) -> bool:
        """Return whether it is signed arithmetic that cannot overflow."""
        return value.node in self.shared.exact

    def _once(self, op: Op, operands: tuple[Value, ...], width: int, constant: int) -> Value:
        key = (op, operands, width, constant)
        known = self._known.get(key)
        if known is None:
            node = Node(op, operands, (width,), self.shared.where, constant=constant)
            known = self._known[key] = self.add(node).result
        return known

    def effect(
        self,
        op: Op,
        *operands: Value,
        widths: tuple[int, ...] = (),
        when: Value | None = None,
        constant: int = 0,
        array: Array | None = None,
        source: Array | None = None,
        body: Graph | None = None,
        name: str = "",
    ) -> Node:
        """Append an effect; what it must wait for is found later."""
        assert op in EFFECTS
        if op is Op.STORE:
            self.loaded = {k: v for k, v in self.loaded.items() if k[0] is not array}
        elif op is not Op.LOAD:
            self.loaded.clear()
        return self.add(
            Node(
                op,
                tuple(map(self.use, operands)),
                widths,
                self.shared.where,
                when=self.use(when) if when is not None else None,
                constant=constant,
                array=array,
                source=source,
                body=body,
                name=name,
            )
        )

    # What the lowering says most.

    def both(self, a: Value | None, b: Value | None) -> Value | None:
        """Return whether both hold; None stands for always."""
        if a is None or b is None:
            return b if a is None else a
        return self.op(Op.AND, a, b, width=1)

    def negated(self, bit: Value) -> Value:
        """The opposite of a bit."""
        return self.op(Op.NOT, bit, width=1)

    def either(self, bits: list[Value]) -> Value:
        """Return whether any of the bits is one."""
        result = self.const(1, 0)
        for bit in bits:
            result = self.op(Op.OR, result, bit, width=1)
        return result

    def resized(self, value: Value, width: int, *, is_signed: bool) -> Value:
        """An integer in another width."""
        if width == value.width:
            return value
        if width < value.width:
            return self.op(Op.TRUNC, value, width=width)
        return self.op(Op.SEXT if is_signed else Op.ZEXT, value, width=width)

    def select(self, condition: Value, then: Value, other: Value) -> Value:
        """One of two values."""
        return self.op(Op.SELECT, condition, then, other, width=then.width)
