"""Designs placed and routed: recorded output of nextpnr-ecp5, the cache, and a real run.

`mac-route.json` was recorded of the design that `mac_design.py` builds: nextpnr's report, and of
Yosys' netlist the cells' kinds and connections and the nets' bits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cyclescope.errors import ToolError
from cyclescope.model import StepKind
from cyclescope.rtl import sources
from cyclescope.sim import _ecp5, find_nextpnr, find_yosys, read_route, route_on_ecp5
from mac_design import mac

RECORDED = json.loads((Path(__file__).parent / "data" / "mac-route.json").read_text())


def check_path(routed: _ecp5.Routed) -> None:
    """The laws of a longest path."""
    kinds = [step.kind for step in routed.path]
    assert kinds[0] is StepKind.LAUNCH
    assert kinds[-1] is StepKind.SETUP
    assert not {StepKind.LAUNCH, StepKind.SETUP} & {*kinds[1:-1]}
    assert all((step.cell == "") == (step.kind is StepKind.WIRE) for step in routed.path)
    # Delays are whole picoseconds; the clock is a decimal fraction of 32 bits.
    assert sum(step.delay_ps for step in routed.path) == pytest.approx(1e6 / routed.mhz, abs=1)


def test_recorded_output_of_nextpnr() -> None:
    routed = read_route(RECORDED["report"], RECORDED["module"])
    check_path(routed)
    assert routed.mhz == pytest.approx(114.53442)
    assert [(step.kind, step.delay_ps, step.cell) for step in routed.path] == [
        ("launch", 3864, "multiplier"),
        ("wire", 1457, ""),
        ("logic", 890, "carry chain"),
        ("wire", 1327, ""),
        ("logic", 1063, "carry chain"),
        ("wire", 130, ""),
        ("setup", 0, "register"),
    ]
    first, *_, last = routed.path
    assert "x" in first.nets  # in the multiplier
    assert "product" in last.nets


def test_a_path_between_two_clocks_is_not_the_longest() -> None:
    report = json.loads(json.dumps(RECORDED["report"]))
    (own,) = report["critical_paths"]
    step = {**own["path"][0], "delay": 99.0}
    report["critical_paths"].insert(0, {"from": "<async>", "to": own["to"], "path": [step]})
    assert read_route(report, RECORDED["module"]) == read_route(
        RECORDED["report"], RECORDED["module"]
    )


def test_a_design_without_a_clock_is_one_line() -> None:
    with pytest.raises(ToolError, match="found no clock"):
        read_route({"fmax": {}, "critical_paths": []}, RECORDED["module"])


def test_what_was_routed_once_is_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    luts = [100]
    placers: list[str] = []

    def yosys(_command: object, folder: Path, _verilog: str, _script: str, made: Any) -> None:
        runs.append("yosys")
        for name in made:
            netlist = {"modules": {"mac": RECORDED["module"]}}
            usage = {"design": {"num_cells_by_type": {"LUT4": luts[0]}}}
            content = netlist if name == "netlist.json" else usage
            (folder / name).write_text(json.dumps(content))

    def nextpnr(command: list[str], *, what: str, folder: Path) -> None:
        runs.append(what)
        assert (folder / "netlist.json").is_file()
        assert command[command.index("--report") + 1] == "report.json"
        placers.append(command[command.index("--placer") + 1])
        (folder / "report.json").write_text(json.dumps(RECORDED["report"]))

    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(_ecp5, "find_yosys", lambda: ["yosys"])
    monkeypatch.setattr(_ecp5, "find_nextpnr", lambda: ["nextpnr"])
    monkeypatch.setattr(_ecp5, "run_yosys", yosys)
    monkeypatch.setattr(_ecp5, "run_tool", nextpnr)
    version = ["1"]
    monkeypatch.setattr(_ecp5, "tool_version", lambda _, name: f"{name} {version[0]}")
    told: list[str] = []
    first = route_on_ecp5("text", "mac", doing=told.append)
    assert (runs, told) == (
        ["yosys", "nextpnr-ecp5"],
        ["synthesis", "placement and routing"],
    )
    check_path(first)
    assert first == read_route(RECORDED["report"], RECORDED["module"])
    assert route_on_ecp5("text", "mac", doing=told.append) == first
    assert (len(runs), len(told)) == (2, 2)
    route_on_ecp5("text", "mac", seed=2)  # of the same netlist
    assert runs[2:] == ["nextpnr-ecp5"]
    route_on_ecp5("another text", "mac")
    version[0] = "2"
    route_on_ecp5("text", "mac")
    assert runs[3:] == ["yosys", "nextpnr-ecp5"] * 2
    luts[0] = 20_000
    route_on_ecp5("a large text", "mac")
    assert placers == ["heap"] * 4 + ["static"]


def test_a_real_run_names_the_design() -> None:
    try:
        find_yosys()
        find_nextpnr()
    except ToolError as error:
        pytest.skip(f"{error}; recorded output is tested above")
    routed = route_on_ecp5("".join(sources(mac()).values()), "mac")
    check_path(routed)
    # The multiplication is by far the longest.
    first, *_, last = routed.path
    assert first.cell == "multiplier"  # which has the registers of both factors
    assert "product" in last.nets
