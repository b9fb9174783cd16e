"""A thread that loads, then computes, then loads: the phases could overlap (Nymble, V-C).

Which loop must be over before another one beside it begins, the compiler knows: one fills a buffer
that the other one reads. With two buffers neither waits for the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope.analyse.rules._rule import Place, Rule
from cyclescope.analyse.rules._threads import Threads
from cyclescope.model import Access, Activity, Loop

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["RULE"]

_LEAST = 0.05  # of the run: below, the phases overlap enough


class _Phases(NamedTuple):
    """The alternating phases of a loop: sites that load, and loops that compute."""

    outer: int
    loading: tuple[int, ...]
    computing: tuple[int, ...]


def _find(facts: Facts) -> Iterable[Place]:
    threads = Threads(facts)
    if not threads.count:
        return
    weigh = _in_time if threads.is_timed else _by_waits
    for phases in _phases(threads):
        place = weigh(facts, threads, phases)
        if place is not None:
            yield place


def _phases(threads: Threads) -> Iterable[_Phases]:
    """The loops in whose rounds loads and computing wait for each other."""
    inside: dict[int, list[int]] = {}  # a loop's accesses, those of inner loops too
    for number in threads.of(Access):
        for loop in threads.around(number):
            inside.setdefault(loop, []).append(number)
    beside: dict[int, list[int]] = {}
    for number in threads.of(Loop):
        beside.setdefault(threads.loop(number).parent, []).append(number)
    for outer, loops in beside.items():
        if outer < 0 or threads.loop(outer).trips == 1:
            continue
        copies = [n for n in inside.get(outer, ()) if _is_copy_in(threads, n, outer)]
        loads = [n for n in loops if _only_loads(threads, inside.get(n, ()))]
        works = [n for n in loops if not inside.get(n)]
        pairs = [
            (load, work) for work in works for load in (*copies, *loads)
            if load in threads.loop(work).needs
            or (load in loops and work in threads.loop(load).needs)
        ]  # fmt: skip
        if pairs:
            loading, computing = (tuple(dict.fromkeys(side)) for side in zip(*pairs, strict=True))
            yield _Phases(outer, loading, computing)


def _is_copy_in(threads: Threads, number: int, loop: int) -> bool:
    access = threads.access(number)
    return access is not None and access.copies and access.loop == loop


def _only_loads(threads: Threads, accesses: Iterable[int]) -> bool:
    """Return whether a loop brings in data, and writes nothing to memory."""
    found = [access for n in accesses if (access := threads.access(n)) is not None]
    return bool(found) and all(a.copies or not a.writes for a in found)


def _waited(threads: Threads, phases: _Phases) -> int:
    """Thread-cycles lost at what the loading sites access."""
    return sum(
        wait.cycles for wait in threads.waits
        if wait.site in phases.loading
        or (threads.access(wait.site) is not None
            and not {*threads.around(wait.site)}.isdisjoint(phases.loading))
    )  # fmt: skip


def _in_time(facts: Facts, threads: Threads, phases: _Phases) -> Place | None:
    """Phases of which the profile says when a thread is in which loop."""
    loops = [n for n in phases.loading if isinstance(threads.sites[n], Loop)]
    copies = [n for n in phases.loading if n not in loops]
    works = _masks(threads, phases.computing)
    loads = _masks(threads, loops)
    if copies:
        # A copy is no loop: while a thread waits for it, it is in the loop around and no other.
        around = threads.inside(phases.outer)
        waited = sum(wait.cycles for wait in threads.waits if wait.site in copies)
        spare = [a & ~w & ~b for a, w, b in zip(around, works, loads, strict=True)]
        free = sum(int(mask.sum()) for mask in spare)
        part = min(waited / free, 1.0) if free else 0.0
    else:
        spare, part = [np.zeros_like(mask) for mask in works], 0.0
    alone, loading, computing = [], 0, 0
    for load, work, other in zip(loads, works, spare, strict=True):
        brings = int((load & ~work).sum()) + int(other.sum() * part)
        works_on = int((work & ~load).sum())
        alone.append(min(brings, works_on))
        loading, computing = loading + brings, computing + works_on
    saving = sum(alone) // max(threads.count, 1)
    if saving < _LEAST * facts.profile.cycles:
        return None
    evidence = (
        f"a thread loads ({_lines(threads, phases.loading)}) for {loading:,} thread-cycles without "
        f"computing, and computes ({_lines(threads, phases.computing)}) for {computing:,} without "
        "loading: each waits for the other"
    )
    # Who loads sooner waits less, too: some of the loading itself goes.
    return _place(threads, phases, evidence, saving, min(facts.profile.cycles, 2 * max(alone)))


def _masks(
    threads: Threads, loops: Iterable[int]
) -> list[np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """For each thread, of each cycle, whether it was in any of these loops."""
    nothing = [np.zeros(threads.profile.cycles, dtype=np.bool_) for _ in threads.paths]
    for loop in loops:
        nothing = [a | b for a, b in zip(nothing, threads.inside(loop), strict=True)]
    return nothing


def _by_waits(facts: Facts, threads: Threads, phases: _Phases) -> Place | None:
    """Phases of which only counters say what they cost, as in a profiling unit's trace.

    What a thread does while it doesn't wait is at most what could be hidden behind its waiting.
    How much of that is computing, and not the loops' own control, is not counted: half is taken.
    """
    pairs = list(zip(threads.stalled(), threads.units(Activity.WORK), strict=True))
    most = [min(pair) for pair in pairs]
    hidden = min(sum(most), _waited(threads, phases)) // max(threads.count, 1)
    if hidden // 2 < _LEAST * facts.profile.cycles:
        return None
    stalled, working = (sum(part) for part in zip(*pairs, strict=True))
    evidence = (
        f"threads wait {stalled:,} thread-cycles for memory, most of it for what "
        f"{_lines(threads, phases.loading)} loads, and work in {working:,}; "
        f"{_lines(threads, phases.computing)} computes with it in the same round: each waits for "
        "the other"
    )
    return _place(threads, phases, evidence, hidden // 2, max(most))


def _place(threads: Threads, phases: _Phases, evidence: str, saving: int, at_most: int) -> Place:
    position = threads.loop(phases.outer).position
    line = f", line {position.line}" if position is not None else ""
    return threads.place(f"loop{line}", position, evidence, saving, max(at_most, saving))


def _lines(threads: Threads, numbers: Iterable[int]) -> str:
    lines = [p.line for n in numbers if (p := threads.sites[n].position) is not None]
    return f"line {', '.join(map(str, dict.fromkeys(lines)))}"


RULE = Rule(
    name="double-buffering",
    title="loading and computing in alternation",
    reference="Nymble and Paraver, section V-C: double buffering",
    change=("Keep two buffers: load the next block while the thread computes on this one."),
    verify=(
        "In cyclescope timeline both loops of a thread must run at once; compare with "
        "cyclescope diff."
    ),
    sources=frozenset({"hls"}),
    find=_find,
)
