"""A profile's parts as columns: what its frames, exported tables and queries are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cyclescope.model._repeated import lasting, values
from cyclescope.model._segments import check_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cyclescope.model._frame import Frame
    from cyclescope.model._profile import Profile

__all__ = ["TableColumn", "TablePart", "frame_columns", "in_memory", "table_parts", "text_column"]


class TableColumn(NamedTuple):
    """Some rows of a column, as `cyclescope._native.write_table` takes them.

    Attributes:
        name: of the column.
        kind: `whole`: int64; `optional`: the same, -1 where there is none; `names`: texts, and
            which of them each row has, -1 where it has none; `truth`: booleans; `place lists`:
            lists of (level, file, line, column).
        values: of the rows.
    """

    name: str
    kind: str
    values: object


TablePart = list[TableColumn]
"""Rows of a table; equal names and kinds in all parts of one."""


def text_column(name: str, texts: Sequence[str | None]) -> TableColumn:
    """A column of texts, None where there is none."""
    known = {text: n for n, text in enumerate(dict.fromkeys(t for t in texts if t is not None))}
    which = [-1 if text is None else known[text] for text in texts]
    return TableColumn(name, "names", (list(known), np.array(which, dtype=np.int64)))


def frame_columns(catalog: Sequence[Frame]) -> list[tuple[str, str, Any]]:
    """The columns of frames, for the file and for tables: name, kind, values.

    Kinds are those of `TableColumn`, and `text`: texts, None where there is none.
    """
    whole = np.array([-1 if f.latency is None else f.latency for f in catalog], dtype=np.int64)
    places = [[(p.level, p.file, p.line, p.column) for p in f.positions] for f in catalog]
    return [
        ("frame", "whole", np.arange(len(catalog))),
        ("kind", "text", [str(f.kind) for f in catalog]),
        ("name", "text", [f.name for f in catalog]),
        ("component", "text", [f.component for f in catalog]),
        ("detail", "text", [f.detail for f in catalog]),
        ("positions", "place lists", places),
        ("latency", "optional", whole),
        ("generated", "truth", [f.generated for f in catalog]),
        ("definition", "text", [f.definition for f in catalog]),
        ("activity", "text", [None if f.activity is None else f.activity.value for f in catalog]),
        ("cause", "text", [f.cause for f in catalog]),
        ("track", "truth", [f.track for f in catalog]),
        ("split", "truth", [f.split for f in catalog]),
    ]


def _frames(profile: Profile) -> Iterator[TablePart]:
    yield [
        text_column(name, values) if kind == "text" else TableColumn(name, kind, values)
        for name, kind, values in frame_columns(profile.catalog)
    ]


def _paths(profile: Profile) -> Iterator[TablePart]:
    tree = profile.call_paths
    yield [
        TableColumn("path", "whole", np.arange(len(tree))),
        TableColumn("parent", "optional", tree.parent),
        TableColumn("frame", "whole", tree.frame),
    ]


def _trees(profile: Profile) -> Iterator[TablePart]:
    forest = profile.forest
    tree = np.repeat(np.arange(len(forest)), np.diff(forest.offset))
    yield [TableColumn("tree", "whole", tree), TableColumn("path", "whole", forest.path)]


def _runs(profile: Profile) -> Iterator[TablePart]:
    schedule, total = profile.schedule, profile.cycles
    found = lasting(values(schedule.segments, schedule.tree_of, 0, total), total)
    for start, end, tree in found:
        yield [
            TableColumn("start", "whole", start),
            TableColumn("cycles", "whole", end - start),
            TableColumn("tree", "whole", tree),
        ]


_HEADS = ("track", "name", "metric", "unit")


def _counters(profile: Profile) -> Iterator[TablePart]:
    for series in profile.series:
        labels = list(series.labels)
        numbers = np.array(labels, dtype=np.int64)
        order = np.argsort(numbers)
        for start, end, value in series.in_parts():
            same = np.zeros(len(start), dtype=np.int64)
            heads = [TableColumn(head, "names", ([getattr(series, head)], same)) for head in _HEADS]
            label = same - 1
            if labels:
                near = order[np.searchsorted(numbers, value, sorter=order) % len(order)]
                label = np.where(numbers[near] == value, near, -1)
            yield [
                *heads,
                TableColumn("path", "optional", same + max(series.path, -1)),
                TableColumn("start", "whole", start),
                TableColumn("end", "whole", end),
                TableColumn("value", "whole", value),
                TableColumn("label", "names", (list(series.labels.values()), label)),
            ]


def _empty(kinds: dict[str, str]) -> TablePart:
    none = np.empty(0, dtype=np.int64)
    return [
        TableColumn(name, kind, ([], none) if kind == "names" else none)
        for name, kind in kinds.items()
    ]


_NO_RUNS = _empty(dict.fromkeys(("start", "cycles", "tree"), "whole"))
_NO_COUNTERS = _empty(
    {
        **dict.fromkeys(_HEADS, "names"),
        "path": "optional",
        **dict.fromkeys(("start", "end", "value"), "whole"),
        "label": "names",
    }
)

_TABLES: dict[str, tuple[Callable[[Profile], Iterator[TablePart]], TablePart]] = {
    "frames": (_frames, []),
    "paths": (_paths, []),
    "trees": (_trees, []),
    "runs": (_runs, _NO_RUNS),
    "counters": (_counters, _NO_COUNTERS),
}
"""What makes each table, and its columns where that may make no part at all."""


def table_parts(profile: Profile, which: str) -> Iterator[TablePart]:
    """A table in parts; the first tells all columns, and may have no rows."""
    make, first = _TABLES[which]
    if first:
        yield first
    yield from make(profile)


def in_memory(found: Iterator[TablePart]) -> Iterator[TablePart]:
    """The same parts; `InputError` where there are more rows than fit in memory."""
    count = 0
    for part in found:
        values = part[-1].values
        count += len(values[1] if isinstance(values, tuple) else values)  # type: ignore[arg-type]
        check_rows(count)
        yield part
