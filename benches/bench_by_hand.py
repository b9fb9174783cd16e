"""A multiply-accumulate loop written by hand beside the tool's: area, clock, cycles.

    python benches/bench_by_hand.py [--clock] [--seeds N]

`by_hand/mac.v` has the ports of what `hls` makes of `by_hand/mac.c`, and runs in the same bench,
with the same memory and the same data; each sum is compared with the native run's. Area is that of
Yosys. With --clock each design is placed and routed for an ECP5, which takes minutes: the median of
so many placements.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from cyclescope.hls import (
    START_COST,
    Host,
    Machine,
    MemoryModel,
    Program,
    compile_c,
    differences,
    machine_of,
)
from cyclescope.hls.run._simulation import run_setup, set_up
from cyclescope.sim import on_ecp5, on_xc7, route_on_ecp5

FOLDER = Path(__file__).parent / "by_hand"


@dataclass(frozen=True)
class Design:
    """A design that is measured: to be simulated, with its checks, and to be built."""

    name: str
    program: Program
    simulated: Machine
    built: Machine


def designs() -> list[Design]:
    """The one by hand, and what the tool makes of C."""
    found = []
    for name, file, threads in (
        ("C, one thread", "mac.c", 1),
        ("C, 8 threads", "mac_threads.c", 8),
        ("C, 8 threads, vectors", "mac_vectors.c", 8),
    ):
        program = compile_c(FOLDER / file, threads=threads)
        machines = (machine_of(program, checks=checks) for checks in (True, False))
        found.append(Design(name, program, *machines))
    text = {"mac.v": (FOLDER / "mac.v").read_text("utf-8")}
    first = found[0]
    simulated, built = (replace(m, sources=text) for m in (first.simulated, first.built))
    return [Design("Verilog, by hand", first.program, simulated, built), *found]


def cycles(design: Design) -> int:
    """Cycles of a run whose sum is right.

    Raises:
        SystemExit: it is not.
    """
    with Host(design.program) as host:
        native = host.run([])
    memory = MemoryModel()
    setup = set_up(
        design.simulated, native.inputs, native.scalars, start_cost=START_COST, memory=memory
    )
    run = run_setup(setup)
    if wrong := differences(design.program, native.outputs, run.arrays):
        raise SystemExit(f"{design.name}: {wrong}")
    return run.cycles


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clock", action="store_true")
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    print("| | | ECP5 | | | | 7 series | | | | | |")
    print("|---|" + "---:|" * 11)
    print(
        "| | cycles | LUT4 | flip-flops | multipliers | block RAM"
        " | LUT6 | flip-flops | DSP48 | block RAM | MHz | µs |"
    )
    for design in designs():
        took = cycles(design)
        text, top = "".join(design.built.sources.values()), design.built.name
        row = f"| {design.name} | {took:,} |"
        for used in (on_ecp5(text, top), on_xc7(text, top)):
            row += f" {used.luts:,} | {used.ffs:,} | {used.dsps} | {used.brams} |"
        if asked.clock:
            seeds = range(1, asked.seeds + 1)
            mhz = median(route_on_ecp5(text, top, seed=seed).mhz for seed in seeds)
            row += f" {mhz:.1f} | {took / mhz:.1f} |"
        else:
            row += " | |"
        print(row, flush=True)


if __name__ == "__main__":
    main()
