"""Speedscope's file format (https://www.speedscope.app): one JSON file with several profiles.

It has a profile scaled for parallelism, a flat one, and, where the run is short enough or a
window is given, the run over time: speedscope shows one stack at a time, so what runs in
parallel is spread over as many profiles as there are stacks at once. Speedscope knows no cycles;
the unit is "none", and the profile's name says what it counts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope.views._stacks import Stacks, leaves, stacks
from cyclescope.views._text import number, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.model import Profile

__all__ = ["SPEEDSCOPE_RUNS", "speedscope"]

SPEEDSCOPE_RUNS = 50_000
"""Changes of the call tree up to which the run over time is part of the file by default."""

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(
    profile: Profile,
    *,
    start: int = 0,
    end: int | None = None,
    max_runs: int = SPEEDSCOPE_RUNS,
) -> str:
    """Convert a profile for speedscope.

    Args:
        profile: what to show.
        start: first cycle of the profiles over time.
        end: cycle after their last; None for the run's end.
        max_runs: leave the profiles over time out if the call tree changes more often than
            this in the window: the browser would choke on them.

    Returns:
        JSON text, ASCII only. All weights are integers; those over time sum to the window's
        cycles, the scaled ones to as many units as the profile's name says a cycle has.
    """
    frames = [
        {
            "name": visible(frame.label) or "(no name)",
            **(
                {"file": visible(frame.positions[0].file), "line": frame.positions[0].line}
                if frame.positions
                else {}
            ),
        }
        for frame in profile.catalog
    ]
    profiles = [_weighed(profile, scaled=True), _weighed(profile, scaled=False)]
    over_time = list(_over_time(profile, start, profile.cycles if end is None else end, max_runs))
    left_out = "" if over_time else " (too many changes to show over time: choose a window)"
    head = {
        "$schema": _SCHEMA,
        "name": visible(profile.meta.title) + left_out,
        "exporter": "cyclescope",
        "activeProfileIndex": 0,
        "shared": {"frames": frames},
        "profiles": [*profiles, *over_time],
    }
    return json.dumps(head, separators=(",", ":")) + "\n"


def _sampled(name: str, samples: list[list[int]], weights: list[int]) -> dict[str, Any]:
    return {
        "type": "sampled",
        "name": name,
        "unit": "none",
        "startValue": 0,
        "endValue": sum(weights),
        "samples": samples,
        "weights": weights,
    }


def _weighed(profile: Profile, *, scaled: bool) -> dict[str, Any]:
    weighed: Stacks = stacks(profile, scaled=scaled)
    shown = [path for path in weighed.order if weighed.own[path]]
    if scaled:
        unit = "cycles" if weighed.unit == 1 else f"{number(weighed.unit)} units = 1 cycle"
        name = f"all {number(profile.cycles)} cycles, split among what ran in parallel ({unit})"
    else:
        name = "every parallel stack (cycles)"
    samples = [_stack(profile, path) for path in shown]
    return _sampled(name, samples, [weighed.own[path] for path in shown])


def _stack(profile: Profile, path: int) -> list[int]:
    return [int(profile.call_paths.frame[p]) for p in profile.lineage(path)]


def _over_time(profile: Profile, start: int, end: int, max_runs: int) -> Iterator[dict[str, Any]]:
    runs = profile.schedule
    begin = np.maximum(runs.start, start)
    until = np.minimum(runs.start + runs.cycles, end)
    inside = until > begin
    if not inside.any() or int(inside.sum()) > max_runs:
        return
    tree, length = runs.tree[inside], (until - begin)[inside]
    ends = leaves(profile)
    window = "" if len(tree) == len(runs) else f" from {number(start)} to {number(end)}"
    for lane in range(max(len(ends[t]) for t in set(tree.tolist()))):
        last = np.array([e[lane] if lane < len(e) else -1 for e in ends], dtype=np.int64)[tree]
        first = np.flatnonzero(np.concatenate(([True], last[1:] != last[:-1])))
        weights = np.add.reduceat(length, first).tolist()
        shown = {p: _stack(profile, p) if p >= 0 else [] for p in set(last.tolist())}
        samples = [shown[path] for path in last[first].tolist()]
        stack = f", parallel stack {lane + 1}" if lane else ""
        yield _sampled(f"over time{window}{stack} (cycles)", samples, weights)
