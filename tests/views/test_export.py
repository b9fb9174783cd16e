"""The profile's own tables for other tools."""

from __future__ import annotations

import csv
import errno
import io
import json
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given, settings

from cyclescope.views import EXPORT_FORMATS, EXPORT_TABLES, export_table, write_table

from ..strategies import calyx_profiles
from .golden import check_golden
from .switch import switch_profile

if TYPE_CHECKING:
    from cyclescope.model import Profile


@pytest.mark.parametrize("which", EXPORT_TABLES)
def test_tables_of_the_switch_as_csv(which: str) -> None:
    check_golden(
        f"switch.export.{which}.csv", export_table(switch_profile(), which, "csv").decode()
    )


@settings(max_examples=20, deadline=None)
@given(calyx_profiles(hostile=True))
def test_formats_carry_the_same_rows(profile: Profile) -> None:
    for which in EXPORT_TABLES:
        table: pl.DataFrame = getattr(profile, which)
        assert pl.read_parquet(io.BytesIO(export_table(profile, which))).equals(table)
        lines = export_table(profile, which, "json").decode().split("\n")
        assert [json.loads(line) for line in lines if line] == table.to_dicts()
        text = export_table(profile, which, "csv").decode()
        parsed = list(csv.DictReader(io.StringIO(text, newline="")))
        assert len(parsed) == len(table)
        for name in table.columns:
            if table[name].dtype == pl.Int64:
                assert [int(r[name]) if r[name] else None for r in parsed] == table[name].to_list()
            else:
                cells = [r[name].lstrip() for r in parsed]
                assert not any(c.startswith(("=", "+", "-", "@")) for c in cells)


@pytest.mark.parametrize("fmt", EXPORT_FORMATS)
@pytest.mark.parametrize("which", EXPORT_TABLES)
def test_a_full_disk_is_the_systems_error(which: str, fmt: str) -> None:
    class Full(io.RawIOBase):
        def write(self, _: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left on device"):
        write_table(switch_profile(), Full(), which, fmt)


def test_the_tables_and_formats_are_the_documented_ones() -> None:
    assert EXPORT_TABLES == ("frames", "paths", "trees", "runs", "counters")
    assert EXPORT_FORMATS == ("parquet", "csv", "json")
