"""Threads that wait for each other at a critical section inside their loops (Nymble, V-C)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.analyse.rules._rule import Place, Rule, counted
from cyclescope.analyse.rules._threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["RULE"]

_LEAST = 0.02  # of the threads' time: below, there is nothing to gain
_OFTEN = 3  # times: a section or two at the end are how private results come together


def _find(facts: Facts) -> Iterable[Place]:
    threads = Threads(facts)
    cycles = facts.profile.cycles
    spinning, critical = threads.state("spinning"), threads.state("critical")
    lost = [a + b for a, b in zip(spinning, critical, strict=True)]
    if threads.count < 2 or sum(lost) < _LEAST * cycles * threads.count:
        return
    if max(threads.entered("critical")) < _OFTEN:
        return
    # What a thread computes between may have waited for memory that the section's traffic kept.
    stalls = threads.counter("stalls: memory")
    most = max(a + b for a, b in zip(lost, stalls, strict=True)) if any(stalls) else cycles
    locks = [wait for wait in threads.waits if wait.verb == "lock" and wait.cycles]
    said = (
        f"{counted(threads.count, 'thread')} spent {sum(spinning):,} thread-cycles waiting "
        f"for the lock and {sum(critical):,} in critical sections, of "
        f"{cycles * threads.count:,}"
    )
    saving = sum(lost) // threads.count
    if not locks:
        # Nobody ever waited for the lock, or where was not counted.
        yield threads.place("critical sections", None, said, saving, min(most + 1, cycles))
        return
    together = sum(wait.cycles for wait in locks)
    for wait in locks:
        share = wait.cycles / together
        yield threads.place(
            f"critical section, line {wait.line}",
            wait.line,
            evidence=f"{said}; {wait.cycles:,} of the waiting is here",
            saving=int(sum(lost) / threads.count * share),
            at_most=min(int(most * share) + 1, cycles),
        )


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
    sources=frozenset({"hls"}),
    find=_find,
)
