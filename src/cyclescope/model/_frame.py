"""Frames: the static things of a design that can be active."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cyclescope.model._activity import Activity  # noqa: TC001 - `_types` reads the hints

__all__ = ["Frame", "Kind", "Position"]


class Kind(StrEnum):
    """The kind of a frame, in the field's words; a source may have kinds of its own as texts."""

    CELL = "cell"
    CONTROL = "control"
    GROUP = "group"
    PRIMITIVE = "primitive"
    PROCESS = "process"
    THREAD = "thread"
    STATE = "state"
    LOOP = "loop"
    STAGE = "stage"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a source text: one language level of possibly several.

    `level` names the language ("calyx", "calyx-py", "dahlia", "c"); `line` and `column`
    count from 1, column 0 means unknown.
    """

    level: str
    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        """Render as `file:line`, as compilers print it."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Frame:
    """A static thing that can be active.

    Attributes:
        kind: what it is.
        name: its name for people, unique among its siblings, e.g. `read`, `par L31`, `s1`.
        component: the component (module, function) whose text declares it.
        detail: what kind of that kind: a control block's operator (`seq`, `static repeat`), the
            component or primitive of which a cell is an instance (`sub_one`, `std_mult_pipe`),
            `comb group`, a thread state's name; empty if there is nothing to add.
        positions: where it comes from, innermost language first.
        latency: cycles of one activation where the compiler fixed it (static), else None.
        generated: made by a compiler, not written by the user; views may hide it.
        definition: what of the text runs here, where that is not the frame itself: the group
            that this enable of several runs, the component that an invoke calls. Frames with
            one definition are static together or not at all.
        activity: what happens while this frame is a leaf; None: as while the one that calls it is
            (a root: unknown).
        cause: of control or waiting, a `Cause` or a source's own word.
        track: it runs beside others of its kind and is accounted for by itself, in each cycle of
            the run: a thread, a process.
        split: the compiler took it apart: one activation of what the text says is several here, one
            for each part, and none of them tells how long the whole is.
    """

    kind: Kind | str
    name: str
    component: str
    detail: str = ""
    positions: tuple[Position, ...] = ()
    latency: int | None = None
    generated: bool = False
    definition: str = ""
    activity: Activity | None = None
    cause: str = ""
    track: bool = False
    split: bool = False

    @property
    def static(self) -> bool:
        """Return whether its length is fixed: by the compiler, or by the program's own word."""
        return self.latency is not None or self.detail.startswith("static ")

    @property
    def label(self) -> str:
        """Text to show in a picture: the name, and what a cell or primitive is an instance of."""
        if self.kind in (Kind.CELL, Kind.PRIMITIVE) and self.detail and self.detail != self.name:
            return f"{self.name} [{self.detail}]"
        return self.name
