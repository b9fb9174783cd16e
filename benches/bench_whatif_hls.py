"""Another memory, another host: what `whatif` foretells of threads, against simulations.

    python benches/bench_whatif_hls.py [PROGRAM.c or FOLDER …]

Takes the project's C examples (matrix products of 32 by 32), the programs of its tests and those
that are given. Each is simulated with its own memory, and anew with one of each latency in
`LATENCIES` and with each start cost in `COSTS`. Prints a table of the errors, and each change that
was off by more than 10 %. Programs that read no memory or have one thread count, too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median

from cyclescope.analyse import LATENCY, START_COST, parse_lengths, retimed
from cyclescope.errors import CyclescopeError, InputError
from cyclescope.hls import compile_c, measure
from cyclescope.model import load, save
from cyclescope.studies import simulated_hardware

ROOT = Path(__file__).parents[1]
LATENCIES = (4, 14, 50, 98)  # cycles; the memory has 26
COSTS = (0, 400)  # cycles; it is 100
MACROS = {"gemm": {"DIM": "32"}}


def programs(given: list[Path]) -> list[Path]:
    """All programs, the examples first."""
    found = [*sorted((ROOT / "examples" / "hls").rglob("*.c"))]
    for path in (ROOT / "tests" / "hls" / "programs", *given):
        found += sorted(path.rglob("*.c")) if path.is_dir() else [path]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", type=Path)
    chosen = parser.parse_args()
    errors: dict[str, list[float]] = defaultdict(list)
    left_out: Counter[str] = Counter()
    count = 0
    for program in programs(chosen.programs):
        macros = MACROS.get(program.parent.name, {})
        try:
            run = measure(compile_c(program, defines=macros))
            with tempfile.TemporaryDirectory() as folder:
                save(run.profile, Path(folder) / "run.cyc")
                profile = load(Path(folder) / "run.cyc")
        except CyclescopeError as error:
            left_out[f"programs: {type(error).__name__}"] += 1
            continue
        count += 1
        asked = [(LATENCY, n) for n in LATENCIES] + [(START_COST, n) for n in COSTS]
        for what, value in asked:
            try:
                changes = parse_lengths(profile, [f"{what} = {value}"])
                (foretold,) = retimed(profile, changes).totals
                (real,) = simulated_hardware(profile, changes, program, macros)
            except InputError as error:
                left_out[f"changes: {type(error).__name__}"] += 1
                print(program.stem, error, sep=": ", file=sys.stderr, flush=True)
                continue
            except CyclescopeError as error:
                left_out[f"changes: {type(error).__name__}"] += 1
                continue
            off = (foretold - real) / real
            errors[f"{what} = {value}"].append(abs(off))
            if abs(off) > 0.1:
                said = f"{program.stem}: {what} = {value}: {foretold:,}, is {real:,} ({off:+.1%})"
                print(f"{said}, was {profile.cycles:,}", file=sys.stderr, flush=True)
    print("| change | runs | within 1 % | within 10 % | median error | worst |")
    print("|---|---:|---:|---:|---:|---:|")
    every = [error for found in errors.values() for error in found]
    for what, found in [*errors.items(), ("all", every)]:
        within = [sum(error <= most for error in found) for most in (0.01, 0.1)]
        print(
            f"| {what} | {len(found)} | {within[0]} | {within[1]} | {100 * median(found):.1f} %"
            f" | {100 * max(found):.1f} % |"
        )
    print(f"{count} programs; left out: {dict(left_out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
