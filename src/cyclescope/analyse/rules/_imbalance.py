"""Threads of which some have more to do than others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse.rules._rule import Place, Rule
from cyclescope.analyse.rules._threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["RULE"]

_WINDOWS = 64  # of the run, for rates
_COARSE = 0.25  # of the run: longer samples hide when it was fast
_LEAST = 0.1  # of the run: below, other things matter more


def _find(facts: Facts) -> Iterable[Place]:
    threads = Threads(facts)
    cycles = facts.profile.cycles
    if threads.count < 2:
        return
    worked = threads.working()
    saving = max(worked) - -(-sum(worked) // threads.count)
    # Pipelines are shared: even shares end no sooner than these get all work through.
    saving = min(saving, cycles - _least_time(facts, threads))
    if saving < _LEAST * cycles:
        return
    most, least = worked.index(max(worked)), worked.index(min(worked))
    yield threads.place(
        f"shares of {threads.count} threads",
        None,
        evidence=(
            f"{threads.name(most)} has work for {worked[most]:,} cycles, {threads.name(least)} for "
            f"{worked[least]:,}, a thread on the average for {sum(worked) // threads.count:,}; "
            f"the run has {cycles:,}"
        ),
        saving=saving,
        at_most=min(max(worked) - min(worked), cycles),
    )


def _least_time(facts: Facts, threads: Threads) -> int:
    """Cycles for all operations at the highest rate that the run reached over a while.

    0 if counters were sampled too seldom to tell.
    """
    cycles = facts.profile.cycles
    window = max(cycles // _WINDOWS, 1)
    done = np.zeros(_WINDOWS + 2)
    for series in facts.profile.series:
        if series.metric != "operations" or series.path not in threads.paths:
            continue
        if len(series) and int((series.end - series.start).max()) > _COARSE * cycles:
            return 0
        for start, end, value in zip(*(part.tolist() for part in series.intervals), strict=True):
            for at in range(start // window, (end - 1) // window + 1):
                inside = min(end, (at + 1) * window) - max(start, at * window)
                done[at] += value * inside / (end - start)
    most = done.max()
    return int(done.sum() / most * window) if most else 0


RULE = Rule(
    name="imbalance",
    title="threads that have more to do than others",
    reference="Nymble and Paraver, section V; OpenMP 5.0, 2.9.2 (schedule)",
    change=(
        "Share the iterations out so that each thread gets long and short ones: "
        "schedule(static, 1) where their length changes steadily, smaller chunks, or collapse."
    ),
    verify="The balance in cyclescope summary goes towards 100 %; compare with cyclescope diff.",
    sources=frozenset({"hls", "traces"}),
    find=_find,
)
