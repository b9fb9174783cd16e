from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cyclescope.errors import DataError, OutputError, RunError, ToolError
from cyclescope.sim import (
    CaptureModule,
    Design,
    Harness,
    Signal,
    StopReason,
    _run,
    build,
    load_capture,
    run,
)


@pytest.fixture(autouse=True)
def nothing_left(tmp_path_factory, monkeypatch):
    """Every run gives back its temporary folder."""
    folder = tmp_path_factory.mktemp("tmp")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


def test_cycles_memories_and_captured_values(countdown, data_for) -> None:
    result = run(build(countdown()), data=data_for(5))
    # Cycle 0 starts it; left is 5 in cycle 1 and 0 in cycle 6, which sees done.
    assert (result.cycles, result.complete, result.stop_reason) == (6, True, StopReason.DONE)
    assert result.memories["mem"] == {**data_for(5)["mem"], "data": [5, 5]}
    capture = result.capture
    assert capture.instances == (("main", "main"),)
    state = np.repeat(capture.run_state, capture.run_cycles)
    vector = capture.states[state][:, 0]
    assert capture.values("main", "left")[vector].tolist() == [0, 5, 4, 3, 2, 1]
    assert capture.values("main", "busy")[vector].tolist() == [0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(("number", "cycles"), [(0, 1), (1, 2), (255, 256)])
def test_the_count_is_of_the_cycles_before_done(countdown, data_for, number, cycles) -> None:
    result = run(build(countdown()), data=data_for(number))
    assert result.cycles == result.capture.cycles == cycles


def test_a_design_that_is_done_at_once_has_no_cycles(compiler) -> None:
    text = """module main(input logic clk, input logic reset, input logic go, output logic done);
      assign done = go; endmodule"""
    design = Design("main", {"main.sv": text}, capture=(CaptureModule("main", (Signal("go"),)),))
    result = run(build(design))
    assert (result.cycles, result.complete, result.capture.cycles) == (0, True, 0)
    assert len(result.capture.states) == 0


def test_capture_changes_nothing(countdown, data_for) -> None:
    with_capture = run(build(countdown()), data=data_for(200))
    without = run(build(replace(countdown(), capture=())), data=data_for(200))
    assert without.capture is None
    assert (with_capture.cycles, with_capture.memories) == (without.cycles, without.memories)


@pytest.mark.parametrize("limit", [0, 1, 1000])
def test_the_cycle_limit_leaves_what_was_captured(endless, limit) -> None:
    result = run(build(endless()), cycle_limit=limit)
    assert (result.cycles, result.complete, result.stop_reason) == (limit, False, StopReason.LIMIT)
    capture = result.capture
    assert capture.cycles == limit
    low = capture.values("main", "low")[capture.states[capture.run_state][:, 0]]
    assert low.tolist() == [i % 16 for i in range(limit)]


def test_done_in_the_last_allowed_cycle_is_complete(countdown, data_for) -> None:
    assert run(build(countdown()), data=data_for(5), cycle_limit=6).complete
    assert not run(build(countdown()), data=data_for(5), cycle_limit=5).complete
    with pytest.raises(RunError, match="must not be negative"):
        run(build(countdown()), data=data_for(5), cycle_limit=-1)


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize(
    ("body", "reason", "says"),
    [
        ("if (n == 9) $finish;", StopReason.FINISH, ""),
        ('if (n == 9) $fatal(1, "gone wrong");', StopReason.FAILED, "gone wrong"),
        ('if (n == 9) $error("not good");', StopReason.FAILED, "not good"),
        ("if (n == 9) $stop;", StopReason.FAILED, "$stop"),
    ],
)
def test_a_design_that_ends_itself(endless, body, reason, says) -> None:
    result = run(build(endless(body)))
    assert (result.complete, result.stop_reason) == (False, reason)
    assert says in result.message
    assert result.cycles == result.capture.cycles
    assert result.cycles in {9, 10}


def test_a_design_that_falls_at_its_start_says_why_and_writes_nothing(countdown, data_for) -> None:
    """An initial block fails before the memories know their folder."""
    text = countdown().sources["main.sv"]
    part = """module part #(parameter N = 0)(input logic clk);
      initial if (N > 3) $error("part: range out of\\nbounds", " N: %0d", N);
    endmodule"""
    text = text.replace("logic busy;", "logic busy; part #(.N(7)) inner(.clk(clk));")
    # Initial blocks run in the order of the text: this one comes first.
    result = run(
        build(replace(countdown(), sources={"a.sv": part, "main.sv": text})), data=data_for(1)
    )
    assert (result.cycles, result.stop_reason) == (0, StopReason.FAILED)
    assert result.message == "main.inner: part: range out of bounds N: 7"
    assert result.memories == {}
    assert not Path("/mem.out").exists()


def test_the_instance_that_failed_is_named(endless) -> None:
    result = run(build(endless('if (n == 9) $error("n is", " %0d\\n\\n too many", n);')))
    assert result.message == "main: n is 9 too many"


def test_what_the_design_prints_is_kept_but_not_all_of_it(endless) -> None:
    built = build(endless('$display("n is %0d", n);', capture=False))
    assert run(built, cycle_limit=3).output.splitlines()[-2:] == ["n is 1", "n is 2"]
    long = run(built, cycle_limit=100_000).output
    assert len(long) == 1 << 16
    assert long.endswith("n is 99999\n")


def test_plusargs_reach_the_design(endless) -> None:
    body = 'if ($test$plusargs("please") != 0 && n == 3) $finish;'
    built = build(endless(body))
    assert run(built, cycle_limit=100).stop_reason is StopReason.LIMIT
    assert run(built, cycle_limit=100, arguments=["+please"]).stop_reason is StopReason.FINISH


def test_ctrl_c_ends_the_run_and_not_the_caller(endless) -> None:
    seen = []

    def progress(cycles: int, seconds: float) -> None:
        seen.append((cycles, seconds))
        if len(seen) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    result = run(build(endless()), progress=progress)
    assert (result.complete, result.stop_reason) == (False, StopReason.INTERRUPTED)
    assert result.cycles == result.capture.cycles >= seen[1][0] > seen[0][0] > 0
    assert 0 < seen[0][1] < seen[1][1]


@pytest.mark.long
def test_a_design_that_hangs_within_a_cycle_is_ended_too(endless, monkeypatch) -> None:
    monkeypatch.setattr(_run, "GRACE_SECONDS", 0.5)
    built = build(endless("while (n > 3000000) begin CODE = CODE + 1; end".replace("CODE", "n")))
    wait = []

    def progress(cycles: int, seconds: float) -> None:
        wait.append(cycles)
        # By now it does not listen any more.
        signal.setitimer(signal.ITIMER_REAL, 1.0)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        result = run(built, progress=progress)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert (result.complete, result.stop_reason) == (False, StopReason.INTERRUPTED)
    assert result.capture.cycles > 0


def test_an_error_of_the_caller_leaves_no_process(endless) -> None:
    built = build(endless())

    def progress(cycles: int, seconds: float) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(built, progress=progress)
    assert processes_of(built.program) == []


def test_the_simulation_ends_when_its_caller_is_killed(endless, tmp_path) -> None:
    built = build(endless())
    code = f"""
import sys
from pathlib import Path
from cyclescope.sim import Built, Design, run
built = Built(Path({str(built.program)!r}), Design("main", {{}}), ())
run(built, progress=lambda *_: print(1, flush=True))
"""
    # The killed caller cannot remove its folder.
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment)
    try:
        assert caller.stdout.readline()
        assert len(processes_of(built.program)) == 1
    finally:
        caller.kill()
        caller.wait()
        caller.stdout.close()
    deadline = time.monotonic() + 60
    while processes_of(built.program) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_of(built.program) == []


def processes_of(program: Path) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "exe").readlink() == program:
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def test_a_killed_simulation_leaves_a_readable_capture(endless, tmp_path) -> None:
    built = build(endless())
    file = tmp_path / "capture"
    command = [str(built.program), f"capture={file}", "period=0.02", "report=1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    for _ in range(5):
        process.stdout.readline()
    process.kill()
    process.wait()
    process.stdout.close()
    capture = load_capture(file)
    assert capture.cycles > 1000
    low = capture.values("main", "low")[capture.states[capture.run_state][:, 0]]
    assert (low == np.arange(len(low)) % 16).all()


def test_a_run_that_was_flushed_in_between_is_one_run(endless, tmp_path) -> None:
    design = replace(endless(), capture=(CaptureModule("main", (Signal("done"),)),))
    file = tmp_path / "capture"
    command = [str(build(design).program), f"capture={file}", "period=0.005", "limit=2000000"]
    subprocess.run(command, check=True)
    assert file.read_bytes().count(b"R\0\0\0") > 1
    capture = load_capture(file)
    assert (capture.run_state.tolist(), capture.run_cycles.tolist()) == ([0], [2_000_000])


def test_reset_is_held_for_four_edges(compiler) -> None:
    text = """module main(input logic clk, input logic reset, input logic go, output logic done);
      logic [7:0] resets, others;
      initial begin resets = 0; others = 0; end
      always_ff @(posedge clk) if (reset) resets <= resets + 1; else others <= others + 1;
      assign done = others == 2;
    endmodule"""
    probes = (CaptureModule("main", (Signal("resets", 8), Signal("go"), Signal("reset"))),)
    capture = run(build(Design("main", {"main.sv": text}, capture=probes))).capture
    assert capture.cycles == 2
    assert [int(capture.values("main", s)[0]) for s in ("resets", "go", "reset")] == [4, 1, 0]


def test_a_crash_is_a_failed_run(endless) -> None:
    """A segmentation fault in a testbench: no traceback, what was flushed is kept."""
    bench = Harness(
        "main",
        "",
        "int main(int argc, char** argv) { cyc::open(argc, argv, cyc_layout); cyc::start();"
        " raise(SIGSEGV); return 0; }",
    )
    bench = replace(bench, cpp="#include <csignal>\n" + bench.cpp)
    result = run(build(replace(endless(), harness=bench)))
    assert (result.complete, result.stop_reason) == (False, StopReason.FAILED)
    assert result.message == "the simulator was ended by signal SIGSEGV"
    assert result.capture.cycles == 0
    assert result.memories == {}


def test_the_last_words_of_a_simulator_that_gave_up(endless) -> None:
    bench = Harness(
        "main",
        "",
        "#include <cstdio>\n#include <cstdlib>\n"
        "int main(int argc, char** argv) { cyc::open(argc, argv, cyc_layout); cyc::start();"
        ' puts("first"); puts("no licence"); exit(3); }',
    )
    result = run(build(replace(endless(), harness=bench)))
    assert result.message == "the simulator ended with status 3: no licence"


def test_a_combinational_loop_names_its_signals(compiler) -> None:
    text = """module plus(input logic [3:0] a, output logic [3:0] b); assign b = a + 1; endmodule
    module main(input logic clk, input logic reset, input logic go, output logic done);
      logic [3:0] there, sum, back;
      plus plus(.a(there), .b(sum));
      assign there = go ? back : 0;
      assign back = reset ? 0 : sum;
      assign done = there[0] & back[1] & sum[2];
    endmodule"""
    built = build(Design("main", {"main.sv": text}))
    assert built.loops == ("main.there",)
    with pytest.raises(RunError, match=r"combinational loop: .*\(main\.there"):
        run(built, cycle_limit=10)


def test_no_space_for_the_capture_is_an_output_error(endless) -> None:
    built = build(endless())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        with pytest.raises(OutputError, match=r"capture: cannot write \("):
            run(built)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_no_space_for_the_data_is_an_output_error(countdown, data_for) -> None:
    built = build(countdown())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        with pytest.raises(OutputError, match="free some space"):
            run(built, data=data_for(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_data_is_checked_before_anything_runs(countdown, data_for) -> None:
    built = build(countdown())
    with pytest.raises(DataError, match=r"no data for memory mem \(2 words of 8 bits\)"):
        run(built)
    with pytest.raises(DataError, match="data for other"):
        run(built, data={**data_for(1), "other": {}})
    with pytest.raises(DataError, match=r"memory mem\[0\]: 256 is out of range"):
        run(built, data=data_for(256))


def test_a_program_that_left_the_cache_is_an_error(countdown, data_for, tmp_path) -> None:
    built = replace(build(countdown()), program=tmp_path / "gone")
    with pytest.raises(ToolError, match="gone: cannot be started: No such file"):
        run(built, data=data_for(1))


def test_a_testbench_of_ones_own_with_a_dpi_function(compiler) -> None:
    text = """module adder(input logic clk, output logic [31:0] sum);
      import "DPI-C" function int next_number();
      initial sum = 0;
      always_ff @(posedge clk) sum <= sum + next_number();
    endmodule"""
    bench = Harness(
        top="adder",
        verilog="",
        cpp="""
extern "C" int next_number() { static int n = 0; return ++n; }
int main(int argc, char** argv) {
    cyc::open(argc, argv, cyc_layout);
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vcyc top{&context};
    top.eval();
    cyc::start();
    while (cyc::more() && top.sum < 100) {
        top.clk = 1; top.eval(); top.clk = 0; top.eval();
        cyc::tick();
    }
    if (top.sum >= 100) cyc::done();
    return cyc::close();
}
""",
    )
    design = Design(
        "adder",
        {"adder.sv": text},
        capture=(CaptureModule("adder", (Signal("sum", 32),)),),
        harness=bench,
    )
    result = run(build(design))
    assert (result.cycles, result.complete) == (14, True)
    capture = result.capture
    assert capture.instances == (("adder", "adder"),)
    expected = [n * (n + 1) // 2 for n in range(14)]
    assert (
        capture.values("adder", "sum")[capture.states[capture.run_state][:, 0]].tolist() == expected
    )
