"""Resources that threads in one loop at once share: its pipeline, and the memory.

A loop has one pipeline for all threads, which begins an iteration in a cycle; a bank of the memory
takes a request in a cycle. Either serves the threads in the order of their numbers, a request of
each: those who come together, as threads that are started together do, meet again in each
iteration.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.model import Access, Loop

if TYPE_CHECKING:
    from cyclescope.model import Profile

__all__ = ["Resource", "Use", "Visit", "use_of"]

_BANKS = 4


@dataclass(frozen=True, slots=True)
class Use:
    """An iteration's use of what all threads share.

    Attributes:
        cycles: a resource is busy for so long with one iteration.
        period: cycles from an iteration to the thread's next one, as they were in the run.
        banks: the threads' requests go to so many banks of the memory, of each thread to the next
            one; 0: it uses the loop's pipeline, and goes on meanwhile.
        drain: cycles from the last iteration's use to the end of an execution.
    """

    cycles: float
    period: float
    banks: int = 0
    drain: int = 0


def use_of(profile: Profile, loop: int, period: float, drain: int) -> Use:
    """The use that an iteration of a loop makes of the memory, or else of the pipeline.

    What it wants of one array is in one bank, another one's in another; other threads want other
    lines, in other banks, unless these are the same for all.

    Args:
        profile: a run.
        loop: its site.
        period: cycles from an iteration to the thread's next one, as they were in the run.
        drain: cycles from the last iteration's use to the end of an execution.
    """
    same = every = 0
    arrays = dict[tuple[str, int], int]()
    for site in profile.sites:
        if isinstance(site, Access) and site.loop == loop and not site.copies:
            every += site.operations
            array = site.array, site.stage
            arrays[array] = arrays.get(array, 0) + site.operations
            if _same_for_all(profile, site):
                same += site.operations
    most, mean = max(arrays.values(), default=0), every / _BANKS
    if not every:
        cycles, banks = 1.0, 0
    elif same >= max(mean, 1.0):
        cycles, banks = float(same), 1
    elif mean > most:
        cycles, banks = mean, 1
    else:
        cycles, banks = float(most), _BANKS
    return Use(cycles, period, banks, drain)


def _same_for_all(profile: Profile, access: Access) -> bool:
    """Return whether all threads read the same: those of each iteration of a divided loop."""
    loops = (profile.sites[number] for number in access.repeats)
    return any(isinstance(loop, Loop) and loop.shared for loop in loops)


class Resource:
    """A resource that serves a request of each thread that wants it, in the order of their numbers.

    Attributes:
        next: when the request that it serves now is done; infinite if there is none.
    """

    def __init__(self) -> None:
        self.next = float("inf")
        self._there: list[Visit] = []  # by thread, but for the one that is served
        self._now: Visit | None = None

    def comes(self, visit: Visit) -> None:
        """A thread wants so much of it."""
        if self._now is None:
            self._begin(visit, visit.came)
        else:
            insort(self._there, visit, key=_by_thread)

    def served(self) -> Visit | None:
        """A request is done: the thread whose last one it was, if it was the last one."""
        visit, moment = self._now, self.next
        assert visit is not None
        visit.left -= visit.each
        done = visit.left < visit.each / 2
        if not done:
            insort(self._there, visit, key=_by_thread)
        if self._there:
            after = bisect_right(self._there, visit.thread, key=_by_thread)
            self._begin(self._there.pop(after % len(self._there)), moment)
        else:
            self._now, self.next = None, float("inf")
        return visit if done else None

    def _begin(self, visit: Visit, moment: float) -> None:
        self._now, self.next = visit, moment + visit.each


def _by_thread(visit: Visit) -> int:
    return visit.thread


@dataclass(slots=True)
class Visit:
    """A thread at a resource.

    Attributes:
        thread: its number.
        came: when.
        left: cycles of the resource that it still wants.
        each: cycles for a request.
        then: how much longer it has to do with this iteration at the least.
    """

    thread: int
    came: float
    left: float
    each: float
    then: float
