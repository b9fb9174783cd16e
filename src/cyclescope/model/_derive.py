"""What follows from trees and runs: cycles of a tree, weights of a path, spans.

One place for each derivation; every view and analysis calls these.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cyclescope.model._profile import Ints, Profile

__all__ = ["Spans", "active_cycles", "flat_weights", "scaled_weights", "spans", "tree_cycles"]


def tree_cycles(profile: Profile) -> Ints:
    """Cycles for which each tree held (shape: trees); they sum to the total."""
    weights = np.zeros(len(profile.forest), dtype=np.int64)
    np.add.at(weights, profile.schedule.tree, profile.schedule.cycles)
    return weights


def active_cycles(profile: Profile) -> Ints:
    """Cycles in which each path was active (shape: paths); a single root's is the total."""
    forest = profile.forest
    weights = np.zeros(len(profile.call_paths), dtype=np.int64)
    np.add.at(weights, forest.path, np.repeat(tree_cycles(profile), np.diff(forest.offset)))
    return weights


def _leaves(profile: Profile, tree: int) -> list[int]:
    active = profile.forest[tree]
    inner = set(profile.call_paths.parent[active].tolist())
    return [p for p in active.tolist() if p not in inner]


def flat_weights(profile: Profile) -> list[int]:
    """Cycles in which each path was a leaf: every parallel stack counts whole cycles.

    The sum is Σ run cycles · leaves of the run's tree: the total where nothing ran in
    parallel, more where something did (Petal's flat flame graph).
    """
    weights = [0] * len(profile.call_paths)
    for tree, cycles in enumerate(tree_cycles(profile).tolist()):
        for path in _leaves(profile, tree):
            weights[path] += cycles
    return weights


def scaled_weights(profile: Profile) -> list[Fraction]:
    """As `flat_weights`, each cycle split evenly among its tree's leaves.

    The sum is exactly the total number of cycles.
    """
    weights = [Fraction(0)] * len(profile.call_paths)
    for tree, cycles in enumerate(tree_cycles(profile).tolist()):
        leaves = _leaves(profile, tree)
        for path in leaves:
            weights[path] += Fraction(cycles, len(leaves))
    return weights


@dataclass(frozen=True, slots=True)
class Spans:
    """Maximal intervals of consecutive cycles in which a path was active.

    Sorted by path, then by start. `start` and `end` are half-open cycle numbers.
    A path whose frame has a fixed latency is cut into its single activations where the
    interval is a multiple of it: static activations may follow each other without a gap.
    """

    path: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.path)


def spans(profile: Profile, *, split_static: bool = True) -> Spans:
    """Every path's activations, from the runs (cost: changes, not cycles)."""
    runs = profile.schedule
    if not len(runs):
        nothing = np.empty(0, dtype=np.int64)
        return Spans(nothing, nothing, nothing)
    begins, ends = _transitions(profile)
    boundary = np.concatenate((runs.start, [profile.cycles]))
    # Sorting both lists by (path, time) pairs each beginning with its end.
    begin_path, begin_run = begins
    end_path, end_run = ends
    by_begin = np.lexsort((begin_run, begin_path))
    by_end = np.lexsort((end_run, end_path))
    path = begin_path[by_begin]
    start = boundary[begin_run[by_begin]]
    end = boundary[end_run[by_end]]
    return _split(profile, Spans(path, start, end)) if split_static else Spans(path, start, end)


def _transitions(profile: Profile) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """(paths, runs) at which paths become active, and (paths, runs) at which they cease."""
    forest, runs = profile.forest, profile.schedule
    trees = len(forest)
    # Runs change between few distinct pairs of trees: work out each pair once.
    nowhere = trees
    before = np.concatenate(([nowhere], runs.tree))
    after = np.concatenate((runs.tree, [nowhere]))
    _, first, inverse = np.unique(
        before * (trees + 1) + after, return_index=True, return_inverse=True
    )
    started: list[Ints] = []
    ended: list[Ints] = []
    empty = np.empty(0, dtype=np.int64)
    for index in first.tolist():
        old = forest[int(before[index])] if before[index] != nowhere else empty
        new = forest[int(after[index])] if after[index] != nowhere else empty
        started.append(np.setdiff1d(new, old, assume_unique=True))
        ended.append(np.setdiff1d(old, new, assume_unique=True))
    inverse = inverse.reshape(-1)
    return _spread(started, inverse), _spread(ended, inverse)


def _spread(lists: list[Ints], inverse: Ints) -> tuple[Ints, Ints]:
    """For each position i the entries of `lists[inverse[i]]`, with i beside each."""
    sizes = np.array([len(entry) for entry in lists], dtype=np.int64)
    flat = np.concatenate(lists)
    offset = np.cumsum(sizes) - sizes
    count = sizes[inverse]
    where = np.repeat(np.arange(len(inverse)), count)
    within = np.arange(len(where)) - np.repeat(np.cumsum(count) - count, count)
    return flat[np.repeat(offset[inverse], count) + within], where


def _split(profile: Profile, whole: Spans) -> Spans:
    """Cut intervals of fixed-latency frames into single activations."""
    fixed = np.array([f.latency or 0 for f in profile.catalog], dtype=np.int64)
    latency = fixed[profile.call_paths.frame][whole.path] if len(whole) else whole.path
    length = whole.end - whole.start
    divisible = (latency > 0) & (length % np.maximum(latency, 1) == 0)
    count = np.where(divisible, length // np.maximum(latency, 1), 1)
    if not (count > 1).any():
        return whole
    step = np.where(divisible, latency, length)
    index = np.repeat(np.arange(len(whole)), count)
    nth = np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count)
    start = whole.start[index] + nth * step[index]
    return Spans(whole.path[index], start, start + step[index])
