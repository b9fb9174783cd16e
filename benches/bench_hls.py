"""`cyclescope hls`: the ladder of matrix products, pi, what reordering is worth, speed.

`python benches/bench_hls.py [DIM]` (default 64; 128 takes minutes). Prints tables in Markdown.
Simulation speed is in processor time, since the machine may be shared.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

from cyclescope.hls import Host, MemoryModel, Program, compile_c, machine_of
from cyclescope.hls._measure import START_COST, measure
from cyclescope.hls._run import run_machine

ROOT = Path(__file__).parents[1]
GEMM = sorted((ROOT / "examples" / "hls" / "gemm").glob("*.c"))
PI = ROOT / "examples" / "hls" / "pi" / "pi.c"
PAPER = {"2-no-critical": 1.14, "3-vectors": 1.93, "4-blocked": None, "5-double-buffering": None}
WHOLE = {"4-blocked": 5.28, "5-double-buffering": 19.0}


def used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def ladder(dim: int) -> None:
    print(f"\nGEMM {dim}^3, 8 threads\n")
    print("| version | cycles | a multiply-add | step | paper | in all | paper | Mcycles/s |"
          " memory stalls | lock | bytes read | C to Verilog |")  # fmt: skip
    print("|---|" + "---:|" * 11)
    first = last = 0
    for source in GEMM:
        started = time.process_time()
        program = compile_c(source, defines={"DIM": str(dim)})
        machine = machine_of(program)
        compiling = time.process_time() - started
        result = measure(program)
        assert result.agrees, result.differing
        before = used()
        run_machine(machine, result.native.inputs, result.native.scalars, period=1024,
                    start_cost=START_COST)  # fmt: skip
        speed = result.run.cycles / (used() - before) / 1e6
        cycles = result.run.cycles
        first, last = first or cycles, last or cycles
        name = source.stem
        sums: dict[str, int] = {}
        for series in result.profile.series:
            if series.track.startswith("thread"):
                sums[series.name] = sums.get(series.name, 0) + int(series.value.sum())
        share = 8 * cycles / 100
        print(
            f"| {name} | {cycles:,} | {cycles / dim**3:.2f} | {last / cycles:.2f} |"
            f" {PAPER.get(name) or ''} | {first / cycles:.2f} | {WHOLE.get(name, '')} |"
            f" {speed:.2f} |"
            f" {sums['stalls: memory'] / share:.0f} % | {sums['stalls: lock'] / share:.0f} % |"
            f" {sums['bytes read']:,} | {compiling:.2f} s |",
            flush=True,
        )
        last = cycles


def pi() -> None:
    print("\npi, 8 threads, 740,000 cycles a start scaled down as the steps are (paper: figures"
          " 11-13)\n")  # fmt: skip
    print("| steps | start cost | cycles | threads at work on average |")
    print("|---|---:|---:|---:|")
    program = compile_c(PI)
    for steps in (10_000, 40_000, 100_000):
        result = measure(program, [str(steps)], start_cost=7_400)
        working = 0
        profile = result.profile
        lengths = profile.schedule.cycles.tolist()
        for cycles, tree in zip(lengths, profile.schedule.tree.tolist(), strict=True):
            names = [profile.frame_of(p).name for p in profile.forest[tree].tolist()]
            working += cycles * (8 - names.count("idle"))
        average = working / result.run.cycles
        print(f"| {steps:,} | 7,400 | {result.run.cycles:,} | {average:.2f} |", flush=True)


def threads(program: Program, name: str) -> None:
    """One thread against eight, and in order against reordered."""
    with Host(program) as host:
        native = host.run([])
    machine = machine_of(program)
    found = []
    for memory in (MemoryModel(), MemoryModel(seed=3, stall=60)):
        for in_order in (False, True):
            run = run_machine(
                machine, native.inputs, native.scalars, memory=memory, in_order=in_order
            )
            found.append(run.cycles)
    print(f"| {name} | {found[0]:,} | {found[1]:,} | {found[2]:,} | {found[3]:,} |"
          f" {found[3] / found[2]:.2f} |", flush=True)  # fmt: skip


def main() -> None:
    dim = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    ladder(dim)
    pi()
    print("\nReordering (8 threads, GEMM 32^3): DDR4, and DDR4 with up to 60 random cycles more\n")
    print("| version | DDR4 | in order | random | in order | reordering is worth |")
    print("|---|---:|---:|---:|---:|---:|")
    for source in GEMM:
        threads(compile_c(source, defines={"DIM": "32"}), source.stem)


if __name__ == "__main__":
    os.nice(5)
    main()
