"""`cyclescope query`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import cyclescope
from cyclescope.cli import main
from strategies import large_profile

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("duckdb", reason="the extra `query` is not installed")


def test_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cyclescope.save(large_profile(5), "p.cyc")
    total = cyclescope.load("p.cyc").cycles
    ask = ["query", "p.cyc", "SELECT sum(cycles) AS cycles FROM runs"]
    assert main(ask) == 0
    assert capsys.readouterr().out.split() == ["cycles", str(total)]
    assert main([*ask, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"cycles": total}]
    assert main([*ask, "--format", "parquet"]) == 2
    assert main([*ask, "--format", "parquet", "-o", "a.parquet"]) == 0
    assert pl.read_parquet("a.parquet").item() == total
    assert main([*ask, "--format", "parquet", "-o", "a.parquet"]) == 3
    capsys.readouterr()
    assert main(["query", "p.cyc", "SELEC"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["query", "none.cyc", "SELECT 1"]) == 2
