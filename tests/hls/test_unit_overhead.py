"""The cost of the profiling unit: the table, and what is asked of the tools."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest

from cyclescope import sim
from cyclescope.cli import main
from cyclescope.errors import DataError, ToolError
from cyclescope.hls import (
    PAPERS,
    Cost,
    UnitOptions,
    chosen_counters,
    compile_c,
    cost_of,
    machine_of,
    overhead,
    overhead_table,
)
from cyclescope.sim import Ecp5, Routed, Xc7, _synthesis, find_nextpnr, find_yosys, on_ecp5

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = Path(__file__).parent / "programs" / "critical_sections.c"

TABLE = """\
                         cycles  registers     LUT4   BRAM  DSP     MHz
without                   1,000      8,000   20,000      0   10   101.0
paper's counters          1,004      8,240   20,800     20   10    99.0
all counters                  -      8,400   21,000     25   10       -
paper's counters, more  +0.4 %     +3.0 %   +4.0 %    new  +0.0 %  -2.0 %
all counters, more            -    +5.0 %   +5.0 %    new  +0.0 %       -
no MHz: no tool

7 series                registers    LUT6   BRAM   DSP48
without                     7,500  12,000      0      13
paper's counters            7,650  12,300     20      13
all counters                7,800  12,600     25      13
paper's counters, more     +2.0 %  +2.5 %    new  +0.0 %
all counters, more         +4.0 %  +5.0 %    new  +0.0 %
"""


def test_the_table() -> None:
    costs = [
        Cost("without", 1000, Ecp5(20_000, 8_000, 0, 10), Xc7(12_000, 7_500, 0, 13), 101.0),
        Cost(
            "paper's counters",
            *(1004, Ecp5(20_800, 8_240, 20, 10), Xc7(12_300, 7_650, 20, 13), 99.0),
        ),
        Cost("all counters", None, Ecp5(21_000, 8_400, 25, 10), Xc7(12_600, 7_800, 25, 13), None),
    ]
    table = overhead_table(costs, "no tool")
    shown, _, rest = table.partition("\nfor comparison")
    assert [line.split() for line in shown.splitlines()] == [
        line.split() for line in TABLE.splitlines()
    ]
    assert "registers +5.4 % at most" in rest
    assert "RealProbe: LUT +17 %, FF +43 %" in rest


def test_counters_by_words() -> None:
    assert chosen_counters("all") is None
    assert chosen_counters("paper") == PAPERS
    assert chosen_counters("bytes read, row misses") == {"bytes read", "row misses"}
    with pytest.raises(DataError, match="no counter in ' ,'"):
        chosen_counters(" ,")


def test_the_papers_counters_are_a_part_of_all() -> None:
    program = compile_c(PROGRAM)
    machines = [
        machine_of(program, unit=UnitOptions("x", counters=counters)) for counters in (PAPERS, None)
    ]
    names = [{p.source.counter.name for p in m.trace.places} for m in machines]
    assert names[0] < names[1]
    assert names[0] <= PAPERS


def test_without_tools_a_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_synthesis.shutil, "which", lambda _: None)
    monkeypatch.setattr(_synthesis.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ToolError, match="no nextpnr-ecp5: put one on PATH"):
        find_nextpnr()
    assert main(["hls", str(PROGRAM), "--overhead"]) == 4


def test_what_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def area(verilog: str, top: str, *, doing: Callable[[str], object]) -> Ecp5:
        asked.append(top)
        doing("synthesis")
        return Ecp5(len(verilog), verilog.count("reg "), verilog.count("ram_style"), 0)

    def other_area(verilog: str, top: str) -> Xc7:
        assert top
        return Xc7(7 * len(verilog), 1, 2, 3)

    def route(verilog: str, top: str, *, seed: int, doing: Callable[[str], object]) -> Routed:
        doing(f"placement of {top}")
        return Routed(seed * 1e6 / len(verilog), ())

    monkeypatch.setattr(sim, "find_yosys", lambda: ["yosys"])
    monkeypatch.setattr(sim, "on_ecp5", area)
    monkeypatch.setattr(sim, "find_nextpnr", lambda: ["nextpnr"])
    monkeypatch.setattr(sim, "on_xc7", other_area)
    monkeypatch.setattr(sim, "route_on_ecp5", route)
    units: list[UnitOptions | None] = []

    def cycles(unit: UnitOptions | None) -> int:
        units.append(unit)
        assert not told, "the runs come first, then what takes minutes"
        return 1000 + len(units)

    told: list[str] = []
    text = overhead(compile_c(PROGRAM), "x", cycles, period=64, doing=told.append)
    steps = [tuple(line.split(": ")) for line in told if "7 series" not in line]
    assert [(place, step.split()[0]) for place, step in steps] == [
        (f"{name}, {number} of 3", step)
        for number, name in enumerate(("without", "paper's counters", "all counters"), 1)
        for step in ("synthesis", "placement")
    ]
    assert [top.endswith("_profiled") for top in asked] == [False, True, True]
    assert [unit and unit.counters for unit in units] == [None, PAPERS, None]
    first, _, second = text.partition("7 series")
    rows = {line.split("  ")[0]: line.split() for line in first.splitlines()}
    sevens = {line.split("  ")[0]: line.split() for line in second.splitlines()}
    assert sevens["all counters"][-3:] == [
        f"{7 * int(rows['all counters'][-4].replace(',', '')):,}",
        "2",
        "3",
    ]
    assert rows["all counters, more"][3:5] == ["+0.2", "%"]
    sizes = [int(rows[name][-4].replace(",", "")) for name in ("without", "paper's counters")]
    assert sizes[0] < sizes[1]
    assert "no MHz" not in text


def test_a_failure_ends_the_other_synthesis(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = Event()

    def area(verilog: str, top: str, *, doing: Callable[[str], object]) -> Ecp5:
        raise ToolError("yosys failed")

    def other_area(verilog: str, top: str) -> Xc7:
        assert ended.wait(60)
        raise ToolError("ended")

    monkeypatch.setattr(sim, "on_ecp5", area)
    monkeypatch.setattr(sim, "on_xc7", other_area)
    monkeypatch.setattr(sim, "end_calls", ended.set)
    with pytest.raises(ToolError, match="yosys failed"):
        cost_of(compile_c(PROGRAM), "x", None)


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hls", str(PROGRAM), "--overhead", "--profile"]) == 2
    assert "goes with none of" in capsys.readouterr().err
    assert main(["hls", str(PROGRAM), "--counters", "paper"]) == 2
    assert "--profile" in capsys.readouterr().err


def test_a_real_synthesis() -> None:
    try:
        find_yosys()
    except ToolError as error:
        pytest.skip(str(error))
    text = """
module top(input clk, input [3:0] a, input [3:0] b, output reg [7:0] q, output x);
  always @(posedge clk) q <= a * b + q;
  assign x = ^a;
endmodule
"""
    found = on_ecp5(text, "top")
    assert found.ffs == 8
    assert 4 < found.luts < 80
    assert (found.brams, found.dsps) == (0, 1)
