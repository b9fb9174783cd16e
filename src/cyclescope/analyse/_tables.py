"""Tables of cells, groups, control blocks and primitives: one row a frame and instance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from cyclescope.analyse._activations import Activations, Key, activations
from cyclescope.analyse._overheads import Overhead, instance_overheads
from cyclescope.model import Frame, Kind, Position, Profile

__all__ = ["Row", "table"]

_NEVER = Activations(times=0, total=0, shortest=0, longest=0)


@dataclass(frozen=True, slots=True)
class Row:
    """What the run says of one frame in one instance.

    Attributes:
        instance: the cell instance it lies in, dotted; for a cell its own. Empty for a frame
            that was never active: no path says which instances there are.
        frame: the frame itself.
        times: activations.
        cycles: cycles in which it was active.
        shortest, longest: cycles of one activation; 0 if it was never active.
        share: `cycles` of the run's total, exact.
        useful, overhead: for cells, how their active cycles divide; None for other kinds.
    """

    instance: str
    frame: Frame
    times: int
    cycles: int
    shortest: int
    longest: int
    share: Fraction
    overhead: Overhead | None

    @property
    def average(self) -> Fraction | None:
        """Mean cycles of an activation, exact; None if there was none."""
        return Fraction(self.cycles, self.times) if self.times else None

    @property
    def could_be_static(self) -> bool:
        """Every activation took equally long, and it is not static already (Petal, 8.1).

        Said of cells, groups and control blocks, but not of a `while`, which asks a question
        before each iteration however many there turn out to be (Petal, 8.2.2).
        """
        equal = self.times > 0 and self.shortest == self.longest
        loop = "while" in self.frame.detail.split()
        written = self.frame.kind in (Kind.CELL, Kind.GROUP, Kind.CONTROL) and not loop
        return equal and written and self.frame.latency is None

    @property
    def position(self) -> Position | None:
        """Where it comes from: the innermost language's place."""
        return self.frame.positions[0] if self.frame.positions else None


def table(profile: Profile, kind: Kind) -> tuple[Row, ...]:
    """Rows for every frame of that kind, most cycles first; never active ones last."""
    measured = activations(profile, kind)
    overheads = instance_overheads(profile) if kind is Kind.CELL else {}
    keys: list[Key] = list(measured)
    seen = {frame for frame, _ in keys}
    keys += [
        (index, "")
        for index, frame in enumerate(profile.catalog)
        if frame.kind is kind and index not in seen
    ]
    total = profile.cycles
    rows = []
    for frame, instance in keys:
        what = measured.get((frame, instance), _NEVER)
        rows.append(
            Row(
                instance=instance,
                frame=profile.catalog[frame],
                times=what.times,
                cycles=what.total,
                shortest=what.shortest,
                longest=what.longest,
                share=Fraction(what.total, total) if total else Fraction(0),
                overhead=overheads.get(instance),
            )
        )
    # Keys stand in order of first mention, which the stable sort keeps among equals.
    return tuple(sorted(rows, key=lambda row: -row.cycles))
