"""What follows from trees and runs: cycles of a tree, weights of a path, spans.

One place for each derivation; every view and analysis calls these.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
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


def spans(profile: Profile, *, split_static: bool = True, paths: Ints | None = None) -> Spans:
    """Every path's activations, or those of the given paths (cost: changes, not cycles)."""
    runs = profile.schedule
    if not len(runs):
        nothing = np.empty(0, dtype=np.int64)
        return Spans(nothing, nothing, nothing)
    boundary = np.concatenate((runs.start, [profile.cycles]))
    width = len(boundary)
    # Beginnings and ends, each sorted by (path, run): the n-th of both belong together.
    begin, end = _transitions(profile, paths)
    path = begin // width
    begin %= width
    start = boundary[begin]
    del begin
    end %= width
    end = boundary[end]
    return _split(profile, Spans(path, start, end)) if split_static else Spans(path, start, end)


def _transitions(profile: Profile, paths: Ints | None) -> tuple[Ints, Ints]:
    """When paths become active and when they cease, as sorted path · (runs + 1) + run."""
    runs = profile.schedule
    wanted = np.ones(len(profile.call_paths), dtype=np.bool_)
    if paths is not None:
        wanted[:] = False
        wanted[paths] = True
    forest = [
        active[wanted[active]]
        for active in map(profile.forest.__getitem__, range(len(profile.forest)))
    ]
    nowhere = len(forest)
    # Runs change between few distinct pairs of trees: work out each pair once.
    change = np.concatenate(([nowhere], runs.tree)) * (nowhere + 1)
    change += np.concatenate((runs.tree, [nowhere]))
    pairs, inverse = np.unique(change, return_inverse=True)
    del change
    started: list[Ints] = []
    ended: list[Ints] = []
    empty = np.empty(0, dtype=np.int64)
    for pair in pairs.tolist():
        before, after = divmod(pair, nowhere + 1)
        old = forest[before] if before != nowhere else empty
        new = forest[after] if after != nowhere else empty
        started.append(np.setdiff1d(new, old, assume_unique=True))
        ended.append(np.setdiff1d(old, new, assume_unique=True))
    inverse = inverse.reshape(-1)
    return _spread(started, inverse), _spread(ended, inverse)


def _spread(lists: list[Ints], inverse: Ints, chunk: int = 1 << 16) -> Ints:
    """Sorted entry · n + i for each of the n positions i and each entry of `lists[inverse[i]]`.

    One integer holds both, since numpy sorts plain integers several times faster than it finds
    an order; in chunks, since the intermediate arrays would be larger than the result.
    """
    sizes = np.array([len(entry) for entry in lists], dtype=np.int64)
    flat = np.concatenate(lists) * len(inverse)
    offset = np.cumsum(sizes) - sizes
    result = np.empty(int(sizes[inverse].sum()), dtype=np.int64)
    done = 0
    for first in range(0, len(inverse), chunk):
        part = inverse[first : first + chunk]
        count = sizes[part]
        where = np.repeat(np.arange(len(part)), count)
        within = np.arange(len(where)) - np.repeat(np.cumsum(count) - count, count)
        out = result[done : done + len(where)]
        np.add(flat[offset[part][where] + within], where + first, out=out)
        done += len(where)
    result.sort()
    return result


def _split(profile: Profile, whole: Spans) -> Spans:
    """Cut intervals of fixed-latency frames into single activations."""
    latency = [profile.catalog[f].latency or 0 for f in profile.call_paths.frame.tolist()]
    bounds = np.searchsorted(whole.path, np.arange(len(latency) + 1)).tolist()
    starts: list[Ints] = []
    ends: list[Ints] = []
    counts: list[int] = []
    for path, fixed in enumerate(latency):
        own = slice(bounds[path], bounds[path + 1])
        start, end = whole.start[own], whole.end[own]
        if fixed:
            length = end - start
            count = np.where(length % fixed == 0, length // fixed, 1)
            step = np.repeat(np.where(length % fixed == 0, fixed, length), count)
            nth = np.arange(len(step)) - np.repeat(np.cumsum(count) - count, count)
            start = np.repeat(start, count) + nth * step
            end = start + step
        starts.append(start)
        ends.append(end)
        counts.append(len(start))
    if sum(counts) == len(whole):
        return whole
    path_of = np.repeat(np.arange(len(latency)), counts)
    return Spans(path_of, np.concatenate(starts), np.concatenate(ends))
