"""Threads that wait for memory: element by element, or for the same data again (Nymble, V-C)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from cyclescope.analyse.rules._rule import Place, Rule
from cyclescope.analyse.rules._threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts
    from cyclescope.model import Access

__all__ = ["BLOCKING", "VECTOR"]

_BOUND = 0.25  # of its time a thread waits for memory: below, other things matter more
_NARROW = 8  # bytes of a request: an element or two
_GAIN = 0.1  # of a stage's waiting: less is what port comes first
_WIDTH = 4  # elements of a vector, and rounds that share a block, where nobody counted iterations


class _Stage(NamedTuple):
    """A stage of a loop's iteration in which threads wait for accesses, for all of them at once.

    Attributes:
        accesses: (number of the site, the access, thread-cycles lost there), longest first.
        cycles: thread-cycles lost in the stage.
    """

    accesses: tuple[tuple[int, Access, int], ...]
    cycles: Fraction


def _stages(threads: Threads) -> dict[int, list[_Stage]]:
    """By loop where its threads wait for memory; together no longer than they wait at all."""
    found: dict[tuple[int, int], list[tuple[int, Access, int]]] = {}
    for wait in threads.waits:
        access = threads.access(wait.site)
        if access is not None:
            entry = wait.site, access, wait.cycles
            found.setdefault((access.loop, access.stage), []).append(entry)
    longest = {key: max(cycles for *_, cycles in entries) for key, entries in found.items()}
    together = sum(longest.values())
    part = min(Fraction(sum(threads.stalled()), together), Fraction(1)) if together else Fraction(0)
    result: dict[int, list[_Stage]] = {}
    for (loop, stage), entries in found.items():
        if loop >= 0:
            cycles = longest[loop, stage] * part
            result.setdefault(loop, []).append(_Stage(tuple(entries), cycles))
    return result


def _bound(threads: Threads) -> bool:
    working = sum(threads.working())
    return working > 0 and sum(threads.stalled()) >= _BOUND * working


def _said(threads: Threads, stages: list[_Stage]) -> str:
    here = int(sum(stage.cycles for stage in stages))
    return (
        f"threads wait {sum(threads.stalled()):,} of {sum(threads.working()):,} thread-cycles for "
        f"memory, {here:,} of them in this loop"
    )


class _Finding(NamedTuple):
    """Some reads of a loop, which are waited for side by side, and thread-cycles to be saved."""

    loop: int
    accesses: tuple[Access, ...]
    evidence: str
    saving: Fraction


def _places(threads: Threads, found: list[_Finding]) -> Iterable[Place]:
    """Findings as places, which together save no more than the lock lets them.

    Only one thread at a time has a lock, so the run lasts as long as it is held altogether.
    """
    cycles = threads.profile.cycles
    every = sum((one.saving for one in found), Fraction(0))
    locked = sum((one.saving for one in found if one.accesses[0].lock >= 0), Fraction(0))
    floor = max(sum(threads.held()) - locked, Fraction(0))
    possible = cycles - max(cycles - every / threads.count, floor)
    part = max(possible, Fraction(0)) * threads.count / every if every else Fraction(0)
    for one in found:
        yield _place(threads, one._replace(saving=one.saving * part))


def _place(threads: Threads, one: _Finding) -> Place:
    names = list(dict.fromkeys(access.array for access in one.accesses))
    position = one.accesses[0].position or threads.loop(one.loop).position
    line = f", line {position.line}" if position is not None else ""
    return threads.place(
        f"load of {', '.join(names)}{line}",
        position,
        evidence=one.evidence,
        saving=int(one.saving / threads.count),
        at_most=max(threads.working()),
    )


def _narrow(facts: Facts) -> Iterable[Place]:
    threads = Threads(facts)
    if not threads.count or not _bound(threads):
        return
    found = []
    for loop, stages in _stages(threads).items():
        trips = threads.loop(loop).trips
        every = [entry for stage in stages for entry in stage.accesses]
        narrow = [access for _, access, _ in every if _is_narrow(access)]
        # Fewer iterations than a vector has elements fill a shorter one.
        width = _WIDTH if trips is None else min(_WIDTH, 1 << trips.bit_length() - 1)
        if not narrow or trips == 0 or width < 2:
            continue
        often = "" if trips is None else f" of {trips:,} iterations"
        evidence = (
            f"{_said(threads, stages)}; neighbouring iterations{often} read neighbouring elements "
            f"of {', '.join(dict.fromkeys(a.array for a in narrow))}, {narrow[0].width} bytes each"
        )
        saving = sum((stage.cycles for stage in stages), Fraction(0)) * Fraction(width - 1, width)
        found.append(_Finding(loop, tuple(narrow), evidence, saving))
    yield from _places(threads, found)


def _is_narrow(access: Access) -> bool:
    """Return whether neighbouring iterations read neighbouring elements, one at a time."""
    if access.writes or access.width is None or access.stride is None:
        return False
    # Several in an iteration are an unrolled loop's, or overlap the next one's.
    moved = (access.width, access.width * access.operations)
    return access.width <= _NARROW and abs(access.stride) in moved


def _again(facts: Facts) -> Iterable[Place]:
    threads = Threads(facts)
    if not threads.count or not _bound(threads):
        return
    found = []
    for loop, stages in _stages(threads).items():
        saving, again, rounds = Fraction(0), [], []
        for stage in stages:
            left = Fraction(0)
            for _, access, cycles in stage.accesses:
                outer, times = _reuse(threads, access)
                left = max(left, Fraction(cycles, times))
                if times > 1:
                    again.append(access)
                    rounds.append((access.array, times, outer))
            longest = max(cycles for *_, cycles in stage.accesses)
            # What is read only once is waited for as long, or nearly: then nothing is gained.
            gain = 1 - left / longest
            saving += stage.cycles * gain if gain >= _GAIN else 0
        if saving <= 0:
            continue
        said = [
            f"{array} is read {times:,} times over{_line(threads, outer)}"
            for array, times, outer in dict.fromkeys(rounds)
        ]
        evidence = f"{_said(threads, stages)}; {', '.join(said)}"
        found.append(_Finding(loop, tuple(again), evidence, saving))
    yield from _places(threads, found)


def _line(threads: Threads, loop: int) -> str:
    position = threads.loop(loop).position
    return f" in the loop of line {position.line}" if position is not None else ""


def _reuse(threads: Threads, access: Access) -> tuple[int, int]:
    """In rounds of which loop an access reads the same again, and how many there are."""
    if access.writes or access.copies:
        return -1, 1
    found = (-1, 1)
    for loop in access.repeats:
        if _is_written(threads, access, loop):
            continue
        trips = threads.loop(loop).trips
        times = _WIDTH if trips is None else trips
        if times > found[1]:
            found = loop, times
    return found


def _is_written(threads: Threads, access: Access, loop: int) -> bool:
    """Return whether a loop writes what it reads there: it is not the same again."""
    return any(
        other.writes and other.array == access.array and loop in threads.around(number)
        for number in threads.of(type(access))
        if (other := threads.access(number)) is not None
    )


VECTOR = Rule(
    name="narrow-loads",
    title="memory read element by element",
    reference="Nymble and Paraver, section V-C: partial vectorization",
    change=(
        "Read several neighbours at once, by a pointer to a vector type, and unroll the work on "
        "them: VECTOR a = *((VECTOR *)&A[...])."
    ),
    verify=(
        "Fewer and wider requests (cyclescope summary, bytes and requests), and cyclescope diff."
    ),
    sources=frozenset({"hls"}),
    find=_narrow,
)

BLOCKING = Rule(
    name="blocking",
    title="the same data read from memory again and again",
    reference="Nymble and Paraver, section V-C: blocked version",
    change=(
        "Bring a block into local memory once and compute with it as often as it is needed, "
        "before the next one comes."
    ),
    verify="Fewer bytes read (cyclescope summary), and cyclescope diff.",
    sources=frozenset({"hls"}),
    find=_again,
)
