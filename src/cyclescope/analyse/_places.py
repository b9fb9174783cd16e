"""Places: call paths told apart by where they are in an instance, not by who called it."""

from __future__ import annotations

from cyclescope.model import Kind, Profile

__all__ = ["places"]


def places(profile: Profile, *, as_team: bool = False) -> tuple[int, ...]:
    """For each path the number of its place: an instance and a chain of frames inside it.

    A cell that is called from eight groups has eight call paths and as many copies of all paths
    inside it, but one place each. Numbers ascend from 0 in order of first mention.

    Args:
        profile: whose paths.
        as_team: threads run one program: a place is in whichever of them.
    """
    known: dict[tuple[object, int], int] = {}
    result: list[int] = []
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        kind = profile.frame_of(path).kind
        if as_team and kind is Kind.THREAD:
            result.append(known.setdefault((parent, -1), len(known)))
            continue
        starts = parent < 0 or kind in (Kind.CELL, Kind.THREAD)
        above = profile.instances[path] if starts else result[parent]
        key = (above, int(profile.call_paths.frame[path]))
        result.append(known.setdefault(key, len(known)))
    return tuple(result)
