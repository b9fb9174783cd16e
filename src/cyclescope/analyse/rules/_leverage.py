"""The saving that can be expected: no more than the run without the block at all.

A block that others hide saves nothing, however short it becomes. Where the critical path of a run
is known, that of a Calyx program, the run is timed anew with the place's block of no length. Only
rules whose changes save cycles of the block itself expect no more. It is no upper bound: what is
around a block that is written in another way may become shorter, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse._activation_graph import activation_graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.analyse.rules._rule import Place
    from cyclescope.model import Profile

__all__ = ["bounded", "bounds_of_blocks"]


def bounded(place: Place, most: Callable[[Place], int]) -> Place:
    """A place that is expected to save no more than its block takes."""
    bound = most(place)
    return replace(
        place,
        saving=min(place.saving, bound),
        at_least=min(place.at_least, bound),
    )


def bounds_of_blocks(profile: Profile) -> Callable[[Place], int]:
    """The cycles of a Calyx run that go if a place's block takes none, wherever it runs."""
    graph = activation_graph(profile)
    found: dict[tuple[str, str], int] = {}

    def most(place: Place) -> int:
        asked = place.component, place.name
        if asked not in found:
            frames = [(f.component, f.name) == asked for f in profile.catalog]
            mine = np.array([frames[frame] for frame, _ in graph.keys])
            gone = np.where(mine, 0, -1)[:, None]
            found[asked] = (
                graph.cycles - int(graph.lengths(fixed=gone)[-1, 0])
                if mine.any()
                else profile.cycles
            )
        return found[asked]

    return most
