"""Folded stacks: one line a stack, `main;seq L3;read 12`, as flame graph tools read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.views._stacks import stacks
from cyclescope.views._text import visible

if TYPE_CHECKING:
    from cyclescope.model import Profile

__all__ = ["Folded", "folded"]


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded stacks and their unit.

    Attributes:
        text: the lines, each `frame;frame;… count`.
        unit: how many counts make one cycle. The format knows integers only; so as not to
            round, scaled stacks count in fractions of a cycle: the counts sum to exactly
            `unit` · cycles. Flat stacks have unit 1.
    """

    text: str
    unit: int


def folded(profile: Profile, *, scaled: bool = False) -> Folded:
    """Fold the call paths, in the order in which they first became active.

    Args:
        profile: what to show.
        scaled: split each cycle evenly among the leaves of its call tree, so that the counts
            sum to the run's cycles; otherwise every parallel stack counts whole cycles.
    """
    weighed = stacks(profile, scaled=scaled)
    names = [visible(frame.label, also=";") or "(no name)" for frame in profile.catalog]
    frames = profile.call_paths.frame.tolist()
    lines = []
    for path in weighed.order:
        if weighed.own[path]:
            stack = ";".join(names[frames[p]] for p in profile.lineage(path))
            lines.append(f"{stack} {weighed.own[path]}\n")
    return Folded("".join(lines), weighed.unit)
