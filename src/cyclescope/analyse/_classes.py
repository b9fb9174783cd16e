"""The run cut by what its cycles are for: `design_overhead` over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse._overheads import OVERHEADS, useful_trees
from cyclescope.analyse._steps import bits_at, steps, trees_at, windows

if TYPE_CHECKING:
    from cyclescope.model import Ints, Profile

__all__ = ["CycleClasses", "cycle_classes"]

# What a lost cycle is called, by the bits of the registers that take a step in it.
_OF_BITS = np.array([4, 1, 2, 3], dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class CycleClasses:
    """Which class every cycle is in; runs follow each other from cycle 0 without a gap.

    Attributes:
        names: the classes' keys, `useful` first, then as in `OVERHEADS`.
        cycles: length of each run, shape (runs,).
        index: its class, an index into `names`, shape (runs,); neighbours differ.
    """

    names: tuple[str, ...]
    cycles: Ints
    index: Ints

    def totals(self) -> dict[str, int]:
        """Cycles of each class; they sum to the run's."""
        totals = np.zeros(len(self.names), dtype=np.int64)
        np.add.at(totals, self.index, self.cycles)
        return dict(zip(self.names, totals.tolist(), strict=True))


def cycle_classes(profile: Profile) -> CycleClasses:
    """Put every cycle of the run in the class in which `design_overhead` counts it."""
    useful = useful_trees(profile)
    moves = steps(profile)
    lengths, classes = [], []
    for first, last in windows(profile):
        found = _OF_BITS[bits_at(moves, lambda _: True, first, last)]
        found[useful[trees_at(profile, first, last)]] = 0
        edge = np.flatnonzero(np.concatenate(([True], found[1:] != found[:-1])))
        lengths.append(np.diff(np.append(edge, len(found))))
        classes.append(found[edge].astype(np.int64))
    names = ("useful", *OVERHEADS)
    if not lengths:
        nothing = np.empty(0, dtype=np.int64)
        return CycleClasses(names, nothing, nothing)
    return CycleClasses(names, *_joined(np.concatenate(lengths), np.concatenate(classes)))


def _joined(cycles: Ints, index: Ints) -> tuple[Ints, Ints]:
    """Join neighbours of one class, which stand where two windows meet."""
    first = np.flatnonzero(np.concatenate(([True], index[1:] != index[:-1])))
    return np.add.reduceat(cycles, first), index[first]
