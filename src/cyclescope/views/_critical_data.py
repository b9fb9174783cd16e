"""The critical path as the report's page reads it: figures, the path over time, the graph.

The page times a run of Calyx anew by itself, whenever somebody moves a slider: it has the graph of
activations, of which even a run of a million cycles has a few hundred. A graph of more nodes than
`MOST_NODES` is left out, and with it the sliders. Of a run of threads or processes it has curves:
what some values of each change alone would make of the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope.analyse import (
    activation_graph,
    critical,
    critical_over_time,
    curves_of,
    definition_of,
)
from cyclescope.errors import InputError
from cyclescope.model import segmented
from cyclescope.views._text import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from cyclescope.analyse import ActivationGraph, CriticalFrame, Key
    from cyclescope.model import Ints, Profile, Segments

    Store = Callable[[NDArray[np.integer]], dict[str, str | int]]
    StoreRuns = Callable[[Segments, Ints], dict[str, Any]]

__all__ = ["MOST_NODES", "critical_data"]

MOST_NODES = 50_000
"""Nodes, phases and members of a graph that goes into a report."""


def critical_data(profile: Profile, add: Store, runs: StoreRuns) -> dict[str, Any] | None:
    """The critical path; None for a profile that does not say what was waited for.

    Args:
        profile: the run.
        add: stores an array, and gives what stands for it.
        runs: the same of what states show over time.
    """
    try:
        found = critical(profile)
    except InputError:
        return None
    figures = {frame.key: frame for frame in found.frames}
    graph = None if profile.tracks else activation_graph(profile)
    keys = tuple(figures) if graph is None else graph.keys
    alike: dict[object, int] = {}
    try:
        path = runs(segmented([critical_over_time(profile)]), np.arange(len(profile.call_paths)))
    except InputError:  # how long, but not when
        path = None
    rows = [_key(profile, key, figures[key], alike) for key in keys]
    return {
        "keys": rows,
        "path": path,
        "graph": None if graph is None else _graph(graph, add),
        "curves": _curves(profile, alike),
    }


def _key(
    profile: Profile, key: Key, figures: CriticalFrame, alike: dict[object, int]
) -> tuple[int, str, int, int, int, int | None, int | None, int]:
    """A frame, its instance, times, all cycles, those on the path, slack, saved, the definition."""
    definition = alike.setdefault(definition_of(profile, key), len(alike))
    frame, instance = key
    own = (figures.times, figures.total, figures.critical, figures.slack, figures.saved)
    return frame, visible(instance), *own, definition


def _curves(profile: Profile, alike: dict[object, int]) -> list[dict[str, Any]]:
    """The cycles that some values of each change would make of a run of threads or processes.

    Each has the number of a definition: that of its loop, else one of its own.
    """
    found: list[dict[str, Any]] = []
    for curve in curves_of(profile):
        of = definition_of(profile, curve.keys[0]) if curve.keys else curve.name
        found.append(
            {
                "name": visible(curve.name),
                "definition": alike.setdefault(of, len(alike)),
                "now": curve.now,
                "values": curve.values,
                "totals": curve.totals,
            }
        )
    return found


def _graph(graph: ActivationGraph, add: Store) -> dict[str, Any] | None:
    """The nodes of all levels, what is called before what calls; phases and members by number."""
    phases = sum(len(level.phase) for level in graph.levels)
    members = sum(len(level.member) for level in graph.levels)
    if len(graph) + phases + members > MOST_NODES:
        return None
    distinct = np.cumsum([0, *(len(level.member_offset) - 1 for level in graph.levels)])
    blocks = np.cumsum([0, *(int(level.alike.max(initial=-1)) + 1 for level in graph.levels)])
    parts: dict[str, list[Ints]] = {
        "own": [level.own - level.spare for level in graph.levels],
        "least": [level.least for level in graph.levels],
        "alike": [
            np.where(level.alike < 0, -1, level.alike + n)
            for level, n in zip(graph.levels, blocks, strict=False)
        ],
        "key": [level.key for level in graph.levels],
        "phases": [np.diff(level.phase_offset) for level in graph.levels],
        "phase": [level.phase + n for level, n in zip(graph.levels, distinct, strict=False)],
        "times": [level.times for level in graph.levels],
        "members": [np.diff(level.member_offset) for level in graph.levels],
        "member": [level.member for level in graph.levels],
        "lead": [level.lead for level in graph.levels],
    }
    return {name: add(np.concatenate(arrays)) for name, arrays in parts.items()}
