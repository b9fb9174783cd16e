"""Rows of anything as a table in five formats: what people read, and every column for machines."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cyclescope.views._text import (
    clip,
    markdown_cell,
    number,
    percent,
    spreadsheet_cell,
    visible,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CELL_WIDTH", "GRID_FORMATS", "Column", "Grid"]

CELL_WIDTH = 48
"""Columns of the widest cell in text for people."""

GRID_FORMATS = ("text", "csv", "json", "markdown", "parquet")
"""The formats, those for people to read first and fourth."""

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column that people and machines both get.

    Attributes:
        heading: for people; that of a number starts with a space.
        name: for machines.
        of: its type for machines: `str`, `int` (a count), `float` (a share, given as a fraction).
        value: of a row; None: there is none.
        shown: a row for people, if not as its type is shown.
    """

    heading: str
    name: str
    of: type[str] | type[int] | type[float]
    value: Callable[[Row], Any]
    shown: Callable[[Row], str] | None = None

    def text(self, row: Row) -> str:
        """A row for people."""
        if self.shown is not None:
            return self.shown(row)
        value = self.value(row)
        if value is None:
            return ""
        return number(value) if self.of is int else percent(value) if self.of is float else value


@dataclass(frozen=True)
class Grid(Generic[Row]):
    """A table's form.

    Attributes:
        shown: what people read: heading → text of a row. Headings of numbers start with a space.
        schema: the columns of csv, json and parquet, with their Python types.
        record: a row as plain values, a dictionary with the keys of `schema` in their order.
    """

    shown: dict[str, Callable[[Row], str]]
    schema: dict[str, type]
    record: Callable[[Row], dict[str, Any]]

    @classmethod
    def of(cls, columns: Sequence[Column[Row]]) -> Grid[Row]:
        """A table in which people and machines get the same columns."""

        def record(row: Row) -> dict[str, Any]:
            values = ((column, column.value(row)) for column in columns)
            return {c.name: None if value is None else c.of(value) for c, value in values}

        shown: dict[str, Callable[[Row], str]] = {c.heading: c.text for c in columns}
        return cls(shown, {column.name: column.of for column in columns}, record)

    def render(self, rows: Sequence[Row], fmt: str) -> bytes:
        """The rows in one of `GRID_FORMATS`, UTF-8 where it is text."""
        writers = {
            "text": self._text,
            "csv": self._csv,
            "json": self._json,
            "markdown": self._markdown,
            "parquet": self._parquet,
        }
        return writers[fmt](rows)

    def _text(self, rows: Sequence[Row]) -> bytes:
        grid = [[heading.strip() for heading in self.shown]]
        grid += [
            [_cell(heading, visible(cell(row))) for heading, cell in self.shown.items()]
            for row in rows
        ]
        widths = [max(width_of(line[i]) for line in grid) for i in range(len(self.shown))]
        lines = []
        for line in grid:
            padded = []
            for text, width, heading in zip(line, widths, self.shown, strict=True):
                fill = " " * (width - width_of(text))
                padded.append(fill + text if heading.startswith(" ") else text + fill)
            lines.append("  ".join(padded).rstrip())
        return ("\n".join(lines) + "\n").encode()

    def _markdown(self, rows: Sequence[Row]) -> bytes:
        rules = (" ---: " if heading.startswith(" ") else " --- " for heading in self.shown)
        lines = [
            "| " + " | ".join(heading.strip() for heading in self.shown) + " |",
            "|" + "|".join(rules) + "|",
        ]
        lines += [
            "| " + " | ".join(markdown_cell(cell(row)) for cell in self.shown.values()) + " |"
            for row in rows
        ]
        return ("\n".join(lines) + "\n").encode()

    def _csv(self, rows: Sequence[Row]) -> bytes:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(self.schema)
        for row in rows:
            writer.writerow([_csv_value(value) for value in self.record(row).values()])
        return buffer.getvalue().encode()

    def _json(self, rows: Sequence[Row]) -> bytes:
        records = [json.dumps(self.record(row)) for row in rows]
        return ("[\n" + ",\n".join(records) + "\n]\n").encode()

    def _parquet(self, rows: Sequence[Row]) -> bytes:
        from cyclescope._native import write_table

        records = [self.record(row) for row in rows]
        return write_table(
            [
                (name, _KINDS[of], [_stored(record[name], of) for record in records])
                for name, of in self.schema.items()
            ]
        )


def _cell(heading: str, text: str) -> str:
    """A text is cut to the widest cell; of a number cut short nothing would be right."""
    return text if heading.startswith(" ") else clip(text, CELL_WIDTH)


_KINDS = {str: "text?", int: "whole?", float: "number?", bool: "truth?"}


def _stored(value: Any, of: type) -> Any:
    """A value of a column of Parquet; a text that has no encoding is shown by its numbers."""
    if value is None:
        return None
    return of(value) if of is not str else value.encode("utf-8", "backslashreplace").decode()


def _csv_value(value: Any) -> Any:
    if isinstance(value, str):
        return spreadsheet_cell(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return value
