"""Profiles of runs that follow each other, as one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model._builder import ProfileBuilder
from cyclescope.model._segments import Segments
from cyclescope.model._series import Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.model._meta import Anomaly
    from cyclescope.model._profile import Ints, Profile

__all__ = ["in_sequence"]


def in_sequence(profiles: Sequence[Profile], *, extra: Sequence[Series] = ()) -> Profile:
    """The profile in which runs of one design follow each other, without a cycle between them.

    Head, texts, areas and sites are the first one's, but for anomalies, which are those of all, and
    for how the last one ended. A counter is known by everything but its values; it has those of all
    runs.

    Args:
        profiles: of runs that have the same sites; one is given back as it is.
        extra: further counters of the whole, of the first profile's paths.
    """
    first = profiles[0]
    if len(profiles) == 1 and not extra:
        return first
    builder = ProfileBuilder()
    for frame in first.catalog:
        builder.frame(frame)
    segments, tree_of, begin = [], [], 0
    found: dict[tuple[tuple[str, str | int], ...], list[tuple[Series, Ints, Ints, Ints]]] = {}
    for profile in profiles:
        path_of: list[int] = []
        for path, parent in enumerate(profile.call_paths.parent.tolist()):
            above = path_of[parent] if parent >= 0 else -1
            path_of.append(builder.path(above, profile.frame_of(path)))
        trees = [
            builder.tree(path_of[path] for path in profile.forest[tree].tolist())
            for tree in range(len(profile.forest))
        ]
        segments.append(profile.schedule.segments)
        tree_of.append(np.array(trees, dtype=np.int64)[profile.schedule.tree_of])
        for series in profile.series:
            moved = series.at_path(path_of[series.path] if series.path >= 0 else -1)
            start, end, value = series.intervals
            if profile is not profiles[-1]:
                # What a run's last step led to is not there when the next one begins.
                end = np.minimum(end, profile.cycles)
                start, end, value = (part[start < end] for part in (start, end, value))
            found.setdefault(tuple(moved.head.items()), []).append(
                (moved, start + begin, end + begin, value)
            )
        begin += profile.cycles
    for parts in found.values():
        start, end, value = (np.concatenate(part) for part in list(zip(*parts, strict=True))[1:])
        one = parts[0][0]
        builder.counter(
            Series(
                one.track, one.name, one.metric, one.unit, one.path, start, end, value,
                labels={number: text for part in parts for number, text in part[0].labels.items()},
                activity=one.activity, cause=one.cause, site=one.site,
            )
        )  # fmt: skip
    for series in extra:
        builder.counter(series)
    last = profiles[-1].meta
    meta = replace(
        first.meta,
        anomalies=_anomalies(profiles),
        complete=last.complete,
        stop_reason=last.stop_reason,
    )
    whole = builder.build_states(
        meta,
        _joined(segments, [len(part) for part in tree_of]),
        np.concatenate(tree_of),
        sites=first.sites,
    )
    return replace(whole, sources=first.sources, areas=first.areas)


def _anomalies(profiles: Sequence[Profile]) -> tuple[Anomaly, ...]:
    """The anomalies of all; those that differ in their number alone are one."""
    counts: dict[Anomaly, int] = {}
    for profile in profiles:
        for anomaly in profile.meta.anomalies:
            key = replace(anomaly, count=0)
            counts[key] = counts.get(key, 0) + anomaly.count
    return tuple(replace(key, count=count) for key, count in counts.items())


def _joined(segments: Sequence[Segments], counts: Sequence[int]) -> Segments:
    """Sequences one after another; their states, so many, are numbered one after another, too."""
    order, offset, states, rows = [], [np.zeros(1, dtype=np.int64)], [], 0
    count = base = 0
    for one, many in zip(segments, counts, strict=True):
        order.append(one.order.astype(np.int64) + count)
        offset.append(one.offset[1:] + rows)
        states.append(one.state.astype(np.int64) + base)
        count, rows = count + len(one.offset) - 1, rows + len(one.state)
        base += many
    cycles = [one.cycles.astype(np.int64) for one in segments]
    return Segments(
        np.concatenate(order),
        np.concatenate(offset),
        np.concatenate(cycles),
        np.concatenate(states),
    )
