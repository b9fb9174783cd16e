"""The process network of a kernel, as lowering finds it: storages, processes, call paths."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cyclescope.bounds._function import Function

if TYPE_CHECKING:
    from cyclescope.bounds._forms import Layout
    from cyclescope.c import Range, Scalar

__all__ = [
    "CallPath",
    "Memory",
    "Network",
    "Port",
    "Process",
    "Record",
    "Site",
    "Storage",
    "Test",
    "address_text",
]


@dataclass(eq=False, slots=True)
class Memory:
    """The bytes of one variable, as C lays them out; its storages are the numbers in it.

    Attributes:
        index: its number.
        name: the variable's.
        role: as of its storages.
        element: bytes of an element of the outermost array.
        count: how many elements there are.
        where: the variable's declaration.
        parameter: number of the kernel's parameter that it belongs to, -1: none.
        by_value: the parameter is a struct itself, no pointer.
        storages: what lies in it.
    """

    index: int
    name: str
    role: str
    element: int
    count: int
    where: Range
    parameter: int = -1
    by_value: bool = False
    storages: list[Storage] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.element * self.count


@dataclass(frozen=True, eq=False, slots=True)
class Record:
    """A struct, or an array of them: where its fields are.

    Attributes:
        fields: by name.
        memory, start, steps: see `Storage`.
        size: bytes of one.
    """

    fields: dict[str, Layout]
    memory: Memory
    start: int
    steps: tuple[tuple[int, int], ...]
    size: int


@dataclass(eq=False, slots=True)
class Storage:
    """An array, or a scalar, of numbers; a struct has one for each of its fields.

    Attributes:
        index: its number.
        name: as in the text, with fields (`a.re`).
        type: of an element.
        dims: extents, outermost first; none for a scalar.
        role: `param`, `global`, `static` (a function's own, kept between calls) or `local`.
        where: its declaration.
        read, written: whether a statement of the kernel does so.
        initial: values by offset where the text gives them.
        initialised: whether the text gives any.
        twice: a second shadow is kept, in which some process leaves its own results out.
        memory: what it lies in; None if it is kept in a register.
        start: where it begins in an element of its memory, in bytes.
        steps: for each array inside of the memory's elements: (extent, bytes of an element).
        pointer: its values are addresses.
        reached: a moving pointer may read or write it; whether one does, the run finds.
    """

    index: int
    name: str
    type: Scalar
    dims: tuple[int, ...]
    role: str
    where: Range
    read: bool = False
    written: bool = False
    initial: dict[int, int | float] = field(default_factory=dict)
    initialised: bool = False
    twice: bool = False
    memory: Memory | None = None
    start: int = 0
    steps: tuple[tuple[int, int], ...] = ()
    pointer: bool = False
    reached: bool = False

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for extent in self.dims:
            size *= extent
        return size

    @property
    def is_outer(self) -> bool:
        """Return whether the kernel's surroundings see it: numbers of a parameter or a global."""
        return self.role in ("param", "global") and not self.pointer

    @property
    def in_registers(self) -> bool:
        """Return whether the generated code keeps it in a C local variable."""
        return self.memory is None

    @property
    def is_plain(self) -> bool:
        """Return whether its elements follow each other in memory."""
        memory = self.memory
        return memory is not None and not self.steps and memory.element * 8 == self.type.bits

    def cell(self, offset: str) -> str:
        """The C text of an element, by the text of its number."""
        if self.memory is None:
            return f"v{self.index}"
        if self.is_plain:
            return f"v{self.index}[{offset}]"
        address = address_text(self.memory, self.start, self.steps, offset)
        return f"(*({self.type} *)({address}))"

    def shadow(self, offset: str, name: str = "s") -> str:
        """The C text of an element's time stamp."""
        return f"{name}{self.index}" + ("" if self.memory is None else f"[{offset}]")


def address_text(
    memory: Memory, start: int, steps: tuple[tuple[int, int], ...], offset: str
) -> str:
    """The C text of an element's address; `offset` counts elements of the innermost array."""
    inner = 1
    terms = []
    for extent, size in reversed(steps):
        at = f"({offset}) / {inner}" if inner > 1 else f"({offset})"
        terms.append(f"{at} % {extent} * {size}")
        inner *= extent
    whole = f"({offset}) / {inner}" if inner > 1 else f"({offset})"
    return " + ".join([f"m{memory.index}", f"{whole} * {memory.element}", *terms, f"{start}"])


@dataclass(eq=False, slots=True)
class Process:
    """A process of the network: a textual statement on one call path, or an array's port.

    Attributes:
        index: its number.
        name: for people, unique on its call path.
        kind: `statement`, `constant`, `source` or `sink`.
        where: the statement; a port's: the array's declaration.
        path: index of its call path.
        latency: Λ_F in cycles.
        interval: II_F in cycles.
        operands: the text of each value that it reads.
        operand_storage: the storage of each; -1 where only the run finds it.
        targets: the text of each value that it writes.
        target_storage: the storage of each.
        function: how these are computed.
    """

    index: int
    name: str
    kind: str
    where: Range
    path: int
    latency: int
    interval: int
    operands: list[str] = field(default_factory=list)
    operand_storage: list[int] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    target_storage: list[int] = field(default_factory=list)
    function: Function = field(default_factory=Function)


@dataclass(frozen=True, slots=True)
class CallPath:
    """A function as called from one place: `parent` is its caller's path, -1 for the kernel."""

    parent: int
    function: str
    where: Range


@dataclass(frozen=True, slots=True)
class Port:
    """A source or a sink: which elements of a storage pass, in row-major order.

    Attributes:
        process: its process.
        storage: the storage.
        ranges: half-open, one a dimension.
        skip: offsets of elements that are left out.
        certain: False for a source that exists only if the run finds the array to be an input.
    """

    process: int
    storage: int
    ranges: tuple[tuple[int, int], ...]
    skip: tuple[int, ...]
    certain: bool


@dataclass(frozen=True, slots=True)
class Site:
    """A place that can fail at run time."""

    where: Range
    text: str


@dataclass(frozen=True, slots=True)
class Test:
    """A condition or bound that isn't affine in loop counters and parameters."""

    where: Range
    text: str
    reason: str


@dataclass(eq=False)
class Network:
    """The parts of a kernel, and the body of the C function that runs it with time stamps.

    Attributes:
        moving: whether memory is reached through pointers whose target only the run finds.
        loose: parameters whose declared extents the program doesn't keep to.
        made_up: what is no part of the program but was made up to run it, for people.
        guessed: pointer parameters that are taken for one element, since nobody tells how many.
        result: the storage that the kernel's result is left in.
    """

    kernel: str
    moving: bool = False
    loose: frozenset[str] = frozenset()
    made_up: list[str] = field(default_factory=list)
    guessed: set[str] = field(default_factory=set)
    result: Storage | None = None
    memories: list[Memory] = field(default_factory=list)
    storages: list[Storage] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)
    paths: list[CallPath] = field(default_factory=list)
    sources: list[Port] = field(default_factory=list)
    sinks: list[Port] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    loops: int = 0
    scalars: dict[str, int | float] = field(default_factory=dict)

    @property
    def is_affine(self) -> bool:
        """Return whether the kernel is a static affine nested loop program (SANLP)."""
        return not self.tests
