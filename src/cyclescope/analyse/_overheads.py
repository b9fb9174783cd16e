"""Where cycles go: useful work, or control overhead by kind (Petal, sections 4 and 7).

A cycle is *useful* for a cell if something that does work (a group or a primitive) is a leaf of
that cell's own part of the call tree. Any other cycle in which the cell is active is control
overhead, named after the control registers that are updated in it: registers of that cell and
of the cells below it. The design as a whole is its root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model import Ints, Kind, Profile, Series, tree_cycles

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["OVERHEADS", "WORK", "Overhead", "design_overhead", "instance_overheads", "updates"]

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
        fsm: overhead in which a state register is updated.
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
    everywhere = np.arange(len(profile.call_paths))
    active = np.ones(len(profile.forest), dtype=np.bool_)
    useful = _trees_with(profile, everywhere, _work_leaves(profile))
    return _classify(profile, active, useful, _writes(profile))


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
    writes = _writes(profile)
    result: dict[str, Overhead] = {}
    for instance, cells in members.items():
        active = _trees_with(profile, np.array(cells, dtype=np.int64), anything)
        useful = _trees_with(profile, below[instance], work)
        result[instance] = _classify(profile, active, useful, writes, instance)
    return result


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
    # One number for each (tree, path); a path is a leaf if it is no active path's parent.
    tree = _owners(profile) * (len(parent) + 1)
    leaf = ~np.isin(tree + active, tree + parent[active])
    work = np.array([frame.kind in WORK for frame in profile.catalog], dtype=np.bool_)
    result: NDArray[np.bool_] = leaf & work[profile.call_paths.frame[active]]
    return result


def updates(series: Series) -> Ints:
    """The cycles in which a register is written: the value differs after them."""
    adjacent = series.end[:-1] == series.start[1:]
    changed = series.value[:-1] != series.value[1:]
    last: Ints = series.end[:-1][adjacent & changed] - 1
    return last


@dataclass(frozen=True, slots=True)
class _Writes:
    """All writes of control registers, once for all instances.

    Attributes:
        run: for each cycle with a write, ascending, the run it lies in (shape: cycles written).
        of_series: for each series that is a control register its place in `run` of each write.
    """

    run: Ints
    of_series: tuple[tuple[Series, Ints], ...]


_BITS = {"fsm": 1, "par done": 2}


def _writes(profile: Profile) -> _Writes:
    registers = [s for s in profile.series if s.metric in _BITS]
    written = [updates(s) for s in registers]
    if not written:
        return _Writes(np.empty(0, dtype=np.int64), ())
    cycles, place = np.unique(np.concatenate(written), return_inverse=True)
    run = np.searchsorted(np.cumsum(profile.schedule.cycles), cycles, side="right")
    cut = np.cumsum([len(w) for w in written])[:-1]
    return _Writes(run, tuple(zip(registers, np.split(place.reshape(-1), cut), strict=True)))


def _classify(
    profile: Profile,
    active: NDArray[np.bool_],
    useful: NDArray[np.bool_],
    writes: _Writes,
    within: str | None = None,
) -> Overhead:
    """Count the cycles of active trees by class.

    Args:
        profile: what to count in.
        active: which trees to count, of shape (trees,).
        useful: which of them are useful, of the same shape.
        writes: the writes of control registers.
        within: count only registers of this instance and those below it; None for all.
    """
    held = tree_cycles(profile)
    cycles, good = int(held[active].sum()), int(held[active & useful].sum())
    mask = np.zeros(len(writes.run), dtype=np.uint8)
    for series, place in writes.of_series:
        if within is None or series.track == within or series.track.startswith(f"{within}."):
            mask[place] |= _BITS[series.metric]
    lost = (active & ~useful)[profile.schedule.tree][writes.run]
    _, fsm, par_done, both = np.bincount(mask[lost], minlength=4).tolist()
    return Overhead(
        cycles=cycles,
        useful=good,
        fsm=fsm,
        par_done=par_done,
        both=both,
        other=cycles - good - fsm - par_done - both,
    )
