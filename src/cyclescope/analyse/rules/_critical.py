"""Threads that wait for each other at a critical section inside their loops (Nymble, V-C)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.analyse.rules._rule import Place, Rule, counted
from cyclescope.analyse.rules._threads import Threads
from cyclescope.model import Access, Activity, Cause, Lock

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["RULE"]

_LEAST = 0.02  # of the threads' time is waiting for a lock: below, there is nothing to gain
_OFTEN = 3  # times: a section or two at the end are how private results come together


def _find(facts: Facts) -> Iterable[Place]:
    threads = Threads(facts)
    cycles = facts.profile.cycles
    spinning, held = threads.units(Activity.WAITING, {Cause.LOCK.value}), threads.held()
    if threads.count < 2 or sum(spinning) < _LEAST * cycles * threads.count:
        return
    if any(held) and max(threads.entered()) < _OFTEN:
        return
    # What a thread computes between may have waited for memory that the section's traffic kept.
    stalls, spent = threads.stalled(), zip(spinning, held, strict=True)
    lost = [a + b for a, b in spent]
    most = max(a + b for a, b in zip(lost, stalls, strict=True)) if any(stalls) else cycles
    # A result of one's own need not come from memory; what else is done with the lock remains.
    spared = min(_shared(threads), sum(held)) if threads.waits else sum(held)
    gone = sum(spinning) + spared
    said = (
        f"{counted(threads.count, 'thread')} spent {sum(spinning):,} thread-cycles waiting "
        f"for a lock and {sum(held):,} with one, of {cycles * threads.count:,}"
    )
    saving = gone // threads.count
    waits = [wait for wait in threads.waits if isinstance(threads.sites[wait.site], Lock)]
    if not waits:
        # Nobody ever waited for the lock, or where was not counted.
        (only, *others) = threads.of(Lock) or (-1,)
        position = threads.sites[only].position if only >= 0 and not others else None
        yield threads.place("critical sections", position, said, saving, min(most + 1, cycles))
        return
    together = sum(wait.cycles for wait in waits)
    for wait in waits:
        share = wait.cycles / together
        position = threads.sites[wait.site].position
        line = f", line {position.line}" if position is not None else ""
        yield threads.place(
            f"critical section{line}",
            position,
            evidence=f"{said}; {wait.cycles:,} of the waiting is here",
            saving=int(gone / threads.count * share),
            at_most=min(int(most * share) + 1, cycles),
        )


def _shared(threads: Threads) -> int:
    """Thread-cycles for which threads with a lock wait for what is written with it."""
    written = {
        (access.lock, access.array)
        for number in threads.of(Access)
        if (access := threads.access(number)) is not None and access.writes and access.lock >= 0
    }
    stages: dict[tuple[int, int], list[tuple[int, bool]]] = {}
    for wait in threads.waits:
        access = threads.access(wait.site)
        if access is not None and access.lock >= 0:
            own = (access.lock, access.array) in written
            stages.setdefault((access.loop, access.stage), []).append((wait.cycles, own))
    # Of what is waited for side by side the longest counts, if it would go.
    found = 0
    for waits in stages.values():
        left = max((cycles for cycles, own in waits if not own), default=0)
        found += max(max(cycles for cycles, _ in waits) - left, 0)
    return found


RULE = Rule(
    name="critical-section",
    title="threads that wait for each other at a critical section",
    reference="Nymble and Paraver, section V-C: naive to no critical sections",
    change=(
        "Give each thread results of its own: distribute the loop so that no two threads write "
        "the same element, or sum up privately and enter the section once at the end."
    ),
    verify=(
        "cyclescope table P.cyc states must show no spinning; the values must be those of the "
        "native run, which cyclescope hls compares."
    ),
    sources=frozenset({"hls", "traces"}),
    find=_find,
)
