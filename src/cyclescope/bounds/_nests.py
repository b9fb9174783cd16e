"""The loops that may be skipped where their time stamps repeat, as far as their text tells.

The rest is proved while the program runs (`_periods.h`). It asks of a loop's body that every
condition compares linear functions of counters, that every subscript is one, and that no value
which it computes decides over control, subscripts, or which operands a statement reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.bounds._network import Network

__all__ = ["Loop", "Nests"]


@dataclass(eq=False, slots=True)
class Loop:
    """A loop of the kernel's text on one call path.

    Attributes:
        number: its number in the program.
        stepped: whether its head steps its counters, and does nothing else.
        regular: whether its body is, by itself, as described above.
        written: storages that its body writes.
    """

    number: int
    stepped: bool
    regular: bool = True
    written: set[int] = field(default_factory=set)


class Nests:
    """All loops, and which are open while a kernel is lowered.

    Attributes:
        loops: every loop.
        open: those around the statement at hand, outermost first.
        jumps: the kernel contains a `goto`.
    """

    def __init__(self) -> None:
        self.loops: list[Loop] = []
        self.open: list[Loop] = []
        self.jumps = False
        self._deciding: set[int] = set()

    def begin(self, stepped: bool) -> Loop:
        """A loop begins; see `Loop.stepped`."""
        loop = Loop(len(self.loops), stepped)
        self.loops.append(loop)
        self.open.append(loop)
        return loop

    def end(self) -> None:
        """The innermost open loop ends."""
        self.open.pop()

    def irregular(self) -> None:
        """Nothing around may be skipped."""
        for loop in self.open:
            loop.regular = False

    def decides(self, storages: Iterable[int]) -> None:
        """Values of these storages decide over control, subscripts or operands."""
        self._deciding.update(storages)

    def writes(self, storages: Iterable[int]) -> None:
        """The statement at hand writes these."""
        for loop in self.open:
            loop.written.update(storages)

    def skippable(self, network: Network) -> frozenset[int]:
        """Numbers of the loops that may be skipped."""
        deciding = set(self._deciding)
        grown = True
        while grown:
            before = len(deciding)
            for process in network.processes:
                if deciding.intersection(process.target_storage):
                    deciding.update(process.operand_storage)
            grown = len(deciding) > before
        return frozenset(
            loop.number
            for loop in self.loops
            if loop.stepped
            and loop.regular
            and not self.jumps
            and loop.written
            and not loop.written & deciding
        )
