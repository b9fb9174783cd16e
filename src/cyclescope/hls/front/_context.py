"""What is known while a region is lowered: values of variables, memories, the present condition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cyclescope.c import Range, Scalar, Variable
from cyclescope.errors import SourceError
from cyclescope.hls.ir._builder import Builder, Shared
from cyclescope.hls.ir._graph import Array, Graph, Node, Op, Place, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cyclescope.c import Call, CType, Expr, Function, Unit
    from cyclescope.hls.front.omp._directives import Constants, Directive

__all__ = ["BIT", "Location", "State", "flag"]

BIT = Scalar("bool", 1)
_MOST_COPIES, _MOST_NODES = 1 << 14, 1 << 15
_LOCK_KINDS = frozenset({"critical", "atomic", "reduction"})


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


@dataclass
class _Names:
    used: dict[str, int] = field(default_factory=dict)

    def unique(self, name: str) -> str:
        count = self.used[name] = self.used.get(name, 0) + 1
        return name if count == 1 else f"{name}_{count}"


class State(ABC):
    """The state, and the operations on it that everything else needs.

    Attributes:
        unit: the text.
        threads: the team's size.
        b: the builder of the present graph.
        env: what each scalar variable holds now; pointers hold byte offsets.
        bases: pointer variable → the memory it points into.
        memories: variable that lives in memory → the memory.
        aliases: pointer parameter → the variable on wires that it was given the address of.
        parts: struct variable on wires → the variables that stand for its fields, by name.
        whole: the other way: what a field's variable is a part of, the outermost struct.
        addressed: variables that are in memory, since their addresses are values.
        mentioned: global variables that the region's text and its functions name.
        pred: the condition under which the present statement is executed; None: always.
        flags: variables that say that the rest of the present block is left out.
        volatile: memories of the host whose accesses keep the order of the text.
        inside: the directives around the present statement, outermost first.
        of_teams: calls that would have other values in the text's teams than in the hardware's.
    """

    def __init__(self, unit: Unit, threads: int, constants: Constants, where: Range) -> None:
        self.unit = unit
        self.threads = threads
        self.constants = constants
        self.shared = Shared(where)
        self.b = Builder(Graph("region", where), self.shared)
        self.root = self.b
        self.env: dict[Variable, Value] = {}
        self.bases: dict[Variable, Array] = {}
        self.memories: dict[Variable, Array] = {}
        self.aliases: dict[Variable, Variable] = {}
        self.parts: dict[Variable, dict[str, Variable]] = {}
        self.whole: dict[Variable, Variable] = {}
        self.addressed: set[Variable] = set()
        self.mentioned: dict[str, Variable] = {}
        self.pred: Value | None = None
        self.flags: list[Variable] = []
        self.loop_flags: list[tuple[Variable, Variable]] = []  # broken, continued
        self.calls: list[Function] = []
        self.returning: list[tuple[Variable, Variable | None]] = []  # returned, result
        self.arrays: list[Array] = []
        self.words: dict[Array, int] = {}
        self.volatile: set[Array] = set()
        self.scalars: list[tuple[Variable, int]] = []
        self.laned: set[Variable | None] = set()  # whose vectors are written by elements
        self.fixed: set[Variable] = set()  # scalars of the host that a thread must not write
        self.locks: list[str] = []
        self._lock_numbers: dict[tuple[str, str], int] = {}
        self._locks_held: list[int] = []
        self.barriers: list[Range] = []
        self.guarded = 0
        self.copies = 0  # of loops' bodies and functions
        self.guarded_nodes: set[Node] = set()
        self.warnings: list[str] = []
        self.labels = _Names()
        self.of_teams: frozenset[str] = frozenset()
        self.inside: list[Directive] = []

    @abstractmethod
    def rvalue(self, expr: Expr) -> Value:
        """The value of an expression, in its type's width."""

    @abstractmethod
    def condition(self, expr: Expr) -> Value:
        """Whether an expression is not zero: one bit."""

    @abstractmethod
    def outer(self, variable: Variable) -> None:
        """Make a variable of the host's known."""

    @abstractmethod
    def inline(self, function: Function, call: Call) -> Value:
        """The body of a function in the place of its call."""

    @abstractmethod
    def counted(self, where: Range, count: Value, body: Callable[[Value], None]) -> None:
        """A loop of the compiler's own over the numbers below a count."""

    @contextmanager
    def at(self, where: Range) -> Iterator[None]:
        """New nodes come from this text."""
        before = self.shared.where
        self.shared.where = where
        try:
            yield
        finally:
            self.shared.where = before

    def copied(self, where: Range) -> None:
        """Count a copy of a function's or a loop's text.

        Raises:
            SourceError: there are far too many, as when loops are unrolled inside each other.
        """
        self.copies += 1
        if self.copies > _MOST_COPIES or len(self.shared.owner) > _MOST_NODES:
            raise self.refuse(
                where, f"unrolled loops and inlined calls make more than {_MOST_COPIES} copies of "
                f"the text or {_MOST_NODES} operations; unroll less, or call from a loop"
            )  # fmt: skip

    @contextmanager
    def locked(self, kind: str, name: str = "") -> Iterator[None]:
        """Under mutual exclusion.

        Args:
            kind: the construct; each has locks of its own.
            name: of a `critical` that has one.

        Raises:
            SourceError: this thread has the lock already.
        """
        key = kind, name
        number = self._lock_numbers.setdefault(key, len(self.locks))
        if number == len(self.locks):
            shown = f"{kind}({name})" if name in _LOCK_KINDS else name
            self.locks.append(shown or kind)
        if number in self._locks_held:
            raise self.refuse(
                self.shared.where, f"{kind}{name and f'({name})'} inside itself waits for ever; "
                f"give the inner one another name"
            )  # fmt: skip
        shown = self.locks[number]
        self.b.effect(Op.ACQUIRE, when=self.pred, constant=number, name=shown)
        self.guarded += 1
        self._locks_held.append(number)
        yield
        self._locks_held.pop()
        self.guarded -= 1
        self.b.effect(Op.RELEASE, when=self.pred, constant=number, name=shown)

    def fence(self, where: Range) -> None:
        """Shared accesses before are over before those behind begin."""
        with self.at(where):
            self.b.effect(Op.FENCE)

    def barrier(self, where: Range) -> None:
        """All of the team wait for each other."""
        with self.at(where):
            number = len(self.barriers)
            self.barriers.append(where)
            self.b.effect(Op.BARRIER, when=self.pred, constant=number)

    def load(self, place: Location, width: int) -> Value:
        """Read memory."""
        self.words[place.array] = max(self.words.get(place.array, 1), width // 8)
        self._keep_order(place.array)
        key = (place.array, self.b.use(place.offset), width)
        for when in (None, self.pred):
            known = self.b.loaded.get((*key, when and self.b.use(when)))
            if known is not None:
                return known
        node = self.b.effect(
            Op.LOAD, place.offset, widths=(width,), when=self.pred, array=place.array
        )
        if self.guarded:
            self.guarded_nodes.add(node)
        self.b.loaded[*key, node.when] = node.result
        self._keep_order(place.array)
        return node.result

    def store(self, place: Location, value: Value) -> None:
        """Write memory."""
        self.words[place.array] = max(self.words.get(place.array, 1), value.width // 8)
        self._keep_order(place.array)
        node = self.b.effect(Op.STORE, place.offset, value, when=self.pred, array=place.array)
        if self.guarded:
            self.guarded_nodes.add(node)
        self._keep_order(place.array)

    def _keep_order(self, array: Array) -> None:
        """Before and behind an access of a volatile object."""
        if array in self.volatile:
            self.b.effect(Op.FENCE)

    def new_array(
        self, variable: Variable, place: Place, size: int | None, *, to: bool, back: bool
    ) -> Array:
        """A memory for a variable."""
        array = Array(variable.name, place, size, 1, to, back, variable.where)
        self.arrays.append(array)
        if variable.volatile and place is not Place.LOCAL:
            self.volatile.add(array)
        return array

    def branch(
        self, condition: Value, then: Callable[[], None], other: Callable[[], None] | None = None
    ) -> None:
        """Do one or the other: effects under their condition, variables selected."""
        condition = self.b.use(condition)
        if condition.node.op is Op.CONST:
            if condition.node.constant:
                then()
            elif other is not None:
                other()
            return
        pred, before = self.pred, dict(self.env)
        self.pred = self.b.both(pred, condition)
        then()
        after_then = self.env
        self.env = dict(before)
        if other is not None:
            self.pred = self.b.both(pred, self.b.negated(condition))
            other()
        self.pred = pred
        for variable in before:
            first, second = after_then[variable], self.env[variable]
            if first != second:
                chosen = self.b.select(condition, first, second)
                self.env[variable] = self.named(chosen, variable.name)

    def named(self, value: Value, name: str) -> Value:
        """The value, told by the variable it is given to, if nothing else names it."""
        if not value.node.name and value.node.op is not Op.CONST:
            value.node.name = name
        return value

    def refuse(self, where: Range, what: str) -> SourceError:
        """The error for what isn't supported."""
        return SourceError(f"{where}: {what}")
