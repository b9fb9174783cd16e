"""Threads beside each other: what their cycles were for, where they waited, how even it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from cyclescope.analyse._account import WORK, Account, Use, account
from cyclescope.model import Kind, Profile, Series, active_cycles

__all__ = ["Member", "Roof", "Team", "Wait", "team"]


@dataclass(frozen=True, slots=True)
class Member:
    """One thread.

    Attributes:
        name: as the profile has it.
        states: state → cycles in it; they sum to the run's.
        uses: its row of the profile's account; they sum to the run's cycles.
        counts: (metric, name of the counter) → its sum over the run.
    """

    name: str
    states: dict[str, int]
    uses: dict[Use, int]
    counts: dict[tuple[str, str], int]

    @property
    def useful(self) -> int:
        """Cycles of work."""
        return self.uses.get(WORK, 0)

    def total(self, metric: str) -> int:
        """The sum of all counters of a metric."""
        return sum(count for (kind, _), count in self.counts.items() if kind == metric)


@dataclass(frozen=True, slots=True)
class Wait:
    """A place where threads waited.

    Attributes:
        name: of its counter.
        cycles: the thread-cycles that were lost there. A thread can wait in several places at
            once, and counts in each.
        what: an operation (`load of A`), or the name again.
        cause: for what, a `Cause` or a source's own word; empty if it is not known.
        level: the language of the place (`Position.level`); empty if it is not known.
        file: of the source; empty if it is not known.
        line: in it; 0 if it is not known.
        text: that line; empty if the profile does not carry it.
    """

    name: str
    cycles: int
    what: str
    cause: str = ""
    level: str = ""
    file: str = ""
    line: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Roof:
    """A peak rate per cycle of the hardware, and the rate that was reached.

    Attributes:
        names: of the counters that share the roof.
        rate: a cycle, all threads together, exactly.
        peak: the most in a cycle.
    """

    names: tuple[str, ...]
    rate: Fraction
    peak: int

    @property
    def share(self) -> Fraction:
        """The part of the roof that was reached."""
        return self.rate / self.peak


@dataclass(frozen=True, slots=True)
class Team:
    """All threads of a run of so many cycles.

    Attributes:
        cycles: the run's.
        members: the threads, in the profile's order.
        account: of the profile.
        waits: where they waited, the most first.
        peaks: as in the profile's head.
    """

    cycles: int
    members: tuple[Member, ...]
    account: Account
    waits: tuple[Wait, ...]
    peaks: dict[str, int] = field(default_factory=dict)

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
        """Mean over maximum of the threads' cycles of work: 1 if all did as much."""
        useful = [member.useful for member in self.members]
        return Fraction(sum(useful), len(useful) * max(useful)) if max(useful) else Fraction(1)

    @property
    def efficiency(self) -> Fraction:
        """Parallel efficiency (POP): mean of the threads' work over the run's time.

        It is the useful share of the account.
        """
        return self.account.share(self.account.useful)

    def rate(self, metric: str, name: str) -> Fraction:
        """A counter's sum over all threads for each cycle of the run."""
        total = sum(member.counts.get((metric, name), 0) for member in self.members)
        return Fraction(total, self.cycles) if self.cycles else Fraction(0)

    @property
    def roofs(self) -> tuple[Roof, ...]:
        """The rates reached and the roofs of the hardware, where both are known."""
        found = []
        for shared, peak in self.peaks.items():
            names = tuple(shared.split(", "))
            totals = [
                count
                for member in self.members
                for (_, counter), count in member.counts.items()
                if counter in names
            ]
            if totals and peak > 0 and self.cycles:
                found.append(Roof(names, Fraction(sum(totals), self.cycles), peak))
        return tuple(found)


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
            waits.append(_wait(profile, series))
    whole = account(profile)
    rows = dict(zip(whole.tracks, whole.of_track.tolist(), strict=True))
    members = (
        Member(
            profile.frame_of(t).name,
            states[t],
            dict(zip(whole.uses, rows[t], strict=True)) if t in rows else {},
            counts[t],
        )
        for t in threads
    )
    waits.sort(key=lambda wait: (-wait.cycles, wait.name))
    shown = tuple(w for w in waits if w.cycles)
    return Team(profile.cycles, tuple(members), whole, shown, profile.meta.peaks)


def _wait(profile: Profile, series: Series) -> Wait:
    """A counter of waiting, with the place of its site."""
    if series.site < 0:
        return Wait(series.name, _sum(series), series.name, series.cause)
    site = profile.sites[series.site]
    if site.position is None:
        return Wait(series.name, _sum(series), site.label, series.cause)
    level, file, line = site.position.level, site.position.file, site.position.line
    lines = profile.sources.get(file, "").split("\n")
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return Wait(series.name, _sum(series), site.label, series.cause, level, file, line, text)


def _sum(series: Series) -> int:
    return int(series.value.sum())
