"""The judge: miscompilations seeded into single passes are found, and the pass is named."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from calyx.corpus import stock_run
from calyx.wrong_compiler import MUTATIONS, PROGRAM
from cyclescope import _native
from cyclescope.calyx import (
    CalyxOptions,
    find_own_compiler,
    judge_program,
    read_expected,
    verify_program,
)
from cyclescope.calyx._judge import Open
from cyclescope.cli import main
from cyclescope.errors import DataError, VerifyError
from cyclescope.sim import Memory

HERE = Path(__file__).parent
BYTE = {"numeric_type": "bitnum", "is_signed": False, "width": 8}

# One arm reads what the other writes; which comes first, nothing says.
RACE = """\
import "primitives/core.futil";
import "primitives/binary_operators.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells {
    @external m = comb_mem_d1(8, 1, 1); r = std_reg(8); s = std_reg(8); times = std_mult_pipe(8);
    sum = std_add(8);
  }
  wires {
    group set { r.in = 8'd7; r.write_en = 1'd1; set[done] = r.done; }
    group other { s.in = 8'd1; s.write_en = 1'd1; other[done] = s.done; }
    group long {
      times.left = 8'd2; times.right = 8'd3; times.go = 1'd1; long[done] = times.done;
    }
    group save {
      sum.left = times.out; sum.right = r.out;
      m.addr0 = 1'd0; m.write_data = sum.out; m.write_en = 1'd1; save[done] = m.done;
    }
  }
  control { par { seq { other; other; other; set; } seq { long; save; } } }
}
"""

# The register takes its input's value in every cycle, and mostly nothing drives that.
UNDRIVEN = """\
import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { @external m = comb_mem_d1(8, 1, 1); r = std_reg(8); }
  wires {
    r.write_en = 1'd1;
    static<1> group set { r.in = 8'd7; }
    static<1> group wait { }
    group save { m.addr0 = 1'd0; m.write_data = r.out; m.write_en = 1'd1; save[done] = m.done; }
  }
  control { seq { static seq { set; wait; } save; } }
}
"""


def files(folder: Path, text: str, words: int) -> tuple[Path, Path]:
    program, data = folder / "program.futil", folder / "data.json"
    program.write_text(text)
    data.write_text(json.dumps({"m": {"data": [0] * words, "format": BYTE}}))
    return program, data


def wrong_compiler(folder: Path, name: str) -> CalyxOptions:
    script = folder / "calyx"
    program = HERE / "wrong_compiler.py"
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{program}' '{name}' \"$@\"\n")
    script.chmod(0o755)
    _native.write_library(folder / "library")
    return CalyxOptions(compiler=find_own_compiler(script, folder / "library"))


# Of these the pass alone can be left out; what lowers cannot, and is found between its neighbours.
# CYCLESCOPE_WHOLE=1 tries them all, and not every second one.
@pytest.mark.long
@pytest.mark.parametrize("name", list(MUTATIONS)[:: 1 if os.environ.get("CYCLESCOPE_WHOLE") else 2])
def test_a_wrong_pass_is_named(name: str, tmp_path: Path) -> None:
    program, data = files(tmp_path, PROGRAM, 4)
    judgement = judge_program(program, data, wrong_compiler(tmp_path, name))
    wrong, _ = MUTATIONS[name]
    assert not judgement.holds
    assert judgement.open_ is None
    first = judgement.suspects[0]
    assert (first.name, first.first) == (wrong, True)
    assert first.cures or first.reason
    said = judgement.explanation
    assert f"pass {wrong} " in said
    assert "\n" not in said
    for found in judgement.differing:
        assert found.found != found.expected
        assert (
            f"m[{found.index[0]}] is {found.found}, without optimisation {found.expected}" in said
        )
    if judgement.optimised.stopped:
        assert judgement.optimised.stopped in said


def test_a_right_compiler_is_not_accused(tmp_path: Path) -> None:
    program, data = files(tmp_path, PROGRAM, 4)
    judgement = judge_program(program, data, CalyxOptions())
    assert judgement.holds
    assert judgement.explanation == ""
    assert judgement.reference.cycles > judgement.optimised.cycles
    assert judgement.reference.memories == judgement.optimised.memories
    assert verify_program(program, data, stock=judgement.optimised).holds


@pytest.mark.long
def test_what_depends_on_timing_is_no_fault_of_a_pass(tmp_path: Path) -> None:
    program, data = files(tmp_path, RACE, 1)
    judgement = judge_program(program, data, CalyxOptions())
    assert not judgement.holds
    assert judgement.open_ is not None
    assert judgement.suspects == ()
    assert judgement.open_.on is Open.TIMING
    assert "depend on timing" in judgement.explanation


@pytest.mark.long
def test_what_depends_on_a_port_that_nothing_drives_is_no_fault_of_a_pass(tmp_path: Path) -> None:
    program, data = files(tmp_path, UNDRIVEN, 1)
    judgement = judge_program(program, data, CalyxOptions())
    assert not judgement.holds
    assert judgement.open_ is not None
    assert judgement.open_.on is Open.UNDRIVEN
    assert judgement.suspects == ()
    assert "data ports hold while nothing drives them" in judgement.explanation


def test_control_does_not_depend_on_ones_where_nothing_drives(tmp_path: Path) -> None:
    program, data = files(tmp_path, PROGRAM, 4)
    reference = judge_program(program, data, CalyxOptions()).reference
    passes = list(reference.program.record.passes)
    passes.insert(passes.index("default-assigns"), "drive-undriven-data")
    told = CalyxOptions(passes=tuple(passes))
    other = stock_run(program, data, told)
    assert (other.cycles, other.trouble) == (reference.cycles, "")
    assert other.memories == reference.memories


def test_a_program_that_does_not_end_without_optimisation(tmp_path: Path) -> None:
    endless = PROGRAM.replace("less.right = 3'd4", "less.right = 3'd7").replace(
        "next.right = 3'd1", "next.right = 3'd0"
    )
    program, data = files(tmp_path, endless, 4)
    with pytest.raises(VerifyError, match=r"without optimisation, cycle limit reached, after 500"):
        judge_program(program, data, CalyxOptions(cycle_limit=500))


# Expected memories.

CONTENT = {"data": [[1, 2], [3, 250]], "format": BYTE}
GRID = Memory("m", 8, (2, 2))
FORMS = {
    "data": {"m": CONTENT},
    "list": {"m": [[1, 2], [3, 250]]},
    "run": {"cycles": 9, "memories": {"m": [[1, 2], [3, 250]]}},
    "beside": {"cycles": 9, "m": [[1, 2], [3, 250]]},
    "signed": {"m": {"data": [[1, 2], [3, -6]], "format": BYTE | {"is_signed": True}}},
}


@pytest.mark.parametrize("form", FORMS)
def test_expected_memories(form: str, tmp_path: Path) -> None:
    path = tmp_path / "a.expect"
    path.write_text(json.dumps(FORMS[form]))
    expected = read_expected(path)
    assert expected.cycles == (9 if form in ("run", "beside") else None)
    assert expected.differences([GRID], {"m": CONTENT}) == ()
    found = expected.differences([GRID], {"m": CONTENT | {"data": [[1, 2], [4, 0]]}})
    assert found[0].told("expected") in ("m[1][0] is 4, expected 3 (2 of 4 words differ)",)


def test_a_fixed_point_expectation_is_compared_in_bits() -> None:
    form = {"numeric_type": "fixed_point", "is_signed": True, "width": 8, "frac_width": 4}
    run = {"m": {"data": ["-1.25"], "format": form}}
    path = Path("a.expect")
    from cyclescope.calyx import Expected

    memory = Memory("m", 8, (1,))
    assert Expected(path, {"m": ["-1.25"]}, None).differences([memory], run) == ()
    assert Expected(path, {"m": [-1.25]}, None).differences([memory], run) == ()
    found = Expected(path, {"m": ["1.5"]}, None).differences([memory], run)
    assert found[0].told("expected") == "m[0] is -1.25, expected 1.5"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("---CODE---\n1\n---STDERR---\nError", "output of a command that failed"),
        ("{}", "names no memory"),
        ('{"m": 3}', "m: a memory's data is expected"),
        ('{"memories": {"m": [1]}, "n": [2]}', "n is beside `memories`"),
        ('{"m": [1], "m": [2]}', "given twice"),
        ('{"n": [1]}', r"n: the design has no such external memory \(it has m\)"),
        ('{"m": [[1, 2]]}', "1 elements, but the design has 2"),
        ('{"m": [[1, 2], [3, 256]]}', r"memory m\[1\]\[1\]: 256 is out of range"),
    ],
)
def test_wrong_expectations_are_refused(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "a.expect"
    path.write_text(text)
    with pytest.raises(DataError, match=says):
        read_expected(path).differences([GRID], {"m": CONTENT})


# The command.


def test_the_command_compares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program, data = (path.name for path in files(tmp_path, PROGRAM, 4))
    run = ["calyx", program, "--data", data]
    assert main([*run, "--memories", "right.json"]) == 0
    assert main([*run, "--verify", "--expect", "right.json"]) == 0
    assert "without optimisation; equal memories" in capsys.readouterr().out
    right = json.loads(Path("right.json").read_text())["m"]["data"]
    Path("wrong.expect").write_text(json.dumps({"cycles": 1, "m": [right[0], 0, *right[2:]]}))
    for way in (["-o", "p.cyc"], ["--verify"]):
        assert main([*run, *way, "--expect", "wrong.expect"]) == 6
        (line,) = capsys.readouterr().err.splitlines()
        assert "not as wrong.expect says: " in line
        assert f"m[1] is {right[1]}, expected 0 (1 of 4 words differ)" in line
        assert "cycles, expected 1;" in line
    assert main([*run, "--verify", "--expect", "absent.expect"]) == 2


@pytest.mark.long
def test_a_wrong_compiler_fails_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, data = files(tmp_path, PROGRAM, 4)
    compiler = wrong_compiler(tmp_path, "constant changed").compiler
    assert compiler is not None
    given = ["--compiler", str(compiler.path), "--library", str(compiler.library)]
    assert main(["calyx", str(program), "--data", str(data), "--verify", *given]) == 6
    (line,) = capsys.readouterr().err.splitlines()
    assert "pass comb-prop makes the difference" in line
    options = replace(CalyxOptions(compiler=compiler), disable=("comb-prop",))
    assert judge_program(program, data, options).holds
