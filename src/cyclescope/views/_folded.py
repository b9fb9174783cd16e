"""Folded stacks: one line a stack, `main;seq L3;read 12`, as flame graph tools read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.views._stacks import stacks
from cyclescope.views._text import visible

if TYPE_CHECKING:
    from cyclescope.model import Profile

__all__ = ["folded"]


def folded(profile: Profile, *, scaled: bool = False) -> str:
    """Fold the call paths, in the order in which they first became active.

    Args:
        profile: what to show.
        scaled: split each cycle evenly among the leaves of its call tree, so that the counts
            sum to the run's cycles; otherwise every parallel stack counts whole cycles.

    Returns:
        Lines, each `frame;frame;… cycles`. The format knows integers only: scaled counts are
        rounded so that their sum is exact (`Stacks.whole`).
    """
    weighed = stacks(profile, scaled=scaled)
    names = [visible(frame.label, also=";") or "(no name)" for frame in profile.catalog]
    frames = profile.call_paths.frame.tolist()
    lines = []
    for path in weighed.order:
        if weighed.whole[path]:
            stack = ";".join(names[frames[p]] for p in profile.lineage(path))
            lines.append(f"{stack} {weighed.whole[path]}\n")
    return "".join(lines)
