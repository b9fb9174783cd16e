"""Tests of whether two runs computed the same: the contents of their memories, by digests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.model import Profile

__all__ = ["SameResults", "same_results"]


@dataclass(frozen=True, slots=True)
class SameResults:
    """The memories of two runs, compared.

    Attributes:
        compared: memories that both have, in the first's order; none if they did not start from
            the same data, since other results are then to be expected.
        differing: those of them that hold something else after the runs.
        other_data: memories that held something else before the runs already.
    """

    compared: tuple[str, ...]
    differing: tuple[str, ...]
    other_data: tuple[str, ...]


def same_results(before: Profile, after: Profile) -> SameResults | None:
    """Compare what two runs left; None if one of them does not say."""
    old = {memory.memory: memory for memory in before.meta.memories}
    new = {memory.memory: memory for memory in after.meta.memories}
    common = [name for name in old if name in new]
    if not common:
        return None
    other = tuple(name for name in common if old[name].before != new[name].before)
    if other:
        return SameResults((), (), other)
    differing = tuple(name for name in common if old[name].after != new[name].after)
    return SameResults(tuple(common), differing, ())
