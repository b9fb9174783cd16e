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

__all__ = ["BARRIER", "Piece", "Place", "run_team"]

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


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a thread's work: its cycles, and the places in it, counted from its begin."""

    work: float
    places: tuple[Place, ...] = ()

    def resized(self, work: float) -> Piece:
        """As long as this; if that is too short, the last places come at its end."""
        work = max(work, 0.0)
        return Piece(work, tuple(p._replace(work=min(p.work, work)) for p in self.places))


def run_team(
    rows: Sequence[Sequence[Piece]],
    starts: Sequence[float],
    handing: float,
    uses: dict[int, Use],
    alone: dict[int, float],
) -> tuple[float, dict[int, float]]:
    """The moment when the last of some threads ends, and how much longer uses were.

    Args:
        rows: the pieces of work of each.
        starts: when each starts.
        handing: cycles from the release of a lock until who waits for it goes on.
        uses: loop → what its iterations use.
        alone: loop → how long these are with nobody else there, of how long they were.
    """
    steps = [_steps(row) for row in rows]
    at = [-1] * len(rows)
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
        heapq.heappush(now, (moment + steps[thread][at[thread]].work, thread))

    for thread, start in enumerate(starts):
        goes_on(start, thread)
    while True:
        resource = min(resources.values(), key=_next, default=None)
        if resource is not None and resource.next < (now[0][0] if now else _NEVER):
            moment = resource.next
            if (visit := resource.served()) is not None:
                step = steps[visit.thread][at[visit.thread]]
                banks = uses[step.loop].banks
                over = moment + visit.then if banks else max(moment, visit.came + visit.then)
                taken[step.loop] += over - visit.came
                wanted[step.loop] += step.holds
                goes_on(over, visit.thread)
            continue
        if not now:
            break
        moment, thread = heapq.heappop(now)
        step = steps[thread][at[thread]]
        if step.does is _Does.USES:
            use = uses[step.loop]
            holds = step.holds * alone[step.loop]
            iterations = step.holds / use.period
            cycles = use.cycles * iterations
            each = min(use.cycles, 1.0) * max(iterations, 1.0)
            then = max(holds - cycles, 0.0) if use.banks else holds
            number = (-1, thread % use.banks) if use.banks else (step.loop, 0)
            resources.setdefault(number, Resource()).comes(
                Visit(thread, moment, cycles, each, then)
            )
        elif step.does is _Does.ENDS:
            ended, last = ended + 1, max(last, moment)
        elif step.does is _Does.MEETS:
            met.append((moment, thread))
        elif step.does is _Does.GIVES:
            del holder[step.lock]
            if waiting.get(step.lock):
                following = holder[step.lock] = waiting[step.lock].popleft()
                goes_on(moment + handing, following)
            goes_on(moment, thread)
        elif holder.setdefault(step.lock, thread) == thread:
            goes_on(moment, thread)
        else:
            waiting.setdefault(step.lock, deque()).append(thread)
        if met and len(met) == len(rows) - ended:
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


class _Step(NamedTuple):
    """So much work, and what a thread does then."""

    work: float
    does: _Does
    lock: int = BARRIER
    holds: float = 0.0
    loop: int = -1


def _steps(row: Sequence[Piece]) -> list[_Step]:
    """A row of pieces as steps."""
    found: list[tuple[float, _Step]] = []
    uses: list[tuple[float, float, int]] = []
    held: dict[int, float] = {}  # lock → until when
    before = 0.0
    for piece in row:
        for place in piece.places:
            moment = before + place.work
            if place.loop >= 0:
                # What goes on beside another use of the same thread is part of that.
                begin = max(moment, uses[-1][1] if uses else 0.0)
                if begin < moment + place.holds:
                    uses.append((begin, moment + place.holds, place.loop))
                continue
            for lock, until in list(held.items()):
                if until <= moment or lock == place.lock:
                    found.append((min(until, moment), _Step(0.0, _Does.GIVES, lock)))
                    del held[lock]
            if place.lock == BARRIER:
                found.append((moment, _Step(0.0, _Does.MEETS)))
            else:
                found.append((moment, _Step(0.0, _Does.ASKS, place.lock)))
                held[place.lock] = moment + place.holds
        before += piece.work
    found += [(min(until, before), _Step(0.0, _Does.GIVES, lock)) for lock, until in held.items()]
    found.sort(key=itemgetter(0))
    found += _cut(uses, [moment for moment, _ in found])
    found.sort(key=itemgetter(0))
    found.append((before, _Step(0.0, _Does.ENDS)))
    steps, done = list[_Step](), 0.0
    for moment, step in found:
        steps.append(step._replace(work=max(moment - done, 0.0)))
        done = max(moment, done) + step.holds
    return steps


def _cut(
    uses: Sequence[tuple[float, float, int]], at: Sequence[float]
) -> Iterator[tuple[float, _Step]]:
    """Uses of shared resources as steps, in parts where they go on at some moments."""
    for begin, end, loop in uses:
        inside = at[bisect_right(at, begin) : bisect_left(at, end)]
        for a, b in pairwise([begin, *inside, end]):
            if a < b:
                yield a, _Step(0.0, _Does.USES, holds=b - a, loop=loop)
