"""Cycles of every source line: the heat map of a program."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope.analyse._account import WORK, account, uses_of_paths
from cyclescope.analyse._source_levels import levels, position_at
from cyclescope.analyse._team import team
from cyclescope.analyse._track_stacks import track_units
from cyclescope.errors import InputError
from cyclescope.model import Kind, Profile, distinct, scaled_weights, tree_cycles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from cyclescope.analyse._track_stacks import TrackUnits
    from cyclescope.model import Ints

__all__ = ["Line", "line_cycles"]


@dataclass(frozen=True, slots=True)
class Line:
    """The cycles that the run spent on one line of a source text.

    Attributes:
        file, line: which; an empty file and line 0 for what no line is to blame for.
        cycles: cycles in which something from this line was active; where there are tracks
            (threads, processes), track-cycles: each that was there counts.
        useful: of these, the cycles in which it, or something that it called, did work. Work
            that counters tell apart as waiting is in it: they know no line.
        own: the line's part of the run, exactly: each cycle is split evenly among the ends of
            its call tree, and an end counts for the line nearest to it (a primitive for the line
            that uses it); the end of a track for the lines of the places that its units are
            divided among (`track_units`). All parts, the empty line's too, sum to the run's cycles.
        share: `cycles` of the profile's account.
        text: the line itself; empty if the profile does not carry it.
        waiting: thread-cycles for which threads waited in this line; in several places at once
            they count in each.
    """

    file: str
    line: int
    cycles: int
    useful: int
    own: Fraction
    share: Fraction
    text: str
    waiting: int = 0

    @property
    def overhead(self) -> int:
        """Cycles in which the line was active and nothing below it did work."""
        return self.cycles - self.useful


def line_cycles(profile: Profile, level: str | None = None) -> tuple[Line, ...]:
    """The cycles of every line that is in a frame's position, by file and line.

    Args:
        profile: what to count in.
        level: which level's lines; without one, the level that names the frames.

    Returns:
        Lines in order of file (by first mention) and number; those that never ran too, with 0.
        What is left over of `Line.own` comes last, with an empty file, if it is not 0.

    Raises:
        InputError: no frame has a position at that level.
    """
    known = levels(profile)
    if level is None:
        level = known[0] if known else None
    elif level not in known:
        have = ", ".join(known) or "none at all"
        raise InputError(
            f"{profile.meta.title}: no positions at level {level}; this profile has {have}"
        )
    places = [
        (p.file, p.line) if level and (p := position_at(frame, level)) else None
        for frame in profile.catalog
    ]
    frame = profile.call_paths.frame.tolist()
    of_path = [places[f] for f in frame]
    threads, whole = team(profile), account(profile)
    placed = np.array([place is not None for place in of_path], dtype=np.bool_)
    rows = _count_tracks(profile, placed) if whole.tracks else _count(profile, placed)
    active, useful = _by_place(profile, of_path, rows, max(len(whole.tracks), 1))
    waiting: dict[_Place, int] = {}
    for wait in threads.waits if threads is not None else ():
        if wait.line and wait.level == level:
            place = (wait.file, wait.line)
            waiting[place] = waiting.get(place, 0) + wait.cycles
    units = track_units(profile) if whole.tracks and profile.sites else []
    own = _own(profile, of_path, level, units)
    total = max(whole.total, 1)
    result = []
    named = {p for p in (*places, *waiting, *own) if p}
    files = list(dict.fromkeys(p[0] for p in (*places, *waiting, *own) if p))
    texts = {file: profile.sources.get(file, "").splitlines() for file in files}
    for file, line in sorted(named, key=lambda p: (files.index(p[0]), p[1])):
        place = (file, line)
        result.append(
            Line(
                file=file,
                line=line,
                cycles=active.get(place, 0),
                useful=useful.get(place, 0),
                own=own.get(place, Fraction(0)),
                share=Fraction(active.get(place, 0), total),
                text=texts[file][line - 1] if 0 < line <= len(texts[file]) else "",
                waiting=waiting.get(place, 0),
            )
        )
    rest = own.get(None, Fraction(0))
    if rest:
        result.append(Line("", 0, 0, 0, rest, Fraction(0), ""))
    return tuple(result)


_Place = tuple[str, int] | None


class _Rows(NamedTuple):
    """Paths with a place that are active in trees, each with the account in which it counts there.

    Attributes:
        cell: the tree, and the track in it: tree · tracks + track.
        path: what is active.
        works: whether this account is at work in this tree.
    """

    cell: Ints
    path: Ints
    works: NDArray[np.bool_]


def _count(profile: Profile, placed: NDArray[np.bool_]) -> _Rows:
    """Count what is active in trees and in a place, and whether there is work below it."""
    forest, parent = profile.forest, profile.call_paths.parent
    width = len(parent) + 1
    owner = np.repeat(np.arange(len(forest)), np.diff(forest.offset))
    at_work = np.array([use == WORK for use in uses_of_paths(profile)], dtype=np.bool_)
    key, works = owner * width + forest.path, np.zeros(len(owner), dtype=np.bool_)
    trees, paths = profile.leaves
    trees, paths = trees[at_work[paths]], paths[at_work[paths]]
    while len(paths):
        works[np.searchsorted(key, trees * width + paths)] = True
        trees, paths = trees[parent[paths] >= 0], parent[paths][parent[paths] >= 0]
        known = works[np.searchsorted(key, trees * width + paths)]
        trees, paths = trees[~known], paths[~known]
    shown = placed[forest.path]
    return _Rows(owner[shown], forest.path[shown], works[shown])


def _count_tracks(profile: Profile, placed: NDArray[np.bool_]) -> _Rows:
    """Count what is in a place and active in a track, or calls it; work counts in all of it."""
    forest, tracks, track_of = profile.forest, len(profile.tracks), profile.track_of
    shown = np.flatnonzero((placed & (track_of >= 0))[forest.path])
    path = forest.path[shown]
    owner = np.repeat(np.arange(len(forest)), np.diff(forest.offset))[shown]
    cells, paths = [owner * tracks + track_of[path]], [path]
    at_work = np.array([use == WORK for use in uses_of_paths(profile)], dtype=np.bool_)
    trees, ends = profile.leaves
    inside = track_of[ends] >= 0
    leaf = trees[inside] * tracks + track_of[ends[inside]]
    active, works = np.zeros((2, len(forest) * tracks), dtype=np.bool_)
    active[leaf] = True
    works[leaf[at_work[ends[inside]]]] = True
    for number, top in enumerate(profile.tracks):
        above = [caller for caller in profile.lineage(top)[:-1] if placed[caller]]
        own = np.flatnonzero(active[number::tracks]) * tracks + number
        cells += [own] * len(above)
        paths += [np.full(len(own), caller) for caller in above]
    every = np.concatenate(cells)
    return _Rows(every, np.concatenate(paths), works[every])


def _by_place(
    profile: Profile, of_path: list[_Place], rows: _Rows, tracks: int
) -> tuple[dict[_Place, int], dict[_Place, int]]:
    """For each place the cycles in which it was active, and those with work in it."""
    names = list(dict.fromkeys(of_path))
    place = {name: number for number, name in enumerate(names)}
    cycles = np.repeat(tree_cycles(profile), tracks)
    key = rows.cell * len(names)
    key += np.array([place[name] for name in of_path], dtype=np.int64)[rows.path]
    # What is in a place more than once is at work there if any of it is.
    key *= 2
    key += rows.works
    cell, found = np.divmod(distinct(key, 2 * len(cycles) * len(names)), 2 * len(names))
    number, works = found >> 1, (found & 1).astype(np.bool_)
    twice = np.flatnonzero((cell[1:] == cell[:-1]) & (number[1:] == number[:-1]))
    weight = cycles[cell]
    useful = np.zeros(len(names), dtype=np.int64)
    np.add.at(useful, number[works], weight[works])
    weight[twice] = 0
    active = np.zeros(len(names), dtype=np.int64)
    np.add.at(active, number, weight)
    both = (dict(zip(names, sums.tolist(), strict=True)) for sums in (active, useful))
    first, second = ({name: n for name, n in sums.items() if n} for sums in both)
    return first, second


def _own(
    profile: Profile, of_path: list[_Place], level: str | None, units: Iterable[TrackUnits]
) -> dict[_Place, Fraction]:
    """The scaled weights, gathered at the nearest place at or above each path, or in it."""
    nearest: list[_Place] = []
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        above = nearest[parent] if parent >= 0 else None
        used = profile.frame_of(path).kind is Kind.PRIMITIVE
        nearest.append((above or of_path[path]) if used else (of_path[path] or above))
    inside: dict[int, Counter[_Place]] = {}
    for one in units:
        at = one.at
        place = (at.file, at.line) if at is not None and at.level == level else nearest[one.path]
        inside.setdefault(one.path, Counter())[place] += one.units
    result: dict[_Place, Fraction] = {}
    for path, weight in enumerate(scaled_weights(profile)):
        if weight:
            parts = inside.get(path, Counter({nearest[path]: 1}))
            for place, count in parts.items():
                share = weight * count / parts.total()
                result[place] = result.get(place, Fraction(0)) + share
    return result
