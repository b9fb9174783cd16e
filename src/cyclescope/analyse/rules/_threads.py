"""Facts of threads side by side, for rules: what their time was for, where they waited, loops."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope.analyse.rules._rule import Place
from cyclescope.model import Access, Activity, Cause, Kind, Lock, Loop

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from cyclescope.analyse._account import Use
    from cyclescope.analyse.rules._facts import Facts
    from cyclescope.model import Ints, Position, Site

__all__ = ["FOR_MEMORY", "FOR_OTHERS", "Threads", "Wait"]

FOR_MEMORY = frozenset({Cause.MEMORY.value, Cause.ARBITRATION.value})
"""Causes of waiting that the memory, and who else asks it, has."""

FOR_OTHERS = frozenset(
    {Cause.LOCK.value, Cause.BARRIER.value, Cause.MESSAGE.value, Cause.THREAD_START.value}
)
"""Causes of waiting that another thread has."""


class Wait(NamedTuple):
    """A place where threads wait, by its number among the sites, and thread-cycles."""

    site: int
    cycles: int


class Threads:
    """The threads of a profile; none if its tracks are something else."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.profile = facts.profile
        self.sites = facts.profile.sites
        whole = facts.account
        kinds = {facts.of(path).kind for path in whole.tracks}
        self.paths = whole.tracks if kinds == {Kind.THREAD} else ()
        self.count = len(self.paths)
        self._uses, self._units = whole.uses, whole.of_track

    def place(
        self,
        name: str,
        position: Position | None,
        evidence: str,
        saving: int,
        at_most: int,
        cycles: tuple[int, int] | None = None,
    ) -> Place:
        """A place of the program; without a position, all of what the threads run."""
        root = self._facts.of(0)
        if position is None and root.positions:
            position = root.positions[0]
        # Other tools' threads run nothing that has a name.
        component = "" if root.track else root.name
        return Place(name, component, position, evidence, saving, 0, at_most, cycles)

    def name(self, thread: int) -> str:
        """A thread's name."""
        return self._facts.of(self.paths[thread]).name

    # What time was for

    def units(self, activity: Activity, causes: Collection[str] | None = None) -> list[int]:
        """For each thread the cycles of an activity; with causes, those that have one of them."""

        def counts(use: Use) -> bool:
            return use.activity is activity and (causes is None or use.cause in causes)

        columns = [number for number, use in enumerate(self._uses) if counts(use)]
        return [int(row[columns].sum()) for row in self._units] if self.count else []

    def stalled(self) -> list[int]:
        """For each thread the cycles in which it waits for memory."""
        return self.units(Activity.WAITING, FOR_MEMORY)

    def working(self) -> list[int]:
        """For each thread the cycles of work, and those in which it waits for no other thread."""
        work, waiting = self.units(Activity.WORK), self.units(Activity.WAITING)
        others = self.units(Activity.WAITING, FOR_OTHERS)
        return [w + a - o for w, a, o in zip(work, waiting, others, strict=True)]

    def first(self) -> list[int]:
        """For each thread the cycle in which it started to work; the run's length if never."""
        return [
            min((int(start[0]) for start, _ in self._begun(path)), default=self.profile.cycles)
            for path in self.paths
        ]

    def last(self) -> list[int]:
        """For each thread the cycle after the last in which it did anything; 0 if never."""
        return [
            max((int(end[-1]) for _, end in self._begun(path)), default=0) for path in self.paths
        ]

    def _begun(self, thread: int) -> Iterable[tuple[Ints, Ints]]:
        """Starts and ends of a thread's states in which it does something."""
        for path in self._facts.children[thread]:
            frame = self._facts.of(path)
            asleep = frame.activity in (Activity.IDLE, Activity.UNKNOWN)
            if not asleep and frame.cause != Cause.THREAD_START:
                start, end = self._facts.spans(path)
                if len(start):
                    yield start, end

    # Places

    @cached_property
    def waits(self) -> tuple[Wait, ...]:
        """The waits of threads, longest first."""
        found: dict[int, int] = {}
        for series in self.profile.series:
            if series.of_place:
                found[series.site] = found.get(series.site, 0) + int(series.value.sum())
        ordered = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
        return tuple(Wait(site, cycles) for site, cycles in ordered if cycles)

    def of(self, kind: type[Site]) -> list[int]:
        """The numbers of the sites of a kind."""
        return [number for number, site in enumerate(self.sites) if type(site) is kind]

    def loop(self, number: int) -> Loop:
        """A site that is a loop."""
        site = self.sites[number]
        assert isinstance(site, Loop)
        return site

    def access(self, number: int) -> Access | None:
        """A site, if it is an access."""
        site = self.sites[number]
        return site if isinstance(site, Access) else None

    def around(self, site: int) -> list[int]:
        """The loops around a site, innermost first; a loop itself is not among them."""
        found: list[int] = []
        here = self.sites[site]
        number = here.parent if isinstance(here, Loop) else getattr(here, "loop", -1)
        while 0 <= number < len(self.sites) and number not in found:
            found.append(number)
            number = self.loop(number).parent
        return found

    # Locks

    @cached_property
    def _holding(self) -> frozenset[int]:
        """The frames of the state in which a thread has a lock."""
        return frozenset(s.held for s in self.sites if isinstance(s, Lock) and s.held >= 0)

    def held(self) -> list[int]:
        """For each thread the cycles in which it has a lock."""
        return [self._facts.cycles(self._of_lock(path)) for path in self.paths]

    def entered(self) -> list[int]:
        """For each thread how often it got a lock, or at least waited for one."""
        return [self._facts.times(self._of_lock(path)) for path in self.paths]

    def _of_lock(self, thread: int) -> list[int]:
        below = self._facts.children[thread]
        return [path for path in below if self._facts.frame[path] in self._holding]

    # Loops over time

    @cached_property
    def _frames(self) -> dict[tuple[int, int], list[int]]:
        """For each thread and frame of a loop the call paths that end in it."""
        loops = {s.frame for s in self.sites if isinstance(s, Loop)} - {-1}
        found: dict[tuple[int, int], list[int]] = {}
        for thread in self.paths:
            for path in self._facts.below(thread):
                frame = self._facts.frame[path]
                if frame in loops:
                    found.setdefault((thread, frame), []).append(path)
        return found

    @cached_property
    def is_timed(self) -> bool:
        """Return whether the profile says when threads are in which loop."""
        return bool(self._frames)

    def inside(self, number: int) -> list[np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """For each thread, of each cycle, whether it was in a loop."""
        frame = self.loop(number).frame
        result = []
        for thread in self.paths:
            mask = np.zeros(self.profile.cycles, dtype=np.bool_)
            for path in self._frames.get((thread, frame), ()):
                for start, end in zip(*self._facts.spans(path), strict=True):
                    mask[start:end] = True
            result.append(mask)
        return result
