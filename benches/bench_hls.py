"""`cyclescope hls`: the ladder of matrix products, pi, what reordering is worth, speed, area.

`python benches/bench_hls.py [--ladder DIM] [--memories DIM] [--pi] [--reordering] [--area]`; all
but the area if nothing is said, which takes Yosys some minutes a program. Prints Markdown tables.
Simulation speed is in processor time, since the machine may be shared.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path

from cyclescope.hls import (
    Host,
    Machine,
    MemoryModel,
    compile_c,
    machine_of,
    memory_names,
    read_memory_model,
)
from cyclescope.hls.run._measure import START_COST, Measurement, measure
from cyclescope.hls.run._simulation import run_setup, set_up

ROOT = Path(__file__).parents[1]
GEMM = sorted((ROOT / "examples" / "hls" / "gemm").glob("*.c"))
PI = ROOT / "examples" / "hls" / "pi" / "pi.c"
OTHERS = [ROOT / "tests" / "hls" / "programs" / f"{name}.c" for name in ("chase", "mvt", "sorting")]
MEMORIES = {
    "DDR4": MemoryModel(),
    "up to 60 more": MemoryModel(seed=3, stall=60),
    "one in 8 up to 300 more": MemoryModel(seed=3, stall=300, stall_one_in=8),
}
PAPER = {"2-no-critical": 1.14, "3-vectors": 1.93, "4-blocked": 2.40, "5-double-buffering": 3.60}
WHOLE = {"4-blocked": 5.28, "5-double-buffering": 19.0}


def used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def fast(machine: Machine, result: Measurement, *, unit_rtl: bool) -> float:
    """Millions of cycles a second of a simulation that captures a profile, without its build."""
    ways = {"period": 1024, "start_cost": START_COST}
    native = result.native
    first = set_up(machine, native.inputs, native.scalars, cycle_limit=1, **ways)
    run_setup(first, unit_rtl=unit_rtl)
    before = used()
    setup = set_up(machine, native.inputs, native.scalars, **ways)
    run = run_setup(setup, unit_rtl=unit_rtl)
    return run.cycles / (used() - before) / 1e6


def ladder(dim: int) -> None:
    print(f"\nGEMM {dim}^3, 8 threads\n")
    print("| version | cycles | a multiply-add | step | paper | in all | paper | Mcycles/s |"
          " with the units' RTL | memory stalls | lock | bytes read | C to Verilog |")  # fmt: skip
    print("|---|" + "---:|" * 12)
    first = last = 0
    for source in GEMM:
        started = time.process_time()
        program = compile_c(source, defines={"DIM": str(dim)})
        machine = machine_of(program)
        compiling = time.process_time() - started
        result = measure(program)
        assert result.agrees, result.differing
        cycles = result.run.cycles
        speed, rtl = (fast(machine, result, unit_rtl=way) for way in (False, True))
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
            f" {speed:.2f} | {rtl:.2f} |"
            f" {sums['stalls: memory'] / share:.0f} % | {sums['stalls: lock'] / share:.0f} % |"
            f" {sums['bytes read']:,} | {compiling:.2f} s |",
            flush=True,
        )
        last = cycles


def memories(dim: int) -> None:
    """The same programs with each memory that comes by name."""
    print(f"\nGEMM {dim}^3, 8 threads, by memory: cycles, and the step to them (paper:"
          f" {', '.join(map(str, PAPER.values()))})\n")  # fmt: skip
    print("| memory |" + "".join(f" {source.stem} | |" for source in GEMM))
    print("|---|" + "---:|---:|" * len(GEMM))
    programs = [compile_c(source, defines={"DIM": str(dim)}) for source in GEMM]
    for name in memory_names():
        model = read_memory_model(name)
        row, last = "", 0
        for program in programs:
            result = measure(program, memory=model)
            assert result.agrees, result.differing
            cycles = result.run.cycles
            row += f" {cycles:,} | {last / cycles:.2f} |" if last else f" {cycles:,} | |"
            last = cycles
        print(f"| {name} |{row}", flush=True)


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


def reordering() -> None:
    """Compare threads that overtake each other in variable-latency stages with threads in order."""
    print("\nWhat reordering is worth (8 threads, GEMM 32^3): cycles with it, and in order\n")
    print("| program |" + "".join(f" {name} | in order | |" for name in MEMORIES))
    print("|---|" + "---:|---:|---:|" * len(MEMORIES))
    for source in [*GEMM, *OTHERS]:
        program = compile_c(source, threads=8, defines={"DIM": "32"})
        with Host(program) as host:
            native = host.run([])
        machine = machine_of(program)
        row = ""
        for memory in MEMORIES.values():
            free, ordered = (
                run_setup(
                    set_up(machine, native.inputs, native.scalars, memory=memory, in_order=in_order)
                ).cycles
                for in_order in (False, True)
            )
            row += f" {free:,} | {ordered:,} | {ordered / free:.2f} |"
        print(f"| {source.stem} |{row}", flush=True)


def area() -> None:
    """The area of the examples in two FPGAs."""
    from cyclescope.sim import on_ecp5, on_xc7

    print("\nArea in an ECP5, and in Xilinx' 7 series (8 threads, Yosys)\n")
    print("| | ECP5 | | | | 7 series | | | |")
    print("|---|" + "---:|" * 8)
    print(
        "| example |"
        + " LUT4 | flip-flops | multipliers | block RAM | LUT6 | flip-flops | DSP48 | block RAM |"
    )
    for source in [*GEMM, PI]:
        machine = machine_of(compile_c(source, threads=8), checks=False)
        text = "".join(machine.sources.values())
        row = f"| {source.stem} |"
        for used in (on_ecp5(text, machine.name), on_xc7(text, machine.name)):
            row += f" {used.luts:,} | {used.ffs:,} | {used.dsps} | {used.brams} |"
        print(row, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ladder", type=int, metavar="DIM")
    parser.add_argument("--memories", type=int, metavar="DIM")
    for name in ("pi", "reordering", "area"):
        parser.add_argument(f"--{name}", action="store_true")
    asked = parser.parse_args()
    everything = not any(vars(asked).values())
    if asked.ladder or everything:
        ladder(asked.ladder or 64)
    if asked.memories or everything:
        memories(asked.memories or 64)
    if asked.pi or everything:
        pi()
    if asked.reordering or everything:
        reordering()
    if asked.area:
        area()


if __name__ == "__main__":
    os.nice(5)
    main()
