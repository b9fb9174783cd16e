"""Call paths of tracks as a tree to draw: where each track-cycle was spent, and for what.

A thread's state says what its cycles are for, as do counters of waiting; so at the end of each loop
is what the units there were for, in place of the states above it, on the place in the text
where that is known. Where a state is all that is known of a place, it is there itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse import WORK, Use, track_units
from cyclescope.model import Frame, Kind, ProfileBuilder, first_cycles
from cyclescope.views._stacks import Stacks, depth_first, with_below
from cyclescope.views._uses import use_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.analyse import TrackUnits
    from cyclescope.model import Profile, Site

__all__ = ["TrackStacks", "track_parts", "track_stacks"]


@dataclass(frozen=True, slots=True)
class TrackStacks:
    """The tree of a profile with tracks.

    Attributes:
        tree: a profile of its paths, without cycles.
        weighed: their order, and their weights in units of the account.
        ends: of each part of the account the path at its end.
        stands_for: of each path the paths of the profile that it stands for.
    """

    tree: Profile
    weighed: Stacks
    ends: tuple[int, ...]
    stands_for: tuple[tuple[int, ...], ...]


def track_parts(profile: Profile) -> list[TrackUnits]:
    """The parts of the account of a profile with tracks, in the order in which they are drawn."""
    first = [*first_cycles(profile).tolist(), profile.cycles]
    parts = track_units(profile)
    parts.sort(key=lambda one: (first[one.path], one.track, one.path, one.use.rank, one.site))
    return parts


def track_stacks(
    profile: Profile, parts: Sequence[TrackUnits], *, apart: bool = False
) -> TrackStacks:
    """The tree of a profile with tracks, by function, loop, place and use.

    Args:
        profile: with tracks.
        parts: what `track_parts` gave of it.
        apart: tell threads apart; otherwise one box is that of all of them. Processes, which run
            different things, are apart in any case.
    """
    builder = ProfileBuilder()
    stands_for: list[dict[int, None]] = []
    ends: list[int] = []
    own: dict[int, int] = {}
    for one in parts:
        above = -1
        path = above
        for frame, of in _frames(profile, one, apart=apart):
            path = builder.path(above, frame)
            if path == len(stands_for):
                stands_for.append({})
            stands_for[path][of] = None
            above = path
        ends.append(path)
        own[path] = own.get(path, 0) + one.units
    nothing = np.empty(0, dtype=np.int64)
    tree = builder.build(profile.meta, nothing, nothing)
    weights = tuple(own.get(path, 0) for path in range(len(stands_for)))
    order = tuple(depth_first(tree.call_paths, lambda _: 0))
    weighed = Stacks(order, weights, with_below(tree.call_paths, weights), 1)
    return TrackStacks(tree, weighed, tuple(ends), tuple(map(tuple, stands_for)))


def _frames(profile: Profile, one: TrackUnits, *, apart: bool) -> list[tuple[Frame, int]]:
    """The frames of a part, its track's state replaced by what the units at its end were for.

    With each the path of the profile that it represents.
    """
    result = []
    state: Frame | None = None
    inside = False
    lineage = profile.lineage(one.path if one.path >= 0 else one.track)
    for above in lineage:
        frame = profile.frame_of(above)
        if above == one.track:
            inside = True
            if apart or frame.kind is Kind.PROCESS:
                result.append((frame, above))
        elif inside and state is None and frame.activity is not None:
            state = frame
        else:
            result.append((frame, above))
    end = lineage[-1]
    if one.site >= 0:
        result.append((_place(profile.sites[one.site], one), end))
    use = one.use
    if state is not None and profile.frame_of(end) is state and Use.of(state) == use:
        return [*result, (replace(state, kind=Kind.STATE), end)]
    name = use_style(use).name
    frame = Frame(Kind.STATE, name, "", activity=use.activity, cause=use.cause)
    return [*result, (frame, end)]


def _place(site: Site, one: TrackUnits) -> Frame:
    """A place as a frame: what is done there, or the lines of a section."""
    words = [site.label] if one.use != WORK else []
    words += [f"line {one.at.line}"] if one.at is not None else []
    return Frame("place", ", ".join(words) or site.label, "", positions=(one.at,) if one.at else ())
