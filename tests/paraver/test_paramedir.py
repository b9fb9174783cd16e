"""Paraver's own reader, where it is installed (`docs/paraver.md` says how), agrees with us."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cyclescope.model import Kind, Meta, Profile, ProfileBuilder, Series
from cyclescope.views import paraver_companions, write_paraver
from meaning import Frame

from .profiles import STATES

if TYPE_CHECKING:
    from pathlib import Path

PARAMEDIR = os.environ.get("PARAMEDIR") or shutil.which("paramedir")
pytestmark = pytest.mark.skipif(
    not PARAMEDIR, reason="paramedir is not installed; tests/paraver/grammar.py checks the format"
)


def example() -> Profile:
    """Two threads, 500 cycles, a total with a gap and a level."""
    builder = ProfileBuilder()
    region = builder.path(-1, Frame(Kind.CELL, "region", "region"))
    threads = [builder.path(region, Frame(Kind.THREAD, f"thread {t}", "region")) for t in range(2)]

    def tree(*states: int) -> int:
        return builder.tree(
            builder.path(thread, Frame(Kind.STATE, STATES[state], "region"))
            for thread, state in zip(threads, states, strict=True)
        )

    def add(
        name: str, metric: str, unit: str, thread: int, rows: list[tuple[int, int, int]]
    ) -> None:
        columns = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
        builder.counter(Series(f"thread {thread}", name, metric, unit, threads[thread], *columns))

    add("bytes read", "bytes", "B", 0, [(0, 100, 640), (100, 200, 1280), (200, 300, 64)])
    add("bytes read", "bytes", "B", 1, [(0, 100, 10), (100, 200, 20), (400, 500, 30)])
    add("waiting", "queue", "", 1, [(0, 100, 1), (100, 200, 2), (400, 500, 3)])
    trees = [tree(0, 1), tree(1, 1), tree(2, 3), tree(1, 2)]
    return builder.build(Meta("hls", "gemm.c"), [100, 200, 50, 150], trees)


def ask(folder: Path, view: str) -> list[list[str]]:
    """The reader's result for one of the views: its lines, split at tabs."""
    stream = io.BytesIO()
    write_paraver(example(), stream)
    (folder / "t.prv").write_bytes(stream.getvalue())
    for ending, text in paraver_companions(example()).items():
        (folder / f"t{ending}").write_text(text)
    done = subprocess.run(
        [str(PARAMEDIR), "t.prv", f"t.{view}.cfg", "out.csv"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    assert "rror" not in done.stderr
    return [line.split("\t") for line in (folder / "out.csv").read_text().splitlines()]


def test_states(tmp_path: Path) -> None:
    assert ask(tmp_path, "states") == [
        ["1.1.1", "0.00", "100.00", "0.00"],
        ["1.1.1", "100.00", "200.00", "1.00"],
        ["1.1.1", "300.00", "50.00", "2.00"],
        ["1.1.1", "350.00", "150.00", "1.00"],
        ["1.1.2", "0.00", "300.00", "1.00"],
        ["1.1.2", "300.00", "50.00", "3.00"],
        ["1.1.2", "350.00", "150.00", "2.00"],
    ]


def test_shares_of_states(tmp_path: Path) -> None:
    head, first, second, *_ = ask(tmp_path, "histogram")
    assert head == ["", "Idle", "Running", "Critical", "Spinning", ""]
    assert first == ["region.thread 0", "20.00", "70.00", "10.00", "0.00", ""]
    assert second == ["region.thread 1", "0.00", "60.00", "30.00", "10.00", ""]


def test_levels(tmp_path: Path) -> None:
    rows = [row[1:] for row in ask(tmp_path, "queue") if row[0] == "1.1.2"]
    assert [row[2] for row in rows] == ["1.00", "2.00", "0.00", "3.00"]
    assert [row[0] for row in rows] == ["0.00", "100.00", "200.00", "400.00"]


def test_rates_are_totals_by_time(tmp_path: Path) -> None:
    """The last window of the view is all threads' total, and its values are what is printed."""
    rates = [(row[-3], row[-1]) for row in ask(tmp_path, "bytes")]
    assert rates == [
        ("0.00", "6.50"),
        ("100.00", "13.00"),
        ("200.00", "0.64"),
        ("300.00", "0.00"),
        ("400.00", "0.30"),
    ]
