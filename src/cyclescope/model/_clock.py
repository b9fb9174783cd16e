"""The clock that a design reaches, and the path that decides it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Clock", "Part", "PathStep", "StepKind"]


class Part(StrEnum):
    """The part of a design that a net belongs to."""

    OPERATION = "operation"
    """It computes what a line of the program says."""
    CONTROL = "control"
    """It decides when threads and iterations go on."""
    MEMORY_PATH = "memory path"
    """It is between the operations and the memory: arbiters, interfaces, answers."""
    PROFILING_UNIT = "profiling unit"
    OTHER = "other"
    """Nobody said."""


class StepKind(StrEnum):
    """The kind of a step on a path from one register to another."""

    LAUNCH = "launch"
    """From the clock to the output of the register, memory or multiplier that it begins at."""
    LOGIC = "logic"
    WIRE = "wire"
    SETUP = "setup"
    """The time that the end of the path needs before the next clock."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """A step on a path.

    Attributes:
        kind: of the step.
        delay_ps: that it takes, in picoseconds.
        cell: kind of the cell (`LUT`, `carry chain`, `register` …); empty for a wire.
        net: the design's net that it makes or is; empty where it has no name of its own.
        part: of the design.
        file, line: the line of the program that it belongs to; empty and 0 if there is none.
    """

    kind: StepKind
    delay_ps: int
    cell: str
    net: str
    part: Part
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock that a placed and routed design reaches.

    Attributes:
        device: with its speed grade.
        seed: of the placement, which begins at random.
        path: the longest, from its launch to its setup; its delays add up to the period.
    """

    device: str
    seed: int
    path: tuple[PathStep, ...]

    @property
    def period_ps(self) -> int:
        """The shortest period, in picoseconds."""
        return sum(step.delay_ps for step in self.path)

    @property
    def logic_ps(self) -> int:
        """The part of the period that is no wire, in picoseconds."""
        return sum(step.delay_ps for step in self.path if step.kind is not StepKind.WIRE)
