"""Programs with a profiling unit in their hardware: same results, and a trace that is the truth.

The truth is what the bench captures from the simulator's signals at the same instants.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import cyclescope
from cyclescope.cli import main
from cyclescope.errors import DataError
from cyclescope.hls import (
    Host,
    MemoryModel,
    Native,
    Program,
    compile_c,
    differences,
    machine_of,
    measure,
    read_dump,
)
from cyclescope.hls.run._profile import profile_of
from cyclescope.hls.run._simulation import HardwareRun, run_setup, set_up
from cyclescope.hls.schedule._schedule import schedule
from cyclescope.hls.trace._core import UnitOptions, build_profiled
from cyclescope.model import Kind, Profile, Runs, Series, check_laws
from hls.exact import states_by_cycle, too_much, wrong
from hls.test_trace import losses
from rtl.benches import lint

if TYPE_CHECKING:
    from cyclescope.hls import Machine

PROGRAMS = Path(__file__).parent / "programs"
GEMM = Path(__file__).parents[2] / "examples" / "hls" / "gemm" / "1-naive.c"
CHOSEN = ("critical_sections", "double_buffer", "barriers", "one_thread_region")


@cache
def compiled(name: str) -> tuple[Program, Native]:
    program = compile_c(PROGRAMS / f"{name}.c")
    with Host(program) as host:
        return program, host.run(())


def machine(name: str, options: UnitOptions) -> Machine:
    program = compiled(name)[0]
    return build_profiled(program.region, schedule(program.region.root), options)


def going(name: str, on: Machine, **options: object) -> HardwareRun:
    """A run whose results are those of the program."""
    program, native = compiled(name)
    memory = MemoryModel(seed=3, stall=9)
    run = run_setup(set_up(on, native.inputs, native.scalars, memory=memory, **options))  # type: ignore[arg-type]
    assert run.complete
    assert differences(program, native.outputs, run.arrays) == []
    return run


def captured(run: HardwareRun, on: Machine, period: int) -> Profile:
    assert run.capture is not None
    return profile_of(
        on, run.capture, team=on.threads, period=period, title="", inputs={}, options={}
    )


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("name", CHOSEN)
def test_the_trace_is_the_truth_and_changes_no_result(name: str) -> None:
    on = machine(name, UnitOptions(name, period=64))
    assert on.trace is not None
    run = going(name, on, period=1)
    profile = read_dump(run.trace, on.trace)
    check_laws(profile)
    assert losses(profile) == {}
    truth = captured(run, on, 1)
    assert wrong(profile, truth) == []
    assert too_much(on.trace, truth) == []
    assert set(states_by_cycle(profile).ravel().tolist()) >= {0, 1}
    totals = {s.name: int(s.value.sum()) for s in profile.series if len(s)}
    assert sum(total > 0 for total in totals.values()) > 3
    # Were something not so, it would be noticed.
    works = next(p for p in on.trace.places if p.source.counter.name == "integer operations")
    narrow = replace(works, source=replace(works.source, largest=0))
    assert len(too_much(replace(on.trace, places=(narrow,)), truth)) == 1
    for broken in (with_a_later_state(profile), with_one_more(profile)):
        assert len(wrong(broken, truth)) == 1


def test_a_memory_that_the_trace_keeps_busy_is_no_deadlock() -> None:
    """The profiling unit's lines go before requests; a bank takes one in some thirty cycles."""
    name = CHOSEN[0]
    program, native = compiled(name)
    run = run_setup(
        set_up(
            machine(name, UnitOptions(name, period=64)),
            native.inputs,
            native.scalars,
            memory=MemoryModel(refresh_interval=200, refresh=190),
            period=64,
        )
    )
    assert run.complete
    assert differences(program, native.outputs, run.arrays) == []


def with_a_later_state(profile: Profile) -> Profile:
    cycles = profile.schedule.cycles.copy()
    cycles[0] += 1
    cycles[1] -= 1
    return replace(profile, schedule=Runs(cycles, profile.schedule.tree))


def with_one_more(profile: Profile) -> Profile:
    first = profile.series[0]
    value = first.value + np.arange(1, len(first.value) + 1)
    more = Series(
        *(first.track, first.name, first.metric, first.unit, first.path),
        *(first.start, first.end, value),
    )
    return replace(profile, series=(more, *profile.series[1:]))


@pytest.mark.long
def test_the_period_changes_no_total() -> None:
    name, found = CHOSEN[0], []
    for options in (
        UnitOptions(name, period=64),
        UnitOptions(name, period=7, counters=frozenset({"bytes read"})),
    ):
        on = machine(name, options)
        assert on.trace is not None
        profile = read_dump(going(name, on, period=64).trace, on.trace)
        read = [s for s in profile.series if s.name == "bytes read"]
        found.append([int(s.value.sum()) for s in read])
    assert found[0] == found[1]
    assert {s.name for s in profile.series} == {"bytes read"}
    # A sample takes two rounds of eight time slots, and eight slots of a line.
    assert max(len(s) for s in profile.series) > profile.cycles // 32


@pytest.mark.long
def test_counters_may_have_their_own_sampling_periods() -> None:
    name, own = CHOSEN[0], {"bytes read": 256, "row misses": 768, "memory requests": 768}
    on = machine(name, UnitOptions(name, period=128, periods=own))
    assert on.trace is not None
    assert [period for period, _ in on.trace.levels] == [128, 256, 768]
    run = going(name, on, period=1)
    profile = read_dump(run.trace, on.trace)
    check_laws(profile)
    assert losses(profile) == {}
    assert wrong(profile, captured(run, on, 1)) == []
    samples = {s.name: len(s) for s in profile.series}
    for counter, period in {"bytes written": 128, **own}.items():
        # One may still be under way when the last begins.
        assert 0 <= samples[counter] - profile.cycles // period <= 1
    assert profile.meta.options["sampling period"] == (
        "128, bytes read 256, row misses 768, memory requests 768"
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"period": 32, "periods": {"bytes read": 48}}, "every 32 and every 48 cycles"),
        ({"period": 0, "periods": {"bytes read": 48}}, "every 0 and every 48 cycles"),
        ({"periods": {"flops": 64}}, "no counter flops; there are"),
        (
            {"periods": {"bytes read": 64}, "counters": frozenset({"bytes written"})},
            "bytes read: has a sampling period and is not counted",
        ),
    ],
)
def test_periods_that_cannot_be_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(DataError, match=says):
        machine(CHOSEN[0], UnitOptions("x", **options))


def test_no_warnings(tmp_path: Path) -> None:
    on = machine(CHOSEN[0], UnitOptions("x", periods={"bytes read": 8192}))
    assert lint(tmp_path, dict(on.sources), on.name) == ""


def test_lines_that_the_memory_does_not_take_are_refused() -> None:
    with pytest.raises(DataError, match="lines of 1024 bits"):
        machine(CHOSEN[0], UnitOptions("x", line_bits=1024))


def test_a_counter_that_is_none_is_refused() -> None:
    with pytest.raises(DataError, match="no counter flops; there are"):
        machine(CHOSEN[0], UnitOptions("x", counters=frozenset({"flops"})))


def test_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = ["hls", str(PROGRAMS / f"{CHOSEN[0]}.c")]
    command = [*program, "--profile", "--sample", "64", "-o", "p.cyc", "--dump", "d.bin"]
    assert main(command) == 0
    assert "results: as" in capsys.readouterr().out
    profile = cyclescope.load("p.cyc")
    assert profile.meta.title == f"{CHOSEN[0]}.c"
    assert profile.meta.options["from"] == "profiling unit"
    assert main(["import", "nymble", "d.bin", "--layout", "d.bin.json"]) == 0
    again = cyclescope.load("d.cyc")
    assert (again.schedule, again.series) == (profile.schedule, profile.series)
    assert (again.catalog, again.meta.peaks) == (profile.catalog, profile.meta.peaks)
    assert again.meta.peaks["bytes read, bytes written"] == 256
    assert "waiting: lock, line" in {s.name[:19] for s in again.series}
    assert main([*program, "--dump", "e.bin"]) == 2
    assert "--profile" in capsys.readouterr().err
    for wrongly in ("0", "x", "bytes read=", "=-1", "bytes read=1.5"):
        assert main([*program, "--profile", "--sample", wrongly]) == 2
        assert f"--sample: {wrongly}: write N or COUNTER=N" in capsys.readouterr().err
    assert main([*program, "--sample", "bytes read=64"]) == 2
    assert "bytes read has a period of its own with --profile only" in capsys.readouterr().err
    assert main([*command[:-4], "--sample", "bytes read=192", "-o", "q.cyc"]) == 0
    assert "bytes read 192" in cyclescope.load("q.cyc").meta.options["sampling period"]


LIMITS = (1, 50, 700, 2500)


@pytest.mark.long
def test_a_run_that_is_cut_shows_what_came_before() -> None:
    name = CHOSEN[0]
    on = machine(name, UnitOptions(name, period=64, line_bits=256, time_bits=9))
    assert on.trace is not None
    program, native = compiled(name)
    whole = going(name, on, period=1, trace_lines=512)
    truth = captured(whole, on, 1)
    # The clock in a record runs over many times.
    assert wrong(read_dump(whole.trace, on.trace), truth) == []
    memory = MemoryModel(seed=3, stall=9)
    for limit in LIMITS:
        run = run_setup(
            set_up(
                on,
                native.inputs,
                native.scalars,
                memory=memory,
                period=1,
                cycle_limit=limit,
                trace_lines=512,
            )
        )
        assert (run.cycles, run.complete, run.stop_reason) == (limit, False, "limit")
        assert run.arrays == {}
        profile = read_dump(run.trace, on.trace)
        check_laws(profile)
        assert profile.cycles == limit
        assert losses(profile) == {}
        assert wrong(profile, captured(run, on, 1), cut=True) == []
    limit = whole.cycles - 1  # all threads have finished: the trace is all that is missing
    run = run_setup(
        set_up(on, native.inputs, native.scalars, memory=memory, cycle_limit=limit, trace_lines=512)
    )
    assert run.complete
    assert differences(program, native.outputs, run.arrays) == []


@pytest.mark.long
def test_cycles_are_the_profiles_in_all_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = ["hls", str(PROGRAMS / f"{CHOSEN[0]}.c"), "-o", "p.cyc", "--force"]
    for unit in ([], ["--profile"], ["--profile", "--trace-lines", "10"]):
        assert main([*program, *unit]) == 0
        said = capsys.readouterr().out
        assert main(["summary", "p.cyc"]) == 0
        cycles = f"{cyclescope.load('p.cyc').cycles:,} cycles"
        assert cycles in capsys.readouterr().out
        found = re.search(
            rf" threads, {cycles}(, and (\d+) more until the trace was written)?\n", said
        )
        assert found is not None
        # The profiling unit must write its last line after the end, at least.
        assert (found[2] is not None and int(found[2]) > 2) if unit else found[2] is None


def test_a_run_that_is_cut_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = ["hls", str(PROGRAMS / f"{CHOSEN[0]}.c"), "--profile", "--sample", "64"]
    assert main([*program, "-o", "p.cyc", "--dump", "d.bin", "--cycle-limit", "1500"]) == 5
    assert "not complete" in capsys.readouterr().err
    profile = cyclescope.load("p.cyc")
    assert profile.cycles == 1500
    assert not profile.meta.complete
    assert losses(profile) == {"run cut": 1}
    # What was read back from the hardware is the same, but nobody says that it was cut.
    assert main(["import", "nymble", "d.bin", "--layout", "d.bin.json"]) == 0
    again = cyclescope.load("d.cyc")
    assert (again.schedule, again.series) == (profile.schedule, profile.series)
    assert main(["summary", "p.cyc"]) == 0
    assert "run cut" in capsys.readouterr().out


@pytest.mark.long
def test_a_run_that_is_interrupted_shows_what_came_before() -> None:
    """Ctrl-C: the simulation lets the profiling unit write what it has."""
    program = compile_c(GEMM, threads=4, defines={"DIM": "64"})
    seen: list[int] = []

    def interrupt(cycles: int, seconds: float) -> None:
        if cycles > 1000 and not seen:
            seen.append(cycles)
            raise KeyboardInterrupt

    found = measure(program, unit=UnitOptions("naive"), progress=interrupt)
    assert (found.run.complete, found.run.stop_reason) == (False, "interrupted")
    profile = found.profile
    check_laws(profile)
    assert not profile.meta.complete
    assert profile.meta.stop_reason == "interrupted"
    assert losses(profile) == {"run cut": 1}
    assert profile.cycles == found.run.cycles >= seen[0]
    assert any(len(series) for series in profile.series)


@pytest.mark.long
@pytest.mark.parametrize("on_full", ["stop", "wrap"])
def test_a_full_region_from_the_command_line(
    on_full: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    program = ["hls", str(PROGRAMS / f"{CHOSEN[0]}.c"), "--profile", "--sample", "64"]
    assert main([*program, "-o", "p.cyc", "--on-full", on_full, "--trace-lines", "10"]) == 0
    assert "results: as" in capsys.readouterr().out
    assert main(["summary", "p.cyc"]) == 0
    said = capsys.readouterr().out
    assert f"DATA LOSS: line {'dropped' if on_full == 'stop' else 'overwritten'}" in said
    assert "DATA LOSS: cycle of unknown state" in said


def many_loops(count: int) -> Program:
    body = "".join(f"for (int i = 0; i < 2; i++) a[i] += {k};\n" for k in range(count))
    text = f"int main(void) {{ int a[2] = {{0}};\n#pragma omp target map(a)\n{{{body}}} }}"
    return compile_c("many.c", text=text, threads=2)


@pytest.mark.long
def test_more_loops_than_a_word_has_bits() -> None:
    profile = measure(many_loops(70)).profile
    check_laws(profile)
    frames = [profile.catalog[f] for f in profile.call_paths.frame.tolist()]
    lines = {frame.positions[0].line for frame in frames if frame.kind is Kind.LOOP}
    assert lines == set(range(3, 73))


def test_twice_as_many_loops_are_twice_as_much_hardware() -> None:
    small, large = (
        sum(map(len, machine_of(many_loops(count)).sources.values())) for count in (25, 50)
    )
    assert large < 2.1 * small
