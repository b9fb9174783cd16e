"""Spots: places of a profile with their figures, as comparisons show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model import Kind, Position, Profile, cycles_with

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

__all__ = ["Spot", "cycles_of", "spot_at"]


@dataclass(frozen=True, slots=True)
class Spot:
    """A path inside a cell instance, in one of the two profiles.

    Attributes:
        path: an example among the call paths that end there.
        instance: the instance, dotted.
        stack: labels from below the instance's cell down; empty for the cell itself.
        kind: of the last frame.
        position: where the last frame comes from.
        own: its own cycles, at its end, those of the primitives that it calls included; exact, a
            cycle split evenly among what runs in parallel.
        active: cycles in which it was active.
    """

    path: int
    instance: str
    stack: tuple[str, ...]
    kind: Kind | str
    position: Position | None
    own: Fraction
    active: int


def cycles_of(profile: Profile, group: Sequence[int], groups: int) -> list[int]:
    """For each group of paths the cycles in which one of it was active.

    Args:
        profile: whose paths.
        group: for each path the number of its group, or -1.
        groups: how many there are.
    """
    forest = profile.forest
    trees = np.repeat(np.arange(len(forest)), np.diff(forest.offset))
    member = np.array(group, dtype=np.int64)[forest.path]
    there = member >= 0
    found: list[int] = cycles_with(profile, trees[there], member[there], groups).tolist()
    return found


def spot_at(profile: Profile, path: int, own: Fraction, active: int) -> Spot:
    """The spot at a path, with its figures."""
    frame, instance = profile.frame_of(path), profile.instances[path]
    chain = profile.lineage(path)
    team = next((p for p in chain if profile.frame_of(p).kind is Kind.THREAD), -1)
    if team >= 0:
        # Whichever thread it is.
        instance = profile.instances[chain[0]]
        inside = chain[chain.index(team) :]
    else:
        inside = [p for p in chain if profile.instances[p] == instance]
    frames = [profile.frame_of(p) for p in inside]
    names = ("threads" if f.kind is Kind.THREAD else f.label for f in frames)
    kinds = (f.kind for f in frames)
    return Spot(
        path=path,
        instance=instance,
        stack=tuple(n for n, k in zip(names, kinds, strict=True) if k is not Kind.CELL),
        kind=frame.kind,
        position=frame.positions[0] if frame.positions else None,
        own=own,
        active=active,
    )
