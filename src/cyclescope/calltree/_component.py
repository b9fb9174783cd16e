"""A source's description of a component: plain data, the names of signals included.

A signal is named by what the recording calls it. A statement is named by its number in the
component's `Nesting`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    from cyclescope.calltree._nesting import Nesting
    from cyclescope.model import Frame

__all__ = ["Call", "Compiled", "Component", "Group", "Promoted", "Register", "Repeat"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call by a group or a continuous assignment.

    Attributes:
        kind: what is called.
        actual: the group, or the cell: of cells that the compiler merged, the one that is left.
        frame: of a cell or primitive. None for a group, which has its own, and for a register
            that a pass lets the group write: what that one costs is the group's.
        name: the last part of the name of a cell along the call path.
        when: signals that are all high while the call is on; none: as long as the caller is active.
        component: of which the cell is an instance, if its inside is known.
        lingers: a start lasts one cycle, and the component runs on for as long as it takes.
    """

    kind: Literal["group", "cell", "primitive"]
    actual: str
    frame: Frame | None = None
    name: str = ""
    when: tuple[str, ...] = ()
    component: str | None = None
    lingers: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A group with a probe.

    Attributes:
        signal: high while it is active.
        places: the statements that it implements; none: other groups call it.
        frame: where no statement is known that runs it now.
        refs: for each reference cell of an invoked component, the cell that is passed.
    """

    name: str
    signal: str
    frame: Frame
    places: tuple[int, ...] = ()
    calls: tuple[Call, ...] = ()
    refs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Register:
    """A control register: `kind` is `fsm` or `par done`; `label` says which block is its own."""

    signal: str
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Compiled:
    """A group that the compiler made to run a control block.

    Attributes:
        signal: high while it is active.
        block: which it runs, if that is known.
        leaves: signals of the groups below it.
        inner: names of such groups below it.
        registers: in which it keeps its state.
        final_state: its last step; None if it is not the group of a component's whole control.
        sites: (signal of a group, signal that is high while this one runs it), of groups that
            stand for several statements.
    """

    name: str
    signal: str
    block: int | None
    leaves: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()
    registers: tuple[Register, ...] = ()
    final_state: int | None = None
    sites: tuple[tuple[str, str], ...] = ()

    @property
    def state(self) -> str | None:
        """The signal of its state register."""
        return next((r.signal for r in self.registers if r.kind == "fsm"), None)


@dataclass(frozen=True, slots=True)
class Promoted:
    """A block to which the compiler gave a fixed length, and the signals of the groups in it.

    `whole`: all of the block that can run is in it, not a part only.
    """

    signal: str
    block: int
    leaves: frozenset[str]
    whole: bool


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repeat that became a counting loop: high while its counter is set up or moves on.

    `inner` are the names of the compiler-made groups that count.
    """

    signal: str
    block: int
    inner: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Component:
    """A component.

    Attributes:
        nesting: of its statements.
        frames: statement → its frame; a group's where it enables one.
        inlined: an invoke of a component that was inlined → the frame of the cell.
        references: cells that whoever invokes the component passes.
        continuous: what continuous assignments call.
        only_continuous: it has no control program, and works all the same.
        steps: tells the promoted block that a state of a compiler-made group runs, from what was
            seen, where no probe tells it.
    """

    name: str
    nesting: Nesting
    frames: Mapping[int, Frame]
    inlined: Mapping[int, Frame]
    groups: tuple[Group, ...]
    compiled: tuple[Compiled, ...]
    promoted: tuple[Promoted, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    references: AbstractSet[str] = frozenset()
    continuous: tuple[Call, ...] = ()
    only_continuous: bool = False
    steps: Callable[[Mapping[tuple[str, int], set[int]], Compiled, int], int | None] | None = None
