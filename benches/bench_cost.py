"""The cost of long runs: memory and time of capture, profile and views.

    python benches/bench_cost.py [--commands 15200,152000,1520000]

The packet scheduler of `examples/calyx/` with so many commands: about 1, 10 and 100 million cycles.
Each step is the command a user would give, in a process of its own; `peak MB` is the largest of the
process and its children (the simulation is one), `CPU s` that of all of them together. What is
compiled is compiled before. With `--trees`, loops over many distinct call trees instead: 56,000
trees of 16 threads.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.model import Profile

GENERATE = Path(__file__).parents[1] / "examples" / "calyx" / "packet_scheduler" / "generate.py"
TOOL = Path(sys.executable).with_name("cyclescope")
_LIMIT = 5  # the exit status of a run that was ended at a limit of cycles


def measured(command: Sequence[str | Path]) -> tuple[float, float, int]:
    """Seconds by the clock, of the processor, and the largest resident set in MB."""
    begin = time.perf_counter()
    with Path(os.devnull).open("w") as nothing:
        child = subprocess.Popen(command, stdout=nothing, stderr=nothing)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, _LIMIT):
        raise SystemExit(f"{' '.join(map(str, command))}: exit {child.returncode}")
    return time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss >> 10


def scheduler(commands: int, folder: Path) -> None:
    subprocess.run(
        [sys.executable, "-B", GENERATE, "--commands", str(commands), "-o", folder],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    program, data = folder / "scheduler_par.futil", folder / "scheduler.json"
    run, page = folder / "run.cyc", folder / "run.html"
    build = [TOOL, "calyx", program, "--data", data, "-o", run, "--force"]
    export = [TOOL, "export", run, "--force", "--format"]
    measured([*build, "--cycle-limit", "1000"])
    steps: dict[str, list[str | Path]] = {
        "run, capture, profile": build,
        "summary": [TOOL, "summary", run],
        "table of cells": [TOOL, "table", run, "cells"],
        "table of groups": [TOOL, "table", run, "groups"],
        "table of control blocks": [TOOL, "table", run, "control"],
        "flame graph": [TOOL, "flamegraph", run, "-o", folder / "run.svg", "--force"],
        "advice": [TOOL, "advise", run],
        "report": [TOOL, "report", run, "-o", page, "--force"],
        "timeline of 100,000 cycles": [
            TOOL, "timeline", run, "--from", "500000", "--to", "600000", "-o",
            folder / "run.pftrace", "--force",
        ],
        "timeline, Perfetto": [TOOL, "timeline", run, "-o", folder / "run.pftrace", "--force"],
        "timeline, Paraver": [*export, "paraver", "-o", folder / "run.prv"],
        "runs, Parquet": [*export, "parquet", "-o", folder / "runs.parquet"],
        "counters, Parquet": [
            *export, "parquet", "--table", "counters", "-o", folder / "counters.parquet",
        ],
    }  # fmt: skip
    for name, command in steps.items():
        wall, cpu, peak = measured(command)
        if command is build:
            import cyclescope

            profile = cyclescope.load(run)
            segments = profile.schedule.segments
            print(
                f"\n{profile.cycles:,} cycles: {len(segments.cycles):,} runs in "
                f"{len(segments.offset) - 1:,} segments, an order of {len(segments.order):,}; "
                f"profile {run.stat().st_size / 1e6:.2f} MB\n"
            )
            print(f"| {'step':<28} | {'s':>7} | {'CPU s':>7} | {'peak MB':>7} | {'output MB':>9} |")
            print(f"|{'-' * 30}|--------:|--------:|--------:|----------:|")
        size = ""
        if command is not build and "-o" in command:
            written = Path(command[command.index("-o") + 1])
            size = f"{written.stat().st_size / 1e6:.2f}"
            written.unlink()  # a whole timeline is large
        print(f"| {name:<28} | {wall:7.2f} | {cpu:7.2f} | {peak:7,} | {size:>9} |", flush=True)


def threads(trees: int = 56_000, count: int = 16) -> Profile:
    """Threads in random states and loops: hardly a call tree is seen twice."""
    import numpy as np

    from cyclescope.model import Activity, Frame, Kind, Meta, Position, ProfileBuilder

    builder = ProfileBuilder()
    root = builder.path(-1, Frame(Kind.CELL, "k", "k", positions=(Position("c", "k.c", 1),)))
    ends = []
    for number in range(count):
        thread = builder.path(root, Frame(Kind.THREAD, f"thread {number}", "k", track=True))
        meanings = (
            ("running", Activity.WORK, ""),
            ("spinning", Activity.WAITING, "lock"),
            ("idle", Activity.IDLE, ""),
        )
        own = [
            builder.path(thread, Frame(Kind.STATE, name, "k", activity=activity, cause=cause))
            for name, activity, cause in meanings
        ]
        ends.append(
            own
            + [
                builder.path(
                    own[0],
                    Frame(Kind.LOOP, f"L{line}", "k", positions=(Position("c", "k.c", line),)),
                )
                for line in range(10, 14)
            ]
        )
    random = np.random.default_rng(3)
    rows = random.integers(0, len(ends[0]), (trees, count)).tolist()
    shown = [builder.tree([ends[t][n] for t, n in enumerate(row)]) for row in rows]
    return builder.build(Meta("hls", "threads"), random.integers(1, 50, trees), shown)


def loops() -> None:
    from dataclasses import replace

    from cyclescope.analyse import account, line_cycles, summarise
    from cyclescope.views._stacks import stacks

    profile = threads()
    print(f"{len(profile.forest):,} trees of 16 threads, processor time from a fresh profile")
    for name, work in {
        "account": account,
        "lines": line_cycles,
        "stacks": lambda one: stacks(one, scaled=True),
        "summary": summarise,
    }.items():
        least = []
        for _ in range(5):
            fresh = replace(profile)
            begin = time.process_time()
            work(fresh)
            least.append(time.process_time() - begin)
        print(f"| {name:<10} | {min(least):6.2f} s |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", default="15200,152000,1520000")
    parser.add_argument("--trees", action="store_true")
    options = parser.parse_args()
    if options.trees:
        loops()
        return
    for commands in options.commands.split(","):
        with tempfile.TemporaryDirectory() as folder:
            scheduler(int(commands), Path(folder))


if __name__ == "__main__":
    main()
