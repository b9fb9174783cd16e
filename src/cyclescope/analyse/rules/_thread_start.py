"""Too little work for what it takes to start the threads (Nymble, V-D)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.analyse.rules._rule import Place, Rule
from cyclescope.analyse.rules._threads import FOR_OTHERS, Threads
from cyclescope.model import Activity, Cause

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["RULE"]

_LEAST = 0.1  # of the run: below, threads overlap enough


def _find(facts: Facts) -> Iterable[Place]:
    threads = Threads(facts)
    cycles = facts.profile.cycles
    if threads.count < 2:
        return
    starts = threads.first()
    first = [start for start in starts if start < cycles]
    if len(first) < 2:
        return
    late = max(first) - min(first)
    working, idle = threads.working(), threads.units(Activity.IDLE)
    # A thread that waits for others afterwards would only have waited longer.
    others = threads.units(Activity.WAITING, FOR_OTHERS - {Cause.THREAD_START.value})
    saving = late - others[starts.index(max(first))]
    if saving < _LEAST * cycles:
        return
    yield threads.place(
        f"start of {threads.count} threads",
        None,
        evidence=(
            f"the last thread starts {late:,} cycles after the first, in a run of {cycles:,}; "
            f"each works for {sum(working) // threads.count:,}; threads are idle for "
            f"{sum(idle):,} of {cycles * threads.count:,} thread-cycles"
        ),
        saving=saving,
        at_most=min(late, cycles),
        cycles=(0, max(first) + 1),
    )


RULE = Rule(
    name="thread-start",
    title="too little work for each start of a thread",
    reference="Nymble and Paraver, section V-D",
    change=(
        "Give each start more to do: more iterations in one region, fewer threads, or a loop "
        "inside the region around what starts it again and again."
    ),
    verify=(
        "Profile with more iterations: cycles must grow by less than the work does; "
        "idle in cyclescope table P.cyc states shrinks."
    ),
    sources=frozenset({"hls", "traces"}),
    find=_find,
)
