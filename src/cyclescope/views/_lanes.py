"""The assignment of activations to rows of the timeline.

A row shows nested activations only. The arms of a `par` get a row each, by the control tree:
an arm keeps its row however often it runs, and an arm's first row is its parent's where that is
free. Activations that overlap though the program does not say so (a compiler moved them) go to
a further row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse import places
from cyclescope.model import Ints, Kind, Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Row", "rows"]


@dataclass(frozen=True, slots=True)
class Row:
    """Paths that nest or alternate, never overlap otherwise.

    Attributes:
        instance: the instance they lie in.
        kind: their kind.
        lane: the arm of a `par` they belong to, 0 for the first and for what is in none.
        extra: 0, or counting from 1 a further row for what overlaps in this lane.
        frame: for primitives and processes the one that the row shows; -1 for other kinds.
        paths: ascending, so callers before what they call.
    """

    instance: str
    kind: Kind | str
    lane: int
    extra: int
    frame: int
    paths: tuple[int, ...]


def rows(profile: Profile) -> list[Row]:
    """Every path in one row, in order of first mention."""
    lane_of = _lanes(profile)
    groups: dict[tuple[str, Kind | str, int, int], list[int]] = {}
    process = _processes(profile)
    for path, frame in enumerate(profile.call_paths.frame.tolist()):
        kind = profile.catalog[frame].kind
        if process[path] >= 0:
            # A process and what it waits for share a row.
            kind, frame = Kind.PROCESS, int(profile.call_paths.frame[process[path]])
        single = kind in (Kind.PRIMITIVE, Kind.PROCESS)
        lane = 0 if single or kind in (Kind.CELL, Kind.THREAD) else lane_of[path]
        key = (profile.instances[path], kind, lane, frame if single else -1)
        groups.setdefault(key, []).append(path)
    trees_of = _trees_of(profile)
    result = []
    for (instance, kind, lane, frame), paths in groups.items():
        for extra, members in enumerate(_apart(profile, paths, trees_of)):
            result.append(Row(instance, kind, lane, extra, frame, tuple(members)))
    return result


def _processes(profile: Profile) -> list[int]:
    """For each path the process that it is, or is in; -1 for none."""
    result: list[int] = []
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        above = result[parent] if parent >= 0 else -1
        result.append(path if profile.frame_of(path).kind is Kind.PROCESS else above)
    return result


def _lanes(profile: Profile) -> list[int]:
    """For each path its lane within its instance, by the arms of `par` above it."""
    place = places(profile)
    parents = profile.call_paths.parent.tolist()
    first: dict[int, int] = {}  # place → its first path
    children: dict[int, list[int]] = {}
    for path, parent in enumerate(parents):
        if place[path] not in first:
            first[place[path]] = path
            inside = parent >= 0 and profile.instances[parent] == profile.instances[path]
            if inside:
                children.setdefault(place[parent], []).append(place[path])
    parallel = {
        p: "par" in profile.frame_of(path).detail.split()
        and profile.frame_of(path).kind is Kind.CONTROL
        for p, path in first.items()
    }
    width: dict[int, int] = {}
    for p in reversed(range(len(first))):
        widths = [width[c] for c in children.get(p, ())]
        width[p] = max(1, sum(widths) if parallel[p] else max(widths, default=1))
    lane: dict[int, int] = {}
    for p in range(len(first)):
        base = lane.setdefault(p, 0)
        for child in children.get(p, ()):
            lane[child] = base
            if parallel[p]:
                base += width[child]
    return [lane[p] for p in place]


def _trees_of(profile: Profile) -> list[Ints]:
    """For each path the trees that hold it."""
    forest = profile.forest
    owner = np.repeat(np.arange(len(forest)), np.diff(forest.offset))
    order = np.argsort(forest.path, kind="stable")
    cut = np.searchsorted(forest.path[order], np.arange(1, len(profile.call_paths)))
    return np.split(owner[order], cut)


def _apart(profile: Profile, paths: Sequence[int], trees_of: list[Ints]) -> list[list[int]]:
    """Divide ascending paths so that those in one part nest or alternate.

    A path fits in a part if, in each tree that contains it, all of the part's active paths are
    above it. Whatever is above it is active in all those trees, so counting is enough.
    """
    parts: list[dict[int, None]] = []
    active: list[Ints] = []
    for path in paths:
        trees = trees_of[path]
        lineage = set(profile.lineage(path))
        for part, inside in enumerate(parts):
            if (active[part][trees] == len(lineage.intersection(inside))).all():
                break
        else:
            part = len(parts)
            parts.append({})
            active.append(np.zeros(len(profile.forest), dtype=np.int64))
        parts[part][path] = None
        active[part][trees] += 1
    return [list(inside) for inside in parts]
