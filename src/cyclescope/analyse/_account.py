"""The account of a profile: every unit of it has exactly one activity (DESIGN.md, "Meaning").

A profile whose frames run under one root is accounted in cycles; one with tracks (threads,
processes) in track-cycles, one of each track in each cycle. The use of a track-cycle follows from
the leaves of the call tree in its track, whose frames say so; counters tell some of it apart
further:

- in a cycle of control, the registers that take a step are the cause;
- of a track's cycles of work, those that a counter of waiting counts were none.

*Useful* is work over the account, *lost* is everything else, by activity and cause. A cell instance
has an account of its own: of the cycles in which it is active, by the leaves below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope.analyse._steps import causes_of_bits, steps
from cyclescope.errors import DataError
from cyclescope.model import Activity, Cause, Ints, Kind, Profile, Segments, tree_cycles

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from cyclescope.model import Frame, Series

__all__ = [
    "WORK",
    "Account",
    "Use",
    "UsesOfTracks",
    "UsesOverTime",
    "account",
    "accounts_of_instances",
    "decisive_leaves",
    "possible_uses",
    "uses_of_paths",
    "uses_of_tracks",
    "uses_over_time",
]

_ORDER = {activity: rank for rank, activity in enumerate(Activity)}
_CAUSES = {cause.value: rank for rank, cause in enumerate(Cause)}


class Use(NamedTuple):
    """The use of a unit of an account: an activity and, of control and waiting, its cause."""

    activity: Activity
    cause: str = ""

    @classmethod
    def of(cls, frame: Frame) -> Use | None:
        """Return the use that a frame declares; None if it leaves it to what calls it."""
        return None if frame.activity is None else cls(frame.activity, str(frame.cause))

    @property
    def label(self) -> str:
        """The name in every view, with its cause behind a colon where there is one."""
        return f"{self.activity.value}: {self.cause}" if self.cause else self.activity.value

    @property
    def rank(self) -> tuple[int, int, str]:
        """The place in every list: by activity, then by cause, known ones first."""
        return _ORDER[self.activity], _CAUSES.get(self.cause, len(_CAUSES)), self.cause


WORK = Use(Activity.WORK)


@dataclass(frozen=True)
class Account:
    """The account of a profile, or of an instance: all its units, by use.

    Attributes:
        unit: of what: `cycles`, or `thread-cycles`, `process-cycles`.
        tracks: the call path of each track; none for a single root.
        uses: all that occur, work first, in the order of `Use.rank`.
        of_track: units of each use, shape (tracks or 1, uses); a row of a profile sums to the
            run's cycles, that of an instance to those in which it is active.
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
    """Say where every unit of a profile went; worked out once."""
    return profile.once(_account)


def _account(profile: Profile) -> Account:
    work = _Uses.of(profile)
    tracks = profile.tracks
    of_trees = work.of_trees(_inside(profile), max(len(tracks), 1))
    rows = np.zeros((of_trees.shape[1], len(work.uses)), dtype=np.int64)
    cells = of_trees + np.arange(len(rows)) * len(work.uses)
    np.add.at(rows.reshape(-1), cells.reshape(-1), np.repeat(tree_cycles(profile), len(rows)))
    if not tracks:
        work.split_control([of_trees[:, 0]], [lambda _: True], rows)
    # What is counted beyond the work that was seen was in cycles whose state is not known.
    unknown = [i for i, use in enumerate(work.uses) if use.activity is Activity.UNKNOWN]
    unseen = rows[:, unknown].sum(axis=1)
    for number, track, use in work.splits:
        series = profile.series[number]
        counted = int(series.value.sum())
        units = min(counted, int(rows[track, work.number[WORK]]))
        rows[track, work.number[WORK]] -= units
        rows[track, use] += units
        unseen[track] -= counted - units
        if unseen[track] < 0:
            raise DataError(
                f"{profile.meta.title}: counter {series.name} of {series.track} counts more "
                "waiting than there is work; measure again"
            )
    kinds = {str(profile.frame_of(path).kind) for path in tracks}
    unit = f"{kinds.pop()}-cycles" if len(kinds) == 1 else "track-cycles" if kinds else "cycles"
    return work.account(unit, tracks, rows)


def accounts_of_instances(profile: Profile) -> dict[str, Account]:
    """The account of each cell instance, in order of first mention, by its dotted name.

    A cell that waits for its own control is lost however busy the rest of the design is.
    """
    work = _Uses.of(profile)
    members: dict[str, int] = {}
    above: list[frozenset[int]] = []
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        inherited = above[parent] if parent >= 0 else frozenset()
        if profile.frame_of(path).kind is Kind.CELL:
            own = members.setdefault(profile.instances[path], len(members))
            inherited |= {own}
        above.append(inherited)
    of_trees = np.full((len(profile.forest), len(members)), -1, dtype=np.int64)
    for number in range(len(members)):
        inside = np.array([0 if number in mine else -1 for mine in above], dtype=np.int64)
        of_trees[:, number] = work.of_trees(inside, 1, none=-1)[:, 0]
    weights = tree_cycles(profile)
    rows = np.zeros((len(members), len(work.uses)), dtype=np.int64)
    for row, column in zip(rows, of_trees.T, strict=True):
        np.add.at(row, column[column >= 0], weights[column >= 0])
    within = [_in_instance(name) for name in members]
    work.split_control(list(of_trees.T), within, rows)
    return {
        name: work.account("cycles", (), rows[number : number + 1])
        for name, number in members.items()
    }


def _in_instance(instance: str) -> Callable[[str], bool]:
    return lambda track: track == instance or track.startswith(f"{instance}.")


@dataclass(frozen=True)
class UsesOverTime:
    """The use of each cycle of a single root; runs follow each other from 0 without a gap.

    Attributes:
        uses: all that occur, in the order of `Use.rank`.
        segments: indices into `uses` over time; those that meet where two segments do may be equal.
    """

    uses: tuple[Use, ...]
    segments: Segments

    @cached_property
    def _runs(self) -> tuple[Ints, Ints]:
        return self.segments.runs(np.arange(len(self.uses)))

    @property
    def cycles(self) -> Ints:
        """Length of each run, shape (runs,)."""
        return self._runs[0]

    @property
    def index(self) -> Ints:
        """Its use, an index into `uses`, shape (runs,); neighbours differ."""
        return self._runs[1]

    def totals(self) -> dict[Use, int]:
        """Cycles of each use; they sum to the run's."""
        totals = self.segments.weights(len(self.uses))
        return dict(zip(self.uses, totals.tolist(), strict=True))


def uses_over_time(profile: Profile) -> UsesOverTime:
    """Say of every cycle what it is for, as `account` counts it. Of a profile without tracks."""
    work = _Uses.of(profile)
    inside = np.zeros(len(profile.call_paths), dtype=np.int64)
    of_trees = work.of_trees(inside, 1)[:, 0]
    found = work.steps
    segments = found.segments
    # A step is taken in the last cycle of a run, and what it leads to may be in the next segment:
    # segments are told apart by what follows them.
    offset, many = segments.offset, len(segments.offset) - 1
    follows = np.append(segments.order[1:].astype(np.int64), many)
    pairs, order = np.unique(
        segments.order.astype(np.int64) * (many + 1) + follows, return_inverse=True
    )
    own, behind = np.divmod(pairs, many + 1)
    size = np.diff(offset)[own]
    rows = np.arange(int(size.sum())) + np.repeat(offset[own] - (np.cumsum(size) - size), size)
    state = segments.state[rows].astype(np.int64)
    after = np.roll(state, -1)
    heads = np.append(segments.state[offset[:-1]], found.end).astype(np.int64)
    after[np.cumsum(size) - 1] = heads[behind]
    before = of_trees[found.tree_of[state]]
    last = work.refined(before, found.bits_of(state, after))
    cycles = np.stack((segments.cycles[rows].astype(np.int64) - 1, np.ones_like(state)), axis=1)
    index = np.stack((before, last), axis=1)
    # What takes no cycle goes; equal neighbours in a segment become one.
    there = cycles > 0
    owner = np.broadcast_to(np.repeat(np.arange(len(own)), size)[:, None], there.shape)[there]
    cycles, index = cycles[there], index[there]
    first = np.flatnonzero((np.diff(owner, prepend=-1) != 0) | (np.diff(index, prepend=-1) != 0))
    lengths = np.add.reduceat(cycles, first) if len(first) else cycles
    kept = sorted({work.number[WORK], *np.unique(index).tolist()})
    place = np.zeros(len(work.uses), dtype=np.int64)
    place[kept] = np.arange(len(kept))
    bounds = np.searchsorted(owner[first], np.arange(len(own) + 1))
    whole = Segments(order.reshape(-1), bounds, lengths, place[index[first]])
    return UsesOverTime(tuple(work.uses[n] for n in kept), whole)


def possible_uses(profile: Profile) -> list[Use]:
    """All uses that a profile's frames and counters may show, in the order of `Use.rank`."""
    return _Uses.of(profile).uses


def uses_of_paths(profile: Profile) -> list[Use]:
    """The use of a cycle in which each path is a leaf, as its frame says.

    A frame that leaves it open is as the path that calls it.
    """
    result: list[Use] = []
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        above = result[parent] if parent >= 0 else Use(Activity.UNKNOWN)
        result.append(Use.of(profile.frame_of(path)) or above)
    return result


def decisive_leaves(profile: Profile) -> Ints:
    """The path at whose end each track spends the cycles of each tree: shape (trees, tracks).

    Of several ends it is the first of the use that counts; -1 where nothing of a track is active.
    """
    return _Uses.of(profile).decisive(profile.track_of, len(profile.tracks))


def _use(series: Series) -> Use:
    """Return the use that a counter of waiting counts."""
    return Use(Activity.WAITING, str(series.cause) or Cause.OTHER.value)


def _inside(profile: Profile) -> Ints:
    """For each path which account it counts in: that of its track; without tracks, the only one."""
    return profile.track_of if profile.tracks else np.zeros(len(profile.call_paths), dtype=np.int64)


class _Uses:
    """All uses that a profile may show, numbered in the order in which they count side by side.

    Attributes:
        splits: as in `UsesOfTracks`.
    """

    @classmethod
    def of(cls, profile: Profile) -> _Uses:
        """Those of a profile, worked out once."""
        return profile.once(cls)

    def __init__(self, profile: Profile) -> None:
        self.steps = steps(profile)
        waiting = {
            n: _use(s) for n, s in enumerate(profile.series) if s.activity is Activity.WAITING
        }
        of_path = uses_of_paths(profile)
        causes = causes_of_bits(profile)
        stepping = causes if self.steps.registers else []
        named = {Use(Activity.CONTROL, cause) for cause in stepping if cause}
        every = {WORK, Use(Activity.IDLE), *of_path, *named, *waiting.values()}
        self.uses = sorted(every, key=lambda use: use.rank)
        self.number = {use: number for number, use in enumerate(self.uses)}
        inside = _inside(profile)
        of_series = ((n, profile.series[n].path, use) for n, use in waiting.items())
        self.splits = tuple(
            (n, int(inside[path]), self.number[use])
            for n, path, use in of_series
            if path >= 0 and inside[path] >= 0
        )
        self._of_path = np.array([self.number[use] for use in of_path], dtype=np.int64)
        self._control = np.array([use.activity is Activity.CONTROL for use in self.uses])
        self._of_bits = np.array(
            [self.number.get(Use(Activity.CONTROL, cause), -1) if cause else -1 for cause in causes]
        )
        self._trees = len(profile.forest)
        self._owner, self._leaf = profile.leaves

    def of_trees(self, inside: Ints, tracks: int, *, none: int | None = None) -> Ints:
        """The use of each track in each tree: shape (trees, tracks).

        Args:
            inside: for each path the track that it is in, -1 for none.
            tracks: how many there are.
            none: what to give where a track has no leaf; idle if not told.
        """
        chosen = np.full(self._trees * tracks, len(self.uses), dtype=np.int64)
        track = inside[self._leaf]
        there = track >= 0
        cells = self._owner[there] * tracks + track[there]
        np.minimum.at(chosen, cells, self._of_path[self._leaf[there]])
        nothing = self.number[Use(Activity.IDLE)] if none is None else none
        return np.where(chosen < len(self.uses), chosen, nothing).reshape(-1, tracks)

    def decisive(self, inside: Ints, tracks: int) -> Ints:
        """For each tree and track the first leaf of the use that counts there; -1: none."""
        there = inside[self._leaf] >= 0
        owner, leaf = self._owner[there], self._leaf[there]
        cell = owner * tracks + inside[leaf]
        order = np.lexsort((leaf, self._of_path[leaf], cell))
        first = np.flatnonzero(np.diff(cell[order], prepend=-1))
        result = np.full(self._trees * tracks, -1, dtype=np.int64)
        result[cell[order[first]]] = leaf[order[first]]
        return result.reshape(-1, tracks)

    def refined(self, uses: Ints, bits: NDArray[np.uint8]) -> Ints:
        """Uses of cycles, those of control by the registers that take a step in them."""
        named = self._of_bits[bits]
        return np.where(self._control[uses] & (named >= 0), named, uses)

    def split_control(
        self, of_trees: list[Ints], within: list[Callable[[str], bool]], rows: Ints
    ) -> None:
        """Move cycles of control to the causes that registers name.

        Args:
            of_trees: for each account the use of each tree, -1 where it does not count.
            within: for each which tracks' registers count.
            rows: for each the cycles of each use; changed in place.
        """
        if not self.steps.registers:
            return
        before, after, times = self.steps.changes
        tree = self.steps.tree_of[before]
        for uses, counts, row in zip(of_trees, within, rows, strict=True):
            which = (uses[tree] >= 0) & self._control[uses[tree]]
            old = uses[tree[which]]
            bits = self.steps.bits_of(before[which], after[which], counts)
            np.subtract.at(row, old, times[which])
            np.add.at(row, self.refined(old, bits), times[which])

    def account(self, unit: str, tracks: tuple[int, ...], rows: Ints) -> Account:
        """An account without uses that do not occur, but with work."""
        kept = [n for n, use in enumerate(self.uses) if use == WORK or rows[:, n].any()]
        return Account(unit, tracks, tuple(self.uses[n] for n in kept), rows[:, kept])


@dataclass(frozen=True, slots=True)
class UsesOfTracks:
    """The parts of a profile's account, for those who count a part of the run.

    A track's units of a use are the cycles of the trees in which it is at that use; of its cycles
    of work so many less as its counters of waiting count, which have uses of their own.

    Attributes:
        uses: all that may occur, in the order of `Use.rank`; numbers are indices into it.
        tracks: the call path of each track; none for a single root, which then is track 0.
        of_trees: the use of each track in each tree, shape (trees, tracks or 1).
        splits: of each counter of waiting its number in `profile.series`, the track whose work it
            tells apart, and the use of what it counts.
    """

    uses: tuple[Use, ...]
    tracks: tuple[int, ...]
    of_trees: Ints
    splits: tuple[tuple[int, int, int], ...]


def uses_of_tracks(profile: Profile) -> UsesOfTracks:
    """Say what each track is at in each call tree, and which counters tell its work apart."""
    work = _Uses.of(profile)
    of_trees = work.of_trees(_inside(profile), max(len(profile.tracks), 1))
    return UsesOfTracks(tuple(work.uses), profile.tracks, of_trees, work.splits)
