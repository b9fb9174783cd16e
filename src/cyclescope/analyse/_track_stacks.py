"""The account by call path: the use of each track's units, and where.

A track's cycle is spent at the end of its call path. What of its work was waiting, counters say by
interval and not by path: within each interval it is divided among the paths at which the track
worked, in proportion to its cycles there. In total, and by track and use, the sums are those of the
account, exactly.

Where in a path's loop was waited, counters of places say, for all tracks together: the units are
divided among the places of their cause in the loop, of a thread that has a lock among those in
which it has one, in proportion to what these counters count in the run. Work of a thread that has a
lock, but not in a loop inside the section, is the section's: at its lines, by their stages.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope.analyse._account import WORK, Use, decisive_leaves, uses_of_paths, uses_of_tracks
from cyclescope.model import Activity, Ints, Lock, Loop, Profile, tree_cycles

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from cyclescope.model import Position, Series

__all__ = ["TrackUnits", "track_units"]


class TrackUnits(NamedTuple):
    """Units of one use that a track spent at one path.

    Attributes:
        track: the track's path.
        path: the end of the call path in it; -1 where it was not active at all.
        use: what they were for.
        units: how many.
        site: the place in the path's loop, a number among the profile's sites; -1 where no more
            than the path is known.
        at: the place in the text.
    """

    track: int
    path: int
    use: Use
    units: int
    site: int = -1
    at: Position | None = None


def track_units(profile: Profile) -> list[TrackUnits]:
    """All units of a profile with tracks, by track, path, use and place; none of them 0.

    They sum to the account's total, and by track and use to the account.
    """
    places = _Places(profile)
    return [part for one in _of_paths(profile) for part in places.divide(one)]


def _of_paths(profile: Profile) -> list[TrackUnits]:
    """The units by track, path and use."""
    told = uses_of_tracks(profile)
    leaves = decisive_leaves(profile)
    uses = uses_of_paths(profile)
    weights = tree_cycles(profile)
    result: list[TrackUnits] = []
    for number, track in enumerate(told.tracks):
        leaf = leaves[:, number]
        spent = np.bincount(leaf + 1, weights=weights, minlength=len(uses) + 1).astype(np.int64)
        waiting = [(profile.series[s], told.uses[u]) for s, t, u in told.splits if t == number]
        worked = np.array(
            [p for p in np.unique(leaf).tolist() if p >= 0 and uses[p] == WORK], dtype=np.int64
        )
        lost = _divided(profile, waiting, leaf, worked) if waiting and len(worked) else []
        for use, units in lost:
            spent[worked + 1] -= units
            result += [
                TrackUnits(track, path, use, n)
                for path, n in zip(worked.tolist(), units.tolist(), strict=True)
                if n
            ]
        for place in np.flatnonzero(spent).tolist():
            path = place - 1
            use = uses[path] if path >= 0 else Use(Activity.IDLE)
            result.append(TrackUnits(track, path, use, int(spent[place])))
    return result


class _Places:
    """The places of a profile among which the units of a path are divided."""

    def __init__(self, profile: Profile) -> None:
        self._profile, self._sites = profile, profile.sites
        loops = {s.frame: n for n, s in enumerate(self._sites) if isinstance(s, Loop)}
        loops.pop(-1, None)
        self._timed = bool(loops)
        self._held = {s.held for s in self._sites if isinstance(s, Lock)} - {-1}
        self._loop: list[int] = []  # of each path the innermost loop that it is in
        self._has_lock: list[bool] = []
        for path, parent in enumerate(profile.call_paths.parent.tolist()):
            frame = int(profile.call_paths.frame[path])
            above = self._loop[parent] if parent >= 0 else -1
            self._loop.append(loops.get(frame, above))
            self._has_lock.append(frame in self._held or (parent >= 0 and self._has_lock[parent]))
        self._counted: dict[str, Counter[int]] = {}  # by cause and site
        for series in profile.series:
            if series.of_place and series.activity is None:
                found = self._counted.setdefault(str(series.cause), Counter())
                found[series.site] += int(series.value.sum())

    def divide(self, one: TrackUnits) -> list[TrackUnits]:
        """Units of a path, by place as far as places are known."""
        if one.path < 0:
            return [one]
        if one.use.activity is Activity.WAITING:
            weights = self._waited(one)
        elif one.use == WORK and self._has_lock[one.path]:
            weights = self._sections(one)
        else:
            return [one]
        shares = _apportioned(one.units, list(weights.values()))
        return [
            one._replace(units=units, site=site, at=at)
            for (site, at), units in zip(weights, shares, strict=True)
            if units
        ] or [one]

    def _waited(self, one: TrackUnits) -> dict[tuple[int, Position | None], int]:
        """The counts of places for the cause of a path's waiting, near the path."""
        counted = self._counted.get(one.use.cause, Counter())
        near = {n: count for n, count in counted.items() if count > 0}
        has_lock = self._has_lock[one.path]
        same = {n: c for n, c in near.items() if (self._names(n, "lock") >= 0) == has_lock}
        near = same or near
        if self._timed:
            loop = self._around(one.path, near)
            near = {n: count for n, count in near.items() if self._names(n, "loop") == loop}
        return {(n, self._sites[n].position): count for n, count in near.items()}

    def _sections(self, one: TrackUnits) -> dict[tuple[int, Position | None], int]:
        """The lines of the sections in which a path's work may have been done, and their stages.

        Each section that may be meant is passed as often. A loop inside a section has a line of
        its own.
        """
        innermost = self._loop[one.path]
        if innermost >= 0 and self._names(innermost, "lock") >= 0:
            return {}
        locks = {
            n: site
            for n, site in enumerate(self._sites)
            if isinstance(site, Lock) and site.held >= 0
        }
        loop = self._around(one.path, locks)
        result: dict[tuple[int, Position | None], int] = {}
        for n, site in locks.items():
            if site.position is None or (self._timed and site.loop != loop):
                continue
            for line, stages in zip(site.lines, site.stages, strict=True):
                result[n, replace(site.position, line=line, column=0)] = stages
            if not site.lines:
                result[n, site.position] = 1
        return result

    def _around(self, path: int, sites: Collection[int]) -> int:
        """The innermost loop that a path is in and that has one of some places; -1 for none."""
        loop = self._loop[path]
        while loop >= 0 and not any(self._names(n, "loop") == loop for n in sites):
            loop = self._names(loop, "parent")
        return loop

    def _names(self, number: int, attribute: str) -> int:
        """The site that a site names by an attribute, -1 for none."""
        return getattr(self._sites[number], attribute, -1)


def _apportioned(units: int, weights: list[int]) -> list[int]:
    """Whole parts of units in proportion to weights, by the method of the largest remainder."""
    total = sum(weights)
    if not total:
        return []
    parts = [units * weight // total for weight in weights]
    order = sorted(range(len(weights)), key=lambda n: (-(units * weights[n] % total), n))
    for n in order[: units - sum(parts)]:
        parts[n] += 1
    return parts


def _divided(
    profile: Profile, waiting: list[tuple[Series, Use]], leaf: Ints, worked: Ints
) -> list[tuple[Use, Ints]]:
    """For each counter what it takes from each path of work."""
    bounds = np.unique(np.concatenate([np.concatenate((s.start, s.end)) for s, _ in waiting]))
    if len(bounds) < 2:
        return []
    left = np.stack([_cycles_between(profile, leaf == path, bounds) for path in worked.tolist()])
    result = []
    # Short intervals know more: they choose first.
    for series, use in sorted(
        waiting, key=lambda one: (one[0].end - one[0].start).mean() if len(one[0]) else 0
    ):
        first = np.searchsorted(bounds, series.start)
        last = np.searchsorted(bounds, series.end)
        # The interval of the counter in which each piece between two bounds lies; -1 for none.
        owner = np.full(len(bounds) - 1, -1, dtype=np.int64)
        for number, (begin, end) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            owner[begin:end] = number
        taken = _shared(left, owner, series.value)
        # Where intervals overlap others in part, what is left of theirs may be too little.
        over = int(series.value.sum()) - int(taken.sum())
        if over:
            taken += _shared(left - taken, np.zeros_like(owner), np.array([over]))
        left -= taken
        result.append((use, taken.sum(axis=1)))
    return result


def _cycles_between(profile: Profile, inside: NDArray[np.bool_], bounds: Ints) -> Ints:
    """Cycles between neighbouring bounds in which one of some trees is shown."""
    runs = profile.schedule
    counted = np.where(inside[runs.tree], runs.cycles, 0)
    until = np.concatenate(([0], np.cumsum(counted)))
    ends = np.concatenate(([0], np.cumsum(runs.cycles)))
    total = np.interp(bounds, ends, until)  # within a run it rises by 1 a cycle, or not at all
    until_bounds: Ints = np.rint(total).astype(np.int64)
    return until_bounds[1:] - until_bounds[:-1]


def _shared(left: Ints, owner: Ints, value: Ints) -> Ints:
    """Divide each interval's value among its cells in proportion to what is left there.

    Args:
        left: for each path and piece the cycles that are left, shape (paths, pieces).
        owner: the interval of each piece, -1 for none.
        value: of each interval.

    Returns:
        Whole numbers of the shape of `left`, none larger than it. In an interval they sum to its
        value, by the method of the largest remainder.
    """
    if not len(value):
        return np.zeros_like(left)
    cells = np.broadcast_to(owner, left.shape).reshape(-1)
    rest = np.where(cells >= 0, left.reshape(-1), 0)
    cells = np.maximum(cells, 0)
    available = np.bincount(cells, weights=rest, minlength=len(value)).astype(np.int64)
    wanted = np.minimum(value, available)
    exact = wanted[cells] * rest
    share, remainder = np.divmod(exact, np.maximum(available, 1)[cells])
    missing = wanted - np.bincount(cells, weights=share, minlength=len(value)).astype(np.int64)
    order = np.lexsort((-remainder, cells))
    begin = np.searchsorted(cells[order], np.arange(len(value)))
    rank = np.arange(len(order)) - begin[cells[order]]
    share[order[rank < missing[cells[order]]]] += 1
    result: Ints = share.reshape(left.shape)
    return result
