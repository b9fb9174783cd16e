"""A thread that loads, then computes, then loads: the phases could overlap (Nymble, V-C)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse.rules._rule import Place, Rule
from cyclescope.analyse.rules._threads import Threads, Wait
from cyclescope.analyse.rules._turns import roles, turns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["RULE"]

_LEAST = 0.1  # of the run: below, the phases overlap enough


def _find(facts: Facts) -> Iterable[Place]:
    threads = Threads(facts)
    siblings: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for loop in threads.loops.values():
        if loop.around:
            siblings[loop.around].append(loop.line)
    # The text has a loop where the hardware has a copy.
    verbs = ("load of",) if threads.is_timed else ("load of", "copy to")
    waits = [wait for wait in threads.waits if wait.verb in verbs]
    loads = roles(threads, (wait.line for wait in waits))
    for around, lines in siblings.items():
        loading = [line for line in lines if loads.get(line) is True]
        computing = [line for line in lines if loads.get(line) is False]
        if not loading or not computing:
            continue
        if threads.is_timed:
            place = _place(facts, threads, around[-1], loading, computing)
        else:
            place = _of_text(facts, threads, around[-1], loading, computing, waits)
        if place is not None:
            yield place
    if threads.is_timed:
        yield from _copies(facts, threads, siblings, loads)


def _of_text(
    facts: Facts,
    threads: Threads,
    outer: int,
    loading: list[int],
    computing: list[int],
    waits: list[Wait],
) -> Place | None:
    """Phases of which the text says that they take turns, and the counters what they cost.

    What a thread does while it doesn't wait is at most what could be hidden behind its waiting.
    How much of that is computing, and not the loops' own control, is not counted: half is taken.
    """
    buffers = turns(threads, loading, computing)
    ends = {line: threads.loops[line].end or line for line in loading}
    here = [w for w in waits if any(line <= w.line <= end for line, end in ends.items())]
    pairs = list(zip(threads.stalled(), threads.state("running"), strict=True))
    most = [min(stalled, running - stalled) for stalled, running in pairs]
    hidden = min(sum(most), sum(wait.cycles for wait in here)) // max(threads.count, 1)
    if not buffers or hidden // 2 < _LEAST * facts.profile.cycles:
        return None
    stalled, running = (sum(part) for part in zip(*pairs, strict=True))
    arrays = sorted({name for names in buffers.values() for name in names})
    return threads.place(
        f"loop, line {outer}",
        outer,
        evidence=(
            f"threads wait {stalled:,} of {running:,} thread-cycles for memory, most of it in line "
            f"{here[0].line}, and do other work in {running - stalled:,}; line "
            f"{', '.join(map(str, buffers))} reads {', '.join(arrays)}, which line "
            f"{', '.join(map(str, loading))} fills before, in the same round: by turns"
        ),
        saving=hidden // 2,
        at_most=max(most),
    )


def _copies(
    facts: Facts,
    threads: Threads,
    siblings: dict[tuple[int, ...], list[int]],
    loads: dict[int, bool],
) -> Iterable[Place]:
    """Blocks that the preloader brings in while nothing computes."""
    copied: dict[tuple[int, ...], list[Wait]] = defaultdict(list)
    for wait in threads.waits:
        home = threads.loop_of(wait.line) if wait.verb == "copy to" else None
        if home is not None:
            inside = (*home.around, home.line)
            copied[inside if inside in siblings else home.around].append(wait)
    for around, waits in copied.items():
        computing = [line for line in siblings.get(around, ()) if loads.get(line) is False]
        if not computing:
            continue
        copying = sum(wait.cycles for wait in waits)
        work = _cycles(threads, computing)
        # What is longer than the loop around both happened at once.
        together = max(copying + sum(work) - sum(_cycles(threads, [around[-1]])), 0)
        saving = min(copying - together, sum(work)) // max(threads.count, 1)
        if saving < _LEAST * facts.profile.cycles:
            continue
        yield threads.place(
            f"loop, line {around[-1]}",
            around[-1],
            evidence=(
                f"threads wait {copying:,} thread-cycles for "
                f"{', '.join(f'{w.array} (line {w.line})' for w in waits)}, and compute "
                f"(line {', '.join(map(str, computing))}) for {sum(work):,}; "
                f"{together:,} of these at once"
            ),
            saving=saving,
            at_most=max(min(facts.profile.cycles, 2 * max(work)), saving),
        )


def _cycles(threads: Threads, lines: list[int]) -> list[int]:
    """For each thread the cycles in these loops."""
    masks = [threads.inside(line) for line in lines]
    return [
        int(np.logical_or.reduce([mask[thread] for mask in masks]).sum())
        for thread in range(threads.count)
    ]


def _place(
    facts: Facts, threads: Threads, outer: int, loading: list[int], computing: list[int]
) -> Place | None:
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
    return threads.place(
        f"loop, line {outer}",
        outer,
        evidence=(
            f"a thread loads (line {', '.join(map(str, loading))}) for {phases[0]:,} thread-cycles "
            f"without computing, and computes (line {where}) for {phases[1]:,} without loading"
        ),
        saving=saving,
        at_most=max(min(facts.profile.cycles, 2 * max(alone)), saving),
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
