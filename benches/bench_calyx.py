"""The README's promises of Calyx profiles, measured in one run and printed as one table.

    python benches/bench_calyx.py [--commands 20000] [--runs 5]

The packet scheduler (parallel switch) is generated, built and run: stock and with capture in
turn, with the same flags. Then each view is made by its own process, as a user would. Ratios are
of medians of the same run; absolute times depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cyclescope.calyx import build_profile, compile_program
from cyclescope.model import Meta
from cyclescope.sim import build, read_data, run

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "calyx"
COMMAND = [sys.executable, "-m", "cyclescope"]


@dataclass(frozen=True)
class Cost:
    """Of a process: wall seconds and peak memory in MB."""

    seconds: float
    megabytes: float


def process(*arguments: object, cache: Path | None = None) -> Cost:
    """Run a cyclescope command and measure it from outside."""
    environment = os.environ | ({"CYCLESCOPE_CACHE": str(cache)} if cache else {})
    started = time.perf_counter()
    child = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdout=subprocess.DEVNULL, env=environment
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"failed: {arguments}")
    return Cost(time.perf_counter() - started, usage.ru_maxrss / 1024)


def row(name: str, measured: str, promised: str, *, good: bool) -> None:
    print(f"{'' if good else '!'} {name:44} {measured:>22}   {promised}", flush=True)


def simulation(program: Path, data: Path, runs: int) -> None:
    """Capture against stock, in pairs, and from the capture to a profile."""
    values = read_data(data)
    measured = compile_program(program)
    designs = [build(compile_program(program, instrument=False).design), build(measured.design)]
    times: list[list[float]] = [[], []]
    for _ in range(runs + 1):
        for which, design in enumerate(designs):
            result = run(design, data=values)
            times[which].append(result.seconds)
    stock, captured = (statistics.median(t[1:]) for t in times)
    ratios = [b / a for a, b in zip(times[0][1:], times[1][1:], strict=True)]
    ratio = statistics.median(ratios)
    spread = f"{ratio:.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
    row("simulation with capture ÷ stock", spread, "≤ 1.25", good=ratio <= 1.25)
    row("  seconds, stock and with capture", f"{stock:.2f}, {captured:.2f}", "", good=True)
    assert result.capture is not None
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        profile = build_profile(measured, result.capture, Meta("calyx", program.name))
        seconds.append(time.perf_counter() - started)
    taken = statistics.median(seconds)
    row("capture → profile", f"{taken:.2f} s", "≤ 0.5 s", good=taken <= 0.5)
    counts = f"{profile.cycles:,}, {len(profile.schedule):,}, {len(profile.forest)}"
    row("  cycles, runs, distinct trees", counts, "", good=True)


def views(folder: Path, runs: int) -> None:
    """Each view by its own process: start-up, loading and writing included."""
    profile = folder / "run.cyc"
    size = profile.stat().st_size
    row("profile file", f"{size / 1e6:.2f} MB", "≤ 1 MB", good=size <= 1e6)
    commands = {
        "summary": (1.0, ["summary", profile]),
        "table of groups": (1.0, ["table", profile, "groups"]),
        "flame graph, scaled": (1.0, ["flamegraph", profile, "--force"]),
        "flame graph, flat": (1.0, ["flamegraph", profile, "--flat", "--force"]),
        "folded stacks": (1.0, ["export", profile, "--format", "folded", "--force"]),
        "speedscope": (1.0, ["export", profile, "--format", "speedscope", "--force"]),
        "timeline of all cycles": (3.0, ["timeline", profile, "--force"]),
    }
    for name, (limit, arguments) in commands.items():
        costs = [process(*arguments) for _ in range(runs)]
        seconds = statistics.median(c.seconds for c in costs)
        memory = max(c.megabytes for c in costs)
        measured, promised = f"{seconds:.2f} s, {memory:.0f} MB", f"≤ {limit:.0f} s, ≤ 300 MB"
        row(name, measured, promised, good=seconds <= limit and memory <= 300)


def whole(program: Path, data: Path, folder: Path) -> None:
    """From a program never seen to all views; and a small program again."""
    cache = folder / "cache"
    small, small_data = EXAMPLES / "switch_par.futil", EXAMPLES / "switch_par.json"
    first = process("calyx", small, "--data", small_data, "-o", folder / "s.cyc", cache=cache)
    row("first use on a machine (small program)", f"{first.seconds:.1f} s", "", good=True)
    started = time.perf_counter()
    cost = process("calyx", program, "--data", data, "-o", folder / "run.cyc", cache=cache)
    profile = folder / "run.cyc"
    commands = [
        ["timeline", profile, "--force"],
        ["flamegraph", profile, "--force"],
        ["flamegraph", profile, "--flat", "--force"],
        ["table", profile, "groups"],
        ["export", profile, "--format", "folded", "--force"],
        ["export", profile, "--format", "speedscope", "--force"],
    ]
    with ThreadPoolExecutor(2) as both_cores:
        list(both_cores.map(lambda arguments: process(*arguments), commands))
    taken = time.perf_counter() - started
    row("cold source → all views", f"{taken:.1f} s", "≤ 10 s", good=taken <= 10)
    row("  of it compile, build, run, profile", f"{cost.seconds:.1f} s", "", good=True)
    memory = cost.megabytes
    row("  its peak memory", f"{memory:.0f} MB", "≤ 300 MB", good=memory <= 300)
    again = ["calyx", small, "--data", small_data, "-o", folder / "s.cyc", "--force"]
    seconds = statistics.median(process(*again, cache=cache).seconds for _ in range(5))
    row("small program, warm", f"{seconds:.2f} s", "< 2 s", good=seconds < 2)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--commands", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cyclescope-bench-") as name:
        folder = Path(name)
        generate = EXAMPLES / "packet_scheduler" / "generate.py"
        subprocess.run(
            [sys.executable, generate, "--variant", "par", "--commands", str(chosen.commands),
             "-o", folder],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        program, data = folder / "scheduler_par.futil", folder / "scheduler.json"
        whole(program, data, folder)
        simulation(program, data, chosen.runs)
        views(folder, max(3, chosen.runs // 2))


if __name__ == "__main__":
    main()
