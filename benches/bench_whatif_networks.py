"""Other latencies, intervals and depths: what `whatif` foretells of networks, against hardware.

    python benches/bench_whatif_networks.py [KERNEL.c or FOLDER …] [--changes N]

Takes the kernels of `examples/bounds/polybench` and those that are given, each with the calibration
beside it (`KERNEL.toml`) if there is one. Each is measured as hardware; then, N times, a latency,
an interval, a depth and one of each together are drawn, the hardware is built with them, and
simulated with every result compared. Prints a table of the errors, and how long predictions take.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from foretold import Errors, median_and_worst

from cyclescope.analyse import Figure, OtherLength, critical, retimed
from cyclescope.bounds import Calibration, estimate, read_calibration
from cyclescope.errors import CyclescopeError
from cyclescope.model import Edge, Process
from cyclescope.network import measure
from cyclescope.studies import simulated_network

if TYPE_CHECKING:
    from cyclescope.model import Profile

ROOT = Path(__file__).parents[1]
LATENCIES = range(2, 41)
INTERVALS = range(1, 5)
FEWER = range(3)  # values less than the channel keeps; or twice as many


def kernels(given: list[Path]) -> list[Path]:
    """All kernels, the examples first."""
    found = sorted((ROOT / "examples" / "bounds" / "polybench").glob("*.c"))
    for path in given:
        found += sorted(path.rglob("*.c")) if path.is_dir() else [path]
    return found


def drawn(chosen: random.Random, profile: Profile, figure: Figure) -> OtherLength:
    """Another figure of one of the processes or channels."""
    kind = Edge if figure is Figure.DEPTH else Process
    places = [n for n, site in enumerate(profile.sites) if isinstance(site, kind)]
    if figure is Figure.DEPTH:
        # Most channels keep a value only, which is the least.
        deep = [n for n in places if (profile.sites[n].depth or 0) > 1]  # type: ignore[union-attr]
        place = chosen.choice(deep or places)
        now = profile.sites[place].depth or 1  # type: ignore[union-attr]
        value = chosen.choice([2 * now, *(max(1, now - fewer) for fewer in FEWER)])
    else:
        place = chosen.choice(places)
        value = chosen.choice(LATENCIES if figure is Figure.LATENCY else INTERVALS)
    name = f"{profile.sites[place].label} {figure} = {value}"
    return OtherLength(name, (), value, value, figure=figure, sites=(place,))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", type=Path)
    parser.add_argument("--changes", type=int, default=1)
    chosen = parser.parse_args()
    errors = Errors()
    standstills: Counter[str] = Counter()
    wrong = count = 0
    left_out: Counter[str] = Counter()
    seconds: list[float] = []
    asked: list[tuple[float, int, str]] = []
    for kernel in kernels(chosen.kernels):
        beside = kernel.with_suffix(".toml")
        calibration = read_calibration(beside) if beside.exists() else Calibration()
        try:
            bounds = estimate(kernel, calibration=calibration, detail=True, values=True, trace=True)
            profile = measure(bounds).profile
        except CyclescopeError as error:
            left_out[type(error).__name__] += 1
            print(kernel.stem, error, sep=": ", file=sys.stderr, flush=True)
            continue
        count += 1
        begin = time.perf_counter()
        critical(profile)
        asked.append((time.perf_counter() - begin, profile.cycles, kernel.stem))
        source = random.Random(kernel.stem)
        for what in [*Figure, "together"] * chosen.changes:
            figures = list(Figure) if what == "together" else [Figure(what)]
            changes = [drawn(source, profile, figure) for figure in figures]
            begin = time.perf_counter()
            (foretold,) = retimed(profile, changes).totals
            seconds.append(time.perf_counter() - begin)
            (found,) = simulated_network(profile, changes, kernel, calibration=calibration)
            said = f"{kernel.stem}: {', '.join(change.name for change in changes)}"
            if foretold is None or found.cycles is None:
                standstills[what] += 1
                if foretold != found.cycles:
                    wrong += 1
                    print(f"{said}: {foretold}, is {found.cycles}", flush=True)
                continue
            errors.add(what, said, foretold, found.cycles)
    print("| change | runs | exact | median error | worst | deadlocks |")
    print("|---|---:|---:|---:|---:|---:|")
    every = [error for found in errors.by.values() for error in found]
    standstills["all"] = standstills.total()
    for what, found in [*errors.by.items(), ("all", every)]:
        exact = sum(error == 0 for error in found)
        line = f"| {what} | {len(found)} | {exact} | {median_and_worst(found)}"
        print(f"{line} {standstills[what]} |")
    print(
        f"{count} kernels; deadlocks foretold or simulated only: {wrong}; left out:", dict(left_out)
    )
    longest = max(asked)
    print(f"a prediction {median(seconds):.3f} s, the longest {max(seconds):.3f} s; slack and")
    print(f"leverage at most {longest[0]:.2f} s ({longest[2]}, {longest[1]:,} cycles)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
