"""Cycles of every source line: the heat map of a program."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from cyclescope.analyse._account import WORK, account, uses_of_paths
from cyclescope.analyse._source_levels import levels, position_at
from cyclescope.analyse._team import team
from cyclescope.analyse._track_stacks import track_units
from cyclescope.errors import InputError
from cyclescope.model import Kind, Profile, scaled_weights, tree_cycles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse._track_stacks import TrackUnits

__all__ = ["Line", "line_cycles"]


@dataclass(frozen=True, slots=True)
class Line:
    """What the run spent on one line of a source text.

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
    active, useful = (_count_tracks if whole.tracks else _count)(profile, of_path)
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


def _count(profile: Profile, of_path: list[_Place]) -> tuple[dict[_Place, int], dict[_Place, int]]:
    """For each place the cycles in which it was active, and those with work below it."""
    parents = profile.call_paths.parent.tolist()
    uses = uses_of_paths(profile)
    active: dict[_Place, int] = {}
    useful: dict[_Place, int] = {}
    for tree, cycles in enumerate(tree_cycles(profile).tolist()):
        paths = profile.forest[tree].tolist()
        inner = {parents[path] for path in paths}
        # A caller stands before what it calls: upwards, each path knows of all below it.
        busy = {path for path in paths if path not in inner and uses[path] == WORK}
        for path in reversed(paths):
            if path in busy:
                busy.add(parents[path])
        for place in {of_path[path] for path in paths}:
            active[place] = active.get(place, 0) + cycles
        for place in {of_path[path] for path in busy if path >= 0}:
            useful[place] = useful.get(place, 0) + cycles
    return active, useful


def _count_tracks(
    profile: Profile, of_path: list[_Place]
) -> tuple[dict[_Place, int], dict[_Place, int]]:
    """As `_count`, in track-cycles: what a track, or what called it, was at, and not in vain."""
    track = profile.track_of.tolist()
    uses = uses_of_paths(profile)
    active: dict[_Place, int] = {}
    useful: dict[_Place, int] = {}
    for tree, cycles in enumerate(tree_cycles(profile).tolist()):
        below: dict[int, list[int]] = {}
        for path in profile.forest[tree].tolist():
            if track[path] >= 0:
                below.setdefault(track[path], []).append(path)
        for number, paths in below.items():
            inner = {int(profile.call_paths.parent[path]) for path in paths}
            lost = all(uses[path] != WORK for path in paths if path not in inner)
            for place in {
                of_path[path] for path in (*profile.lineage(profile.tracks[number]), *paths)
            }:
                active[place] = active.get(place, 0) + cycles
                if not lost:
                    useful[place] = useful.get(place, 0) + cycles
    return active, useful


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
