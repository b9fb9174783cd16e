"""The data-flow form of a region: one graph a loop level, effects predicated and ordered.

A graph is what one hardware thread does in one iteration (or, at the root, in the whole region).
Branches are gone: values are selected, effects carry a condition. A loop inside is one node of
the graph around it, as in the paper (section III-B): its latency is variable.

Semantics of a loop, for one thread: the carried values start as `init`; in each iteration the
graph computes its continue condition, `continues`. While it is 1 the iteration's effects happen and
the carried values become `next`; the first iteration in which it is 0 has no effects, and the
carried values at its start are the loop's results. Effects in a loop's graph are thus conditional
on `continues` besides their `when`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cyclescope.c import Range

__all__ = [
    "APPROXIMATE",
    "Array",
    "Bound",
    "Carried",
    "Graph",
    "Limit",
    "Node",
    "Op",
    "Order",
    "Place",
    "Region",
    "Schedule",
    "Value",
]


class Op(StrEnum):
    """The operation of a node, on bit vectors; signedness and format are in the operation."""

    # Leaves: no operands.
    CONST = "const"  # `constant`
    PARAM = "param"  # a carried value or an invariant of this graph, given from outside
    SCALAR = "scalar"  # a scalar of the host, the same for all threads; `constant` is its index
    THREAD = "thread"  # the thread's number, 32 bits
    THREADS = "threads"  # the number of threads in the team, 32 bits

    # Integers. Operands and result have one width; comparisons give one bit.
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    SDIV = "sdiv"  # by zero: all ones, as the machine has it; C leaves it undefined
    UDIV = "udiv"
    SREM = "srem"
    UREM = "urem"
    AND = "and"
    OR = "or"
    XOR = "xor"
    NOT = "not"
    SHL = "shl"  # the amount has the value's width; from the width on: 0, or sign bits
    LSHR = "lshr"
    ASHR = "ashr"
    EQ = "eq"
    NE = "ne"
    SLT = "slt"
    SLE = "sle"
    ULT = "ult"
    ULE = "ule"
    SELECT = "select"  # condition (1 bit), value if 1, value if 0
    ZEXT = "zext"
    SEXT = "sext"
    TRUNC = "trunc"

    # Vectors are bit vectors with lane 0 in the low bits.
    CONCAT = "concat"  # operands from lane 0 up
    EXTRACT = "extract"  # bits `constant` … `constant` + width - 1 of the operand
    # A lane chosen at run time is lowered to selects.

    # Floating point, 32 or 64 bits by the operands' width; round to nearest even.
    FADD = "fadd"
    FSUB = "fsub"
    FMUL = "fmul"
    FDIV = "fdiv"
    FSQRT = "fsqrt"
    FEXP = "fexp"  # elementary functions, as their units have them: see APPROXIMATE
    FLOG = "flog"
    FSIN = "fsin"
    FCOS = "fcos"
    FTANH = "ftanh"
    FNEG = "fneg"  # flips the sign bit
    FABS = "fabs"
    FMIN = "fmin"  # fmin() of C: a number beats a NaN
    FMAX = "fmax"
    FEQ = "feq"
    FLT = "flt"
    FLE = "fle"
    SITOFP = "sitofp"
    UITOFP = "uitofp"
    FPTOSI = "fptosi"  # toward zero; out of range as x86 has it: 0x80…0
    FPTOUI = "fptoui"
    FPEXT = "fpext"
    FPTRUNC = "fptrunc"

    # Effects: `when` says whether they happen.
    LOAD = "load"  # operand: byte offset in the array (64 bits); result: `width` bits
    STORE = "store"  # operands: byte offset, value
    COPY = "copy"  # the preloader: target offset, source offset, bytes (64 bits each)
    ACQUIRE = "acquire"  # lock number `constant`
    RELEASE = "release"
    BARRIER = "barrier"  # number `constant`: waits for all threads, or so many of the first ones
    FENCE = "fence"  # a flush: shared accesses before it are over before those behind it begin
    LOOP = "loop"  # operands: initial carried values, then invariants; results: carried values


EFFECTS = frozenset(
    {Op.LOAD, Op.STORE, Op.COPY, Op.ACQUIRE, Op.RELEASE, Op.BARRIER, Op.FENCE, Op.LOOP}
)

APPROXIMATE = frozenset({Op.FEXP, Op.FLOG, Op.FSIN, Op.FCOS, Op.FTANH})
"""The operations whose rounding no standard says: libraries may differ in the last bit."""

LEAVES = frozenset({Op.CONST, Op.SCALAR, Op.THREAD, Op.THREADS})
"""The values that are available throughout the region."""

WIRING = frozenset({Op.ZEXT, Op.SEXT, Op.TRUNC, Op.CONCAT, Op.EXTRACT})
"""The operations that are wires only: they choose, join and repeat bits."""


class Place(StrEnum):
    """The kind of storage of an array."""

    EXTERNAL = "external"  # DRAM behind the thread's ports: variable latency
    LOCAL = "local"  # block RAM, one copy a thread: fixed latency
    SHARED = "shared"  # block RAM shared by the team (a local of the host's side, or a reduction)


@dataclass(eq=False, slots=True)
class Array:
    """A memory of the region.

    Attributes:
        name: as in the source.
        place: where it lives.
        bytes: its size; None if the host knows it only at run time (external arrays).
        word: bytes of the widest access that is made; local memories have this word width, and
            narrower accesses use byte enables.
        to_device, from_device: directions of the `map` clause; external arrays only.
        where: its declaration.
        zeroed: it is zero until it is written, which a local memory is not by itself; one word,
            which is always written whole.
        beyond: what a thread does that leaves it, if that is no mistake of an index.
    """

    name: str
    place: Place
    bytes: int | None
    word: int
    to_device: bool
    from_device: bool
    where: Range
    zeroed: bool = False
    beyond: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """A result of a node: `width` bits. `index` tells the results of a loop node apart."""

    node: Node
    index: int
    width: int


@dataclass(eq=False, repr=False, slots=True)
class Node:
    """One operation.

    Attributes:
        op: what it does.
        operands: what it reads, of the same graph.
        widths: of its results; empty for effects without one.
        where: the C text it comes from.
        when: effects only: happens if this one-bit value is 1; None: always.
        after: effects of the same graph and iteration that must be over before this one begins.
        constant: see the operation.
        array, source: the memory accessed; for a copy the target and the source.
        body: the graph of a loop.
        name: of the variable it computes, for people; may be empty.
    """

    op: Op
    operands: tuple[Value, ...]
    widths: tuple[int, ...]
    where: Range
    when: Value | None = None
    after: tuple[Node, ...] = ()
    constant: int = 0
    array: Array | None = None
    source: Array | None = None
    body: Graph | None = None
    name: str = ""

    def __repr__(self) -> str:
        # Without all that it is computed from: a failing test would print that for minutes.
        return f"<{self.op} {self.name} at {self.where}>"

    @property
    def results(self) -> tuple[Value, ...]:
        """Its results."""
        return tuple(Value(self, i, w) for i, w in enumerate(self.widths))

    @property
    def result(self) -> Value:
        """Its only result."""
        (width,) = self.widths
        return Value(self, 0, width)


@dataclass(frozen=True, eq=False, slots=True)
class Carried:
    """A value that an iteration hands to the next: a `PARAM` node, and what it becomes."""

    param: Node
    next: Value


class Order(NamedTuple):
    """Effect `before` of an iteration must be over before effect `after` of a later one begins.

    That is the iteration `distance` further on; to treat it as the next one is safe. Between
    fixed-latency effects of one static region the schedule's interval has seen to it already.
    """

    before: Node
    after: Node
    distance: int = 1


@dataclass(eq=False, slots=True)
class Graph:
    """One loop level.

    Attributes:
        label: `L12` of a loop in line 12, `region` at the root; unique in the region.
        where: the loop, or the region.
        nodes: in an order in which operands and `after` come first.
        carried: in the order of the loop node's results and first operands.
        invariants: `PARAM` nodes, in the order of the loop node's further operands.
        continues: the continue condition, one bit; None at the root (exactly one iteration).
        orders: between neighbouring iterations, on effects through memory.
    """

    label: str
    where: Range
    nodes: list[Node] = field(default_factory=list)
    carried: list[Carried] = field(default_factory=list)
    invariants: list[Node] = field(default_factory=list)
    continues: Value | None = None
    orders: list[Order] = field(default_factory=list)


@dataclass(frozen=True, eq=False, slots=True)
class Region:
    """A target region, ready to be scheduled.

    Attributes:
        name: of the function it is in.
        root: what each thread does from start to end.
        arrays: all memories, external ones in the order of their map clauses.
        scalars: name and width of the values that the host hands over, in order.
        threads: the team's size.
        locks: name of each lock, by number.
        barriers: where each barrier is, by number.
        where: the directive.
        singles: loads and stores that any one thread may execute, with the number of the
            `single` construct that they are in.
    """

    name: str
    root: Graph
    arrays: tuple[Array, ...]
    scalars: tuple[tuple[str, int], ...]
    threads: int
    locks: tuple[str, ...]
    barriers: tuple[Range, ...]
    where: Range
    singles: dict[Node, int] = field(default_factory=dict)


class Limit(StrEnum):
    """A kind of reason for the interval of a loop not to be less."""

    RECURRENCE = "recurrence"  # a carried value is computed from what it was before
    ORDER = "order"  # an access has to wait for one of an earlier iteration
    PORTS = "ports"  # the accesses of an iteration take the ports of a memory


@dataclass(frozen=True, eq=False, slots=True)
class Bound:
    """A reason for which the interval of a loop is not less.

    Attributes:
        limit: of which kind.
        interval: that it would force, in cycles.
        name: of the carried value, or of the memory.
        nodes: of a recurrence the operations that take time on its longest way, in their order; of
            an order the earlier access and the one that waits; of ports the accesses.
        where: the text that computes the carried value, or that of the first node.
        distance: iterations between the two of an order.
        ports: how many there are.
    """

    limit: Limit
    interval: int
    name: str
    nodes: tuple[Node, ...]
    where: Range
    distance: int = 1
    ports: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Schedule:
    """The stage of each operation of a graph.

    Stage s is the s-th cycle of an iteration that nothing stalls. Stages between two
    variable-latency stages form a static region: what enters it leaves it that many cycles later,
    whatever other threads do. In a variable-latency stage an iteration waits, in its thread's
    context, until all of the stage's operations are over.

    Attributes:
        graph: what is scheduled.
        stage: node → the stage in which it begins. Its result is there from stage + latency on;
            latency 0 means in the same stage, behind the logic of its operands. A `PARAM` that
            is carried has the stage at which it is read.
        latency: node → stages until the result is there; 1 for variable-latency operations, the
            minimum, as they are in one stage.
        waiting: the stages with variable-latency operations (external LOAD and STORE, COPY,
            LOOP, ACQUIRE, BARRIER); besides them such a stage has no more than wires and one
            level of logic in front of their operands.
        depth: number of stages.
        interval: initiation interval of one thread in cycles, for the iterations that no
            variable-latency operation stalls.
        bounds: the reasons for which the interval is not less.
    """

    graph: Graph
    stage: dict[Node, int]
    latency: dict[Node, int]
    waiting: tuple[int, ...]
    depth: int
    interval: int
    bounds: tuple[Bound, ...]
