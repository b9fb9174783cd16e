"""A profile's parts as Polars frames. Imported late: Polars takes a while to load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope._polars import pl
from cyclescope.model._repeated import lasting, values
from cyclescope.model._segments import check_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.model._profile import Profile

__all__ = [
    "counters",
    "counters_in_parts",
    "frames",
    "paths",
    "runs",
    "runs_in_parts",
    "trees",
]

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
    return _whole(runs_in_parts(profile))


def _whole(parts: Iterator[pl.DataFrame]) -> pl.DataFrame:
    """The table that parts make; `InputError` if there are more rows than fit in memory."""
    found, count = [], 0
    for part in parts:
        count += len(part)
        check_rows(count)
        found.append(part)
    return pl.concat(found)


def runs_in_parts(profile: Profile) -> Iterator[pl.DataFrame]:
    """The rows of `runs`, first none."""
    schedule, total = profile.schedule, profile.cycles
    yield pl.DataFrame(schema=dict.fromkeys(("start", "cycles", "tree"), pl.Int64))
    for start, end, tree in lasting(values(schedule.segments, schedule.tree_of, 0, total), total):
        yield pl.DataFrame({"start": start, "cycles": end - start, "tree": tree})


def counters(profile: Profile) -> pl.DataFrame:
    """Columns track, name, metric, unit, path, start, end, value, label.

    A path or a label is null where there is none.
    """
    return _whole(counters_in_parts(profile))


_NAMES = ("track", "name", "metric", "unit")
_COUNTERS = {
    **dict.fromkeys(_NAMES, pl.String),
    **dict.fromkeys(("path", "start", "end", "value"), pl.Int64),
    "label": pl.String,
}


def counters_in_parts(profile: Profile) -> Iterator[pl.DataFrame]:
    """The rows of `counters`, first none."""
    yield pl.DataFrame(schema=_COUNTERS)
    for series in profile.series:
        path = None if series.path < 0 else series.path
        heads = [pl.lit(getattr(series, name), dtype=pl.String).alias(name) for name in _NAMES]
        heads.append(pl.lit(path, dtype=pl.Int64).alias("path"))
        label = pl.lit(None, dtype=pl.String)
        if series.labels:
            label = pl.col("value").replace_strict(
                series.labels, default=None, return_dtype=pl.String
            )
        for start, end, value in series.in_parts():
            part = pl.DataFrame({"start": start, "end": end, "value": value})
            yield part.with_columns(*heads, label.alias("label")).select(list(_COUNTERS))
