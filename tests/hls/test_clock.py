"""The clock of a program's hardware: its longest path by lines, in the profile and in the views."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import cyclescope
from cyclescope.cli import main
from cyclescope.errors import InputError, LawError, ToolError
from cyclescope.hls import UnitOptions, clock_of, compile_c, find_router, machine_of
from cyclescope.hls.run import placed
from cyclescope.model import Clock, Part, PathStep, StepKind, check_laws
from cyclescope.rtl import Origin, origins
from cyclescope.sim import Routed, RoutedStep, _synthesis, read_route
from cyclescope.views import clock_view, summary_json, summary_text
from mac_design import mac
from strategies import large_profile

PROGRAMS = Path(__file__).parent / "programs"
PROGRAM = PROGRAMS / "one_sum.c"
RECORDED = Path(__file__).parents[1] / "sim" / "data" / "mac-route.json"

PATH = (
    PathStep(StepKind.LAUNCH, 500, "register", "x", Part.OPERATION, "p.c", 3),
    PathStep(StepKind.WIRE, 1500, "", "x", Part.OPERATION, "p.c", 3),
    PathStep(StepKind.LOGIC, 2000, "carry chain", "", Part.CONTROL, "p.c", 7),
    PathStep(StepKind.WIRE, 1000, "", "", Part.CONTROL, "p.c", 7),
    PathStep(StepKind.SETUP, 0, "register", "bank0_ready", Part.MEMORY_PATH),
)
CLOCK = Clock("a device", 1, PATH)


def test_a_recorded_path_by_lines() -> None:
    recorded = json.loads(RECORDED.read_text())
    routed = read_route(recorded["report"], recorded["module"])
    path = placed(routed.path, origins(mac()))
    assert sum(step.delay_ps for step in path) == round(1e6 / routed.mhz)
    assert {(step.part, step.file, step.line) for step in path} == {(Part.OPERATION, "mac.c", 3)}
    assert [step.net for step in path if step.net] == ["x", "product"]


def test_made_up_nets_belong_where_they_lead() -> None:
    known = {
        "unit": Origin(Part.PROFILING_UNIT),
        "core.L3_x": Origin(Part.OPERATION, "p.c", 3),
        "core.tags": Origin(Part.MEMORY_PATH),
    }
    steps = [
        RoutedStep(StepKind.LAUNCH, 1, "block RAM", ("core.tags.0.3_DO", "core.tags.0.3")),
        RoutedStep(StepKind.LOGIC, 1, "LUT", ("core.L3_x_LUT4_Z",)),
        RoutedStep(StepKind.WIRE, 1, "", ("core.L3_x[2]",)),
        RoutedStep(StepKind.LOGIC, 1, "LUT", ()),
        RoutedStep(StepKind.SETUP, 1, "register", ("strange", "unit.ready_TRELLIS_FF_Q")),
    ]
    parts = [(step.part, step.line, step.net) for step in placed(steps, known)]
    assert parts == [
        (Part.MEMORY_PATH, 0, "core.tags"),
        (Part.OPERATION, 3, ""),
        (Part.OPERATION, 3, "core.L3_x"),
        (Part.PROFILING_UNIT, 0, ""),
        (Part.PROFILING_UNIT, 0, "unit"),
    ]


@pytest.mark.parametrize("unit", [None, UnitOptions("x")], ids=["core", "profiled"])
def test_every_net_of_a_machine_has_an_origin(unit: UnitOptions | None) -> None:
    program = compile_c(PROGRAMS / "critical_sections.c")
    machine = machine_of(program, checks=False, unit=unit)
    parts = Counter(origin.part for origin in machine.origins.values())
    assert (parts[Part.PROFILING_UNIT] > 0) is (unit is not None)
    assert parts[Part.OTHER] == 0
    assert min(parts[p] for p in (Part.OPERATION, Part.CONTROL, Part.MEMORY_PATH)) > 5
    lines = len((PROGRAMS / "critical_sections.c").read_text().splitlines())
    for origin in machine.origins.values():
        assert (origin.line > 0) is (origin.file != "")
        assert origin.line <= lines
        assert origin.line or origin.part is not Part.OPERATION
    # The names are those of the text.
    text = "".join(machine.sources.values())
    rng = random.Random(1)
    there = sum(
        f"{name.rpartition('.')[2]}" in text for name in rng.sample(sorted(machine.origins), 100)
    )
    assert there > 80  # what nothing reads is not printed


def stand_in(monkeypatch: pytest.MonkeyPatch, net: str = "") -> list[str]:
    """A tool that routes anything in the same way; the list has what it was asked."""
    asked: list[str] = []

    def route(verilog: str, top: str, *, seed: int, doing: object) -> Routed:
        asked.append(top)
        steps = [RoutedStep(step.kind, step.delay_ps, step.cell, (net,)) for step in PATH]
        return Routed(200.0, tuple(steps))

    monkeypatch.setattr("cyclescope.sim.route_on_ecp5", route)
    monkeypatch.setattr("cyclescope.sim.find_yosys", lambda: ["yosys"])
    monkeypatch.setattr("cyclescope.sim.find_nextpnr", lambda: ["nextpnr"])
    return asked


def test_the_profile_has_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = machine_of(compile_c(PROGRAM), checks=False, unit=UnitOptions(PROGRAM.name))
    net, origin = next(
        (net, origin)
        for net, origin in sorted(machine.origins.items())
        if origin.part is Part.OPERATION
    )
    asked = stand_in(monkeypatch, net)
    out, dump = tmp_path / "p.cyc", tmp_path / "p.bin"
    options = ["--profile", "--clock", "-o", str(out), "--dump", str(dump)]
    assert main(["hls", str(PROGRAM), *options]) == 0
    assert asked == [machine.name]
    place = f"{PROGRAM.name}:{origin.line}"
    told = capsys.readouterr().out
    assert "clock: 200.0 MHz, 5 ns a cycle" in told
    assert f"longest path: from {place} ({net}, register) to {place} ({net}, register)" in told
    meta = cyclescope.load(out).meta
    assert meta.clock is not None
    assert meta.period_ps == meta.clock.period_ps == 5000
    assert {(s.file, s.line) for s in meta.clock.path} == {(PROGRAM.name, origin.line)}
    again = tmp_path / "i.cyc"
    given = ["--layout", f"{dump}.json", "-o", str(again)]
    assert main(["import", "nymble", str(dump), *given]) == 0
    assert cyclescope.load(again).meta.period_ps == 5000


@pytest.mark.long
def test_a_given_clock_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = stand_in(monkeypatch)
    out = tmp_path / "p.cyc"
    assert main(["hls", str(PROGRAM), "--period", "80MHz", "-o", str(out)]) == 0
    meta = cyclescope.load(out).meta
    assert (meta.period_ps, meta.clock, asked) == (12_500, None, [])


def test_without_a_clock_there_is_no_time(tmp_path: Path) -> None:
    out = tmp_path / "p.cyc"
    assert main(["hls", str(PROGRAM), "-o", str(out)]) == 0
    profile = cyclescope.load(out)
    assert profile.meta.period_ps is None
    text = summary_text(profile)
    for word in (" ns", "a second", "/s", "MHz"):
        assert word not in text
    with pytest.raises(InputError, match=r"not placed and routed.*--clock"):
        clock_view(profile)


def test_wrong_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hls", str(PROGRAM), "--clock", "--period", "10ns"]) == 2
    assert "give one of them" in capsys.readouterr().err
    assert main(["hls", str(PROGRAM), "--clock", "--overhead"]) == 2


def test_without_tools_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_synthesis.shutil, "which", lambda _: None)
    monkeypatch.setattr(_synthesis.importlib.util, "find_spec", lambda _: None)
    assert main(["hls", str(PROGRAM), "--clock"]) == 4
    told = capsys.readouterr()
    assert told.err.count("\n") == 1
    assert "pip install 'cyclescope[speed]'" in told.err
    assert told.out == ""  # before the work


def clocked(clock: Clock | None = CLOCK, period_ps: int | None = 5000) -> cyclescope.Profile:
    return large_profile(5).with_meta(clock=clock, period_ps=period_ps)


def test_the_clock_is_read_back(tmp_path: Path) -> None:
    check_laws(clocked())
    cyclescope.save(clocked(), tmp_path / "p.cyc")
    assert cyclescope.load(tmp_path / "p.cyc") == clocked()
    assert clocked().meta.clock == CLOCK


@pytest.mark.parametrize(
    ("clock", "period"),
    [
        (CLOCK, 5001),
        (CLOCK, None),
        (replace(CLOCK, path=PATH[1:]), 4500),
        (replace(CLOCK, path=(*PATH[:4], replace(PATH[1], delay_ps=-1), PATH[4])), 4999),
        (replace(CLOCK, path=(replace(PATH[0], line=-1), *PATH[1:])), 5000),
        (replace(CLOCK, path=()), 0),
    ],
    ids=["another sum", "no period", "no launch", "negative", "line", "empty"],
)
def test_a_clock_that_breaks_a_law_is_refused(clock: Clock, period: int | None) -> None:
    with pytest.raises(LawError):
        check_laws(clocked(clock, period))


def test_views_of_the_clock() -> None:
    text = " ".join(summary_text(clocked()).split())
    assert "clock: 200.0 MHz, 5 ns a cycle (a device)" in text
    assert (
        "longest path: from p.c:3 (x, register) to memory path (bank0_ready, register)"
        " 50.0 % logic, 50.0 % wires" in text
    )
    shown = json.loads(summary_json(clocked()))["clock"]
    assert shown["period_ps"] == sum(step["delay_ps"] for step in shown["path"]) == 5000
    rows = json.loads(clock_view(clocked(), "json"))
    assert [row["delay_ps"] for row in rows] == [step.delay_ps for step in PATH]
    assert rows[-1]["until_ps"] == 5000
    assert [row["line"] for row in rows] == [3, 3, 7, 7, None]
    assert {row["part"] for row in rows} == {"operation", "control", "memory path"}
    assert "carry chain" in clock_view(clocked()).decode()


def test_a_real_clock() -> None:
    try:
        find_router()
    except ToolError as error:
        pytest.skip(f"{error}; a stand-in routes above")
    program = compile_c(PROGRAM, threads=1)
    told: list[str] = []
    clock = clock_of(program, doing=told.append)
    assert 20_000 > clock.period_ps > 2_000
    assert {step.part for step in clock.path} <= {*Part} - {Part.OTHER, Part.PROFILING_UNIT}
    told.clear()
    assert clock_of(program, doing=told.append) == clock
    assert told == []
