"""Where cycles go: useful work, or control overhead by kind (Petal, sections 4 and 7).

A cycle is *useful* for a cell if something that does work (a group or a primitive; a thread that
is neither idle nor spinning) is a leaf of that cell's own part of the call tree. Any other cycle
in which the cell is active is control overhead, named after the control registers that take a
step in it: registers of that cell and of the cells below it. The design as a whole is its root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse._account import WORK as WORK_USE
from cyclescope.analyse._account import uses_of_paths
from cyclescope.analyse._steps import bits_at, steps, trees_at, windows
from cyclescope.model import Ints, Kind, Profile, tree_cycles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "OVERHEADS",
    "WORK",
    "Overhead",
    "design_overhead",
    "instance_overheads",
    "useful_trees",
]

WORK = frozenset({Kind.GROUP, Kind.PRIMITIVE, Kind.PROCESS, Kind.STAGE})
"""Kinds of frame that do the user's work; the others call or wait."""

OVERHEADS = ("fsm", "par_done", "both", "other")
"""Kinds of control overhead, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Overhead:
    """Cycles in exclusive classes: they sum to `cycles`.

    Attributes:
        cycles: all that are classified: the run's, or those in which a cell was active.
        useful: some leaf is work.
        fsm: overhead in which a state register takes a step.
        par_done: overhead in which a register that says "this arm of a `par` is done" is updated.
        both: overhead with updates of both kinds.
        other: overhead without an update.
    """

    cycles: int
    useful: int
    fsm: int
    par_done: int
    both: int
    other: int

    @property
    def overhead(self) -> int:
        """Cycles that are not useful."""
        return self.cycles - self.useful

    def by_kind(self) -> dict[str, int]:
        """Overhead cycles by kind, in the order of `OVERHEADS`."""
        return {kind: getattr(self, kind) for kind in OVERHEADS}


def design_overhead(profile: Profile) -> Overhead:
    """Classify every cycle of the run."""
    active = np.ones(len(profile.forest), dtype=np.bool_)
    return _classify(profile, [_Case(active, useful_trees(profile), None)])[0]


def useful_trees(profile: Profile) -> NDArray[np.bool_]:
    """Which trees hold a leaf that does work (shape: trees)."""
    everywhere = np.arange(len(profile.call_paths))
    return _trees_with(profile, everywhere, _work_leaves(profile))


def instance_overheads(profile: Profile) -> dict[str, Overhead]:
    """Classify the active cycles of every cell instance, in order of first mention.

    Keys are the instances' dotted names. A cell that waits for its own control is overhead
    however busy the rest of the design is.
    """
    members: dict[str, list[int]] = {}
    for path, instance in enumerate(profile.instances):
        if profile.frame_of(path).kind is Kind.CELL:
            members.setdefault(instance, []).append(path)
    below = _descendants(profile, members)
    anything = np.ones(len(profile.forest.path), dtype=np.bool_)
    work = _work_leaves(profile)
    cases = []
    for instance, cells in members.items():
        active = _trees_with(profile, np.array(cells, dtype=np.int64), anything)
        useful = _trees_with(profile, below[instance], work)
        cases.append(_Case(active, useful, instance))
    return dict(zip(members, _classify(profile, cases), strict=True))


def _descendants(profile: Profile, members: dict[str, list[int]]) -> dict[str, Ints]:
    """For each instance the paths in it and below it."""
    above: list[tuple[str, ...]] = []
    result: dict[str, list[int]] = {instance: [] for instance in members}
    owner = {path: instance for instance, cells in members.items() for path in cells}
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        inherited = above[parent] if parent >= 0 else ()
        if path in owner and owner[path] not in inherited:
            inherited = (*inherited, owner[path])
        above.append(inherited)
        for instance in inherited:
            result[instance].append(path)
    return {instance: np.array(paths, dtype=np.int64) for instance, paths in result.items()}


def _owners(profile: Profile) -> Ints:
    """The tree of each entry of `forest.path`."""
    return np.repeat(np.arange(len(profile.forest)), np.diff(profile.forest.offset))


def _trees_with(profile: Profile, paths: Ints, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which trees hold one of the paths among the entries of `forest.path` (shape: trees)."""
    wanted = np.zeros(len(profile.call_paths), dtype=np.bool_)
    wanted[paths] = True
    result = np.zeros(len(profile.forest), dtype=np.bool_)
    result[_owners(profile)[wanted[profile.forest.path] & among]] = True
    return result


def _work_leaves(profile: Profile) -> NDArray[np.bool_]:
    """Which entries of `forest.path` are leaves of their tree that do work."""
    parent, active = profile.call_paths.parent, profile.forest.path
    # One number for each (tree, path), ascending; a leaf is no active path's parent.
    tree = _owners(profile) * (len(parent) + 1)
    inner = parent[active] >= 0
    leaf = np.ones(len(active), dtype=np.bool_)
    leaf[np.searchsorted(tree + active, (tree + parent[active])[inner])] = False
    work = np.array([use == WORK_USE for use in uses_of_paths(profile)], dtype=np.bool_)
    result: NDArray[np.bool_] = leaf & work[active]
    return result


@dataclass(frozen=True, slots=True)
class _Case:
    """What to classify: cycles of some trees, by writes of some registers.

    Attributes:
        active: which trees count, shape (trees,).
        useful: which of them are useful, shape (trees,).
        within: the instance whose registers count, with those below it; None for all.
    """

    active: NDArray[np.bool_]
    useful: NDArray[np.bool_]
    within: str | None

    def has(self, track: str) -> bool:
        """Whether a register of that track counts."""
        within = self.within
        return within is None or track == within or track.startswith(f"{within}.")


def _classify(profile: Profile, cases: Sequence[_Case]) -> list[Overhead]:
    """Count the cycles of each case by class."""
    found = steps(profile)
    kinds = np.zeros((len(cases), 4), dtype=np.int64)
    lost = [case.active & ~case.useful for case in cases]
    for first, last in windows(profile) if found else ():
        tree = trees_at(profile, first, last)
        for index, case in enumerate(cases):
            bits = bits_at(found, case.has, first, last)
            kinds[index] += np.bincount(bits[lost[index][tree]], minlength=4)
    held = tree_cycles(profile)
    result = []
    for case, (_, fsm, par_done, both) in zip(cases, kinds.tolist(), strict=True):
        cycles, useful = int(held[case.active].sum()), int(held[case.active & case.useful].sum())
        other = cycles - useful - fsm - par_done - both
        result.append(Overhead(cycles, useful, fsm, par_done, both, other))
    return result
