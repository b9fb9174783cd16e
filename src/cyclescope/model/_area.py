"""The hardware cost of the parts of a design, beside the cycles in which they are active."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Area"]


@dataclass(frozen=True, slots=True)
class Area:
    """A cell of the synthesised design.

    Attributes:
        cell: its name along the hierarchy, dotted from the top (`main.queue.length`). What is in a
            component but in none of its cells, its wiring and control logic, has the component's
            own name and no type.
        type: the component or primitive of which it is an instance.
        luts, ffs: look-up tables (those used as memory too) and flip-flops, with all below it for
            a primitive; for a component only what is in none of its cells.
        dsps: arithmetic blocks.
        brams: memory blocks, counted in halves of 18 kbit.
        paths: the call paths at whose end it is: it is active when one of them is. A control
            register's are those of the block that it serves.
        seen: whether paths show its use. If so, no path says that it was never used; if not
            (nothing but wires drives it), that nothing is known.
    """

    cell: str
    type: str
    luts: int
    ffs: int
    dsps: int = 0
    brams: int = 0
    paths: tuple[int, ...] = ()
    seen: bool = True
