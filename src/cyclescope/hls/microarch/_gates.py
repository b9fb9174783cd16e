"""The parts of a pipeline: how threads come in, where they wait, what works."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from cyclescope.hls.microarch._parts import ThreadMask
from cyclescope.rtl import const

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.hls.ir import Node
    from cyclescope.rtl import Expr, Module, Net

__all__ = ["Entry", "Gate", "OpActivity", "Operation"]


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """The entry of threads into a graph, and what is read when they leave it.

    Attributes:
        valid, tid: a thread enters in this cycle, and which.
        initial: its carried values then.
        invariants: its other values.
        results: the numbers of the carried values that are read when its loop is over.
    """

    valid: Expr
    tid: Expr
    initial: Sequence[Expr]
    invariants: Sequence[Expr]
    results: frozenset[int]


@dataclass(frozen=True, eq=False, slots=True)
class Operation:
    """A variable-latency operation of a variable-latency stage.

    Attributes:
        node: what it is.
        busy: the threads for which it is not over yet.
        issue: it begins in this cycle.
        result: a result's value for a thread, by index.
    """

    node: Node
    busy: ThreadMask
    issue: Net
    result: Callable[[int, Expr], Expr]


@dataclass(frozen=True, eq=False, slots=True)
class OpActivity:
    """The activity of a stage's operations.

    Attributes:
        valid, tid: they are done in this cycle, by this thread.
        integer, floating: how many of each kind.
        apart: cycles from a thread's one time to its next, at least.
    """

    valid: Net
    tid: Expr
    integer: int
    floating: int
    apart: int


class Gate:
    """A place where threads wait, and its scheduler, which issues one per cycle: head or stage."""

    def __init__(self, m: Module, name: str, threads: int, stage: int, note: str) -> None:
        self._m = m
        self.stage = stage  # -1: the head
        self.name = f"{name}_head" if stage < 0 else f"{name}_w{stage}"
        note = note if stage < 0 else f"{note}, stage {stage}: threads that wait"
        self.present = ThreadMask(m, f"{self.name}_present", threads, note=note)
        self.reserved = ThreadMask(m, f"{self.name}_reserved", threads)
        self.blocked = ThreadMask(m, f"{self.name}_too_soon", threads)
        self.token = ThreadMask(m, f"{self.name}_token", threads)
        self.waits_token = False
        self.waits_interval = False
        self.apart = 1  # cycles between two iterations of a thread that it lets go, at least
        self.operations: list[Operation] = []
        self.grant: Expr = const(0, threads)
        self.valid: Expr = const(0, 1)
        self.tid: Expr = const(0, 1)
        self.flags = [self.present]
        # A cycle ahead, most of what a thread waits for: the choice takes long.
        self.may_go = m.register(f"{self.name}_may_go", threads, reset=0)
        self._needs: list[tuple[ThreadMask, bool]] = [(self.present, True)]

    def wait_for(self, flags: ThreadMask, *, clear: bool = False) -> None:
        """A thread goes only when its flag is set, or is clear."""
        self._needs.append((flags, not clear))
        self.flags.append(flags)

    def finish(self) -> None:
        """Everything that sets and clears flags is known."""
        # Who goes in this cycle is known last: what it leaves behind is computed for a thread that
        # does and for one that does not, and it chooses.
        if not any(flags.follows(self.grant) for flags, _ in self._needs):
            self._m.update(self.may_go, self._ready(happens=False))
            return
        after = self._ready(happens=True)
        stays = self._ready(happens=False) & ~self.grant
        self._m.update(self.may_go, stays if after.value == 0 else stays | (after & self.grant))

    def _ready(self, *, happens: bool) -> Expr:
        """The threads that may go in the next cycle, if all go in this one (`happens`), or none."""
        ready: list[Expr] = []
        for flags, wanted in self._needs:
            bits = flags.next(self.grant, happens=happens)
            if bits.value is None:
                ready.append(bits if wanted else ~bits)
            elif (bits.value != 0) != wanted:
                return const(0, bits.width)
        return reduce(and_, ready)
