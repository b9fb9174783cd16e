"""What each track's units went to, and where: the account, by call path.

A track's cycle is spent at the end of its call path. What of its work was waiting, counters say by
interval and not by path: within each interval it is divided among the paths at which the track
worked, in proportion to its cycles there. In total, and by track and use, the sums are those of the
account, exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope.analyse._account import WORK, Use, account, decisive_leaves, uses_of_paths
from cyclescope.model import Activity, Ints, Profile, tree_cycles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cyclescope.model import Series

__all__ = ["TrackUnits", "track_units"]


class TrackUnits(NamedTuple):
    """Units of one use that a track spent at one path.

    Attributes:
        track: the track's path.
        path: the end of the call path in it; -1 where it was not active at all.
        use: what they were for.
        units: how many.
    """

    track: int
    path: int
    use: Use
    units: int


def track_units(profile: Profile) -> list[TrackUnits]:
    """All units of a profile with tracks, by track, path and use; none of them 0.

    They sum to the account's total, and by track and use to the account.
    """
    whole = account(profile)
    leaves = decisive_leaves(profile)
    uses = uses_of_paths(profile)
    weights = tree_cycles(profile)
    result: list[TrackUnits] = []
    for number, track in enumerate(whole.tracks):
        leaf = leaves[:, number]
        spent = np.bincount(leaf + 1, weights=weights, minlength=len(uses) + 1).astype(np.int64)
        waiting = [s for s in profile.series if _tells(profile, s, track)]
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


def _tells(profile: Profile, series: Series, track: int) -> bool:
    """Whether a counter tells some of a track's work apart as waiting."""
    return (
        series.activity is Activity.WAITING
        and series.summed
        and series.path >= 0
        and track in profile.lineage(series.path)
    )


def _divided(
    profile: Profile, waiting: list[Series], leaf: Ints, worked: Ints
) -> list[tuple[Use, Ints]]:
    """For each counter what it takes from each path of work."""
    bounds = np.unique(np.concatenate([np.concatenate((s.start, s.end)) for s in waiting]))
    if len(bounds) < 2:
        return []
    left = np.stack([_cycles_between(profile, leaf == path, bounds) for path in worked.tolist()])
    result = []
    # Short intervals know more: they choose first.
    for series in sorted(waiting, key=lambda s: (s.end - s.start).mean() if len(s) else 0):
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
        use = Use(Activity.WAITING, str(series.cause))
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
    room = np.bincount(cells, weights=rest, minlength=len(value)).astype(np.int64)
    wanted = np.minimum(value, room)
    exact = wanted[cells] * rest
    share, remainder = np.divmod(exact, np.maximum(room, 1)[cells])
    missing = wanted - np.bincount(cells, weights=share, minlength=len(value)).astype(np.int64)
    order = np.lexsort((-remainder, cells))
    begin = np.searchsorted(cells[order], np.arange(len(value)))
    rank = np.arange(len(order)) - begin[cells[order]]
    share[order[rank < missing[cells[order]]]] += 1
    result: Ints = share.reshape(left.shape)
    return result
