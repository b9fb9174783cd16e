"""Another memory, another host: what `whatif` foretells of threads, against simulations.

    python benches/bench_whatif_hls.py [PROGRAM.c or FOLDER …] [--every N]

Takes the project's C examples (matrix products of 32 by 32), the programs of its tests (every Nth
of them) and those that are given. Each is simulated with its own memory, and anew with one of each
latency in `LATENCIES`, with each start cost in `COSTS` and with each number of threads in `TEAMS`.
Prints a table of the errors, and each change that was off by more than 10 %.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from foretold import Errors, median_and_worst

from cyclescope.analyse import LATENCY, START_COST, THREADS, parse_lengths, retimed
from cyclescope.errors import CyclescopeError
from cyclescope.hls import compile_c, measure
from cyclescope.studies import simulated_hardware

ROOT = Path(__file__).parents[1]
LATENCIES = (4, 14, 50, 98)  # cycles; the memory has 26
COSTS = (0,)  # cycles; it is 100
TEAMS = (4, 16)  # threads; they are 8 as a rule
MACROS = {"gemm": {"DIM": "32"}}


def programs(given: list[Path], every: int) -> list[Path]:
    """All programs, the examples first."""
    found = sorted((ROOT / "examples" / "hls").rglob("*.c"))
    found += sorted((ROOT / "tests" / "hls" / "programs").glob("*.c"))[::every]
    for path in given:
        found += sorted(path.rglob("*.c")) if path.is_dir() else [path]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", type=Path)
    parser.add_argument("--every", type=int, default=1)
    chosen = parser.parse_args()
    errors = Errors()
    left_out: Counter[str] = Counter()
    count = 0
    for program in programs(chosen.programs, chosen.every):
        macros = MACROS.get(program.parent.name, {})
        try:
            profile = measure(compile_c(program, defines=macros)).profile
        except CyclescopeError as error:
            left_out[f"programs: {type(error).__name__}"] += 1
            continue
        count += 1
        asked = [(LATENCY, n) for n in LATENCIES] + [(START_COST, n) for n in COSTS]
        asked += [(THREADS, n) for n in TEAMS]
        for what, value in asked:
            try:
                changes = parse_lengths(profile, [f"{what} = {value}"])
                (foretold,) = retimed(profile, changes).totals
                (real,) = simulated_hardware(profile, changes, program, macros)
            except CyclescopeError as error:
                left_out[f"changes: {type(error).__name__}"] += 1
                print(program.stem, error, sep=": ", file=sys.stderr, flush=True)
                continue
            change = f"{what} = {value}"
            errors.add(change, f"{program.stem}: {change}", foretold, real)
    print("| change | runs | within 1 % | within 10 % | median error | worst |")
    print("|---|---:|---:|---:|---:|---:|")
    every = [error for found in errors.by.values() for error in found]
    for what, found in [*errors.by.items(), ("all", every)]:
        within = [sum(error <= most for error in found) for most in (0.01, 0.1)]
        print(f"| {what} | {len(found)} | {within[0]} | {within[1]} | {median_and_worst(found)}")
    print(f"{count} programs; left out: {dict(left_out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
