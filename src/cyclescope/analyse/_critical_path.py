"""The critical path of a run, as types: what `critical` finds in any profile."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.analyse._activations import Key

__all__ = ["Critical", "CriticalFrame", "PhaseWait"]


@dataclass(frozen=True, slots=True)
class CriticalFrame:
    """The part of one frame in one instance in the length of the run.

    Attributes:
        key: the frame and the instance.
        times: its activations.
        total: cycles of all of them together.
        critical: own cycles of those on the critical path, each cycle of the run counted once.
        slack: cycles that each of its activations could take more for nothing; None if that is not
            known.
        saved: cycles by which the run is shorter if each of its activations is one cycle shorter;
            None likewise.
    """

    key: Key
    times: int
    total: int
    critical: int
    slack: int | None
    saved: int | None

    @property
    def leverage(self) -> Fraction | None:
        """Cycles of the run per cycle of this frame: 0 if others hide it, 1 if nothing does."""
        return None if self.saved is None else Fraction(self.saved, self.times)


@dataclass(frozen=True, slots=True)
class PhaseWait:
    """Cycles for which what is over early waits for what ends last, in all activations together.

    Attributes:
        caller: who calls both and goes on when both are over.
        waiting: who is over early.
        decisive: who ends last.
        times: how often; None if that is not known.
        cycles: for how long altogether.
        cause: `join` where one caller goes on when all are over; of threads `lock` or `barrier`; of
            processes `operand` or `full channel`.
    """

    caller: Key
    waiting: Key
    decisive: Key
    times: int | None
    cycles: int
    cause: str = "join"


@dataclass(frozen=True, slots=True)
class Critical:
    """A run's critical path.

    Attributes:
        frames: in the order of critical cycles, most first; they sum to the run.
        waits: in the order of cycles, most first.
        cycles: of the run.
        threads: of a run of threads each one's part, all its frames together; they sum to the run.
    """

    frames: tuple[CriticalFrame, ...]
    waits: tuple[PhaseWait, ...]
    cycles: int
    threads: tuple[CriticalFrame, ...] = ()
