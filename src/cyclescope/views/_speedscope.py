"""Speedscope's file format (https://www.speedscope.app): one JSON file with several profiles.

It has a profile scaled for parallelism, a flat one, and, where the run is short enough or a
window is given, the run over time: speedscope shows one stack at a time, so what runs in
parallel is spread over as many profiles as there are stacks at once. Where there are tracks
(threads, processes), each has a profile of its own name instead, and one over time. Speedscope
knows no cycles; its unit of measure is "none", and the profile's name says what it counts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope.analyse import account
from cyclescope.model import Runs
from cyclescope.views._stacks import Stacks, leaves, stacks
from cyclescope.views._text import number, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        JSON text, ASCII only. All weights are whole cycles; those over time sum to the window's,
        the scaled ones to the run's (`Stacks.whole`).
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
    tracks = account(profile).tracks
    flat = stacks(profile, scaled=False)
    whole = f"all {number(profile.cycles)} cycles, split among what ran in parallel (cycles)"
    profiles = [
        _weighed(profile, stacks(profile, scaled=True), whole),
        _weighed(profile, flat, "every parallel stack (cycles)"),
        *(_of_track(profile, flat, track) for track in range(len(tracks))),
    ]
    until = profile.cycles if end is None else end
    over_time = list(_over_time(profile, tracks, start, until, max_runs))
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


def _weighed(profile: Profile, weighed: Stacks, name: str) -> dict[str, Any]:
    shown = [path for path in weighed.order if weighed.whole[path]]
    samples = [_stack(profile, path) for path in shown]
    return _sampled(name, samples, [weighed.whole[path] for path in shown])


def _of_track(profile: Profile, weighed: Stacks, track: int) -> dict[str, Any]:
    """The cycles of one track: its own stacks, in whole cycles."""
    track_of = profile.track_of.tolist()
    shown = [p for p in weighed.order if weighed.own[p] and track_of[p] == track]
    samples = [_stack(profile, path) for path in shown]
    name = f"{_label(profile, profile.tracks[track])} (cycles)"
    return _sampled(name, samples, [weighed.own[path] for path in shown])


def _label(profile: Profile, path: int) -> str:
    return visible(profile.frame_of(path).label) or "(no name)"


def _stack(profile: Profile, path: int) -> list[int]:
    return [int(profile.call_paths.frame[p]) for p in profile.lineage(path)]


def _over_time(
    profile: Profile, tracks: Sequence[int], start: int, end: int, max_runs: int
) -> Iterator[dict[str, Any]]:
    whole = profile.schedule
    inside = whole.segments.between(max(start, 0), min(end, profile.cycles))
    runs = Runs.of(inside, whole.tree_of)
    if not 0 < len(runs) <= max_runs:
        return
    tree, length = runs.tree, runs.cycles
    window = "" if len(runs) == len(whole) else f" from {number(start)} to {number(end)}"
    ends = leaves(profile)
    lanes = max(len(ends[t]) for t in set(tree.tolist()))
    names = [f", parallel stack {lane + 1}" if lane else "" for lane in range(lanes)]
    if tracks:
        # A track has its own: what is its last leaf in each tree.
        track_of = profile.track_of.tolist()
        ends_in = [{track_of[path]: path for path in paths} for paths in ends]
        ends = [[own.get(track, -1) for track in range(len(tracks))] for own in ends_in]
        names = [f", {_label(profile, track)}" for track in tracks]
    for lane, name in enumerate(names):
        last = np.array([e[lane] if lane < len(e) else -1 for e in ends], dtype=np.int64)[tree]
        first = np.flatnonzero(np.concatenate(([True], last[1:] != last[:-1])))
        weights = np.add.reduceat(length, first).tolist()
        shown = {p: _stack(profile, p) if p >= 0 else [] for p in set(last.tolist())}
        samples = [shown[path] for path in last[first].tolist()]
        yield _sampled(f"over time{window}{name} (cycles)", samples, weights)
