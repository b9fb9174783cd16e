"""Call paths of tracks as a tree to draw: where each unit of the account was spent, and for what.

A thread's state says what its cycles are for, as do counters of waiting; so below each loop stands
what the units there were for, in place of the states above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse import track_units
from cyclescope.model import Frame, Kind, ProfileBuilder
from cyclescope.views._stacks import Stacks, first_cycles
from cyclescope.views._uses import use_style

if TYPE_CHECKING:
    from cyclescope.analyse import Use
    from cyclescope.model import Profile

__all__ = ["track_stacks"]


def track_stacks(profile: Profile, *, apart: bool = False) -> tuple[Profile, Stacks]:
    """The tree of a profile with tracks, by function, loop and use.

    Args:
        profile: with tracks.
        apart: tell threads apart; otherwise one box is that of all of them. Processes, which run
            different things, are apart in any case.

    Returns:
        A profile of the tree's paths, without cycles, and their weights in units of the account.
    """
    first = [*first_cycles(profile).tolist(), profile.cycles]
    units = track_units(profile)
    units.sort(key=lambda one: (first[one.path], one.track, one.path, one.use.rank))
    builder = ProfileBuilder()
    parents: list[int] = []
    own: dict[int, int] = {}
    for one in units:
        above = -1
        for frame in _frames(profile, one.track, one.path, apart=apart):
            path = builder.path(above, frame)
            parents += [above] * (path == len(parents))
            above = path
        path = builder.path(above, _use_frame(one.use))
        parents += [above] * (path == len(parents))
        own[path] = own.get(path, 0) + one.units
    nothing = np.empty(0, dtype=np.int64)
    tree = builder.build(profile.meta, nothing, nothing)
    weights = [own.get(path, 0) for path in range(len(parents))]
    total = weights.copy()
    children: list[list[int]] = [[] for _ in parents]
    for path in range(len(parents) - 1, -1, -1):
        if parents[path] >= 0:
            total[parents[path]] += total[path]
            children[parents[path]].insert(0, path)
    order: list[int] = []
    waiting = [path for path, parent in enumerate(parents) if parent < 0][::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(children[order[-1]])
    return tree, Stacks(tuple(order), tuple(weights), tuple(total), 1)


def _frames(profile: Profile, track: int, path: int, *, apart: bool) -> list[Frame]:
    """The frames of a path, without those that only say what its cycles are for."""
    result = []
    inside = said = False
    for above in profile.lineage(path if path >= 0 else track):
        frame = profile.frame_of(above)
        if above == track:
            inside = True
            if apart or frame.kind is Kind.PROCESS:
                result.append(frame)
        elif inside and not said and frame.activity is not None:
            said = True
        else:
            result.append(frame)
    return result


def _use_frame(use: Use) -> Frame:
    return Frame(
        Kind.STATE, use_style(use).name, "", activity=use.activity, cause=use.cause, generated=False
    )
