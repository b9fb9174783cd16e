"""Costs of a program's cells beside their use: what is passed to Yosys, and what is joined."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cyclescope.analyse import area_table, at_level, levels
from cyclescope.calyx import CalyxOptions, compile_program, profile_program
from cyclescope.calyx._area import synthesis_verilog
from cyclescope.cli import main
from cyclescope.errors import InputError
from cyclescope.model import Kind, Profile, active_cycles, load, save
from cyclescope.views import area_svg, area_view
from extras import NO_YOSYS

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "calyx"
PROGRAM = EXAMPLES / "switch_par.futil"

# As a vendor's report would have it: totals of each instance with all below it.
REPORT = """\
| Instance | Module | Total LUTs | FFs | RAMB36 | RAMB18 | DSP Blocks |
| main     | (top)  | 200 | 90 | 0 | 0 | 0 |
|   r      | std_reg |  0 | 33 | 0 | 0 | 0 |
|     bits | cells   |  0 | 30 | 0 | 0 | 0 |
|   s1     | sub_one | 100 | 34 | 0 | 0 | 0 |
|     kept | std_reg | 0 | 33 | 0 | 0 | 0 |
|   s3     | sub_three | 70 | 0 | 0 | 0 | 0 |
|   fsm    | std_reg | 5 | 3 | 0 | 0 | 0 |
"""


def with_report(tmp_path: Path) -> Profile:
    report = tmp_path / "report.rpt"
    report.write_text(REPORT)
    options = CalyxOptions(area_report=report)
    return profile_program(PROGRAM, PROGRAM.with_suffix(".json"), options).profile


def test_external_memories_lie_outside_and_files_are_left_out() -> None:
    verilog = synthesis_verilog(compile_program(PROGRAM, instrument=False))
    assert "readmemh" not in verilog
    assert "(* blackbox, keep *)" in verilog
    assert "comb_mem_d1_outside_the_design" in verilog


def test_costs_meet_the_paths_that_use_them(tmp_path: Path) -> None:
    profile = with_report(tmp_path)
    by_name = {area.cell: area for area in profile.areas}
    assert (by_name["main"].luts, by_name["main"].ffs) == (25, 20)
    called = by_name["main.s1"]
    assert (called.type, called.luts, called.ffs) == ("sub_one", 100, 1)
    active = active_cycles(profile)
    assert [profile.frame_of(p).name for p in called.paths] == ["s1"]
    rows = {row.name: row for row in area_table(profile, [Kind.CELL])}
    assert rows["main"].cycles == profile.cycles
    assert rows["main.s1"].cycles == active[called.paths[0]]
    # The third case was never taken: its cell is seen, and never used.
    assert rows["main.s3"].cycles == 0
    assert rows["main.s3"].idle_cost == 70
    # A primitive has all that is inside it, and is used where its group writes it.
    assert "main.r.bits" not in rows
    assert (rows["main.r"].ffs, rows["main.r"].cycles) == (33, 1)
    first = next(iter(area_table(profile, [Kind.CELL])))
    assert first.idle_cost == max(row.idle_cost or 0 for row in rows.values())


def test_a_control_register_belongs_to_its_block(tmp_path: Path) -> None:
    profile = with_report(tmp_path)
    fsm = next(area for area in profile.areas if area.cell == "main.fsm")
    kinds = {profile.frame_of(path).kind for path in fsm.paths}
    if not fsm.paths:
        registers = {s.name.split(" ")[0] for s in profile.series}
        assert "fsm" not in registers
    else:
        assert kinds == {Kind.CONTROL}


def test_groups_and_blocks_have_the_cells_they_use(tmp_path: Path) -> None:
    profile = with_report(tmp_path)
    rows = {row.name: row for row in area_table(profile, [Kind.GROUP, Kind.CONTROL])}
    assert rows["main.run_s1"].luts == 100
    assert rows["main.run_s1"].cycles == 1
    whole = next(row for name, row in rows.items() if name.startswith("main.seq"))
    assert whole.luts >= 100
    assert whole.share == Fraction(1)


def test_costs_are_kept_in_the_file_and_at_every_level(tmp_path: Path) -> None:
    profile = with_report(tmp_path)
    save(profile, tmp_path / "p.cyc")
    again = load(tmp_path / "p.cyc")
    assert again.areas == profile.areas
    for level in levels(again):
        seen = at_level(again, level)
        for kinds in ([Kind.CELL], [Kind.GROUP]):
            assert sum(r.cost for r in area_table(seen, kinds)) == sum(
                r.cost for r in area_table(again, kinds)
            )


def test_the_table_and_the_map(tmp_path: Path) -> None:
    profile = with_report(tmp_path)
    rows = json.loads(area_view(profile, [Kind.CELL], "json"))
    assert sum(row["luts"] for row in rows) == 200
    root = ElementTree.fromstring(area_svg(profile).decode())
    boxes = [
        float(e.get("width", "")) * float(e.get("height", ""))
        for g in root.iter("{http://www.w3.org/2000/svg}g")
        for e in g.iter("{http://www.w3.org/2000/svg}rect")
    ]
    costs = sorted((r.cost for r in area_table(profile, [Kind.CELL]) if r.cost), reverse=True)
    whole = (1000 - 16) * (560 - 48 - 8)
    assert boxes == pytest.approx([whole * c / sum(costs) for c in costs], rel=0.01)
    plain = profile_program(PROGRAM, PROGRAM.with_suffix(".json")).profile
    for view in (area_view, area_svg):
        with pytest.raises(InputError, match="--area"):
            view(plain)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, out = tmp_path / "r.rpt", tmp_path / "p.cyc"
    report.write_text(REPORT)
    run = ["calyx", str(PROGRAM), "--data", str(PROGRAM.with_suffix(".json")), "-o", str(out)]
    assert main([*run, "--area-report", str(report)]) == 0
    assert main(["area", str(out)]) == 0
    assert "main.s3" in capsys.readouterr().out
    assert main(["area", str(out), "all", "-o", str(tmp_path / "map.svg")]) == 0
    assert main(["area", str(out), "--format", "parquet"]) == 2
    assert main([*run, "--area-report", str(tmp_path / "none.rpt"), "--force"]) == 2


@pytest.mark.skipif(NO_YOSYS, reason="no yosys here; reports cover the join")
def test_a_real_synthesis_of_an_example() -> None:
    options = CalyxOptions(area=True)
    profile = profile_program(PROGRAM, PROGRAM.with_suffix(".json"), options).profile
    by_type: dict[str, list[tuple[int, int]]] = {}
    for area in profile.areas:
        by_type.setdefault(area.type, []).append((area.luts, area.ffs))
    assert (0, 33) in by_type["std_reg"]
    assert not any("mem" in kind for kind in by_type)
    rows = {row.name: row for row in area_table(profile, [Kind.CELL])}
    assert rows["main"].cycles == profile.cycles == 9
    assert rows["main"].luts > 0
    assert rows["main.s1"].cycles == 1
    assert rows["main.s3"].cycles == 0
