"""The built-in compiler computes what Calyx means: each correction of the release, on and off.

Programs with a known result, and random ones against an interpreter (`generator.py`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from calyx.corpus import CONFIGURATIONS, Run, stock_run
from calyx.generator import generate
from cyclescope.calyx import (
    CalyxOptions,
    compile_program,
    judge_program,
    list_passes,
    profile_program,
)
from cyclescope.errors import SourceError

FOLDER = Path(__file__).parent / "corrections"
DATA = FOLDER / "data.json"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text("utf-8"))
STATIC_INVOKE = """\
import "primitives/core.futil";
static<2> component keeper() -> () {
  cells { r = std_reg(8); }
  wires { static<1> group g { r.in = 8'd1; r.write_en = 1'd1; } }
  control { static seq { g; g; } }
}
component main() -> () {
  cells { k = keeper(); }
  wires { }
  control { static seq { static<2> invoke k()(); } }
}
"""


def run(name: str, options: CalyxOptions) -> Run:
    return stock_run(FOLDER / f"{name}.futil", DATA, options)


def contents(run: Run) -> dict[str, object]:
    assert not run.trouble, run.trouble
    return {name: entry["data"] for name, entry in run.memories.items()}


def test_every_program_is_expected() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.futil")) == sorted(EXPECTED)


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("name", EXPECTED)
def test_the_result_is_what_the_program_means(name: str) -> None:
    expected = EXPECTED[name]
    program = FOLDER / f"{name}.futil"
    measured = profile_program(program, DATA)
    stock = run(name, CalyxOptions())
    assert contents(stock) == expected["memories"]
    assert {n: m["data"] for n, m in measured.memories.items()} == expected["memories"]
    assert stock.cycles == measured.profile.cycles == expected["cycles"]
    assert contents(run(name, CONFIGURATIONS["no optimisation"])) == expected["memories"]


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("name", [n for n, e in EXPECTED.items() if e["correction"]])
def test_without_its_correction_it_is_not(name: str) -> None:
    expected = EXPECTED[name]
    without = run(name, CalyxOptions(disable=(expected["correction"],)))
    if expected["without"] == "refused":
        assert without.trouble
    elif expected["without"] == "wrong":
        assert contents(without) != expected["memories"]
    else:
        assert without.cycles != expected["cycles"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "released"),
    [("later_run", "cell-share"), ("continuous_component", "static-inference")],
)
def test_the_judge_names_the_pass_that_lacks_its_correction(name: str, released: str) -> None:
    program = FOLDER / f"{name}.futil"
    options = CalyxOptions(disable=(EXPECTED[name]["correction"],))
    judgement = judge_program(program, DATA, options)
    assert not judgement.holds
    assert released in judgement.explanation
    assert judge_program(program, DATA, CalyxOptions()).holds


def test_corrections_are_listed_with_the_passes() -> None:
    for expected in EXPECTED.values():
        if expected["correction"]:
            assert re.search(rf"^- {expected['correction']}: ", list_passes(), re.MULTILINE)


def test_what_looks_like_a_mistake_is_told() -> None:
    meta = profile_program(FOLDER / "looks_like_a_mistake.futil", DATA).profile.meta
    (warning,) = [a for a in meta.anomalies if a.name == "compiler warning"]
    assert warning.count == 1
    assert "mul.left" in warning.detail


def test_a_reserved_name_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "reserved.futil"
    text = (FOLDER / "looks_like_a_mistake.futil").read_text("utf-8")
    program.write_text(re.sub(r"\br\b", "wait", text), "utf-8")
    with pytest.raises(SourceError, match=r"reserved\.futil:\d+:\d+: .*wait"):
        compile_program(program)


def test_a_static_invoke_wants_its_pass(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "static.futil"
    program.write_text(STATIC_INVOKE, "utf-8")
    with pytest.raises(
        SourceError, match=r"static\.futil:\d+:\d+: .*invoke of k needs compile-invoke"
    ):
        compile_program(program, passes=("static-inline", "compile-static", "tdcc", "lower"))
    assert capfd.readouterr() == ("", "")
    assert stock_run(program, None, CalyxOptions()).cycles == 2


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("seed", range(3000, 3006))
def test_random_programs_leave_what_they_mean(seed: int, tmp_path: Path) -> None:
    program = generate(seed)
    path, data = tmp_path / "random.futil", tmp_path / "random.json"
    path.write_text(program.text, "utf-8")
    data.write_text(json.dumps(program.data), "utf-8")
    assert contents(stock_run(path, data, CalyxOptions())) == program.expected()
