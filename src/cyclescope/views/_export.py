"""A profile's own tables for other tools: frames, paths, trees, runs, counters."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

import numpy as np

from cyclescope._native import TableWriter, format_rows
from cyclescope.model import TableColumn, table_parts
from cyclescope.views._text import spreadsheet_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.model import Ints, Profile

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
    parts = table_parts(profile, which)
    if fmt == "parquet":
        table = TableWriter()
        for part in parts:
            stream.write(table.add(part))
        stream.write(table.finish())
        return
    for number, part in enumerate(parts):
        if fmt == "csv":
            if number == 0:
                stream.write((",".join(column.name for column in part) + "\n").encode())
            plain = [_places_as_names(profile, column) for column in part]
            stream.write(_lines(plain, ["", *[","] * (len(part) - 1), "\n"], _csv, ""))
        else:
            keys = [f"{json.dumps(column.name)}:" for column in part]
            pieces = [("," if n else "{") + key for n, key in enumerate(keys)]
            stream.write(_lines(part, [*pieces, "}\n"], _json, "null"))


def _lines(
    part: Sequence[TableColumn], pieces: Sequence[str], shown: Callable[[Any], str], nothing: str
) -> bytes:
    """The rows of a part as text; `shown` is what a text, a truth or places become."""
    return format_rows(pieces, [_field(column, shown, nothing) for column in part])


def _field(
    column: TableColumn, shown: Callable[[Any], str], nothing: str
) -> tuple[Sequence[str] | None, Ints]:
    match column.kind:
        case "whole":
            return None, cast("Ints", column.values)
        case "optional":
            numbers = cast("Ints", column.values)
            if not (numbers == -1).any():
                return None, numbers
            distinct, which = np.unique(numbers, return_inverse=True)
            return [nothing if n == -1 else str(n) for n in distinct.tolist()], which
        case "names":
            texts, which = cast("tuple[list[str], Ints]", column.values)
            return [*map(shown, texts), nothing], np.where(which < 0, len(texts), which)
        case _:
            values = cast("Sequence[Any]", column.values)
            return [shown(value) for value in values], np.arange(len(values))


def _places_as_names(profile: Profile, column: TableColumn) -> TableColumn:
    """Source positions as one text; other columns as they are."""
    if column.kind != "place lists":
        return column
    texts = [" ".join(map(str, frame.positions)) for frame in profile.catalog]
    return TableColumn(column.name, "names", (texts, np.arange(len(texts))))


def _csv(value: str | bool) -> str:
    if isinstance(value, bool):
        return _json(value)
    if not value:
        return '""'  # a text, if an empty one: where there is none, nothing is written
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow([spreadsheet_cell(value)])
    return buffer.getvalue()


_PLACE = ("level", "file", "line", "column")


def _json(value: Any) -> str:
    if isinstance(value, list):
        value = [dict(zip(_PLACE, place, strict=True)) for place in value]
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
