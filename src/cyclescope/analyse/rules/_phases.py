"""A thread that loads, then computes, then loads: the phases could overlap (Nymble, V-C)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse.rules._rule import Rule, Site
from cyclescope.analyse.rules._threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["RULE"]

_LEAST = 0.1  # of the run: below, the phases overlap enough


def _find(facts: Facts) -> Iterable[Site]:
    threads = Threads(facts)
    siblings: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for loop in threads.loops.values():
        if loop.around:
            siblings[loop.around].append(loop.line)
    waited: dict[int, int] = defaultdict(int)
    for wait in threads.waits:
        home = threads.loop_of(wait.line)
        if home is not None and wait.verb == "load of":
            waited[home.line] += wait.cycles
    for around, lines in siblings.items():
        loading = [line for line in lines if waited[line]]
        computing = [line for line in lines if not waited[line]]
        if loading and computing:
            site = _site(facts, threads, around[-1], loading, computing)
            if site is not None:
                yield site


def _site(
    facts: Facts, threads: Threads, outer: int, loading: list[int], computing: list[int]
) -> Site | None:
    loads = [threads.inside(line) for line in loading]
    works = [threads.inside(line) for line in computing]
    alone = []
    phases = [0, 0]
    for thread in range(threads.count):
        load = np.logical_or.reduce([masks[thread] for masks in loads])
        work = np.logical_or.reduce([masks[thread] for masks in works])
        only = int((load & ~work).sum()), int((work & ~load).sum())
        alone.append(min(only))
        phases[0] += only[0]
        phases[1] += only[1]
    saving = sum(alone) // max(threads.count, 1)
    if saving < _LEAST * facts.profile.cycles:
        return None
    where = ", ".join(str(line) for line in computing)
    return Site(
        name=f"loop, line {outer}",
        component=threads.region,
        position=threads.position(outer),
        evidence=(
            f"a thread loads (line {', '.join(map(str, loading))}) for {phases[0]:,} thread-cycles "
            f"without computing, and computes (line {where}) for {phases[1]:,} without loading"
        ),
        saving=saving,
        at_least=0,
        at_most=max(min(facts.profile.cycles, 2 * max(alone)), saving),
        cycles=None,
    )


RULE = Rule(
    name="double-buffering",
    title="loading and computing by turns",
    reference="Nymble and Paraver, section V-C: double buffering",
    change=("Keep two buffers: load the next block while the thread computes on this one."),
    verify=(
        "In cyclescope timeline both loops of a thread must run at once; compare with "
        "cyclescope diff."
    ),
    sources=frozenset({"hls"}),
    find=_find,
)
