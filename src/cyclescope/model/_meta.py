"""The facts of a profile besides its cycles."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from cyclescope.model._clock import Clock  # noqa: TC001 - `_types` reads the hints

__all__ = ["Anomaly", "Contents", "Gap", "Meta", "Rung", "Severity"]


class Severity(StrEnum):
    """The importance of an anomaly to someone who relies on the numbers."""

    INFO = "info"
    DATA_LOSS = "data loss"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Something unexpected that was met on the way, counted under a name."""

    name: str
    severity: Severity
    count: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """A part of the way from one rung of a ladder to the next: its cause, its cycles.

    Cycles are negative where things happen side by side that the rung below takes in turn.
    """

    name: str
    cycles: int
    about: str = ""


@dataclass(frozen=True, slots=True)
class Rung:
    """A number of cycles, and the gaps that lead to it from the rung below, exactly."""

    name: str
    cycles: int
    gaps: tuple[Gap, ...] = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a memory before a run and after it, as digests (SHA-256, hex).

    Two memories of equal digests have words of one width, in the same dimensions, of equal bits.

    Attributes:
        memory: its name.
        before, after: of its words.
        expected: what `after` should be, by a judge that shares nothing with the run; empty if
            nobody said.
    """

    memory: str
    before: str
    after: str
    expected: str = ""

    @property
    def wrong(self) -> bool:
        """It is not what it should be."""
        return self.expected not in ("", self.after)


@dataclass(frozen=True, slots=True)
class Meta:
    """The head of a profile. Nothing in it varies between two equal runs (no dates, no paths).

    Attributes:
        source: what measured: `calyx`, `bounds`, `network`, `hls` or `traces`.
        title: what was measured, for headings (usually the program's file name).
        complete: False if the run was stopped before its end.
        stop_reason: why, when it is not complete (`cycle limit`, `interrupted`, …).
        period_ps: clock period in picoseconds, None if unknown.
        tools: name → version of each tool that took part.
        inputs: name → SHA-256 (hex) of each input.
        options: name → value of each option that shaped the result (`passes`, `disable`, …).
        anomalies: in the order in which they were met.
        ladder: the run's cycles beside their bounds, from below, if these are known; the last
            rung is the run.
        other_bounds: a bound of the same program in another model of it, and the gaps from there
            to a rung of the ladder, which is the last one here; empty if there is none.
        peaks: name of a counter (names of several that share it, joined by a comma and a blank) →
            the most that the hardware can do of it in a cycle, all threads together, if known.
        clock: that the design reaches, and its longest path, if it was placed and routed;
            `period_ps` is then its period.
        memories: contents of each memory that the run read or wrote for its user; empty if the
            source knows of none, or the run did not reach its end.
    """

    source: str
    title: str
    complete: bool = True
    stop_reason: str = ""
    period_ps: int | None = None
    tools: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    anomalies: tuple[Anomaly, ...] = ()
    ladder: tuple[Rung, ...] = ()
    other_bounds: tuple[Rung, ...] = ()
    peaks: dict[str, int] = field(default_factory=dict)
    clock: Clock | None = None
    memories: tuple[Contents, ...] = ()
