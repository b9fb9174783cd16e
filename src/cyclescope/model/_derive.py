"""Derivations from trees and runs: cycles of a tree, weights of a path.

One place for each derivation; every view and analysis calls these.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cyclescope.model._profile import Ints, Profile

__all__ = [
    "active_cycles",
    "cycles_with",
    "distinct",
    "first_cycles",
    "flat_weights",
    "leaves",
    "scaled_weights",
    "tree_cycles",
]

_TABLE = 1 << 24  # entries of a table that costs less than sorting


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


def leaves(profile: Profile, kept: NDArray[np.bool_] | None = None) -> tuple[Ints, Ints]:
    """The paths that call nothing, for each tree: (trees, paths), by tree and path.

    Args:
        profile: whose trees.
        kept: the paths that count, shape (paths,); the others call nothing and are none.
    """
    forest, parent = profile.forest, profile.call_paths.parent
    owner, path = np.repeat(np.arange(len(forest)), np.diff(forest.offset)), forest.path
    if kept is not None:
        there = kept[path]
        owner, path = owner[there], path[there]
    # What calls something is marked in a table of (tree, path). A root is called by number -1:
    # that is behind the paths of the row before.
    width = len(parent) + 1
    many = max(_TABLE // width, 1)
    calls = np.zeros(min(many, len(forest)) * width, dtype=np.bool_)
    leaf = np.empty(len(path), dtype=np.bool_)
    cuts = np.searchsorted(owner, np.arange(0, len(forest) + many, many))
    for number, (first, last) in enumerate(pairwise(cuts.tolist())):
        row = (owner[first:last] - number * many) * width
        above = row + parent[path[first:last]]
        calls[above] = True
        leaf[first:last] = ~calls[row + path[first:last]]
        calls[above] = False
    return owner[leaf], path[leaf]


def distinct(numbers: Ints, count: int) -> Ints:
    """The distinct numbers, all below `count`, in ascending order."""
    if count <= max(_TABLE, 4 * len(numbers)):
        seen = np.zeros(count, dtype=np.bool_)
        seen[numbers] = True
        return np.flatnonzero(seen)
    ordered = np.sort(numbers)
    found: Ints = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return found


def cycles_with(profile: Profile, trees: Ints, groups: Ints, count: int) -> Ints:
    """Cycles of trees in which any member of a group is active (shape: groups).

    Args:
        profile: whose trees.
        trees: of each member that is active somewhere, where; shape (members,).
        groups: its group, a number below `count`.
        count: how many groups there are.
    """
    tree, group = np.divmod(distinct(trees * count + groups, len(profile.forest) * count), count)
    result = np.zeros(count, dtype=np.int64)
    np.add.at(result, group, tree_cycles(profile)[tree])
    return result


def flat_weights(profile: Profile) -> list[int]:
    """Cycles in which each path was a leaf: every parallel stack counts whole cycles.

    The sum is Σ run cycles · leaves of the run's tree: the total where nothing ran in
    parallel, more where something did (Petal's flat flame graph).
    """
    trees, paths = profile.leaves
    weights = np.zeros(len(profile.call_paths), dtype=np.int64)
    np.add.at(weights, paths, tree_cycles(profile)[trees])
    found: list[int] = weights.tolist()
    return found


def scaled_weights(profile: Profile) -> list[Fraction]:
    """As `flat_weights`, each cycle split evenly among its tree's leaves.

    The sum is exactly the total number of cycles.
    """
    trees, paths = profile.leaves
    count = np.bincount(trees, minlength=len(profile.forest))
    cycles = tree_cycles(profile)
    weights = [Fraction(0)] * len(profile.call_paths)
    for share in np.unique(count[count > 0]).tolist():
        inside = count[trees] == share
        whole = np.zeros(len(weights), dtype=np.int64)
        np.add.at(whole, paths[inside], cycles[trees[inside]])
        for path in np.flatnonzero(whole).tolist():
            weights[path] += Fraction(int(whole[path]), share)
    return weights


def first_cycles(profile: Profile) -> Ints:
    """The first cycle in which each path was active (shape: paths); the total if in none."""
    forest, runs = profile.forest, profile.schedule
    of_tree = runs.first_cycles(len(forest))
    result = np.full(len(profile.call_paths), profile.cycles, dtype=np.int64)
    np.minimum.at(result, forest.path, np.repeat(of_tree, np.diff(forest.offset)))
    return result
