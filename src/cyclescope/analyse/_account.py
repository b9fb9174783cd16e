"""The account of a profile: every unit of it has exactly one activity (DESIGN.md, "Meaning").

A profile whose frames run under one root is accounted in cycles; one with tracks (threads,
processes) in track-cycles, one of each track in each cycle. What a unit is for follows from the
leaves of the call tree in its track, whose frames say so; counters tell some of it apart further:

- in a cycle of control, the registers that take a step are the cause;
- of a track's cycles of work, those that a counter of waiting counts were none.

*Useful* is work over the account, *lost* is everything else, by activity and cause.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope.analyse._steps import bits_at, causes_of_bits, steps, trees_at, windows
from cyclescope.model import Activity, Cause, Ints, Profile, tree_cycles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.model import Series

__all__ = ["WORK", "Account", "Use", "account", "uses_of_paths"]

_ORDER = {activity: rank for rank, activity in enumerate(Activity)}
_CAUSES = {cause.value: rank for rank, cause in enumerate(Cause)}


class Use(NamedTuple):
    """What a unit of an account is for: an activity and, of control and waiting, its cause."""

    activity: Activity
    cause: str = ""

    @property
    def label(self) -> str:
        """The name in every view: `waiting: memory`, `control: fsm`, `idle`."""
        return f"{self.activity.value}: {self.cause}" if self.cause else self.activity.value

    @property
    def rank(self) -> tuple[int, int, str]:
        """The place in every list: by activity, then by cause, known ones first."""
        return _ORDER[self.activity], _CAUSES.get(self.cause, len(_CAUSES)), self.cause


WORK = Use(Activity.WORK)


@dataclass(frozen=True)
class Account:
    """Where all units of a profile went.

    Attributes:
        unit: of what: `cycles`, or `thread-cycles`, `process-cycles`.
        tracks: the call path of each track; none for a single root.
        uses: all that occur, work first, in the order of `Use.rank`.
        of_track: units of each use, shape (tracks or 1, uses); each row sums to the run's cycles.
    """

    unit: str
    tracks: tuple[int, ...]
    uses: tuple[Use, ...]
    of_track: Ints

    @cached_property
    def total(self) -> int:
        """All units: the run's cycles, times the tracks."""
        return int(self.of_track.sum())

    @cached_property
    def parts(self) -> dict[Use, int]:
        """Units of each use; they sum to the total."""
        return dict(zip(self.uses, self.of_track.sum(axis=0).tolist(), strict=True))

    @cached_property
    def useful(self) -> int:
        """Units of work."""
        return self.parts.get(WORK, 0)

    @cached_property
    def lost(self) -> dict[Use, int]:
        """Units of everything else, none of them 0; with `useful` they sum to the total."""
        return {use: n for use, n in self.parts.items() if n and use != WORK}

    def of(self, activity: Activity) -> int:
        """Units of one activity, whatever the cause."""
        return sum(n for use, n in self.parts.items() if use.activity is activity)

    def share(self, units: int) -> Fraction:
        """Units as a part of the total, exactly."""
        return Fraction(units, self.total) if self.total else Fraction(0)


def account(profile: Profile) -> Account:
    """Say where every unit of a profile went."""
    found = _Account(profile)
    return found.result()


def uses_of_paths(profile: Profile) -> list[Use]:
    """What a cycle is for in which each path is a leaf, as its frame says.

    A frame that leaves it open is as the path that calls it.
    """
    result: list[Use] = []
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        frame = profile.frame_of(path)
        if frame.activity is None:
            result.append(result[parent] if parent >= 0 else Use(Activity.UNKNOWN))
        else:
            result.append(Use(frame.activity, str(frame.cause)))
    return result


def _tracks(profile: Profile) -> tuple[list[int], Ints]:
    """The paths that are tracks, and for each path which of them it is in (-1: none)."""
    tracks: list[int] = []
    inside: list[int] = []
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        if profile.frame_of(path).track:
            inside.append(len(tracks))
            tracks.append(path)
        else:
            inside.append(inside[parent] if parent >= 0 else -1)
    return tracks, np.array(inside, dtype=np.int64)


class _Account:
    """The work in hand: classes are numbered in the order of `Use.rank`."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.tracks, self.inside = _tracks(profile)
        if not self.tracks:
            self.inside = np.zeros(len(profile.call_paths), dtype=np.int64)
        of_path = uses_of_paths(profile)
        self.steps = steps(profile)
        causes = causes_of_bits(profile)
        if self.tracks:
            causes = []
        refined = {Use(Activity.CONTROL, cause) for cause in causes if cause}
        counted = {
            Use(Activity.WAITING, str(series.cause) or Cause.OTHER.value)
            for series in self.waiting()
        }
        every = {WORK, Use(Activity.IDLE), *of_path, *refined, *counted}
        self.uses = sorted(every, key=lambda use: use.rank)
        self.number = {use: number for number, use in enumerate(self.uses)}
        self.of_path = np.array([self.number[use] for use in of_path], dtype=np.int64)
        self.of_bits = np.array(
            [self.number[Use(Activity.CONTROL, cause)] if cause else -1 for cause in causes],
            dtype=np.int64,
        )

    def waiting(self) -> Iterator[Series]:
        """The counters that tell waiting apart from work."""
        for series in self.profile.series:
            if series.activity is Activity.WAITING and series.summed:
                yield series

    def of_trees(self) -> Ints:
        """The use of each track in each tree: shape (trees, tracks or 1)."""
        profile, forest = self.profile, self.profile.forest
        idle = self.number[Use(Activity.IDLE)]
        tracks = max(len(self.tracks), 1)
        result = np.full((len(forest), tracks), idle, dtype=np.int64)
        parent, active = profile.call_paths.parent, forest.path
        owner = np.repeat(np.arange(len(forest)), np.diff(forest.offset))
        # One number for each (tree, path), ascending; a leaf is no active path's parent.
        key = owner * (len(parent) + 1)
        inner = parent[active] >= 0
        leaf = np.ones(len(active), dtype=np.bool_)
        leaf[np.searchsorted(key + active, (key + parent[active])[inner])] = False
        leaf &= self.inside[active] >= 0
        at, which = owner[leaf], active[leaf]
        # Numbers are in the order in which uses count side by side.
        chosen = np.full((len(forest), tracks), len(self.uses), dtype=np.int64)
        np.minimum.at(chosen, (at, self.inside[which]), self.of_path[which])
        there = chosen < len(self.uses)
        result[there] = chosen[there]
        return result

    def result(self) -> Account:
        """The account."""
        profile = self.profile
        of_trees = self.of_trees()
        weights = tree_cycles(profile)
        rows = np.zeros((of_trees.shape[1], len(self.uses)), dtype=np.int64)
        for track, column in enumerate(of_trees.T):
            np.add.at(rows[track], column, weights)
        if not self.tracks:
            self._split_control(of_trees[:, 0], rows[0])
        for series in self.waiting():
            track = int(self.inside[series.path]) if series.path >= 0 else -1
            if track >= 0:
                units = int(series.value.sum())
                use = Use(Activity.WAITING, str(series.cause) or Cause.OTHER.value)
                rows[track, self.number[WORK]] -= units
                rows[track, self.number[use]] += units
        kept = [n for n, use in enumerate(self.uses) if use == WORK or rows[:, n].any()]
        uses = tuple(self.uses[n] for n in kept)
        kinds = {str(profile.frame_of(path).kind) for path in self.tracks}
        unit = f"{kinds.pop()}-cycles" if len(kinds) == 1 else "track-cycles" if kinds else "cycles"
        return Account(unit, tuple(self.tracks), uses, rows[:, kept])

    def _split_control(self, of_trees: Ints, row: Ints) -> None:
        """Name the causes of cycles of control, where registers take a step in them."""
        if not self.steps:
            return
        control = np.array([use.activity is Activity.CONTROL for use in self.uses])[of_trees]
        for first, last in windows(self.profile):
            tree = trees_at(self.profile, first, last)
            held = control[tree]
            named = self.of_bits[bits_at(self.steps, lambda _: True, first, last)[held]]
            before = of_trees[tree[held]]
            known = named >= 0
            row -= np.bincount(before[known], minlength=len(row))
            row += np.bincount(named[known], minlength=len(row))
