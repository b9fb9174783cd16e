"""Trees and banks that were recorded apart from each other, as states of one sequence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model._profile import Runs
from cyclescope.model._segments import combined, held, segmented
from cyclescope.model._series import Bank

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.model._profile import Profile
    from cyclescope.model._segments import Segments
    from cyclescope.model._series import Series

__all__ = ["banks_of", "moved", "together"]


def banks_of(profile: Profile) -> list[Bank]:
    """The distinct banks of a profile's series, in order of first mention."""
    return list({id(s.bank): s.bank for s in profile.series if s.bank is not None}.values())


def moved(series: Iterable[Series], segments: Segments, to: Segments) -> list[Series]:
    """Series whose banks are of one sequence, as of another one with the same states."""
    made: dict[int, Bank] = {}
    result = []
    for one in series:
        bank = one.bank
        if bank is not None and bank.segments is segments:
            if id(bank) not in made:
                made[id(bank)] = Bank.of(to, bank.shown, bank.values, bank.after)
            result.append(one.with_values(bank=made[id(bank)]))
        else:
            result.append(one)
    return result


def together(profile: Profile) -> Profile:
    """The profile, its banks columns of the states that its runs show.

    What belongs together is found together: a change of tree and the step of a register in it.
    """
    banks = banks_of(profile)
    runs, total = profile.schedule, profile.cycles
    if all(bank.segments is runs.segments for bank in banks):
        return profile
    found = [(np.cumsum(runs.cycles) - runs.cycles, runs.tree)]
    found += [(bank.ends - bank.cycles, bank.state) for bank in banks]
    begin = np.unique(np.concatenate([start[start < total] for start, _ in found]))
    distinct, number = combined([held(start, state, begin) for start, state in found])
    segments = segmented([(np.diff(np.append(begin, total)), number)])
    made = {
        id(bank): Bank.of(
            segments,
            distinct[:, column],
            bank.values,
            int(bank.state[-1]) if bank.total > total else -1,
        )
        for column, bank in enumerate(banks, 1)
    }
    series = [s if s.bank is None else s.with_values(bank=made[id(s.bank)]) for s in profile.series]
    return replace(profile, schedule=Runs.of(segments, distinct[:, 0]), series=tuple(series))
