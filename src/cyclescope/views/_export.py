"""A profile's own tables for other tools: frames, paths, trees, runs, counters."""

from __future__ import annotations

import io
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, Literal

from cyclescope.views._by_polars import by_polars
from cyclescope.views._text import spreadsheet_cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from cyclescope.model import Profile

__all__ = ["EXPORT_FORMATS", "EXPORT_TABLES", "export_table", "write_table"]

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
    buffer = io.BytesIO()
    write_table(profile, buffer, which, fmt)
    return buffer.getvalue()


def write_table(
    profile: Profile, stream: BinaryIO, which: ExportTable, fmt: ExportFormat = "parquet"
) -> None:
    """Write one of the profile's tables as `export_table` gives it.

    Runs and counters, of which a long run has many, are written part by part.
    """
    parts = _parts(profile, which)
    with by_polars(stream) as target:
        if fmt == "parquet":
            _write_parquet(parts, target)
            return
        for number, part in enumerate(parts):
            if fmt == "json":
                part.write_ndjson(target)
            else:
                _plain(profile, part).write_csv(target, include_header=number == 0)


def _parts(profile: Profile, which: ExportTable) -> Iterator[pl.DataFrame]:
    """A table in parts; the first has all columns."""
    from cyclescope.model._tables import counters_in_parts, runs_in_parts

    if which == "runs":
        return runs_in_parts(profile)
    if which == "counters":
        return counters_in_parts(profile)
    return iter([getattr(profile, which)])


def _write_parquet(parts: Iterator[pl.DataFrame], stream: BinaryIO) -> None:
    from polars.io.plugins import register_io_source

    first = next(parts)

    def source(*_: object) -> Iterator[pl.DataFrame]:
        return chain([first], parts)

    table = register_io_source(source, schema=first.schema)
    table.sink_parquet(stream, compression="zstd", maintain_order=True)


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
