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

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cyclescope.analyse import Row, table
from cyclescope.model import Kind, Profile
from cyclescope.views._grid import CELL_WIDTH, GRID_FORMATS, Grid
from cyclescope.views._text import number, percent, place

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TABLE_FORMATS", "table_view"]

TABLE_FORMATS = GRID_FORMATS
"""Names of the formats."""

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
    form = Grid(_columns(kind), _schema(kind), lambda row: _record(row, kind))
    return form.render(table(profile, kind), fmt)


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
    columns["line"] = lambda row: place(row.position, CELL_WIDTH)
    return columns


def _static(row: Row) -> str:
    if row.frame.static:
        return "is"
    return "could be" if row.could_be_static else ""


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
