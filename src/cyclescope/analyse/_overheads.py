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

from cyclescope.model import Ints, Kind, Profile, Series

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    cycles = np.ones(len(profile.forest), dtype=np.bool_)
    useful = _useful(profile, np.arange(len(profile.call_paths)))
    return _classify(profile, cycles, useful, profile.series)


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
    result: dict[str, Overhead] = {}
    for instance, cells in members.items():
        active = _trees_with(profile, np.array(cells, dtype=np.int64))
        useful = _useful(profile, below[instance])
        own = [s for s in profile.series if _within(s.track, instance)]
        result[instance] = _classify(profile, active, useful, own)
    return result


def _within(track: str, instance: str) -> bool:
    return track == instance or track.startswith(f"{instance}.")


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


def _trees_with(profile: Profile, paths: Ints) -> NDArray[np.bool_]:
    """Which trees hold at least one of the given paths (shape: trees)."""
    forest = profile.forest
    owner = np.repeat(np.arange(len(forest)), np.diff(forest.offset))
    result = np.zeros(len(forest), dtype=np.bool_)
    result[owner[np.isin(forest.path, paths)]] = True
    return result


def _useful(profile: Profile, paths: Ints) -> NDArray[np.bool_]:
    """Which trees have a leaf that is work among the given paths (shape: trees)."""
    work = np.array([frame.kind in WORK for frame in profile.catalog], dtype=np.bool_)
    wanted = np.zeros(len(profile.call_paths), dtype=np.bool_)
    wanted[paths] = True
    wanted &= work[profile.call_paths.frame] if len(work) else False
    forest = profile.forest
    result = np.zeros(len(forest), dtype=np.bool_)
    for tree in range(len(forest)):
        active = forest[tree]
        leaf = ~np.isin(active, profile.call_paths.parent[active])
        result[tree] = bool(wanted[active[leaf]].any())
    return result


def updates(series: Series) -> Ints:
    """The cycles in which a register is written: the value differs after them."""
    adjacent = series.end[:-1] == series.start[1:]
    changed = series.value[:-1] != series.value[1:]
    return series.end[:-1][adjacent & changed] - 1


def _updates(series: Iterable[Series], metric: str) -> Ints:
    """The distinct cycles, ascending, in which any register of that sort is written."""
    parts = [updates(s) for s in series if s.metric == metric]
    return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)


def _classify(
    profile: Profile,
    active: NDArray[np.bool_],
    useful: NDArray[np.bool_],
    series: Iterable[Series],
) -> Overhead:
    """Count the cycles of active trees by class; `active` and `useful` have the shape (trees,)."""
    runs = profile.schedule
    series = tuple(series)
    cycles = int(runs.cycles[active[runs.tree]].sum())
    good = int(runs.cycles[(active & useful)[runs.tree]].sum())
    lost = (active & ~useful)[runs.tree]
    end = np.cumsum(runs.cycles)

    def in_lost(when: Ints) -> Ints:
        return when[lost[np.searchsorted(end, when, side="right")]]

    fsm = in_lost(_updates(series, "fsm"))
    par_done = in_lost(_updates(series, "par done"))
    both = len(np.intersect1d(fsm, par_done, assume_unique=True))
    only_fsm, only_par_done = len(fsm) - both, len(par_done) - both
    return Overhead(
        cycles=cycles,
        useful=good,
        fsm=only_fsm,
        par_done=only_par_done,
        both=both,
        other=cycles - good - only_fsm - only_par_done - both,
    )
