"""The cost of the guard and the confinement: `python benches/bench_confine.py [REPEATS]`.

Starts the smallest of programs (`true`) in four ways, in turn: as `subprocess` does, under a guard
with limits alone, and confined as a compiler, a simulation and a native kernel are. Prints the
median and the 90th percentile of the time from the call until the end is known, in ms.

`python benches/bench_confine.py --whole [REPEATS]` measures whole runs: a command line each, of a
design or kernel that was built before, with `--confine=require` and with `--confine=off` in turn,
the first of the two changing from pair to pair. Prints the median and the quartiles of the pairs'
differences in ms: of the clock, and of the processor, which other programs disturb less.
"""

from __future__ import annotations

import resource
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

KERNEL = "void k(int a[64]) { for (int i = 1; i < 64; i++) a[i] = a[i - 1] + a[i]; }\n"


def whole(repeats: int) -> None:
    """Whole runs, with and without."""
    examples = Path(__file__).resolve().parents[1] / "examples"
    with tempfile.TemporaryDirectory() as name:
        kernel, out = Path(name) / "k.c", Path(name) / "o.cyc"
        kernel.write_text(KERNEL)
        design = examples / "calyx/switch_if.futil"
        commands = {
            "calyx": ["calyx", design, "--data", design.with_suffix(".json")],
            "bounds": ["bounds", kernel],
        }
        heads = ("run ms", "clock +", "quartiles", "CPU +", "quartiles")
        print(f"{'':8}" + "".join(f"{head:>16}" for head in heads))
        for verb, command in commands.items():
            program = [sys.executable, "-m", "cyclescope", *map(str, command), "-o", str(out)]

            def run(way: str, program: list[str] = program) -> tuple[float, float]:
                before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
                given = [*program, "--force", f"--confine={way}"]
                subprocess.run(given, check=True, capture_output=True)
                took = time.perf_counter() - begun
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                return took * 1e3, used * 1e3

            run("require")
            pairs = []
            for turn in range(repeats):
                ways = ["require", "off"][:: 1 if turn % 2 else -1]
                found = {way: run(way) for way in ways}
                pairs.append((found["require"], found["off"]))
            line = f"{verb:8}{statistics.median(off[0] for _, off in pairs):16.1f}"
            for which in (0, 1):
                more = [on[which] - off[which] for on, off in pairs]
                low, middle, high = statistics.quantiles(more, n=4)
                line += f"{middle:16.1f}{f'{low:.1f} to {high:.1f}':>16}"
            print(line, flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--whole"]:
        whole(int(sys.argv[2]) if len(sys.argv) > 2 else 100)
        return
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
