"""A profile's parts as Polars frames. Imported late: Polars takes a while to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclescope._polars import pl
from cyclescope.model._columns import in_memory, table_parts

if TYPE_CHECKING:
    from cyclescope.model._columns import TableColumn
    from cyclescope.model._profile import Profile

__all__ = ["frame_of"]

_PLACE = {"level": pl.String, "file": pl.String, "line": pl.Int64, "column": pl.Int64}


def frame_of(profile: Profile, which: str) -> pl.DataFrame:
    """The table of that name: frames, paths, trees, runs, counters.

    Raises:
        InputError: there are more rows than fit in memory.
        ToolError: Polars is not installed.
    """
    found = in_memory(table_parts(profile, which))
    return pl.concat([pl.DataFrame([_series(column) for column in part]) for part in found])


def _series(column: TableColumn) -> pl.Series:
    values: Any = column.values
    match column.kind:
        case "names":
            texts, which = values
            numbers = pl.Series(which, dtype=pl.Int64)
            chosen = pl.Series(texts, dtype=pl.String).gather(numbers.replace(-1, None))
            return chosen.alias(column.name)
        case "optional":
            return pl.Series(column.name, values, dtype=pl.Int64).replace(-1, None)
        case "truth":
            return pl.Series(column.name, values, dtype=pl.Boolean)
        case "place lists":
            rows = [[dict(zip(_PLACE, place, strict=True)) for place in row] for row in values]
            return pl.Series(column.name, rows, dtype=pl.List(pl.Struct(_PLACE)))
        case _:
            return pl.Series(column.name, values, dtype=pl.Int64)
