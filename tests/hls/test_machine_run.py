"""The results of a run: a profile, Verilog that other tools take, answers for people."""

from __future__ import annotations

import math
import shutil
import struct
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from cyclescope.analyse import same_results
from cyclescope.cli import main, program
from cyclescope.errors import DataError
from cyclescope.hls import (
    MemoryModel,
    UnitOptions,
    compile_c,
    machine_of,
    measure,
    memory_names,
    read_memory_model,
)
from cyclescope.hls.microarch._params import BANKS, LINE
from cyclescope.hls.run import _simulation
from cyclescope.hls.run._compare import contents
from cyclescope.hls.run._simulation import Layout, read_back, run_setup, set_up
from cyclescope.hls.run._testbench import harness
from cyclescope.model import Kind, check_laws, load
from cyclescope.sim import call
from cyclescope.sim._toolchain import find_verilator

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
#include <stdio.h>
#include <omp.h>
int main(void) {
  float a[64], s = 0, t[4];
  for (int i = 0; i < 64; i++) a[i] = i * 0.25f - 3;
  #pragma omp target parallel map(to: a[0:64]) map(tofrom: s) map(from: t[0:4]) num_threads(4)
  {
    int me = omp_get_thread_num();
    float own = 0, block[16];
    for (int i = 0; i < 16; i++) block[i] = a[16 * me + i];
    for (int i = 0; i < 16; i++) own += block[i] * block[i];
    t[me] = own;
    for (int i = 0; i < 3; i++) {
      #pragma omp critical
      s += own;
    }
  }
  printf("%g %g\\n", s, t[3]);
  return 0;
}
"""

PAIRS = """\
struct pair { signed char a; float b; };
int main(void) {
  struct pair p[1] = {{1, 2.0f}};
  #pragma omp target map(tofrom: p[0:1])
  p[0].b += 1;
  return p[0].b != 3.0f;
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("hls") / "squares.c"
    file.write_text(TEXT)
    return file


def totals(profile: object) -> dict[tuple[str, str], int]:
    return {(s.track, s.name): int(s.value.sum()) for s in profile.series}  # type: ignore[attr-defined]


def test_a_program_from_the_command_line(source: Path, tmp_path: Path) -> None:
    output, rtl = tmp_path / "squares.cyc", tmp_path / "rtl"
    command = ["hls", str(source), "-o", str(output), "--rtl", str(rtl), "--sample", "100"]
    told = CliRunner().invoke(program, command)
    assert told.exit_code == 0, told.output
    assert "results: as in the native run, to rounding" in told.output
    want = sum((i * 0.25 - 3) ** 2 for i in range(64)) * 3
    assert told.output.split()[0] == f"{want:g}"
    profile = load(output)
    check_laws(profile)
    assert profile.meta.source == "hls"
    kinds = {f.kind for f in profile.catalog}
    assert kinds == {Kind.CELL, Kind.THREAD, Kind.STATE, Kind.LOOP}
    found = totals(profile)
    for t in range(4):
        assert found[f"thread {t}", "floating-point operations"] == 2 * 16 + 3
        assert found[f"thread {t}", "bytes written"] == 4 + 3 * 4
        assert found[f"thread {t}", "bytes read"] >= 16 * 4 + 3 * 4
    states = {f.name for f in profile.catalog if f.kind is Kind.STATE}
    assert states == {"idle", "running", "critical", "spinning"}
    if not shutil.which("iverilog"):
        return
    # The same run in another simulator: equal cycles and memories.
    files = sorted(str(f) for f in rtl.glob("*.v"))
    subprocess.run(["iverilog", "-g2005", "-o", "sim", *files], cwd=rtl, check=True)
    out = subprocess.run(["vvp", "sim"], cwd=rtl, check=True, capture_output=True, text=True)
    assert f"{profile.cycles} cycles" in out.stdout
    run = measure(compile_c(source), rtl=None).run
    words = "".join((rtl / "bank1.out").read_text().split("\n")[1:]).lower()
    assert run.arrays["s"][::-1].hex() in words + "".join(
        (rtl / f"bank{b}.out").read_text() for b in (0, 2, 3)
    )


def test_a_run_that_is_cut_has_a_profile_and_no_results(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "cut.cyc"
    command = ["hls", str(source), "-o", str(output), "--cycle-limit", "300"]
    told = CliRunner().invoke(program, command)
    assert told.exit_code == 5
    assert "not complete: limit" in told.output
    assert "results" not in told.stdout
    profile = load(output)
    assert (profile.cycles, profile.meta.complete) == (300, False)
    check_laws(profile)


@pytest.mark.long
def test_totals_do_not_depend_on_the_sampling_period(source: Path) -> None:
    compiled = compile_c(source)
    profiles = [measure(compiled, period=p).profile for p in (1, 7, 100_000)]
    assert totals(profiles[0]) == totals(profiles[1]) == totals(profiles[2])
    first = profiles[0]
    # A cycle a sample: a stall is 0 or 1, and spinning is what waiting for the lock is.
    for t in range(4):
        lock = next(
            s for s in first.series if s.track == f"thread {t}" and s.name == "stalls: lock"
        )
        assert set(lock.value.tolist()) <= {1}
        spins = np.zeros(first.cycles, bool)
        for start, end in zip(lock.start.tolist(), lock.end.tolist(), strict=True):
            spins[start:end] = True
        shown = np.zeros(first.cycles, bool)
        starts = first.schedule.start.tolist()
        for start, cycles, tree in zip(
            starts, first.schedule.cycles.tolist(), first.schedule.tree.tolist(), strict=True
        ):
            for path in first.forest[tree].tolist():
                frame = first.frame_of(path)
                parent = int(first.call_paths.parent[path])
                if frame.name == "spinning" and first.frame_of(parent).name == f"thread {t}":
                    shown[start : start + cycles] = True
        assert (spins == shown).all()


@pytest.mark.long
def test_units_of_their_own_and_models_give_the_same_run(source: Path) -> None:
    compiled = compile_c(source)
    model, real = measure(compiled), measure(compiled, unit_rtl=True)
    assert model.run.arrays == real.run.arrays
    assert model.run.cycles == real.run.cycles
    assert totals(model.profile) == totals(real.profile)


def test_starting_threads_takes_time(source: Path) -> None:
    compiled = compile_c(source)
    slow = measure(compiled, start_cost=5000)
    assert slow.agrees
    assert 3 * 5000 < slow.run.cycles < 3 * 5000 + 2000


@pytest.mark.long
def test_a_profile_holds_what_the_arrays_were(tmp_path: Path) -> None:
    whole = TEXT.replace("s = 0, t[4];", "s = 0; int t[4];").replace("%g %g", "%g %d")
    one, other = tmp_path / "one.c", tmp_path / "other.c"
    one.write_text(whole)
    other.write_text(whole.replace("own += block[i] * block[i]", "own += block[i]"))
    found = measure(compile_c(one))
    slow = measure(compile_c(one), memory=MemoryModel(controller=90))
    # Threads add to `s` in an order that is open, so that its bits say nothing.
    assert [m.memory for m in found.profile.meta.memories] == ["a", "t"]
    assert found.run.cycles != slow.run.cycles
    assert found.profile.meta.memories == slow.profile.meta.memories
    a, t = found.profile.meta.memories
    assert (a.before, a.expected, t.before) == (a.after, "", "")
    assert t.after == t.expected != a.after
    results = same_results(found.profile, measure(compile_c(other)).profile)
    assert results is not None
    assert (results.compared, results.differing) == (("a", "t"), ("t",))


def test_nan_and_padding_do_not_change_a_digest(tmp_path: Path) -> None:
    file = tmp_path / "pairs.c"
    file.write_text(PAIRS)
    program = compile_c(file)
    first = struct.pack("<b3xf", 1, math.nan)
    quiet = struct.pack("<b3sI", 1, b"xyz", 0xFFC00001)
    other = struct.pack("<b3xf", 2, math.nan)

    def after(data: bytes) -> str:
        (found,) = contents(program, {"p": first}, {"p": first}, {"p": data})
        return found.after

    assert after(first) == after(quiet) != after(other)


def test_verilator_has_no_warnings(source: Path, tmp_path: Path) -> None:
    verilator = find_verilator()
    for checks in (True, False):
        machine = machine_of(compile_c(source), checks=checks)
        for name, text in machine.sources.items():
            (tmp_path / name).write_text(text)
        said = call(
            [
                *(str(verilator.program), "--lint-only", "-Wall", "--quiet"),
                *("--top-module", machine.name, *machine.sources),
            ],
            what="verilator",
            cwd=tmp_path,
            env={"VERILATOR_ROOT": str(verilator.root)},
        )
        assert "%Warning" not in said


def test_memory_models_by_name() -> None:
    models = {name: read_memory_model(name) for name in memory_names()}
    assert models["ddr4-2400"] == MemoryModel()
    assert len(set(map(repr, models.values()))) == len(models) >= 4
    for verb in ("hls", "ladder"):
        said = CliRunner().invoke(program, [verb, "--help"]).output
        assert all(name in said for name in models)


def test_memory_models(tmp_path: Path) -> None:
    file = tmp_path / "model.toml"
    file.write_text("controller = 10\nseed = 3\n")
    assert read_memory_model(file) == MemoryModel(controller=10, seed=3)
    for text, said in (
        ("controller = -1", "must be a whole number"),
        ("speed = 3", "speed: not known; there are controller"),
        ("refresh = 2000", "does not fit"),
        ("controller = ", "not TOML"),
        ("controller = 1.5", "whole number"),
        ("stall_one_in = 0", "at least 1"),
        ("line = 0", "line = 0: must be from 1 to 1024"),
        ("shared = 2", "shared = 2: must be from 0 to 1"),
        ("window = 17", "window = 17: must be from 0 to 16"),
    ):
        file.write_text(text)
        with pytest.raises(DataError, match=said):
            read_memory_model(file)
    with pytest.raises(DataError, match="cannot read"):
        read_memory_model(tmp_path / "none.toml")
    with pytest.raises(DataError, match=r"ddr4: cannot read .*; ours are ddr4-2400, .*shared"):
        read_memory_model("ddr4")
    told = CliRunner().invoke(program, ["hls", "x.c", "--memory", str(tmp_path / "none.toml")])
    assert isinstance(told.exception, DataError)


@pytest.mark.long
def test_a_program_without_profile_leaves_no_capture(source: Path) -> None:
    machine = machine_of(compile_c(source))
    arrays = {"a": bytes(256), "s": bytes(4), "t": bytes(16)}
    run = run_setup(set_up(machine, arrays))
    assert run.complete
    assert run.capture is None


@pytest.mark.long
def test_a_printed_nan_has_any_sign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nan.c"
    path.write_text("""
        #include <stdio.h>
        int main(void) {
          float x[2] = {0, 1}, y[2];
          #pragma omp target parallel for map(to: x[0:2]) map(from: y[0:2]) num_threads(2)
          for (int i = 0; i < 2; i++) y[i] = x[i] / x[0];
          printf("%f banana %8.2f\\n", y[0], y[1]);
        }
    """)
    assert main(["hls", str(path)]) == 0
    assert "nan banana      inf" in capsys.readouterr().out


@pytest.mark.parametrize("missing", [1, 2, 64, 2 * LINE, 2 * LINE + 1, 6 * LINE])
def test_memory_that_a_full_disk_cut_is_no_memory(tmp_path: Path, missing: int) -> None:
    line = "0f" * LINE + "\n"
    for bank in range(BANKS):
        (tmp_path / f"bank{bank}.out").write_text(3 * line)
    layout = Layout((), 64)
    with pytest.raises(OSError, match="No space left"):
        read_back(tmp_path, layout)
    for bank in range(BANKS):
        (tmp_path / f"bank{bank}.out").write_text(64 * line)
    assert read_back(tmp_path, layout) == b"\x0f" * (64 * BANKS * LINE)
    last = tmp_path / f"bank{BANKS - 1}.out"
    last.write_text((64 * line)[: -1 - missing])
    with pytest.raises(OSError, match="No space left"):
        read_back(tmp_path, layout)


@pytest.mark.long
def test_the_exported_testbench_is_the_one_that_ran(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a profiling unit, byte for byte: the banks and all that the bench is told."""
    written: list[dict[str, bytes]] = []
    write = _simulation.write_inputs

    def kept(folder: Path, *rest: object) -> None:
        write(folder, *rest)  # type: ignore[arg-type]
        written.append({f.name: f.read_bytes() for f in folder.glob("*.hex")})

    monkeypatch.setattr(_simulation, "write_inputs", kept)
    rtl = tmp_path / "rtl"
    unit = UnitOptions("squares", period=64)
    found = measure(compile_c(source), rtl=rtl, unit=unit, start_cost=7, cycle_limit=10**6)
    exported, ran = written
    assert exported == ran
    assert {name: (rtl / name).read_bytes() for name in ran} == ran
    bench = (rtl / "bench.v").read_text()
    lines = len(ran["bank0.hex"].split())
    assert bench == harness(found.machine, lines).verilog
    if shutil.which("iverilog"):
        files = sorted(str(f) for f in rtl.glob("*.v"))
        subprocess.run(["iverilog", "-g2005", "-o", "sim", *files], cwd=rtl, check=True)
        out = subprocess.run(["vvp", "sim"], cwd=rtl, check=True, capture_output=True, text=True)
        assert f"{found.run.cycles} cycles" in out.stdout
