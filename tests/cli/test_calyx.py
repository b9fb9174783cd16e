"""`cyclescope calyx` as a user meets it: what it prints, writes and refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cyclescope
from cyclescope.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples" / "calyx"
SWITCH, SWITCH_DATA = EXAMPLES / "switch_par.futil", EXAMPLES / "switch_par.json"

EMPTY = "component main() -> () { cells {} wires {} control {} }\n"

# A range that the compiler takes and the primitive's own check refuses when the run begins.
OUT_OF_RANGE = """\
import "primitives/core.futil";
comb component part(x: 8) -> (y: 4) {
  cells { slice = std_bit_slice(8, 6, 9, 4); }
  wires { slice.in = x; y = slice.out; }
}
component main() -> () {
  cells { r = std_reg(4); p = part(); }
  wires { group a { p.x = 8'd7; r.in = p.y; r.write_en = 1'd1; a[done] = r.done; } }
  control { a; }
}
"""

REFERENCE = """\
import "primitives/core.futil";
component main() -> () {
  cells { ref r = std_reg(4); }
  wires { group a { r.in = 4'd1; r.write_en = 1'd1; a[done] = r.done; } }
  control { a; }
}
"""

ENDLESS = """\
import "primitives/core.futil";
component main() -> () {
  cells { r = std_reg(1); more = std_not(1); }
  wires {
    more.in = r.out;
    group a { r.in = 1'd0; r.write_en = 1'd1; a[done] = r.done; }
  }
  control { while more.out { a; } }
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Run what must fail; gives the exit status and the one line of complaint."""
    status = main([str(a) for a in arguments])
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("cyclescope: ")
    return status, lines[0]


def test_one_command_makes_a_profile_and_says_where_the_cycles_went(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(
        ["calyx", str(SWITCH), "--data", str(SWITCH_DATA), "-o", "s.cyc", "--memories", "m.json"]
    )
    printed = capsys.readouterr().out
    assert status == 0
    assert "9 cycles" in printed
    assert "profile: s.cyc" in printed
    assert cyclescope.load("s.cyc").cycles == 9
    memories = json.loads((folder / "m.json").read_text())
    before = json.loads(SWITCH_DATA.read_text())
    assert memories.keys() == before.keys()
    assert memories["mem"]["format"] == before["mem"]["format"]
    assert memories != before


def test_nothing_is_run_if_the_output_is_taken(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "s.cyc").write_text("mine")
    status, line = refused(capsys, "calyx", SWITCH, "--data", SWITCH_DATA, "-o", "s.cyc")
    assert status == 3
    assert "--force" in line
    assert (folder / "s.cyc").read_text() == "mine"


def test_verify_proves_that_nothing_moved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calyx", str(SWITCH), "--data", str(SWITCH_DATA), "--verify"]) == 0
    assert "9 cycles stock and measured, " in (said := capsys.readouterr().out)
    assert "without optimisation; equal memories" in said
    assert list(folder.iterdir()) == []


def test_passes_can_be_chosen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, data = EXAMPLES / "multiply.futil", EXAMPLES / "multiply.json"
    for extra, cycles in (((), 6), (("-d", "static-promotion"), 14)):
        arguments = ["calyx", str(program), "--data", str(data), "-o", "m.cyc", "--force", *extra]
        assert main(arguments) == 0
        assert cyclescope.load("m.cyc").cycles == cycles
    capsys.readouterr()
    status, line = refused(
        capsys, "calyx", program, "--data", data, "-o", "n.cyc", "-p", "no-such-pass"
    )
    assert (status, "no-such-pass" in line) == (2, True)
    assert main(["calyx", "--list-passes"]) == 0
    assert "encode-control" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("component main() -> () {\n  cells {\n    oops\n  }\n}\n", ":3:5: ", "expected a cell"),
        (
            'import "primitives/core.futil";\ncomponent main() -> () {\n'
            "  cells { r = std_wreg(1); }\n  wires {} control {}\n}\n",
            ":3:",
            "std_wreg",
        ),
        ('import "primitives/none.futil";\n' + EMPTY, "p.futil", "none.futil"),
        (
            'import "primitives/core.futil";\ncomponent main() -> () {\n  cells {}\n'
            "  wires {}\n  control { nobody; }\n}\n",
            ":5:",
            "nobody",
        ),
    ],
)
def test_a_wrong_program_is_told_where_and_what(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, where: str, what: str
) -> None:
    (folder / "p.futil").write_text(text)
    status, line = refused(capsys, "calyx", "p.futil", "-o", "p.cyc")
    assert status == 2
    assert where in line
    assert what in line
    assert "; " in line, "says what to do"
    assert [p.name for p in folder.iterdir()] == ["p.futil"]


def test_a_program_that_is_not_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, line = refused(capsys, "calyx", "none.futil", "-o", "p.cyc")
    assert (status, line) == (2, "cyclescope: none.futil: no such file")


def damaged_data(change: str) -> object:
    data = json.loads(SWITCH_DATA.read_text())
    match change:
        case "missing":
            del data["mem"]
        case "too long":
            data["mem"]["data"].append(1)
        case "too large":
            data["mem"]["data"][0] = 1 << 40
        case "no number":
            data["mem"]["data"][0] = "many"
    return data


@pytest.mark.parametrize("change", ["missing", "too long", "too large", "no number"])
def test_wrong_data_is_told_memory_and_file(
    folder: Path, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    (folder / "d.json").write_text(json.dumps(damaged_data(change)))
    status, line = refused(capsys, "calyx", SWITCH, "--data", "d.json", "-o", "p.cyc")
    assert status == 2
    assert "d.json" in line
    assert "mem" in line
    assert not (folder / "p.cyc").exists()


def test_data_that_is_no_json_or_absent(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "d.json").write_text('{"mem": ')
    assert "d.json:1:" in refused(capsys, "calyx", SWITCH, "--data", "d.json", "-o", "p.cyc")[1]
    status, line = refused(capsys, "calyx", SWITCH, "-o", "p.cyc")
    assert status == 2
    assert "--data" in line


def test_a_run_that_reaches_the_limit_leaves_a_valid_profile(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "endless.futil").write_text(ENDLESS)
    assert main(["calyx", "endless.futil", "-o", "e.cyc", "--cycle-limit", "1000"]) != 0
    captured = capsys.readouterr()
    assert "1,000 cycles" in captured.out
    assert "cycle limit" in captured.err
    profile = cyclescope.load("e.cyc")
    assert profile.cycles == 1000
    assert not profile.meta.complete
    assert main(["summary", "e.cyc", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["complete"] is False


def test_a_combinational_loop_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "loop.futil").write_text(
        """\
import "primitives/core.futil";
component main() -> () {
  cells { a = std_not(1); b = std_wire(1); r = std_reg(1); }
  wires {
    a.in = b.out;
    b.in = a.out;
    group g { r.in = a.out; r.write_en = 1'd1; g[done] = r.done; }
  }
  control { g; }
}
"""
    )
    status, line = refused(capsys, "calyx", "loop.futil", "-o", "p.cyc")
    assert status == 2
    assert "loop.futil: Found combinational cycle" in line
    assert "break it" in line
    assert not (folder / "p.cyc").exists()


def test_measured_twice_the_file_is_the_same(folder: Path) -> None:
    outputs = []
    for seed in ("0", "1", "12345"):
        name = f"{seed}.cyc"
        command = ["calyx", str(SWITCH), "--data", str(SWITCH_DATA), "-o", name]
        subprocess.run(
            [sys.executable, "-m", "cyclescope", *command],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
        outputs.append((folder / name).read_bytes())
    assert len(set(outputs)) == 1


@pytest.mark.parametrize("way", [(), ("--verify",)])
def test_a_check_that_fails_is_told_in_the_words_of_the_primitive(
    folder: Path, capsys: pytest.CaptureFixture[str], way: tuple[str, ...]
) -> None:
    (folder / "slice.futil").write_text(OUT_OF_RANGE)
    status, line = refused(capsys, "calyx", "slice.futil", *way)
    assert status == (6 if way else 5)
    assert "the simulation failed" in line
    assert "main.p.slice: std_bit_slice: Slice range out of bounds IN_WIDTH: 8" in line
    assert not (folder / "slice.cyc").exists()


@pytest.mark.parametrize("data", [False, True])
def test_reference_cells_of_the_top_component(
    folder: Path, capsys: pytest.CaptureFixture[str], data: bool
) -> None:
    (folder / "top.futil").write_text(REFERENCE)
    (folder / "top.json").write_text('{"r": {}}')
    given = ("--data", "top.json") if data else ()
    status, line = refused(capsys, "calyx", "top.futil", *given, "-d", "well-formed")
    assert status == 2
    assert "top.futil: r of component main: a `ref` cell is passed by whoever invokes" in line
