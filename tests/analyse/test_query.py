"""SQL over a profile gives what the model's own functions give."""

from __future__ import annotations

import io
import sys

import polars as pl
import pytest
from hypothesis import given, settings

from cyclescope.analyse import QUERY_TABLES, query, query_parquet
from cyclescope.errors import InputError, ToolError
from cyclescope.model import Profile, active_cycles, flat_weights, spans

from ..strategies import calyx_profiles
from ..views.switch import switch_profile

duckdb = pytest.importorskip("duckdb", reason="the extra `query` is not installed")


@settings(max_examples=8)
@given(calyx_profiles(hostile=True))
def test_tables_are_the_models(found: Profile) -> None:
    total = query(found, "SELECT sum(cycles) FROM runs")
    assert total.rows == ((found.cycles,),)
    paths = query(found, "SELECT path, active, own, instance FROM paths ORDER BY path").rows
    assert [row[1] for row in paths] == active_cycles(found).tolist()
    assert [row[2] for row in paths] == flat_weights(found)
    assert [row[3] for row in paths] == list(found.instances)
    names = query(found, "SELECT name FROM frames ORDER BY frame").rows
    assert [row[0] for row in names] == [frame.name for frame in found.catalog]
    own = spans(found)
    expected = list(zip(own.path.tolist(), own.start.tolist(), own.end.tolist(), strict=True))
    rows = query(found, 'SELECT path, start, "end" FROM spans ORDER BY path, start').rows
    assert list(rows) == expected


def test_active_cycles_by_hand() -> None:
    """The join of the documentation: runs, trees, paths."""
    found = switch_profile()
    sql = """
        SELECT name, sum(cycles) FROM runs JOIN trees USING (tree) JOIN paths USING (path)
        JOIN frames USING (frame) WHERE kind = 'group' GROUP BY name ORDER BY name
    """
    assert dict(query(found, sql).rows) == {"decrement": 1, "read": 1, "run_s1": 1, "write": 1}


def test_every_table_can_be_named_and_an_answer_is_a_frame() -> None:
    found = switch_profile()
    for table in QUERY_TABLES:
        answer = query(found, f"SELECT * FROM {table}")
        frame = answer.frame()
        assert tuple(frame.columns) == answer.columns
        assert frame.height == len(answer.rows) > 0
    assert query(found, "SELECT * FROM runs WHERE cycles < 0").frame().height == 0


def test_parquet_keeps_the_types() -> None:
    found = switch_profile()
    frame = pl.read_parquet(io.BytesIO(query_parquet(found, "SELECT * FROM runs ORDER BY start;")))
    assert frame.equals(found.runs)


@pytest.mark.parametrize(
    "sql",
    [
        "SELEC",
        "SELECT * FROM nowhere",
        "SELECT * FROM read_csv('/etc/passwd')",
        "COPY runs TO '/tmp/runs.csv'",
        "SELECT * FROM read_parquet('https://example.com/x.parquet')",
        "INSTALL httpfs",
        "SET enable_external_access=true",
        "SELECT '\ud800'",
    ],
)
def test_what_is_refused(sql: str) -> None:
    with pytest.raises(InputError, match="the query is not accepted") as caught:
        query(switch_profile(), sql)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError):
        query_parquet(switch_profile(), sql)


def test_nothing_asked_is_wrong_use() -> None:
    with pytest.raises(InputError, match="query is empty"):
        query(switch_profile(), "")


def test_without_duckdb_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ToolError, match=r"cyclescope\[query\]"):
        query(switch_profile(), "SELECT 1")
