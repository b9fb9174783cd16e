"""Tables of cells, groups, control blocks and primitives in five formats.

Columns (JSON and Parquet use these names; CSV too):

    instance, name, type, component   which one; `type` is a control block's operator, or what
                                      a cell or primitive is an instance of
    file, line                        where its text is
    times, cycles, share              activations, cycles active, and those of the run's total
    min, max, average                 cycles of an activation
    useful, fsm, par_done, both, other  for cells: how the active cycles divide
    could_be_static, latency, generated
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclescope.analyse import Row, table
from cyclescope.model import Kind, Profile
from cyclescope.views._grid import CELL_WIDTH, GRID_FORMATS, Grid
from cyclescope.views._text import number, percent, place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.analyse import Use

__all__ = ["TABLE_FORMATS", "table_view"]

TABLE_FORMATS = GRID_FORMATS
"""Names of the formats."""


def table_view(
    profile: Profile, kind: Kind | str, fmt: str = "text", *, overhead: bool = False
) -> bytes:
    """Tabulate what the run says of each frame of a kind, by instance, most cycles first.

    Args:
        profile: what to show.
        kind: `Kind.CELL`, `Kind.GROUP`, `Kind.CONTROL`, `Kind.PRIMITIVE`; others work too.
        fmt: one of `TABLE_FORMATS`. `text` and `markdown` are for reading (shares rounded);
            `csv`, `json` and `parquet` carry every column.
        overhead: add the cycles in which nothing below a frame was active, and sort by them.

    Returns:
        The table, UTF-8 where it is text.
    """
    rows = table(profile, kind)
    if overhead:
        rows = tuple(sorted(rows, key=lambda row: -row.overhead))
    accounts = [row.account for row in rows if row.account is not None]
    lost = sorted({use for one in accounts for use in one.lost}, key=lambda use: use.rank)
    accounted = kind is Kind.CELL or bool(accounts)
    columns = _columns(kind, lost, accounted=accounted)
    schema = _schema(lost, accounted=accounted)
    if overhead:
        columns = {" overhead": lambda row: number(row.overhead), **columns}
        schema["overhead"] = int

    def record(row: Row) -> dict[str, Any]:
        more = {"overhead": row.overhead} if overhead else {}
        return _record(row, lost, accounted=accounted) | more

    form = Grid(columns, schema, record)
    return form.render(rows, fmt)


def _record(row: Row, lost: Sequence[Use], *, accounted: bool) -> dict[str, Any]:
    """A row as plain values: integers, and floats for `share` and `average`."""
    position, average, whole = row.position, row.average, row.account
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
    if accounted:
        record["useful"] = whole.useful if whole else None
        record |= {use.label: whole.parts.get(use, 0) if whole else None for use in lost}
    return record | {
        "could_be_static": row.could_be_static,
        "latency": row.frame.latency,
        "generated": row.frame.generated,
    }


def _columns(
    kind: Kind | str, lost: Sequence[Use], *, accounted: bool
) -> dict[str, Callable[[Row], str]]:
    """The columns for people: heading → text of a row. Headings of numbers start with a space."""

    def useful(row: Row) -> str:
        if row.account is None or not row.cycles:
            return ""
        return percent(row.account.share(row.account.useful))

    columns: dict[str, Callable[[Row], str]] = {
        " cycles": lambda row: number(row.cycles),
        " share": lambda row: percent(row.share),
        " times": lambda row: number(row.times),
        " min": lambda row: number(row.shortest) if row.times else "",
        " max": lambda row: number(row.longest) if row.times else "",
        " average": lambda row: f"{float(row.average):,.1f}" if row.average is not None else "",
    }
    if accounted:
        columns[" useful"] = useful
        for use in lost:
            columns[f" {use.label}"] = lambda row, use=use: (  # type: ignore[misc]
                number(row.account.parts.get(use, 0)) if row.account else ""
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


def _schema(lost: Sequence[Use], *, accounted: bool) -> dict[str, type]:
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
    if accounted:
        schema |= dict.fromkeys(("useful", *(use.label for use in lost)), int)
    return {**schema, "could_be_static": bool, "latency": int, "generated": bool}
