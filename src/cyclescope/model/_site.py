"""Sites: the places of a program that matter to what its cycles are spent on, as types.

Who knows the program writes them down (a source that has parsed it); counters point at them by
number, advice reads them. An attribute that is not known is None; a site that another one names by
number is a place in `Profile.sites`, -1 for none.

- Of C: `Loop`, `Access`, `Lock`, `Barrier`, `CallSite`; of its schedule `Operation`, `Bound`.
- Of a process network: `Process`, `Edge`.
- Of Calyx: `Cell`, `Group`, `Condition`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

from cyclescope.model._frame import Position
from cyclescope.model._types import check_types

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "SITES",
    "Access",
    "Barrier",
    "Bound",
    "CallSite",
    "Cell",
    "Condition",
    "Edge",
    "Group",
    "Lock",
    "Loop",
    "Operation",
    "Process",
    "Site",
    "site_from_json",
    "site_to_json",
]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop.

    Attributes:
        function: in which it is.
        position: of its first line.
        trips: iterations of one execution, or the mean's floor where executions differ.
        interval: cycles from one iteration's start to the next one's, as scheduled.
        counter: the name of the variable that it counts; empty if it counts none.
        frame: its own frame, in `Profile.catalog`; -1 if it has none.
        parent: the loop around it.
        executions: how often the run entered it, all threads together.
        needs: loops and copies beside it, in one iteration of the loop around them, that must be
            over before it begins.
        lock: the lock that a thread has throughout it.
        iterations: of all executions in the run.
        stage: of an iteration of the loop around it, in which it is.
        apart: cycles from a thread's iteration to its next one at least, if nothing is waited for.
        shared: its iterations follow from the thread's number: the team divides them.
        cyclic: of one that is shared: a thread takes every so many-th iteration, no block of them.
        depth: the number of stages of an iteration.
        stages: those of variable latency, in which an iteration may wait.
        times: how often one did in each of these, in the whole run; empty if not counted.
        waited: for how many cycles altogether.
        reads: of these stages those in which it reads the memory, without a lock of its own.
        serial: stages of variable latency that an iteration has left before the next one begins:
            what is waited for in these adds up from iteration to iteration.
    """

    function: str
    position: Position | None = None
    trips: int | None = None
    interval: int | None = None
    counter: str = ""
    frame: int = -1
    parent: int = -1
    executions: int | None = None
    needs: tuple[int, ...] = ()
    lock: int = -1
    iterations: int | None = None
    stage: int = -1
    apart: int | None = None
    shared: bool = False
    cyclic: bool = False
    depth: int | None = None
    stages: tuple[int, ...] = ()
    times: tuple[int, ...] = ()
    waited: tuple[int, ...] = ()
    reads: tuple[int, ...] = ()
    serial: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The text for people."""
        return "loop"


@dataclass(frozen=True, slots=True)
class Access:
    """A read or write of an array.

    Attributes:
        function: in which it is.
        array: its name.
        position: of the expression.
        writes: it is a write.
        width: bytes that one access moves; None of a copy.
        stride: bytes from one access to the next in the innermost loop around it.
        dependence: iterations of that loop until an access that depends on this one.
        loop: the innermost loop around it.
        operations: how many of them the hardware has side by side: an unrolled loop's.
        stage: of that loop's iteration; threads wait for all accesses of one stage at once.
        repeats: loops around it, innermost first, each iteration of which accesses the same
            addresses again.
        copies: it is a copy of a range to this array, from the memory.
        lock: the lock that a thread has meanwhile.
    """

    function: str
    array: str
    position: Position | None = None
    writes: bool = False
    width: int | None = None
    stride: int | None = None
    dependence: int | None = None
    loop: int = -1
    operations: int = 1
    stage: int = -1
    repeats: tuple[int, ...] = ()
    copies: bool = False
    lock: int = -1

    @property
    def label(self) -> str:
        """The text for people: `load of A`."""
        verb = "copy to" if self.copies else "store to" if self.writes else "load of"
        return f"{verb} {self.array}"


@dataclass(frozen=True, slots=True)
class Lock:
    """A critical section, or a lock's acquisition.

    Attributes:
        function: in which it is.
        name: the lock's; empty if it has none.
        position: of what waits for it.
        loop: the innermost loop around it.
        held: the frame, in `Profile.catalog`, of the state of a thread that has this or another
            lock; -1 if no frame tells that.
        lines: those of the section's own statements, in the file of `position`; what is in a loop
            inside it is not theirs.
        stages: for each of these lines how many of its stages a passage spends there.
    """

    function: str
    name: str = ""
    position: Position | None = None
    loop: int = -1
    held: int = -1
    lines: tuple[int, ...] = ()
    stages: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The text for people."""
        return f"lock {self.name}".strip()


@dataclass(frozen=True, slots=True)
class Barrier:
    """A place at which threads wait for each other, and the innermost loop around it."""

    function: str
    position: Position | None = None
    loop: int = -1

    @property
    def label(self) -> str:
        """The text for people."""
        return "barrier"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of hardware, in the stages of a loop's iteration.

    Attributes:
        function: in which it is.
        name: what it does: `fadd`, `load`; of a loop inside `loop`.
        position: of its text.
        text: the expression that it computes, in C.
        loop: the innermost loop around it; -1 for what is in none.
        stage: in which it begins.
        stages: until its result is there; 0 for logic in front of what uses it.
        waits: its stage lasts until it is over: a memory's answer, a lock, a loop inside.
        after: the operations whose results it needs, in the same loop's iteration.
        array: the memory that it accesses, or the lock; empty for none.
        unit: the arithmetic unit that does it, its own, for all threads; empty for plain logic.
        bits: of its result, or of what it stores.
        count: how many of these the hardware has side by side: a vector's, or an unrolled loop's.
        of: the site of the loop, access, lock or barrier that it is; -1 for none.
    """

    function: str
    name: str
    position: Position | None = None
    text: str = ""
    loop: int = -1
    stage: int = 0
    stages: int = 0
    waits: bool = False
    after: tuple[int, ...] = ()
    array: str = ""
    unit: str = ""
    bits: int | None = None
    count: int = 1
    of: int = -1

    @property
    def label(self) -> str:
        """The text for people: `load A`."""
        return f"{self.name} {self.array}".strip()


@dataclass(frozen=True, slots=True)
class Bound:
    """A reason for which a loop's interval is not less.

    Attributes:
        function: in which it is.
        limit: `recurrence`: a value is computed from what it was in the iteration before;
            `order`: an access waits for one of an earlier iteration; `ports`: of a memory.
        name: the value, or the memory.
        interval: that it forces, in cycles.
        position: of what computes the value, or of the first access.
        loop: of whose interval.
        operations: on the recurrence's longest way; the earlier access and the one that waits; the
            accesses that share the ports.
        distance: iterations between the two accesses of an order.
        ports: of the memory.
    """

    function: str
    limit: str
    name: str
    interval: int
    position: Position | None = None
    loop: int = -1
    operations: tuple[int, ...] = ()
    distance: int = 1
    ports: int = 0

    @property
    def label(self) -> str:
        """The text for people."""
        return f"{self.limit} of {self.name}"


@dataclass(frozen=True, slots=True)
class CallSite:
    """A place that calls or starts another function, loop nest or unit."""

    function: str
    called: str
    position: Position | None = None

    @property
    def label(self) -> str:
        """The text for people."""
        return f"call of {self.called}"


@dataclass(frozen=True, slots=True)
class Process:
    """A process of a process network: a statement on one call path, or an array's port.

    Attributes:
        function: in which it is.
        name: for people.
        position: of the statement.
        path: the call path of its frame.
        firings: of the run.
        interval: cycles for which a firing takes up its resource.
        latency: cycles from a firing's start until its results can be read.
        port: it brings an input or takes an output, in the array's order.
        critical: cycles of the run's critical path that its firings answer for, each for the time
            until the next one on the path begins; those of all processes sum to the run.
    """

    function: str
    name: str
    position: Position | None = None
    path: int = -1
    firings: int = 0
    interval: int = 1
    latency: int = 1
    port: bool = False
    critical: int | None = None

    @property
    def label(self) -> str:
        """The text for people."""
        return self.name


@dataclass(frozen=True, slots=True)
class Edge:
    """Values that flow from one process to an operand of another.

    Attributes:
        function: of the one that reads.
        producer: who writes them, -1 if the run did not keep that.
        consumer: who reads them.
        operand: its text.
        late: cycles for which the consumer, its resource free, waited for such a value.
        delayed: firings of the consumer that did.
        position: of the consumer.
        array: the array or variable that they are values of; empty if that is not known.
        tokens: how many different values.
        reads: how often they are read.
        reordered: values are first read in another order than they are written in.
        width: bits of a value, in hardware.
        depth: values that its channel in hardware keeps at most.
        held: cycles for which the producer waited, its result computed, since that was full.
        critical: cycles of the run's critical path between a firing at one end of it and the one
            at the other end that waited for that: for a value, or for space.
    """

    function: str
    producer: int
    consumer: int
    operand: str = ""
    late: int = 0
    delayed: int = 0
    position: Position | None = None
    array: str = ""
    tokens: int | None = None
    reads: int | None = None
    reordered: bool = False
    width: int | None = None
    depth: int | None = None
    held: int = 0
    critical: int | None = None

    @property
    def label(self) -> str:
        """The text for people."""
        return f"operand {self.operand}".strip()


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a Calyx component.

    Attributes:
        function: the component.
        name: its name.
        prototype: the component or primitive of which it is an instance, with parameters.
        position: of its declaration.
    """

    function: str
    name: str
    prototype: str
    position: Position | None = None

    @property
    def label(self) -> str:
        """The text for people."""
        return self.name


@dataclass(frozen=True, slots=True)
class Group:
    """A group of a Calyx component, or what an `invoke` does in its place.

    Attributes:
        function: the component.
        name: its name, as a frame's or its definition's.
        position: of its declaration.
        reads: the cells whose values it uses, directly or through continuous assignments.
        writes: the cells that it drives.
        comb: it is combinational.
    """

    function: str
    name: str
    position: Position | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    comb: bool = False

    @property
    def label(self) -> str:
        """The text for people."""
        return self.name


@dataclass(frozen=True, slots=True)
class Condition:
    """On what an `if` or `while` of a Calyx component decides.

    Attributes:
        function: the component.
        position: of the statement, as its frame has it.
        reads: the cells whose values it uses, directly or through continuous assignments.
        group: the combinational group that works it out (`with`), empty for none.
    """

    function: str
    position: Position | None = None
    reads: tuple[str, ...] = ()
    group: str = ""

    @property
    def label(self) -> str:
        """The text for people."""
        return "condition"


Site: TypeAlias = (
    "Loop | Access | Lock | Barrier | CallSite | Operation | Bound"
    " | Process | Edge | Cell | Group | Condition"
)

SITES: dict[str, type[Site]] = {
    "loop": Loop,
    "access": Access,
    "lock": Lock,
    "barrier": Barrier,
    "call": CallSite,
    "operation": Operation,
    "bound": Bound,
    "process": Process,
    "edge": Edge,
    "cell": Cell,
    "group": Group,
    "condition": Condition,
}
"""Kinds of site by their names in a file."""


def site_to_json(site: Site) -> dict[str, Any]:
    """A site as JSON values, its kind under `site`; what is not known is left out."""
    name = next(name for name, kind in SITES.items() if kind is type(site))
    given = asdict(site)
    unset = {f.name: f.default for f in fields(site)}
    return {"site": name, **{n: v for n, v in given.items() if v != unset[n]}}


def site_from_json(entry: dict[str, Any]) -> Site:
    """Read what `site_to_json` gave.

    Raises:
        KeyError, TypeError, LawError: it is no site.
    """
    if not isinstance(entry, dict):
        raise TypeError(f"{entry!r} is no site")
    values = {name: value for name, value in entry.items() if name != "site"}
    if values.get("position") is not None:
        values["position"] = Position(**values["position"])
    kind: Callable[..., Site] = SITES[entry["site"]]
    site = kind(**{n: tuple(v) if isinstance(v, list) else v for n, v in values.items()})
    check_types(site)
    return site
