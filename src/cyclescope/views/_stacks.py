"""The call paths as a tree to draw: order, depth, and exact weights over one denominator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model import Profile, first_cycles, flat_weights, scaled_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cyclescope.model import CallPaths

__all__ = ["Stacks", "depth_first", "leaves", "stacks", "with_below"]


@dataclass(frozen=True)
class Stacks:
    """The paths that were ever active, as a flame graph or a list of stacks shows them.

    Attributes:
        order: paths, depth first; siblings by the cycle in which they first became active,
            then by number, so never by hash.
        own: for each path (by number) what it weighs itself, as a leaf.
        total: for each path what it weighs with all below it.
        unit: how many of these make one cycle. 1 where weights are whole cycles.
    """

    order: tuple[int, ...]
    own: tuple[int, ...]
    total: tuple[int, ...]
    unit: int

    @property
    def sum(self) -> int:
        """All weights together: `unit` · cycles if scaled for parallelism."""
        return sum(self.own)

    def cycles(self, weight: int) -> Fraction:
        """A weight in cycles, exactly."""
        return Fraction(weight, self.unit)

    @cached_property
    def whole(self) -> tuple[int, ...]:
        """For each path its own weight in whole cycles, for formats that know no others.

        Each is its exact weight rounded down, or up where most is lost by that (the method of
        the largest remainder), so that together they are the exact sum, rounded down.
        """
        rounded = [weight // self.unit for weight in self.own]
        rest = self.sum // self.unit - sum(rounded)
        largest = sorted(range(len(self.own)), key=lambda path: -(self.own[path] % self.unit))
        for path in largest[:rest]:
            rounded[path] += 1
        return tuple(rounded)


def leaves(profile: Profile) -> list[list[int]]:
    """For each tree the paths that call nothing in it, in the order of `Stacks.order`."""
    rank = np.arange(len(profile.call_paths))
    order = list(_ordered(profile))
    rank[order] = np.arange(len(order))
    trees, paths = profile.leaves
    sort = np.lexsort((rank[paths], trees))
    cut = np.searchsorted(trees, np.arange(len(profile.forest) + 1)).tolist()
    ends = paths[sort].tolist()
    return [ends[first:last] for first, last in pairwise(cut)]


def stacks(profile: Profile, *, scaled: bool) -> Stacks:
    """Weigh the paths: each parallel stack whole cycles, or a cycle split among its leaves."""
    unit = 1
    if scaled:
        exact = scaled_weights(profile)
        unit = math.lcm(*(weight.denominator for weight in exact))
        own = [int(weight * unit) for weight in exact]
    else:
        own = flat_weights(profile)
    return Stacks(_ordered(profile), tuple(own), with_below(profile.call_paths, own), unit)


def with_below(paths: CallPaths, own: Sequence[int]) -> tuple[int, ...]:
    """The weight of each path with all below it."""
    total = list(own)
    # A caller comes before what it calls.
    for path, parent in reversed(list(enumerate(paths.parent.tolist()))):
        if parent >= 0:
            total[parent] += total[path]
    return tuple(total)


def depth_first(paths: CallPaths, rank: Callable[[int], int]) -> Iterator[int]:
    """All paths, callers before what they call, siblings by rank and number."""
    children = paths.children
    waiting = [path for path, parent in enumerate(paths.parent.tolist()) if parent < 0]
    waiting.sort(key=lambda path: (rank(path), path), reverse=True)
    while waiting:
        path = waiting.pop()
        yield path
        waiting += sorted(children[path], key=lambda p: (rank(p), p), reverse=True)


def _ordered(profile: Profile) -> tuple[int, ...]:
    first = first_cycles(profile).tolist()
    every = depth_first(profile.call_paths, first.__getitem__)
    return tuple(path for path in every if first[path] < profile.cycles)
