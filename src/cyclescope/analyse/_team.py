"""Threads beside each other: what states they were in, what they waited for, how even it was."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from cyclescope.model import Kind, Profile, Series, active_cycles

__all__ = ["LOST_STATES", "Member", "Team", "Wait", "team"]

LOST_STATES = frozenset({"idle", "spinning"})
"""States in which a thread gets nothing done (the paper of Nymble and Paraver, section IV-B)."""


@dataclass(frozen=True, slots=True)
class Member:
    """One thread.

    Attributes:
        name: as the profile has it.
        states: state → cycles in it; they sum to the run's.
        counts: (metric, name of the counter) → its sum over the run.
    """

    name: str
    states: dict[str, int]
    counts: dict[tuple[str, str], int]

    @property
    def busy(self) -> int:
        """Cycles in states that get something done."""
        return sum(n for state, n in self.states.items() if state not in LOST_STATES)

    def total(self, metric: str) -> int:
        """The sum of all counters of a metric."""
        return sum(count for (kind, _), count in self.counts.items() if kind == metric)


@dataclass(frozen=True, slots=True)
class Wait:
    """A place where threads waited, and the thread-cycles that were lost there."""

    name: str
    cycles: int


@dataclass(frozen=True, slots=True)
class Team:
    """All threads of a run of so many cycles.

    Attributes:
        cycles: the run's.
        members: the threads, in the profile's order.
        waits: where they waited, the most first.
    """

    cycles: int
    members: tuple[Member, ...]
    waits: tuple[Wait, ...]

    @property
    def states(self) -> dict[str, int]:
        """State → thread-cycles, in order of first mention; they sum to threads times cycles."""
        result: dict[str, int] = {}
        for member in self.members:
            for state, cycles in member.states.items():
                result[state] = result.get(state, 0) + cycles
        return result

    @property
    def balance(self) -> Fraction:
        """Mean over maximum of the threads' busy cycles: 1 if all had as much to do."""
        busy = [member.busy for member in self.members]
        return Fraction(sum(busy), len(busy) * max(busy)) if max(busy) else Fraction(1)

    @property
    def efficiency(self) -> Fraction:
        """The share of all thread-cycles in which a thread was busy."""
        busy = sum(member.busy for member in self.members)
        return Fraction(busy, len(self.members) * self.cycles) if self.cycles else Fraction(0)

    def rate(self, metric: str, name: str) -> Fraction:
        """A counter's sum over all threads for each cycle of the run."""
        total = sum(member.counts.get((metric, name), 0) for member in self.members)
        return Fraction(total, self.cycles) if self.cycles else Fraction(0)


def team(profile: Profile) -> Team | None:
    """The threads of a profile that are each in one state in every cycle; None without any."""
    parents = profile.call_paths.parent.tolist()
    threads = [p for p in range(len(parents)) if profile.frame_of(p).kind is Kind.THREAD]
    cycles = active_cycles(profile).tolist()
    states: dict[int, dict[str, int]] = {path: {} for path in threads}
    for path, parent in enumerate(parents):
        frame = profile.frame_of(path)
        if frame.kind is Kind.STATE and parent in states:
            found = states[parent]
            found[frame.name] = found.get(frame.name, 0) + cycles[path]
    if not any(states.values()):
        return None
    counts: dict[int, dict[tuple[str, str], int]] = {path: {} for path in threads}
    waits = []
    for series in profile.series:
        if not series.summed:
            continue
        if series.path in counts:
            counts[series.path][series.metric, series.name] = _sum(series)
        elif series.metric == "stall":
            waits.append(Wait(series.name, _sum(series)))
    members = (Member(profile.frame_of(t).name, states[t], counts[t]) for t in threads)
    waits.sort(key=lambda wait: (-wait.cycles, wait.name))
    return Team(profile.cycles, tuple(members), tuple(w for w in waits if w.cycles))


def _sum(series: Series) -> int:
    return int(series.value.sum())
