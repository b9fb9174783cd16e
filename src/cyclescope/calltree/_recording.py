"""The values of a design's probes, cycle by cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.model import Ints, Segments

__all__ = ["Recording", "Vectors"]

Vectors = Mapping[str, Sequence[int]]
"""Signal → its value in each distinct combination of a component's signals; below 0: unknown."""


@dataclass(frozen=True)
class Recording:
    """The states of a design, and the runs of equal ones.

    Attributes:
        instances: (hierarchical name, component) of each instance with probes.
        vectors: of each component with probes.
        states: for each instance the number of its vector, shape (states, instances).
        runs: which state is current when, numbers of rows of `states`.
        complete: the last cycle is the last of the program.
        after: the state in the cycle after the last, if that was recorded.
    """

    instances: tuple[tuple[str, str], ...]
    vectors: Mapping[str, Vectors]
    states: Ints
    runs: Segments
    complete: bool = False
    after: int | None = None
