"""What follows from trees and runs: cycles of a tree, weights of a path.

One place for each derivation; every view and analysis calls these.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cyclescope.model._profile import Ints, Profile

__all__ = ["active_cycles", "first_cycles", "flat_weights", "scaled_weights", "tree_cycles"]


def tree_cycles(profile: Profile) -> Ints:
    """Cycles for which each tree held (shape: trees); they sum to the total."""
    weights = np.zeros(len(profile.forest), dtype=np.int64)
    runs = profile.schedule
    np.add.at(weights, runs.tree_of, runs.segments.weights(len(runs.tree_of)))
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


def first_cycles(profile: Profile) -> Ints:
    """The first cycle in which each path was active (shape: paths); the total if in none."""
    forest, runs = profile.forest, profile.schedule
    first, _ = runs.segments.first_rows(len(runs.tree_of))
    of_tree = np.full(len(forest), profile.cycles, dtype=np.int64)
    np.minimum.at(of_tree, runs.tree_of, first)
    result = np.full(len(profile.call_paths), profile.cycles, dtype=np.int64)
    np.minimum.at(result, forest.path, np.repeat(of_tree, np.diff(forest.offset)))
    return result
