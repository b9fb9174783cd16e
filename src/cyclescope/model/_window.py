"""A part of a run as a profile of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.errors import InputError
from cyclescope.model._activity import Activity
from cyclescope.model._meta import Anomaly, Severity
from cyclescope.model._profile import Profile, Runs, Trees
from cyclescope.model._series import Bank, Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.model._profile import Ints
    from cyclescope.model._segments import Segments

__all__ = ["around", "between", "check_window"]


def check_window(profiles: Sequence[Profile], start: int, end: int | None) -> None:
    """Raise `InputError` if no profile has a cycle from `start` to before `end`."""
    longest = max(profile.cycles for profile in profiles)
    until = longest if end is None else min(end, longest)
    if start < 0 or (start >= until and longest > 0):
        raise InputError(
            f"no cycles from {start} to before {until if end is None else end}: the run has cycles "
            f"0 to {longest - 1}; choose a window inside it"
        )


def between(profile: Profile, start: int = 0, end: int | None = None) -> Profile:
    """The profile of cycles `start` up to before `end`, which are its cycles 0 and on.

    Counters whose values hold throughout an interval are cut as runs are. Of totals
    (`Series.summed`) only samples that lie inside count; how many the window cuts is an anomaly.

    Args:
        profile: of the whole run.
        start: the first cycle.
        end: the cycle after the last; None for the run's end.

    Raises:
        InputError: no cycle of the run is in the window.
    """
    check_window([profile], start, end)
    until = profile.cycles if end is None else min(end, profile.cycles)
    if start == 0 and until == profile.cycles:
        return profile
    runs = profile.schedule
    segments = runs.segments.between(start, until)
    numbers, shown = Runs.of(segments, runs.tree_of).by_appearance(len(profile.forest))
    rows = [profile.forest[tree] for tree in numbers.tolist()]
    offset = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=offset[1:])
    path = np.concatenate([np.empty(0, dtype=np.int64), *rows])
    banks: dict[int, Bank] = {}
    series, lost = [], 0
    for one in profile.series:
        if one.bank is not None:
            bank = banks.get(id(one.bank))
            if bank is None:
                same = one.bank.segments is runs.segments
                own = segments if same else one.bank.segments.between(start, until)
                bank = banks[id(one.bank)] = _bank(one.bank, own, until)
            series.append(one.with_values(bank=bank))
            continue
        kept, cut = _intervals(one, start, until)
        lost += cut
        series.append(one.with_values(*kept))
    anomalies = profile.meta.anomalies
    if lost:
        detail = "of counters, that the window cuts: they are left out"
        anomalies = (*anomalies, Anomaly("sample cut", Severity.DATA_LOSS, lost, detail))
    title = f"{profile.meta.title}, cycles {start} to {until - 1}"
    return replace(
        profile,
        meta=replace(
            profile.meta, title=title, anomalies=anomalies, ladder=(), other_bounds=(), memories=()
        ),
        forest=Trees(offset=offset, path=path),
        schedule=shown,
        series=tuple(series),
        flows=(),
    )


def around(profile: Profile, start: int, end: int) -> tuple[Profile, int]:
    """The part of a run that it takes to know all of a window, and the cycle with which it begins.

    It begins and ends with segments of runs. What is active in the window is so there, too, and
    activations are cut where they are in the run; those that reach beyond the part end with it.
    """
    segments = profile.schedule.segments
    starts = segments.starts()
    if not len(starts):
        return profile, 0
    first = int(starts[max(int(np.searchsorted(starts, start, side="right")) - 1, 0)])
    behind = int(np.searchsorted(starts, end, side="left"))
    last = int(starts[behind]) if behind < len(starts) else profile.cycles
    whole = first == 0 and last == profile.cycles
    if whole or not first < last or profile.kept_once.cut.any():
        return profile, 0
    return between(profile, first, last), first


def _bank(bank: Bank, inside: Segments, until: int) -> Bank:
    """Its combinations in the window, and the one behind it: what the last cycle led to."""
    whole = bank.segments
    after = bank.after
    if until < whole.total:
        after = int(bank.shown[whole.between(until, until + 1).state[0]])
    return Bank.of(inside, bank.shown, bank.values, after)


def _intervals(series: Series, start: int, until: int) -> tuple[tuple[Ints, Ints, Ints], int]:
    """The intervals in the window; of totals, the number of samples that the window cuts."""
    begin, end, value = series.intervals
    # What the last cycle led a control register to is known in the cycle behind it, as of a bank.
    behind = until + (series.activity is Activity.CONTROL and not series.summed)
    touches = (end > start) & (begin < behind)
    whole = (begin >= start) & (end <= until)
    cut = int(np.count_nonzero(touches & ~whole & (value != 0))) if series.summed else 0
    kept = whole if series.summed else touches
    moved = np.maximum(begin[kept], start) - start, np.minimum(end[kept], behind) - start
    return (*moved, value[kept]), cut
