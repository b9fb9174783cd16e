"""The context of a region's lowering: variables, control flow, the team, the host's data."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cyclescope.c import Range, Scalar, Variable
from cyclescope.errors import SourceError
from cyclescope.hls.ir import Array, Builder, Graph, Place, Shared, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import CType, Expr, Function, Unit
    from cyclescope.hls.front._choices import Choice, Plan
    from cyclescope.hls.front._printing import PrintCall
    from cyclescope.hls.front._target import Target
    from cyclescope.hls.front.omp._directives import Constants, Directive, MapItem

__all__ = [
    "BIT",
    "Context",
    "Environment",
    "Flow",
    "Location",
    "SharedScalarError",
    "Team",
    "Variables",
    "copied",
    "flag",
]

BIT = Scalar("bool", 1)
_MOST_COPIES, _MOST_NODES = 1 << 14, 1 << 15


def flag(name: str, where: Range) -> Variable:
    """A variable of the compiler's own."""
    return Variable(name, BIT, where, "local")


@dataclass(frozen=True, slots=True)
class Location:
    """An object in a memory.

    Attributes:
        array: the memory.
        offset: of its first byte, 64 bits.
        type: of the object.
        extents: the extents that its type leaves open, outermost first.
    """

    array: Array
    offset: Value
    type: CType
    extents: tuple[Expr | None, ...] = ()


@dataclass(slots=True)
class Variables:
    """The places and values of variables.

    Attributes:
        env: the present value of each scalar variable; of pointers, byte offsets.
        bases: pointer variable → the memory it points into.
        memories: variable that lives in memory → the memory.
        pointees: memory of the region, and type → what its pointers to such objects lead to.
        aliases: pointer parameter → the variable on wires that it was given the address of.
        parts: struct variable on wires → the variables that stand for its fields, by name.
        whole: the other way: what a field's variable is a part of, the outermost struct.
        addressed: variables that are in memory, since their addresses are values.
        laned: arrays whose vectors are written by elements; None: an unknown one.
        starts: array of the host that is a part of a memory → where in it it begins.
        fixed: scalars of the host that a thread must not write.
        choices: memories that a pointer may lead into → the choice between them.
        nothing: the memory that is left where a pointer leads nowhere.
    """

    addressed: set[Variable]
    laned: set[Variable | None]
    env: dict[Variable, Value] = field(default_factory=dict)
    bases: dict[Variable, Array] = field(default_factory=dict)
    memories: dict[Variable, Array] = field(default_factory=dict)
    pointees: dict[tuple[Array, str], Array] = field(default_factory=dict)
    aliases: dict[Variable, Variable] = field(default_factory=dict)
    parts: dict[Variable, dict[str, Variable]] = field(default_factory=dict)
    whole: dict[Variable, Variable] = field(default_factory=dict)
    starts: dict[Variable, Value] = field(default_factory=dict)
    fixed: set[Variable] = field(default_factory=set)
    choices: dict[tuple[Array, ...], Choice] = field(default_factory=dict)
    nothing: Array | None = None


@dataclass(slots=True)
class Flow:
    """The place of the present statement in the text's control flow.

    Attributes:
        pred: the condition under which it is executed; None: always.
        flags: variables that say that the rest of the present block is left out.
        loop_flags: of the loops around it: left by `break`, iteration left by `continue`.
        calls: functions whose bodies are around it.
        returning: for each of them the variables that say that it has returned, and what.
        labels: those that a `goto` here leads to, with the variables that say that it does.
        copies: of loops' bodies and functions so far.
    """

    pred: Value | None = None
    flags: list[Variable] = field(default_factory=list)
    loop_flags: list[tuple[Variable, Variable]] = field(default_factory=list)
    calls: list[Function] = field(default_factory=list)
    returning: list[tuple[Variable, Variable | None]] = field(default_factory=list)
    labels: dict[str, Variable] = field(default_factory=dict)
    copies: int = 0
    _labels: dict[str, int] = field(default_factory=dict)

    def label(self, name: str) -> str:
        """A loop's label, unique in the region."""
        count = self._labels[name] = self._labels.get(name, 0) + 1
        return name if count == 1 else f"{name}_{count}"


@dataclass(slots=True)
class Team:
    """OpenMP's state: what the team's threads synchronize by.

    Attributes:
        inside: the directives around the present statement, outermost first, of its own team.
        shared: variables of a thread that the present team shares: those in front of a nested one.
        is_ordered: the work-sharing loop around is an ordered one.
        is_alone: the present statement's team is one of its own, a nested one of one thread.
        forks: the region has no team of its own, but `parallel` regions inside that have.
        is_joint: all threads are in step at the present statement, which contains such a region;
            the first thread executes all else in it.
        fork: such a region around the present statement.
        size: the threads in its team, 32 bits, if only the run knows or there are others.
        most: the size of a team that no clause says.
        last_writes: variable whose last assignment in a work-sharing construct counts → the
            variable with the number of the iteration of this thread's last one; 0: none.
        now: the variable with the number of the present iteration, from 1 on.
        even: values that are known to be the same in all threads.
        places: the memories of the region's own variables.
        nested: the number of parallel regions inside the region around the present statement.
        teams: of the region.
        each: the threads in each of them, as far as the program can tell.
        locks: name of each lock, by number.
        numbers: (construct, name) → number of its lock.
        held: locks that the present statement is executed under; nested ones as often as set.
        barriers: where each barrier is, by number.
        single: the number of the `single` construct around the present statement; 0: there is none.
        singles: how many there are so far.
    """

    teams: int
    each: int
    inside: list[Directive] = field(default_factory=list)
    shared: frozenset[Variable] = frozenset()
    is_ordered: bool = False
    is_alone: bool = False
    forks: bool = False
    is_joint: bool = False
    fork: Directive | None = None
    size: Value | None = None
    most: int = 1
    last_writes: dict[Variable, Variable] = field(default_factory=dict)
    now: Variable | None = None
    even: dict[Value, bool] = field(default_factory=dict)
    places: dict[tuple[Variable, Place], Array] = field(default_factory=dict)
    nested: int = 0
    locks: list[str] = field(default_factory=list)
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    held: list[int] = field(default_factory=list)
    barriers: list[Range] = field(default_factory=list)
    single: int = 0
    singles: int = 0


@dataclass(slots=True)
class Environment:
    """The region's data environment: what the host hands over, and the region's memories.

    Attributes:
        target: the region in the text.
        items: of its map clauses, by name.
        maps_scalars: scalars that no clause names are mapped, not handed over by value.
        texts: of the region and of all functions that it calls.
        mentioned: global variables that these name.
        reduced: names that reductions and `lastprivate` give values to.
        written: variables that the region gives values to.
        named: variables that its texts name.
        plan: into which memories pointers may lead.
        written_by_team: scalars that nothing maps and that threads share, and give values to: of
            the host's the region has a copy of each (OpenMP 4.5, 2.15.1.1: `firstprivate` of
            `target`).
        uneven: what threads in step do not agree on by themselves: loops and their variables.
        scalars: of the host, with their widths, in the order of the region's.
        given: structs of the host that are on wires.
        hosts: memory → the host's variable that it is.
        arrays: all memories.
        heaps: memory that the host's pointers lead to → variables that lead there or are in it,
            each with the scalar of where.
        leads: memory of the host, and type → the heap that its pointers to such objects lead to.
        statics: initial contents of those that are static locals, by name.
        strings: the memory of each string that is a value, by its spelling.
        volatile: memories of the host whose accesses keep the order of the text.
        joined: names of variables whose memories overlap at the host's, by block.
        blocks: memory → the host's variables that point into it, with the scalar of where.
        printing: calls that the host makes with what the region has recorded of them.
        printed: the memory of those records, and of how much of it is used.
        owners: memory → the variable that it is of.
    """

    target: Target
    items: dict[str, MapItem]
    maps_scalars: bool
    texts: list[Range]
    mentioned: dict[str, Variable]
    reduced: set[str]
    written: set[Variable]
    named: set[Variable]
    plan: Plan
    written_by_team: set[Variable] = field(default_factory=set)
    uneven: set[tuple[Range, str]] = field(default_factory=set)
    scalars: list[tuple[Variable, int]] = field(default_factory=list)
    given: list[Variable] = field(default_factory=list)
    hosts: dict[Array, Variable] = field(default_factory=dict)
    arrays: list[Array] = field(default_factory=list)
    heaps: dict[Array, dict[Variable, Variable]] = field(default_factory=dict)
    leads: dict[tuple[Array, str], Array] = field(default_factory=dict)
    statics: dict[str, bytes] = field(default_factory=dict)
    strings: dict[str, Array] = field(default_factory=dict)
    volatile: set[Array] = field(default_factory=set)
    joined: tuple[tuple[str, ...], ...] = ()
    blocks: dict[Array, dict[Variable, Variable]] = field(default_factory=dict)
    printing: list[PrintCall] = field(default_factory=list)
    printed: tuple[Array, Array] | None = None
    owners: dict[Array, Variable] = field(default_factory=dict)


class SharedScalarError(SourceError):
    """A scalar that was handed over by value is written where all threads share it.

    Attributes:
        variable: it.
    """

    def __init__(self, message: str, variable: Variable) -> None:
        super().__init__(message)
        self.variable = variable


class Context:
    """The knowledge and results of lowering one region.

    Attributes:
        unit: the text.
        constants: values of its macros.
        threads: the size of the present statement's team.
        most_threads: the size of the region's team.
        shared: what the builders of all graphs share.
        root: the builder of the region's graph.
        b: the builder of the present graph.
        vars, flow, team, host: see their types.
        warnings: for people; each begins with file and line.
    """

    def __init__(
        self,
        unit: Unit,
        constants: Constants,
        threads: int,
        *,
        vars: Variables,  # noqa: A002
        team: Team,
        host: Environment,
    ) -> None:
        self.unit = unit
        self.constants = constants
        self.threads = self.most_threads = threads
        where = host.target.directive.where
        self.shared = Shared(where)
        self.root = self.b = Builder(Graph("region", where), self.shared)
        self.vars = vars
        self.flow = Flow()
        self.team = team
        self.host = host
        self.warnings: list[str] = []

    @contextmanager
    def at(self, where: Range) -> Iterator[None]:
        """New nodes come from this text."""
        before = self.shared.where
        self.shared.where = where
        try:
            yield
        finally:
            self.shared.where = before

    def refuse(self, where: Range, what: str) -> SourceError:
        """The error for what isn't supported."""
        return SourceError(f"{where}: {what}")


def copied(ctx: Context, where: Range) -> None:
    """Count a copy of a function's or a loop's text.

    Raises:
        SourceError: there are far too many, as when loops are unrolled inside each other.
    """
    ctx.flow.copies += 1
    if ctx.flow.copies > _MOST_COPIES or len(ctx.shared.owner) > _MOST_NODES:
        raise ctx.refuse(
            where, f"unrolled loops and inlined calls make more than {_MOST_COPIES} copies of "
            f"the text or {_MOST_NODES} operations; unroll less, or call from a loop"
        )  # fmt: skip
