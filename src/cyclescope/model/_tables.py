"""A profile's parts as Polars frames. Imported late: Polars takes a while to load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope._polars import pl

if TYPE_CHECKING:
    from cyclescope.model._profile import Profile

__all__ = ["counters", "frames", "paths", "runs", "trees"]

_POSITION = pl.Struct({"level": pl.String, "file": pl.String, "line": pl.Int64, "column": pl.Int64})


def frames(profile: Profile) -> pl.DataFrame:
    """Columns frame, kind, name, component, detail, positions, latency, generated, definition."""
    rows = profile.catalog
    return pl.DataFrame(
        {
            "frame": range(len(rows)),
            "kind": [str(f.kind) for f in rows],
            "name": [f.name for f in rows],
            "component": [f.component for f in rows],
            "detail": [f.detail for f in rows],
            "positions": [
                [
                    {"level": p.level, "file": p.file, "line": p.line, "column": p.column}
                    for p in f.positions
                ]
                for f in rows
            ],
            "latency": [f.latency for f in rows],
            "generated": [f.generated for f in rows],
            "definition": [f.definition for f in rows],
            "activity": [None if f.activity is None else f.activity.value for f in rows],
            "cause": [f.cause for f in rows],
            "track": [f.track for f in rows],
        },
        schema={
            "frame": pl.Int64,
            "kind": pl.String,
            "name": pl.String,
            "component": pl.String,
            "detail": pl.String,
            "positions": pl.List(_POSITION),
            "latency": pl.Int64,
            "generated": pl.Boolean,
            "definition": pl.String,
            "activity": pl.String,
            "cause": pl.String,
            "track": pl.Boolean,
        },
    )


def paths(profile: Profile) -> pl.DataFrame:
    """Columns path, parent (null for a root), frame."""
    tree = profile.call_paths
    return pl.DataFrame(
        {"path": np.arange(len(tree)), "parent": tree.parent, "frame": tree.frame}
    ).with_columns(pl.when(pl.col("parent") >= 0).then(pl.col("parent")).alias("parent"))


def trees(profile: Profile) -> pl.DataFrame:
    """Columns tree, path: one row for each path active in a tree."""
    forest = profile.forest
    return pl.DataFrame(
        {"tree": np.repeat(np.arange(len(forest)), np.diff(forest.offset)), "path": forest.path}
    )


def runs(profile: Profile) -> pl.DataFrame:
    """Columns start, cycles, tree."""
    schedule = profile.schedule
    return pl.DataFrame({"start": schedule.start, "cycles": schedule.cycles, "tree": schedule.tree})


def counters(profile: Profile) -> pl.DataFrame:
    """Columns track, name, metric, unit, path, start, end, value, label.

    A path or a label is null where there is none.
    """
    series = profile.series
    index = np.repeat(np.arange(len(series)), [len(s) for s in series])

    def column(texts: list[str]) -> pl.Series:
        return pl.Series(texts, dtype=pl.String).gather(index)

    def joined(name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        parts = [getattr(s, name) for s in series]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

    def labelled() -> pl.Series:
        labels = [
            pl.Series(s.value).replace_strict(s.labels, default=None, return_dtype=pl.String)
            if s.labels
            else pl.Series([None], dtype=pl.String).new_from_index(0, len(s))
            for s in series
        ]
        return pl.concat([pl.Series([], dtype=pl.String), *labels])

    owner = np.array([s.path for s in series], dtype=np.int64)[index]
    return pl.DataFrame(
        {
            "track": column([s.track for s in series]),
            "name": column([s.name for s in series]),
            "metric": column([s.metric for s in series]),
            "unit": column([s.unit for s in series]),
            "path": owner,
            "start": joined("start"),
            "end": joined("end"),
            "value": joined("value"),
            "label": labelled(),
        }
    ).with_columns(pl.when(pl.col("path") >= 0).then(pl.col("path")).alias("path"))
