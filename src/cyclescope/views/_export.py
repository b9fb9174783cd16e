"""A profile's own tables for other tools: frames, paths, trees, runs, counters."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal

from cyclescope.views._text import spreadsheet_cell

if TYPE_CHECKING:
    import polars as pl

    from cyclescope.model import Profile

__all__ = ["EXPORT_FORMATS", "EXPORT_TABLES", "export_table"]

ExportTable = Literal["frames", "paths", "trees", "runs", "counters"]
ExportFormat = Literal["parquet", "csv", "json"]

EXPORT_TABLES: tuple[ExportTable, ...] = ("frames", "paths", "trees", "runs", "counters")
"""The tables; their columns are those of `Profile.frames` and so on."""

EXPORT_FORMATS: tuple[ExportFormat, ...] = ("parquet", "csv", "json")


def export_table(profile: Profile, which: ExportTable, fmt: ExportFormat = "parquet") -> bytes:
    """One of the profile's tables as Parquet, CSV or JSON (one object a line).

    In CSV a frame's source positions are one column, `file:line` separated by blanks, and texts
    that a spreadsheet would take for a formula are quoted.
    """
    table: pl.DataFrame = getattr(profile, which)
    buffer = io.BytesIO()
    if fmt == "parquet":
        table.write_parquet(buffer, compression="zstd")
    elif fmt == "json":
        table.write_ndjson(buffer)
    else:
        _plain(profile, table).write_csv(buffer)
    return buffer.getvalue()


def _plain(profile: Profile, table: pl.DataFrame) -> pl.DataFrame:
    """The table with columns of numbers and harmless texts only."""
    from cyclescope._polars import pl

    if "positions" in table.columns:
        texts = [" ".join(map(str, frame.positions)) for frame in profile.catalog]
        table = table.with_columns(pl.Series("positions", texts, dtype=pl.String))
    harmless = {}
    for name in table.columns:
        if table[name].dtype == pl.String:
            distinct = table[name].unique(maintain_order=True).drop_nulls()
            safe = [spreadsheet_cell(text) for text in distinct]
            harmless[name] = table[name].replace_strict(distinct, safe, return_dtype=pl.String)
    return table.with_columns(**harmless)
