"""A rule of advice, and the advice that it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cyclescope.analyse.rules._facts import Facts
    from cyclescope.model import Frame, Position, Profile

__all__ = ["Advice", "Place", "Rule", "counted"]


def counted(number: int, noun: str) -> str:
    """`1 activation`, `20,000 activations`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the program at which a rule has something to say.

    Attributes:
        name: the frame's.
        component: whose text it is in.
        position: where.
        evidence: the numbers, from the profile, in one line.
        saving: cycles that the change is estimated to save.
        at_least, at_most: the bound: what it saves if the advice applies is between these.
        cycles: an interval of the run (first cycle, cycle after the last) that shows it.
    """

    name: str
    component: str
    position: Position | None
    evidence: str
    saving: int
    at_least: int
    at_most: int
    cycles: tuple[int, int] | None

    @classmethod
    def at(
        cls,
        frame: Frame,
        evidence: str,
        saving: int,
        at_least: int,
        at_most: int,
        cycles: tuple[int, int] | None,
    ) -> Place:
        """A place that is a frame."""
        position = frame.positions[0] if frame.positions else None
        return cls(
            frame.name, frame.component, position, evidence, saving, at_least, at_most, cycles
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern that costs cycles, how to see it and what to do.

    Attributes:
        name: for programs, unique.
        title: what was found, in a line.
        reference: where the pattern is described.
        change: what to change.
        verify: how to make sure that it helped and broke nothing.
        sources: sources of profiles (`Meta.source`) in which it looks.
        find: the places; empty if it has nothing to say.
        most: cycles that all places together save at most, where that is less than the run has.
        bounds: given a profile, a function that gives the most that a place can save.
    """

    name: str
    title: str
    reference: str
    change: str
    verify: str
    sources: frozenset[str]
    find: Callable[[Facts], Iterable[Place]]
    most: Callable[[Facts], int] | None = None
    bounds: Callable[[Profile], Callable[[Place], int]] | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """The finding of a rule in a profile.

    Attributes:
        rule: which.
        places: most cycles first; what each saves comes to what the others save.
        total: the most that they can save together: the run's cycles, or what a rule knows.
        rank: 1 for what saves most; findings that save equally much have one rank.
        ties: the names of the other rules whose findings have this one's rank.
    """

    rule: Rule
    places: tuple[Place, ...]
    total: int
    rank: int = 1
    ties: tuple[str, ...] = ()

    @property
    def saving(self) -> int:
        """Estimated cycles that the change saves at all places together."""
        return min(sum(place.saving for place in self.places), self.total)

    @property
    def at_least(self) -> int:
        """The lower end of the bound."""
        return min(sum(place.at_least for place in self.places), self.total)

    @property
    def at_most(self) -> int:
        """The upper end of the bound; never more than the run has."""
        return min(sum(place.at_most for place in self.places), self.total)
