"""Estimates between the two bounds: cycles against the resources that each statement has.

That is the curve of the cprof paper's Figure 1. Section 4.4 gives its ends: all firings of a
statement on one resource, or each on one of its own. Between them a statement has R resources, each
with a control variable (section 4.5): firings take, in program order, the one that is free first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.bounds._estimate import Bounds, Estimate
    from cyclescope.bounds._native import Records

__all__ = ["Resources", "curve_of"]


@dataclass(frozen=True, slots=True)
class Resources:
    """Numbers of resources a statement.

    Attributes:
        numbers: at least 1 each, in rising order.
        onwards: go on from the last one, doubling it, until the unbounded cycles are reached.
    """

    numbers: tuple[int, ...]
    onwards: bool = False


class _Run(Protocol):
    def __call__(self, *, resources: int) -> Records:
        """Run the kernel with so many resources a statement."""


def curve_of(bounds: Bounds, resources: Resources, run: _Run) -> tuple[Estimate, ...]:
    """An estimate for each number of resources.

    Args:
        bounds: the two ends.
        resources: which numbers.
        run: runs the kernel once more.
    """
    most = max((row.count for row in bounds.unbounded.firings), default=0)
    points: list[Estimate] = []
    for number in _numbers(resources):
        if number > resources.numbers[-1] and points[-1].cycles <= bounds.unbounded.cycles:
            break
        if number == 1:
            points.append(bounds.absolute)
        elif number >= most:  # no firing finds them all taken
            points.append(replace(bounds.unbounded, resources=number))
        else:
            points.append(bounds.with_resources(number, run(resources=number)))
    return tuple(points)


def _numbers(resources: Resources) -> Iterator[int]:
    yield from resources.numbers
    number = resources.numbers[-1]
    while resources.onwards:
        number *= 2
        yield number
