"""The process network of a kernel, as lowering finds it: storages, processes, call paths."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.c import Range, Scalar

__all__ = ["CallPath", "Network", "Port", "Process", "Site", "Storage", "Test"]


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

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for extent in self.dims:
            size *= extent
        return size

    @property
    def is_outer(self) -> bool:
        """Whether the kernel's surroundings see it: a parameter or a global."""
        return self.role in ("param", "global")

    @property
    def in_registers(self) -> bool:
        """Whether the generated code keeps it in a C local variable."""
        return self.role == "local" and not self.dims


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
        operand_storage: the storage of each.
        targets: the text of each value that it writes.
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
    """What a kernel is made of, and the body of the C function that runs it with stamps."""

    kernel: str
    storages: list[Storage] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)
    paths: list[CallPath] = field(default_factory=list)
    sources: list[Port] = field(default_factory=list)
    sinks: list[Port] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    scalars: dict[str, int | float] = field(default_factory=dict)

    @property
    def is_affine(self) -> bool:
        """Whether the kernel is a static affine nested loop program (SANLP)."""
        return not self.tests
