"""What the guard and the confinement cost a run: `python benches/bench_confine.py [REPEATS]`.

Starts the smallest of programs (`true`) in four ways, in turn: as `subprocess` does, under a guard
with limits alone, and confined as a compiler, a simulation and a native kernel are. Prints the
median and the 90th percentile of the time from the call until the end is known, in ms.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# What a run has loaded when it starts the first program: a fork has all of it to copy.
import cyclescope.calyx
import cyclescope.hls  # noqa: F401
from cyclescope.sim import Policy, Process, calculation, finish
from cyclescope.sim._confine import compiler_policy


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    program = Path(shutil.which("true") or "/bin/true")
    with tempfile.TemporaryDirectory() as name:
        own = Path(name)

        def kernel() -> None:
            with Process([program], calculation(program, own)) as running:
                running.wait()

        ways = {
            "subprocess": lambda: subprocess.run([program], check=True),
            "guard, limits": lambda: finish([program], Policy(confined=False)),
            "confined compiler": lambda: finish([program], compiler_policy([str(program)], own)),
            "confined kernel": kernel,
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(repeats):
            for way, run in ways.items():
                started = time.perf_counter()
                run()
                times[way].append((time.perf_counter() - started) * 1e3)
    print(f"{'':20}{'median ms':>12}{'90 % ms':>12}{'above subprocess':>20}")
    base = statistics.median(times["subprocess"])
    for way, found in times.items():
        median, high = statistics.median(found), statistics.quantiles(found, n=10)[-1]
        print(f"{way:20}{median:12.2f}{high:12.2f}{median - base:20.2f}")


if __name__ == "__main__":
    main()
