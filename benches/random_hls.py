"""Random C programs through the compiler: thousands of seeds, against the host's compiler.

python benches/random_hls.py 0 1000          # as data flow, in every order that is allowed
python benches/random_hls.py 0 500 --rtl     # as hardware in simulation

As hardware each program runs three times, every time with another memory, order and start cost; a
third of them with a profiling unit, whose trace must be what the bench sees in each cycle. Their
simulators are kept nowhere, unless CYCLESCOPE_CACHE names a folder for them.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from sweep_hls import FAST, UNITS, traced

from cyclescope.errors import CyclescopeError
from cyclescope.hls import MemoryModel
from cyclescope.hls.run._simulation import run_setup, set_up
from cyclescope.hls.trace._core import UnitOptions
from hls.generator import Kernel, generate
from hls.test_random import agrees, hardware, native, run

BATCH = 50
TEAMS = (1, 2, 3, 5, 8)
RUNS = 3
LIMIT = 10**6
TRACE_LINES = 1 << 11  # at most: more would be a larger memory to read and to write


def team(seed: int) -> int:
    """The threads of a program."""
    return random.Random(f"team {seed}").choice(TEAMS)


def memory(r: random.Random) -> MemoryModel:
    """A memory: as fast as can be, the usual one, or any other."""
    kind = r.randrange(4)
    if kind < 2:
        return (FAST, MemoryModel())[kind]
    every = r.choice([0, 40, 300, 1092])
    return MemoryModel(
        controller=r.choice([0, 1, 5, 24, 60]),
        cas=r.randrange(4),
        rcd=r.randrange(6),
        rp=r.randrange(6),
        turnaround=r.randrange(4),
        refresh_interval=every,
        refresh=r.randrange(1, every // 2) if every else 0,
        seed=r.randrange(1, 1 << 16),
        stall=r.choice([0, 3, 20, 200]),
        stall_one_in=r.choice([1, 2, 9]),
    )


def as_graph(kernel: Kernel, expected: dict[str, bytes]) -> str:
    """Say what is wrong with a program's data flow; empty if nothing is."""
    shuffle = random.Random(kernel.seed) if kernel.seed % 2 else None
    return agrees(expected, run(kernel, team(kernel.seed), shuffle))


def as_hardware(kernel: Kernel, expected: dict[str, bytes]) -> str:
    """Say what is wrong with a program's hardware; empty if nothing is."""
    threads, r = team(kernel.seed), random.Random(f"hardware {kernel.seed}")
    period, on_full, lines, width = r.choice(UNITS)
    lines = min(lines, TRACE_LINES)
    unit = None
    if kernel.seed % 3 == 0:
        unit = UnitOptions("", period=period, on_full=on_full, line_bits=width)
    machine, arrays, scalars = hardware(kernel, threads, unit)
    for _ in range(RUNS):
        model, in_order, cost = memory(r), r.random() < 0.5, r.choice([0, 0, 1, 7, 100])
        try:
            found = run_setup(
                set_up(
                    machine,
                    arrays,
                    scalars,
                    memory=model,
                    in_order=in_order,
                    start_cost=cost,
                    cycle_limit=LIMIT,
                    period=1 if unit else None,
                    trace_lines=lines,
                ),
                optimise="-O0",
            )
            bad = agrees(expected, {**arrays, **found.arrays})
            if not found.complete:
                bad = found.stop_reason
            elif unit and not bad:
                bad = "; ".join(traced(machine, found).wrong)
        except CyclescopeError as error:
            bad = str(error)
        if bad:
            how = f"{'in order' if in_order else 'reordering'}, start cost {cost}, {unit}"
            return f"{bad} ({model}, {how})"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int, help="exclusive")
    parser.add_argument("--rtl", action="store_true", help="simulate the hardware")
    given = parser.parse_args()
    start, failures = time.perf_counter(), 0
    check = as_hardware if given.rtl else as_graph
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("CYCLESCOPE_CACHE", folder)
        for first in range(given.first, given.last, BATCH):
            kernels = [generate(seed) for seed in range(first, min(given.last, first + BATCH))]
            for threads in TEAMS:
                mine = [k for k in kernels if team(k.seed) == threads]
                wanted = native(mine, threads, Path(folder)) if mine else []
                for kernel, expected in zip(mine, wanted, strict=True):
                    try:
                        text = check(kernel, expected)
                    except CyclescopeError as error:
                        text = str(error)
                    if text:
                        failures += 1
                        print(f"seed {kernel.seed}, {threads} threads: {text}", flush=True)
            done = min(given.last, first + BATCH) - given.first
            seconds = time.perf_counter() - start
            print(f"{done} programs, {failures} wrong, {seconds:.0f} s", flush=True)
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
