"""Call paths of tracks as a tree to draw: where each unit of the account was spent, and for what.

A thread's state says what its cycles are for, as do counters of waiting; so at the end of each loop
stands what the units there were for, in place of the states above it, on the place in the text
where that is known. Where a state is all that is known of a place, it stands there itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse import WORK, Use, track_units
from cyclescope.model import Frame, Kind, ProfileBuilder
from cyclescope.views._stacks import Stacks, first_cycles
from cyclescope.views._uses import use_style

if TYPE_CHECKING:
    from cyclescope.analyse import TrackUnits
    from cyclescope.model import Profile, Site

__all__ = ["track_stacks"]


def track_stacks(profile: Profile, *, apart: bool = False) -> tuple[Profile, Stacks]:
    """The tree of a profile with tracks, by function, loop, place and use.

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
        path = above
        for frame in _frames(profile, one, apart=apart):
            path = builder.path(above, frame)
            parents += [above] * (path == len(parents))
            above = path
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


def _frames(profile: Profile, one: TrackUnits, *, apart: bool) -> list[Frame]:
    """The frames of a path, its track's state replaced by what the units at its end were for."""
    result = []
    state: Frame | None = None
    inside = False
    lineage = profile.lineage(one.path if one.path >= 0 else one.track)
    for above in lineage:
        frame = profile.frame_of(above)
        if above == one.track:
            inside = True
            if apart or frame.kind is Kind.PROCESS:
                result.append(frame)
        elif inside and state is None and frame.activity is not None:
            state = frame
        else:
            result.append(frame)
    if one.site >= 0:
        result.append(_place(profile.sites[one.site], one))
    use = one.use
    if state is not None and profile.frame_of(lineage[-1]) is state:
        assert state.activity is not None
        if Use(state.activity, str(state.cause)) == use:
            return [*result, replace(state, kind=Kind.STATE)]
    name = use_style(use).name
    return [*result, Frame(Kind.STATE, name, "", activity=use.activity, cause=use.cause)]


def _place(site: Site, one: TrackUnits) -> Frame:
    """A place as a frame: what is done there, or the lines of a section."""
    words = [site.label] if one.use != WORK else []
    words += [f"line {one.at.line}"] if one.at is not None else []
    return Frame("place", ", ".join(words) or site.label, "", positions=(one.at,) if one.at else ())
