"""Threads that run as a team: locks go to who asked first, barriers wait for all.

A thread's run is pieces of work one after another, with places in them where it asks for a lock,
comes to a barrier, or uses what all threads share (`_resource`).
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from cyclescope.analyse._resource import Resource, Use, Visit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    _Moment = tuple[float, "_Does", int, float, int]  # when, and what `Steps` have

__all__ = ["BARRIER", "Piece", "Place", "Steps", "run_team", "steps_of"]

_NEVER = float("inf")

BARRIER = -1  # in place of a lock


class Place(NamedTuple):
    """A place where a thread asks for a lock, comes to a barrier or uses what others use, too.

    Attributes:
        work: after so much of its work.
        lock: the lock; `BARRIER` for none.
        holds: for so much more work it has the lock, or goes on with what it uses.
        loop: whose iterations these are, of a use; -1 of the others.
    """

    work: float
    lock: int = BARRIER
    holds: float = 0.0
    loop: int = -1


class Piece(NamedTuple):
    """A part of a thread's work, with the places in it.

    A run has hundreds of thousands of pieces: they refer to the places of their thread.

    Attributes:
        work: its cycles.
        places: of the whole thread, by the work before them.
        first, last: those from `first` and before `last` are in it.
        begin: the thread's work before it.
        most: places that would come after so much of its work come then.
    """

    work: float
    places: Sequence[Place] = ()
    first: int = 0
    last: int = 0
    begin: float = 0.0
    most: float = _NEVER

    def resized(self, work: float) -> Piece:
        """As long as this; if that is too short, the last places come at its end."""
        work = max(work, 0.0)
        return self._replace(work=work, most=min(self.most, work))


def run_team(
    steps: Sequence[Steps],
    starts: Sequence[float],
    handing: float,
    uses: dict[int, Use],
    alone: dict[int, float],
) -> tuple[float, dict[int, float]]:
    """The moment when the last of some threads ends, and how much longer uses were.

    Args:
        steps: of each.
        starts: when each starts.
        handing: cycles from the release of a lock until who waits for it goes on.
        uses: loop → what its iterations use.
        alone: loop → how long these are with nobody else there, of how long they were.
    """
    at = [-1] * len(steps)
    now: list[tuple[float, int]] = []  # when each thread that waits for nothing has done its step
    holder: dict[int, int] = {}
    waiting: dict[int, deque[int]] = {}
    met: list[tuple[float, int]] = []
    resources: dict[tuple[int, int], Resource] = {}
    taken = dict.fromkeys(uses, 0.0)
    wanted = dict.fromkeys(uses, 0.0)
    ended, last = 0, 0.0

    def goes_on(moment: float, thread: int) -> None:
        at[thread] += 1
        heapq.heappush(now, (moment + steps[thread].work[at[thread]], thread))

    for thread, start in enumerate(starts):
        goes_on(start, thread)
    while True:
        resource = min(resources.values(), key=_next) if resources else None
        if resource is not None and resource.next < (now[0][0] if now else _NEVER):
            moment = resource.next
            if (visit := resource.served()) is not None:
                mine, place = steps[visit.thread], at[visit.thread]
                loop = mine.loop[place]
                banks = uses[loop].banks
                over = moment + visit.then if banks else max(moment, visit.came + visit.then)
                taken[loop] += over - visit.came
                wanted[loop] += mine.holds[place]
                goes_on(over, visit.thread)
            continue
        if not now:
            break
        moment, thread = heapq.heappop(now)
        mine, place = steps[thread], at[thread]
        does, lock = mine.does[place], mine.lock[place]
        if does is _Does.USES:
            loop, holds = mine.loop[place], mine.holds[place]
            use = uses[loop]
            iterations = holds / use.period
            if use.banks == 1 and (whole := round(iterations)):
                # All are alike: by how much they differed in the run was whom they met there, and
                # those that start together would be kept apart by it.
                iterations, holds = whole, whole * use.period
            holds *= alone[loop]
            cycles = use.cycles * iterations
            each = min(use.cycles, 1.0) * max(iterations, 1.0)
            then = max(holds - cycles, 0.0) if use.banks else holds
            number = (-1, thread % use.banks) if use.banks else (loop, 0)
            resources.setdefault(number, Resource()).comes(
                Visit(thread, moment, cycles, each, then)
            )
        elif does is _Does.ENDS:
            ended, last = ended + 1, max(last, moment)
        elif does is _Does.MEETS:
            met.append((moment, thread))
        elif does is _Does.GIVES:
            del holder[lock]
            if waiting.get(lock):
                following = holder[lock] = waiting[lock].popleft()
                goes_on(moment + handing, following)
            goes_on(moment, thread)
        elif holder.setdefault(lock, thread) == thread:
            goes_on(moment, thread)
        else:
            waiting.setdefault(lock, deque()).append(thread)
        if met and len(met) == len(steps) - ended:
            for _, there in met:
                goes_on(max(met)[0], there)
            met = []
    return last, {loop: taken[loop] / wanted[loop] for loop in uses if wanted[loop]}


def _next(resource: Resource) -> float:
    return resource.next


class _Does(Enum):
    ASKS = "asks for a lock"
    GIVES = "gives it back"
    USES = "uses what others use, too"
    MEETS = "comes to a barrier"
    ENDS = "ends"


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a thread, column by column: so much work each, and what the thread does then.

    Attributes:
        work: cycles.
        does: what it does then.
        lock: which it asks for or gives back.
        holds: cycles of what it uses.
        loop: whose iterations these are.
    """

    work: Sequence[float]
    does: Sequence[_Does]
    lock: Sequence[int]
    holds: Sequence[float]
    loop: Sequence[int]


def steps_of(row: Sequence[Piece]) -> Steps:
    """A row of pieces as steps."""
    found: list[_Moment] = []
    uses: list[tuple[float, float, int]] = []
    held: dict[int, float] = {}  # lock → until when
    before = 0.0
    for length, places, first, last, start, most in row:
        for number in range(first, last):
            work, lock, holds, loop = places[number]
            moment = before + min(work - start, most)
            if loop >= 0:
                # What goes on beside another use of the same thread is part of that.
                begin = max(moment, uses[-1][1] if uses else 0.0)
                if begin < moment + holds:
                    uses.append((begin, moment + holds, loop))
                continue
            if held:
                for other, until in list(held.items()):
                    if until <= moment or other == lock:
                        found.append((min(until, moment), _Does.GIVES, other, 0.0, -1))
                        del held[other]
            if lock == BARRIER:
                found.append((moment, _Does.MEETS, BARRIER, 0.0, -1))
            else:
                found.append((moment, _Does.ASKS, lock, 0.0, -1))
                held[lock] = moment + holds
        before += length
    if held and len(row) > 1:
        # The last passage may be cut where it went on into another iteration.
        before = max(before, *held.values())
    found += [(min(until, before), _Does.GIVES, lock, 0.0, -1) for lock, until in held.items()]
    found.sort(key=itemgetter(0))
    if uses:
        found += _cut(uses, [moment for moment, *_ in found])
        found.sort(key=itemgetter(0))
    found.append((before, _Does.ENDS, BARRIER, 0.0, -1))
    works, done = list[float](), 0.0
    for moment, _, _, holds, _ in found:
        works.append(max(moment - done, 0.0))
        done = max(moment, done) + holds
    _, does, locks, holding, loops = zip(*found, strict=True)
    return Steps(works, does, locks, holding, loops)


def _cut(uses: Sequence[tuple[float, float, int]], at: Sequence[float]) -> Iterator[_Moment]:
    """Uses of shared resources, in parts where they go on at some moments."""
    for begin, end, loop in uses:
        inside = at[bisect_right(at, begin) : bisect_left(at, end)]
        for a, b in pairwise([begin, *inside, end]):
            if a < b:
                yield a, _Does.USES, BARRIER, b - a, loop
