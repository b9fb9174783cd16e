"""Tables: every format carries the same facts."""

from __future__ import annotations

import csv
import io
import json

import polars as pl
import pytest
from hypothesis import given, settings

from cyclescope.analyse import table
from cyclescope.model import Kind, Profile
from cyclescope.views import TABLE_FORMATS, table_view

from ..strategies import calyx_profiles
from .golden import check_golden
from .switch import switch_profile

KINDS = (Kind.CELL, Kind.GROUP, Kind.CONTROL, Kind.PRIMITIVE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fmt", ["text", "markdown", "csv"])
def test_tables_of_the_switch(kind: Kind, fmt: str) -> None:
    ending = {"text": "txt", "markdown": "md", "csv": "csv"}[fmt]
    check_golden(f"switch.{kind}.{ending}", table_view(switch_profile(), kind, fmt).decode())


@settings(max_examples=25, deadline=None)
@given(calyx_profiles(hostile=True))
def test_all_formats_have_a_row_for_each(profile: Profile) -> None:
    for kind in KINDS:
        rows = table(profile, kind)
        records = json.loads(table_view(profile, kind, "json"))
        assert [r["name"] for r in records] == [row.frame.name for row in rows]
        assert [r["cycles"] for r in records] == [row.cycles for row in rows]
        frame = pl.read_parquet(io.BytesIO(table_view(profile, kind, "parquet")))
        assert frame.to_dicts() == records
        text = table_view(profile, kind, "csv").decode()
        parsed = list(csv.DictReader(io.StringIO(text, newline="")))
        assert [int(r["cycles"]) for r in parsed] == [row.cycles for row in rows]
        cells = [value.lstrip() for record in parsed for value in record.values()]
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
        lines = table_view(profile, kind, "text").decode().splitlines()
        assert len(lines) == len(rows) + 1
        markdown = table_view(profile, kind, "markdown").decode().splitlines()
        assert len(markdown) == len(rows) + 2
        bars = {line.replace("\\\\", "").replace("\\|", "").count("|") for line in markdown}
        assert len(bars) == 1


def test_the_formats_are_the_documented_ones() -> None:
    assert list(TABLE_FORMATS) == ["text", "csv", "json", "markdown", "parquet"]


def test_blocks_sorted_by_what_they_cost_by_themselves() -> None:
    profile = switch_profile()
    rows = json.loads(table_view(profile, Kind.CONTROL, "json", overhead=True))
    overheads = [row["overhead"] for row in rows]
    assert overheads == sorted(overheads, reverse=True)
    assert overheads[0] > 0
    account = table(profile, Kind.CELL)[0].account
    assert account is not None
    # In a cycle that is lost, some block or cell is at the end of the path.
    assert sum(overheads) + sum(r.overhead for r in table(profile, Kind.CELL)) >= sum(
        account.lost.values()
    )
    assert "overhead" not in json.loads(table_view(profile, Kind.CONTROL, "json"))[0]
