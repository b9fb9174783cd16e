"""Flows: which firing's value each firing of a process network read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cyclescope.model._profile import Ints

__all__ = ["Flow"]


@dataclass(frozen=True, eq=False, slots=True)
class Flow:
    """The values that went through a channel between two processes, in their order.

    Attributes:
        edge: the channel, a place in `Profile.sites`.
        sends: the producer's firing that wrote each value, ascending, from 0.
        reads: the value that each read takes, from 0.
        firings: the consumer's firing of each read, ascending, from 0.
    """

    edge: int
    sends: Ints
    reads: Ints
    firings: Ints

    @property
    def given(self) -> Ints:
        """The number of values that nobody reads any more after each read."""
        after = np.append(self.reads[1:], len(self.sends))
        return np.minimum.accumulate(after[::-1])[::-1]

    def __eq__(self, other: object) -> bool:
        """Equal contents."""
        if not isinstance(other, Flow):
            return NotImplemented
        return self.edge == other.edge and all(
            np.array_equal(a, b)
            for a, b in (
                (self.sends, other.sends),
                (self.reads, other.reads),
                (self.firings, other.firings),
            )
        )

    __hash__ = None  # type: ignore[assignment]
