"""Process networks as hardware: values, cycles beside the bounds, depths, files, profiles."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cyclescope.analyse import account
from cyclescope.bounds import Bounds, Calibration, estimate, read_calibration
from cyclescope.cli import main
from cyclescope.errors import InputError, RunError, SourceError, VerifyError
from cyclescope.model import Activity, Cause, Edge, check_laws, load
from cyclescope.model import Process as ProcessSite
from cyclescope.network import (
    Measurement,
    Timing,
    depth_curve,
    files_of,
    hardware_of,
    least_depths,
    measure,
    network_of,
    report_text,
    simulate,
    with_areas,
)
from cyclescope.network._starts import critical_path, starts_of
from extras import NO_YOSYS
from network.sanlps import Maker, compare, in_icarus

if TYPE_CHECKING:
    from pathlib import Path


DOT = """
void kernel(double a[6], double b[6], double s[1]) {
    s[0] = 0;
    for (int i = 0; i < 6; i++) s[0] += a[i] * b[5 - i];
}
"""
MEAN = """
void kernel(int n, double A[5][5], double mean[5], double B[5][5]) {
    for (int j = 0; j < 5; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < 5; i++) mean[j] += A[i][j];
        mean[j] /= 5.0;
    }
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) B[i][j] = A[i][j] - mean[j];
}
"""
# All elements go round, in the process or in its channel: it must hold what the process does not.
RING = """
void kernel(double A[40]) {
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < 40; i++) A[i] = A[i] * 0.5 + 1.0;
}
"""
# In every round each value waits for the last one of the round before.
REVERSED = """
void kernel(double A[6]) {
    double B[6];
    for (int t = 0; t < 5; t++) {
        for (int i = 0; i < 6; i++) B[i] = A[5 - i] + 1.0;
        for (int i = 0; i < 6; i++) A[i] = B[5 - i] * 0.5;
    }
}
"""
OPERATIONS = """
#include <math.h>
#include <stdlib.h>
void kernel(int a[8], unsigned u[8], double x[8], float f[8], long l[8], signed char c[8],
            int r[8], double y[8], float g[8], long m[8], unsigned v[8], short h[8]) {
    for (int i = 0; i < 8; i++) {
        r[i] = (a[i] * 7 - 40) / 3 + (a[i] - 12) % 5 + (a[i] << 2) + ((a[i] - 30) >> 1) + i * i;
        v[i] = (u[i] ^ 0xf0f0u) / 7u + (u[i] & 31u) % 5u + ~u[i] + (u[i] >> 1);
        y[i] = sqrt(x[i]) / 3.0 - fabs(x[i] - 1.0) + (double)a[i] + fmax(x[i], 0.75) + u[i];
        g[i] = -f[i] * 2.5f + (float)x[i] + (a[i] > 3 ? f[i] : 1.0f);
        m[i] = (long)(x[i] * 1e6) * l[i] - abs(a[i] - 5) + (l[i] != 3 && x[i] <= 1.2) - !a[i];
        h[i] = c[i] * a[i] - 300 * c[i] + (short)(x[i] * 100000.0) + (unsigned char)a[i];
    }
}
"""
GATHER = """
void kernel(int idx[40], int A[40], int B[40]) {
    for (int i = 0; i < 40; i++) {
        idx[i] = (idx[i] * 1237 + i * i * 7) % 40;
        if (idx[i] % 3) A[idx[i]] += i;
    }
    for (int i = 0; i < 40; i++) B[i] = A[idx[i]] + A[39 - i];
}
"""


def bounds_of(text: str, **options: object) -> Bounds:
    return estimate("k.c", text=text, detail=True, values=True, trace=True, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def mean() -> Measurement:
    return measure(bounds_of(MEAN))


# One firing writes a place several times: whoever reads it gets what was written last.
CHAIN = """
void chain(int *o, int *p, int v) { *o = v * v; *p = *o + 1; *o += 3; *o = *o * *o; }
void kernel(int a[5], int b[5], int c[5]) {
    for (int i = 0; i < 5; i++) {
        chain(&b[i], &c[4 - i], a[i] + i);
        a[i] = b[i] - c[4 - i];
    }
}
"""


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize(
    "text", [DOT, OPERATIONS, GATHER, CHAIN], ids=["dot", "operations", "gather", "chain"]
)
def test_every_firing_gives_what_it_gives_in_the_native_run(text: str) -> None:
    _, network, _ = compare(text)
    assert sum(station.count for station in network.stations) > 10


@pytest.mark.long(keep_one_in=3)
@pytest.mark.parametrize("seed", [3, 8, 21])
def test_random_affine_kernels(seed: int) -> None:
    compare(Maker(seed).text())


@pytest.mark.long(keep_one_in=3)
@pytest.mark.parametrize("kernel", ["atax", "trisolv", "jacobi_1d"])
def test_in_order_kernels_of_the_table_take_what_the_bound_says(kernel: str) -> None:
    folder = "examples/bounds/polybench"
    calibration = read_calibration(f"{folder}/{kernel}.toml")
    bounds = estimate(
        f"{folder}/{kernel}.c", calibration=calibration, detail=True, values=True, trace=True
    )
    network = network_of(bounds)
    hardware = hardware_of(network, {c.number: c.tokens for c in network.channels})
    assert simulate(network, hardware).cycles == bounds.absolute.cycles


def test_a_reordering_buffer_costs_no_cycle_in_a_recurrence() -> None:
    bounds = bounds_of(REVERSED)
    network = network_of(bounds)
    assert sum(channel.is_reordered for channel in network.channels) >= 2
    hardware = hardware_of(network, {c.number: c.tokens for c in network.channels})
    assert simulate(network, hardware).cycles == bounds.absolute.cycles


@pytest.mark.long
@pytest.mark.parametrize(("read", "write"), [(1, 0), (0, 1), (2, 3)])
def test_stages_take_what_the_calibration_says(read: int, write: int) -> None:
    bounds = bounds_of(DOT, calibration=Calibration(read=read, write=write))
    network = network_of(bounds)
    hardware = hardware_of(network, {c.number: c.tokens for c in network.channels})
    late = simulate(network, hardware).cycles - bounds.absolute.cycles
    assert 0 <= late <= 2


def test_intervals_are_kept() -> None:
    calibration = read_calibration("t", text="[[statement]]\ntarget = 's'\ninterval = 30\n")
    bounds = bounds_of(DOT, calibration=calibration)
    found = measure(bounds)
    assert found.cycles - bounds.absolute.cycles in (0, 1)
    causes = {frame.cause for frame in found.profile.catalog}
    assert Cause.RESOURCE in causes


def test_processes_without_registers_are_refused() -> None:
    bounds = bounds_of(DOT, calibration=Calibration(read=0, write=0))
    with pytest.raises(InputError, match="give the calibration read = 1"):
        measure(bounds)


def test_what_no_unit_computes_is_named() -> None:
    text = "#include <math.h>\nvoid kernel(double a[3]) { a[0] = pow(a[1], a[2]); }\n"
    with pytest.raises(SourceError, match=r"k\.c:2:.*no arithmetic unit for pow of double"):
        measure(bounds_of(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "void meet(int *o, int *p, int *q) { *o = *q + 3; *p = *q * 2; *q += 1; }\n"
            "void kernel(int a[4], int b[4]) { meet(&a[1], &b[2], &b[1]); }\n",
            r"k\.c:2:.*what meet computes is not an expression of values",
        ),
        (
            "#include <string.h>\n"
            "void kernel(int a[4], int b[4]) { memcpy(b, a, sizeof(int) * 4); }\n",
            r"k\.c:2:.*what memcpy computes is not an expression of values",
        ),
        ("int kernel(void) { return 4; }\n", "no process fires in this run"),
    ],
    ids=["may meet", "memcpy", "nothing"],
)
def test_what_is_no_expression_is_named(text: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        measure(bounds_of(text))


def test_a_wrong_unit_is_found() -> None:
    bounds = bounds_of(DOT)
    network = network_of(bounds)
    station = next(s for s in network.stations if s.process.kind == "statement")
    (bits,) = station.trace.results
    bits[3] ^= np.uint64(1)
    hardware = hardware_of(network, {c.number: c.tokens for c in network.channels})
    with pytest.raises(VerifyError, match=r"firing 4 of s L4 gives another s\[0\]"):
        simulate(network, hardware)


FUNCTIONS = """#include <math.h>
void kernel(double a[6], float b[6], int c[6]) {
  double w = exp(-0.25);
  for (int i = 0; i < 6; i++) {
    a[i] = w * a[i] + exp(-a[i]);
    b[i] = sinf(b[i]) * b[i];
    c[i] = c[i] * 3;
  }
}
"""


@pytest.mark.long
def test_functions_agree_to_rounding_and_nothing_else_may_differ() -> None:
    """The host's library rounds some results the other way: such are told from mistakes."""
    bounds = bounds_of(FUNCTIONS)
    assert "in the native run, to rounding" in report_text(measure(bounds))
    network = network_of(bounds)
    hardware = hardware_of(network, {c.number: c.tokens for c in network.channels})
    by_target = {s.process.targets[0]: s for s in network.stations if s.process.kind == "statement"}
    for target, flip in (("a[i]", 1 << 16), ("b[i]", 1 << 16), ("c[i]", 1)):
        (bits,) = by_target[target].trace.results
        last = bits[-1]
        bits[-1] ^= np.uint64(1 if target != "c[i]" else 0)
        simulate(network, hardware)
        bits[-1] = last ^ np.uint64(flip)
        with pytest.raises(VerifyError, match=r"firing 6 of .* gives another"):
            simulate(network, hardware)
        bits[-1] = last


# Depths


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="no Icarus Verilog")
def test_the_timing_by_which_depths_are_found_is_that_of_the_hardware() -> None:
    """With any depths: as fast as with all tokens, slower, or a deadlock."""
    seen: Counter[str] = Counter()
    for seed in range(8):
        chosen = random.Random(seed)
        stages = Calibration(read=chosen.randint(1, 3), write=chosen.randint(0, 2))
        network = network_of(bounds_of(Maker(100 + seed).text(), calibration=stages))
        timing = Timing(network)
        least = least_depths(network, timing)
        for _ in range(4):
            fewer = chosen.choice([1, 1, 2, 4])
            depths = [max(1, depth - chosen.randint(0, fewer)) for depth in least.tokens]
            found = in_icarus(network, hardware_of(network, dict(enumerate(depths))))
            assert timing.run(depths)[0] == found
            kind = "deadlock" if found is None else "slower"
            seen["as fast" if found == least.cycles else kind] += 1
    assert set(seen) == {"as fast", "slower", "deadlock"}, seen


@pytest.mark.long
def test_one_token_less_costs_cycles_or_is_a_deadlock(mean: Measurement) -> None:
    tried = 0
    for number, depth in enumerate(mean.depths.tokens):
        if depth < 2 or mean.depths.one_less[number] is None:
            continue
        fewer = dict(enumerate(mean.depths.tokens)) | {number: depth - 1}
        found = simulate(mean.network, hardware_of(mean.network, fewer))
        assert found.cycles == mean.depths.one_less[number]
        assert found.cycles > mean.cycles
        tried += 1
    assert tried


def test_a_channel_too_small_is_a_deadlock_that_is_said() -> None:
    bounds = bounds_of(RING)
    network = network_of(bounds)
    own = next(c for c in network.channels if c.producer == c.consumer)
    depths = {c.number: c.tokens for c in network.channels} | {own.number: 3}
    with pytest.raises(RunError, match="deadlocks after"):
        simulate(network, hardware_of(network, depths))
    least = measure(bounds).depths
    assert least.one_less[own.number] is None
    assert 10 < least.tokens[own.number] <= 40


def test_more_memory_never_costs_cycles(mean: Measurement) -> None:
    points = depth_curve(mean.network, mean.timing, mean.depths)
    assert points[-1].cycles == mean.cycles
    assert points[-1].bits == mean.depths.bits
    cycles = [point.cycles for point in points if point.cycles is not None]
    assert cycles == sorted(cycles, reverse=True)


# What comes out


def test_the_profile_obeys_the_laws_and_says_why_processes_wait(mean: Measurement) -> None:
    profile = mean.profile
    check_laws(profile)
    assert profile.cycles == mean.cycles
    found = account(profile)
    assert found.total == mean.cycles * len(mean.network.stations)
    uses = {(use.activity, use.cause) for use in found.uses}
    assert (Activity.WAITING, Cause.OPERAND) in uses
    edges = [site for site in profile.sites if isinstance(site, Edge)]
    assert edges
    waited = {edge.operand for edge in edges}
    assert "mean[j]" in waited


@pytest.mark.long(keep_one_in=3)
@pytest.mark.parametrize("kernel", ["atax", "durbin", "reg_detect"])
def test_the_critical_path_is_that_of_the_bounds(kernel: str) -> None:
    """In order both take the same cycles: each process that limits one limits the other as much."""
    folder = "examples/bounds/polybench"
    calibration = read_calibration(f"{folder}/{kernel}.toml")
    bounds = estimate(
        f"{folder}/{kernel}.c", calibration=calibration, detail=True, values=True, trace=True
    )
    network = network_of(bounds)
    hardware = hardware_of(network, {c.number: c.tokens for c in network.channels})
    capture = simulate(network, hardware, capture=True).capture
    assert capture is not None
    starts = starts_of(network, hardware, capture)
    found = critical_path(network, starts, capture.cycles)
    assert sum(found.processes) == capture.cycles == bounds.absolute.cycles
    assert bounds.detail is not None
    expected = dict.fromkeys(range(len(network.stations)), 0)
    number = {s.process.index: s.number for s in network.stations}
    for step in bounds.detail.critical_path["absolute"]:
        expected[number[step.process.index]] += step.cycles
    # Of several that come at once either may be the one; those are the few at a pipeline's end.
    for station, cycles in enumerate(found.processes):
        assert abs(cycles - expected[station]) <= 0.01 * capture.cycles
    # Each firing of the bounds starts when that of the hardware does.
    for own, row in zip(starts, bounds.absolute.firings, strict=True):
        assert (int(own.start[0]), int(own.start[-1])) == (row.first, row.last)


def test_a_profile_has_what_flows_and_what_limits(mean: Measurement) -> None:
    sites = mean.profile.sites
    processes = [site for site in sites if isinstance(site, ProcessSite)]
    edges = [site for site in sites if isinstance(site, Edge)]
    assert sum(site.critical or 0 for site in processes) == mean.cycles
    assert [edge.depth for edge in edges] == list(mean.depths.tokens)
    assert [edge.tokens for edge in edges] == [c.tokens for c in mean.network.channels]
    sums = next(e for e in edges if e.producer == e.consumer and e.array == "mean")
    # A column's sum is a chain of five: each waits for the one before.
    assert sums.critical == max(edge.critical or 0 for edge in edges) > mean.cycles // 3
    assert sums.operand == "mean[j]"
    assert all(0 <= edge.late <= mean.cycles for edge in edges)


def test_waiting_for_space_is_told_of_the_channel(mean: Measurement) -> None:
    edges = [site for site in mean.profile.sites if isinstance(site, Edge)]
    held = [edge for edge in edges if edge.held]
    parts = account(mean.profile).parts.items()
    stood = sum(cycles for use, cycles in parts if use.cause == Cause.CHANNEL)
    assert sum(edge.held for edge in held) == stood > 0


def test_the_files_are_clean_and_run_elsewhere(mean: Measurement, tmp_path: Path) -> None:
    for name, text in files_of(mean).items():
        (tmp_path / name).write_text(text)
    modules = [f.name for f in tmp_path.glob("network*.v")] + [
        f.name for f in tmp_path.glob("*_held.v")
    ]
    lint(tmp_path, modules)
    if not shutil.which("iverilog"):
        pytest.skip("no Icarus Verilog")
    files = sorted(f.name for f in tmp_path.glob("*.v"))
    subprocess.run(["iverilog", "-g2005", "-o", "sim", *files], cwd=tmp_path, check=True)
    done = subprocess.run(
        ["vvp", "sim"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    found = re.search(r"cycles (\d+)", done)
    assert found is not None
    assert int(found[1]) == mean.cycles
    for station in mean.network.stations:
        if station.process.kind == "sink":
            lines = (tmp_path / f"sink{station.number}.out").read_text().splitlines()
            words = " ".join(line for line in lines if not line.startswith("//"))
            numbers = [int(word, 16) for word in words.split()]
            assert numbers == station.trace.results[0].tolist()


def lint(folder: Path, modules: list[str]) -> None:
    from cyclescope.sim._toolchain import find_verilator

    verilator = find_verilator()
    command = [str(verilator.program), "--lint-only", "-Wall", "--top-module", "network", *modules]
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"VERILATOR_ROOT": str(verilator.root)},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_the_command_writes_hardware_and_its_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "k.c"
    file.write_text(DOT)
    output, rtl = tmp_path / "k.cyc", tmp_path / "rtl"
    assert main(["bounds", str(file), "--rtl", str(rtl), "--depths", "-o", str(output)]) == 0
    said = capsys.readouterr().out
    assert "as hardware" in said
    assert "deadlock" in said
    assert (rtl / "testbench.v").exists()
    assert main(["bounds", str(file), "--rtl", str(rtl)]) == 3
    assert "--force" in capsys.readouterr().err
    again = ["bounds", str(file), "--rtl", str(rtl), "--force", "--depths", "--json"]
    assert main(again) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unbounded"] <= found["absolute"] <= found["rtl"]["cycles"]
    assert {c["kind"] for c in found["rtl"]["channels"]} >= {"FIFO"}
    assert found["rtl"]["curve"][-1]["cycles"] == found["rtl"]["cycles"]
    assert load(tmp_path / "k.rtl.cyc").cycles == found["rtl"]["cycles"]


@pytest.mark.skipif(NO_YOSYS, reason="no yosys here; tests/calyx/test_area.py covers the join")
def test_each_process_and_channel_has_its_cost() -> None:
    measured = measure(bounds_of("void kernel(int a[2], int b[2]) { b[0] = a[1]; b[1] = a[0]; }\n"))
    profile = with_areas(measured)
    network = measured.network
    processes = [area for area in profile.areas if area.paths]
    assert [area.cell for area in processes] == [
        f"kernel.{station.process.name}" for station in network.stations
    ]
    channels = [area for area in profile.areas if " to " in area.cell]
    assert len(channels) == len(network.channels)
    # The token of a channel is kept in flip-flops or memory, as is what a process works on.
    assert all(area.ffs + area.luts + area.brams > 0 for area in channels + processes)


def test_the_picture_has_the_depths_of_channels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, picture = tmp_path / "k.c", tmp_path / "k.svg"
    file.write_text(DOT)
    arguments = ["bounds", str(file), "--rtl", str(tmp_path / "rtl"), "--network", str(picture)]
    assert main([*arguments, "--json"]) == 0
    channels = json.loads(capsys.readouterr().out)["rtl"]["channels"]
    text = picture.read_text()
    assert "depth of the channel in hardware" in text
    for channel in channels:
        assert f"[{channel['depth']}]" in text


def test_area_needs_a_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.c"
    file.write_text(DOT)
    assert main(["bounds", str(file), "--rtl", str(tmp_path / "rtl"), "--area"]) == 2
    assert "needs --rtl and -o" in capsys.readouterr().err


def test_depths_need_hardware(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.c"
    file.write_text(DOT)
    assert main(["bounds", str(file), "--depths"]) == 2
    assert "needs --rtl" in capsys.readouterr().err
