"""Tables of cells, groups, control blocks and primitives in five formats.

Columns (JSON and Parquet use these names; CSV too):

    instance, name, type, component   which one; `type` is a control block's operator, or what
                                      a cell or primitive is an instance of
    file, line                        where its text stands
    times, cycles, share              activations, cycles active, and those of the run's total
    min, max, average                 cycles of an activation
    useful, fsm, par_done, both, other  for cells: how the active cycles divide
    could_be_static, latency, generated
"""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cyclescope.analyse import Row, table
from cyclescope.model import Kind, Profile
from cyclescope.views._text import (
    clip,
    markdown_cell,
    number,
    percent,
    place,
    spreadsheet_cell,
    visible,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TABLE_FORMATS", "table_view"]

_SPLIT = ("useful", "fsm", "par_done", "both", "other")


def table_view(profile: Profile, kind: Kind, fmt: str = "text") -> bytes:
    """Tabulate what the run says of each frame of a kind, by instance, most cycles first.

    Args:
        profile: what to show.
        kind: `Kind.CELL`, `Kind.GROUP`, `Kind.CONTROL`, `Kind.PRIMITIVE`; others work too.
        fmt: one of `TABLE_FORMATS`. `text` and `markdown` are for reading (shares rounded);
            `csv`, `json` and `parquet` carry every column.

    Returns:
        The table, UTF-8 where it is text.
    """
    return TABLE_FORMATS[fmt](table(profile, kind), kind)


def _record(row: Row, kind: Kind) -> dict[str, Any]:
    """A row as plain values: integers, and floats for `share` and `average`."""
    position, average, split = row.position, row.average, row.overhead
    record: dict[str, Any] = {
        "instance": row.instance,
        "name": row.frame.name,
        "type": row.frame.detail,
        "component": row.frame.component,
        "file": position.file if position else None,
        "line": position.line if position else None,
        "times": row.times,
        "cycles": row.cycles,
        "share": float(row.share),
        "min": row.shortest if row.times else None,
        "max": row.longest if row.times else None,
        "average": float(average) if average is not None else None,
    }
    if kind is Kind.CELL:
        record |= {name: getattr(split, name) if split else None for name in _SPLIT}
    return record | {
        "could_be_static": row.could_be_static,
        "latency": row.frame.latency,
        "generated": row.frame.generated,
    }


def _columns(kind: Kind) -> dict[str, Callable[[Row], str]]:
    """What people read: heading → text of a row. Headings of numbers start with a space."""

    def useful(row: Row) -> str:
        if row.overhead is None or not row.cycles:
            return ""
        return percent(Fraction(row.overhead.useful, row.overhead.cycles))

    columns: dict[str, Callable[[Row], str]] = {
        " cycles": lambda row: number(row.cycles),
        " share": lambda row: percent(row.share),
        " times": lambda row: number(row.times),
        " min": lambda row: number(row.shortest) if row.times else "",
        " max": lambda row: number(row.longest) if row.times else "",
        " average": lambda row: f"{float(row.average):,.1f}" if row.average is not None else "",
    }
    if kind is Kind.CELL:
        columns[" useful"] = useful
        for name, heading in (
            ("fsm", " FSM"),
            ("par_done", " par done"),
            ("both", " both"),
            ("other", " other"),
        ):
            columns[heading] = lambda row, name=name: (  # type: ignore[misc]
                number(getattr(row.overhead, name)) if row.overhead else ""
            )
    if kind in (Kind.CELL, Kind.GROUP, Kind.CONTROL):
        columns["static?"] = _static
    if kind is not Kind.CELL:
        columns["instance"] = lambda row: row.instance or f"({row.frame.component})"
    columns["name"] = lambda row: (
        row.frame.label if kind is not Kind.CELL else row.instance or row.frame.label
    )
    if kind is Kind.CELL:
        columns["component"] = lambda row: row.frame.detail
    columns["line"] = lambda row: place(row.position, _CELL_WIDTH)
    return columns


def _static(row: Row) -> str:
    if row.frame.latency is not None:
        return "is"
    return "could be" if row.could_be_static else ""


_CELL_WIDTH = 48


def _text(rows: tuple[Row, ...], kind: Kind) -> bytes:
    columns = _columns(kind)
    grid = [[heading.strip() for heading in columns]]
    grid += [[clip(visible(cell(row)), _CELL_WIDTH) for cell in columns.values()] for row in rows]
    widths = [max(width_of(line[i]) for line in grid) for i in range(len(columns))]
    lines = []
    for line in grid:
        padded = []
        for text, width, heading in zip(line, widths, columns, strict=True):
            fill = " " * (width - width_of(text))
            padded.append(fill + text if heading.startswith(" ") else text + fill)
        lines.append("  ".join(padded).rstrip())
    return ("\n".join(lines) + "\n").encode()


def _markdown(rows: tuple[Row, ...], kind: Kind) -> bytes:
    columns = _columns(kind)
    lines = [
        "| " + " | ".join(heading.strip() for heading in columns) + " |",
        "|" + "|".join(" ---: " if h.startswith(" ") else " --- " for h in columns) + "|",
    ]
    lines += [
        "| " + " | ".join(markdown_cell(cell(row)) for cell in columns.values()) + " |"
        for row in rows
    ]
    return ("\n".join(lines) + "\n").encode()


def _csv(rows: tuple[Row, ...], kind: Kind) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_schema(kind))
    for row in rows:
        writer.writerow([_csv_value(value) for value in _record(row, kind).values()])
    return buffer.getvalue().encode()


def _csv_value(value: Any) -> Any:
    if isinstance(value, str):
        return spreadsheet_cell(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def _json(rows: tuple[Row, ...], kind: Kind) -> bytes:
    records = [json.dumps(_record(row, kind)) for row in rows]
    return ("[\n" + ",\n".join(records) + "\n]\n").encode()


def _parquet(rows: tuple[Row, ...], kind: Kind) -> bytes:
    import polars as pl

    types = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
    schema = {name: types[of] for name, of in _schema(kind).items()}
    records = [_record(row, kind) for row in rows]
    for record in records:
        for name, value in record.items():
            if isinstance(value, str):
                record[name] = value.encode("utf-8", "backslashreplace").decode()
    buffer = io.BytesIO()
    pl.DataFrame(records, schema=schema, orient="row").write_parquet(buffer)
    return buffer.getvalue()


def _schema(kind: Kind) -> dict[str, type]:
    texts = dict.fromkeys(("instance", "name", "type", "component", "file"), str)
    schema: dict[str, type] = {
        **texts,
        "line": int,
        "times": int,
        "cycles": int,
        "share": float,
        "min": int,
        "max": int,
        "average": float,
    }
    if kind is Kind.CELL:
        schema |= dict.fromkeys(_SPLIT, int)
    return {**schema, "could_be_static": bool, "latency": int, "generated": bool}


TABLE_FORMATS: dict[str, Callable[[tuple[Row, ...], Kind], bytes]] = {
    "text": _text,
    "csv": _csv,
    "json": _json,
    "markdown": _markdown,
    "parquet": _parquet,
}
"""Format name → writer."""
