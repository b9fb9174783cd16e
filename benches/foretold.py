"""Foretold cycles against simulated ones: errors by what was changed, and those that are large."""

from __future__ import annotations

import sys
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGE = 0.1  # of the simulated cycles: such a change is printed


class Errors:
    """The errors of what was foretold, as shares of the simulated cycles.

    Attributes:
        by: what was changed → the error of each such change.
    """

    def __init__(self) -> None:
        self.by: dict[str, list[float]] = defaultdict(list)

    def add(self, what: str, change: str, foretold: int, real: int) -> None:
        """Count a change, and print it if it was far off."""
        off = (foretold - real) / real
        self.by[what].append(abs(off))
        if abs(off) > LARGE:
            said = f"{change}: {foretold:,}, is {real:,} ({off:+.1%})"
            print(said, file=sys.stderr, flush=True)


def median_and_worst(found: Sequence[float]) -> str:
    """The last two cells of a table's row."""
    return f"{100 * median(found):.1f} % | {100 * max(found):.1f} % |"
