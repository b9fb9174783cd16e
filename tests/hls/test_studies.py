"""The studies of threads at a small size: what their pages say is what their profiles hold."""

from __future__ import annotations

import runpy
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest

import cyclescope
from cyclescope.analyse import team

ROOT = Path(__file__).parents[2]
STUDY = runpy.run_path(str(ROOT / "scripts" / "studies_threads.py"))
SCALE = 625


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]


@pytest.mark.long
def test_pi_and_the_tables(tmp_path: Path) -> None:
    pages, work = tmp_path / "pages", tmp_path / "work"
    pages.mkdir()
    work.mkdir()
    measured = STUDY["pi"](pages, work, area=False, scale=SCALE)
    assert measured["start"] == "160"
    _, _, *found = rows(measured["table"])
    assert [row[0] for row in found] == ["1,600", "6,400", "16,000"]
    # Ten times the work at the same cost of starting: a higher rate, and more of the roof.
    for column in (2, 3, 5):
        values = [float(row[column].removesuffix(" %")) for row in found]
        assert values == sorted(values)
        assert values[0] < values[-1]
    for name in ("1", "4", "10"):
        ElementTree.fromstring((pages / f"pi-{name}.svg").read_bytes())

    runs = {name: cyclescope.load(work / "pi-1.cyc") for name in STUDY["WORDS"]}
    threads = team(runs["1-naive"])
    assert threads is not None
    cycles = runs["1-naive"].cycles
    table = rows(STUDY["gemm_table"](runs))
    assert len(table) == 2 + len(runs)
    assert {len(row) for row in table} == {11}
    assert table[2][1:4] == [f"{cycles:,}", "1.00", "1.00"]
    (memory,) = (roof for roof in threads.roofs if len(roof.names) == 2)
    moved = sum(m.total("bytes") for m in threads.members)
    local = sum(m.counts.get(("bytes", "local bytes"), 0) for m in threads.members)
    assert memory.rate == Fraction(moved - local, cycles)
    assert table[2][6] == f"{float(memory.rate):.2f}"
    waits = rows(STUDY["waits_table"](runs))
    assert {len(row) for row in waits} == {6}
    picture = ElementTree.fromstring(STUDY["bandwidth_svg"](runs))
    assert sum(part.tag.endswith("polygon") for part in picture) == len(runs)
    spin = STUDY["contention"](runs["1-naive"])
    assert 0 <= spin < cycles
