"""Rewrites of a source program, and how a rewritten one is measured: what all sources share.

A source offers candidates for a text of a program, and measures a text. Whoever searches
(`cyclescope.studies`) knows no more of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol, Self

from cyclescope._edits import apply_edits, overlap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from cyclescope._edits import Edit

__all__ = ["Candidate", "Claim", "Measured", "Rewrite", "Subject", "apply_candidates", "compatible"]


class Claim(Enum):
    """The ground on which a rewrite is held to change no result."""

    CONSTRUCTION = "by construction"
    ROUNDING = "up to rounding"
    DATA = "checked on this data only"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A kind of rewrite.

    Attributes:
        name: a word or two, with hyphens.
        sentence: what it does, for people.
        opens: others build on it, so it is kept even where it gains nothing by itself; it must
            not undo what another one does.
        rival: the rewrite before it in the list that changes the same places in another way: the
            one of both that gains more goes first. Empty if there is none.
    """

    name: str
    sentence: str
    opens: bool = False
    rival: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rewrite at a place of a text.

    Attributes:
        rewrite: the rewrite's name.
        place: where, for people and as an identity among the candidates of one rewrite; it names
            constructs, not offsets or lines, so that it stays while other places are rewritten.
        line: in the text, from 1.
        claim: how far it is known to change no result.
        reason: why, in one line.
        edits: of the text.
        premises: the pieces of the text (from, to before) on which its reason rests. Two that
            share one are right each by itself, not together.
    """

    rewrite: str
    place: str
    line: int
    claim: Claim
    reason: str
    edits: tuple[Edit, ...]
    premises: frozenset[tuple[int, int]] = frozenset()

    @property
    def key(self) -> tuple[str, str]:
        """Its identity in all texts of one program."""
        return self.rewrite, self.place


@dataclass(frozen=True, slots=True)
class Measured:
    """A text, compiled and run.

    Attributes:
        failure: why it is not to be used (`does not compile: …`, `memory m differs: …`), in one
            line; empty if it ended with the results that it must have.
        cycles: how long it ran; over several data their sum. 0 if it does not compile.
        figures: further figures, by name (`LUT4`), where they were asked for.
    """

    failure: str
    cycles: int
    figures: Mapping[str, int] = field(default_factory=dict)


class Subject(Protocol):
    """A program that is to be improved; several threads may measure at once."""

    @property
    def rewrites(self) -> Sequence[Rewrite]:
        """The kinds of rewrites, in the order in which they are tried."""

    def candidates(self, text: bytes) -> Sequence[Candidate]:
        """The candidates of a text, those of each rewrite in the order of the text.

        Raises:
            SourceError: the text cannot be read.
        """

    def measure(self, text: bytes) -> Measured:
        """Compile a text, run it, and compare its results with those of the original program."""

    def confirm(self, text: bytes) -> str:
        """Check the chosen text once more, by routes too slow for every trial.

        Returns:
            Why it is not to be used, in one line; empty if nothing speaks against it.
        """

    def files(self) -> Mapping[str, bytes]:
        """All that a measurement reads, by its path below a folder for `at`.

        Raises:
            SourceError, DataError: a file cannot be read.
        """

    def at(self, folder: Path) -> Self:
        """The same subject, with its files (`files`) in another folder; it can be pickled."""

    def cost(self, text: bytes) -> Mapping[str, int]:
        """The area of what a text becomes, figures by name.

        Raises:
            ToolError: it cannot be synthesised.
        """


def compatible(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Those of some candidates that can be applied together, the earlier first.

    Their edits do not overlap, and no two share a premise.
    """
    chosen: list[Candidate] = []
    taken: dict[Edit, None] = {}
    premises: frozenset[tuple[int, int]] = frozenset()
    for candidate in candidates:
        # Two may change one piece of text in the same way: that is no conflict.
        together = dict.fromkeys((*taken, *candidate.edits))
        if premises.isdisjoint(candidate.premises) and not overlap(together):
            chosen.append(candidate)
            taken = together
            premises |= candidate.premises
    return chosen


def apply_candidates(text: bytes, candidates: Iterable[Candidate]) -> bytes:
    """A text with some candidates' edits, of which equal ones are applied once.

    Raises:
        ValueError: two of them overlap.
    """
    return apply_edits(text, dict.fromkeys(edit for c in candidates for edit in c.edits))
