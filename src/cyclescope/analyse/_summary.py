"""The answer in brief: how long, how well used, what stood out, and where the time went."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cyclescope.analyse._overheads import Overhead, design_overhead
from cyclescope.model import Ints, Kind, Meta, Position, Profile, tree_cycles

__all__ = ["HotPath", "Summary", "summarise"]


@dataclass(frozen=True, slots=True)
class HotPath:
    """A call path and the cycles that were spent at its very end.

    Attributes:
        stack: labels from the root down.
        kind: of the last frame: work if it is a group, overhead if a control block or a cell.
        cycles: cycles in which it was active and called nothing but primitives.
        share: of the run's total, exact. Paths active in parallel each count the whole cycle.
        position: where the last frame comes from.
    """

    stack: tuple[str, ...]
    kind: Kind
    cycles: int
    share: Fraction
    position: Position | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A whole run in brief; `meta` says whether it is complete and what went wrong."""

    meta: Meta
    cycles: int
    overhead: Overhead
    hottest: tuple[HotPath, ...]


def summarise(profile: Profile, *, hottest: int = 10) -> Summary:
    """Summarise a profile, with its hottest paths: at most that many, most cycles first."""
    own = _own_cycles(profile)
    order = np.argsort(-own, kind="stable")[:hottest]
    paths = []
    for path in order.tolist():
        cycles = int(own[path])
        if cycles == 0:
            break
        frame = profile.frame_of(path)
        paths.append(
            HotPath(
                stack=profile.stack(path),
                kind=frame.kind,
                cycles=cycles,
                share=Fraction(cycles, profile.cycles),
                position=frame.positions[0] if frame.positions else None,
            )
        )
    return Summary(
        meta=profile.meta,
        cycles=profile.cycles,
        overhead=design_overhead(profile),
        hottest=tuple(paths),
    )


def _own_cycles(profile: Profile) -> Ints:
    """For each path the cycles in which nothing but primitives was active below it.

    Primitives count for the group that calls them: a group that drives three adders is one
    thing to look at, not three.
    """
    parent = profile.call_paths.parent
    primitive = np.array([f.kind is Kind.PRIMITIVE for f in profile.catalog], dtype=np.bool_)
    skip = primitive[profile.call_paths.frame] if len(primitive) else primitive
    own = np.zeros(len(profile.call_paths), dtype=np.int64)
    for tree, cycles in enumerate(tree_cycles(profile).tolist()):
        active = profile.forest[tree]
        active = active[~skip[active]]
        own[active[~np.isin(active, parent[active])]] += cycles
    return own
