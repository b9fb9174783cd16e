"""The cost of the profiling unit: cycles of the examples with and without it; with --area hardware.

Prints one table: `python benches/bench_unit.py [--area | --clock] [--seeds N] [--counters NAMES]
[--period N] [EXAMPLE …]`. Area is that of Yosys for an ECP5 and for Xilinx' 7
series; the clock is what nextpnr-ecp5 reaches at speed grade 6, the median of several placements.
It takes minutes an example and placement; what was measured once is in the cache.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import geometric_mean
from typing import TYPE_CHECKING

from cyclescope.hls import (
    START_COST,
    Host,
    MemoryModel,
    UnitOptions,
    chosen_counters,
    compile_c,
    cost_of,
    differences,
    machine_of,
    read_dump,
)
from cyclescope.hls.run._simulation import run_setup, set_up
from cyclescope.hls.trace._core import layout_of

if TYPE_CHECKING:
    from cyclescope.hls import Machine, Program

EXAMPLES = Path(__file__).parents[1] / "examples" / "hls"
ARGUMENTS = {"gemm": ["64"], "pi": ["64000"]}
THREADS = 8


def cycles(program: Program, machine: Machine, arguments: list[str]) -> int:
    """Cycles of a run whose results are right and whose trace is whole."""
    with Host(program) as host:
        native = host.run(arguments)
    run = run_setup(
        set_up(machine, native.inputs, native.scalars, start_cost=START_COST, memory=MemoryModel())
    )
    wrong = differences(program, native.outputs, run.arrays)
    assert not wrong, wrong
    layout = layout_of(machine)
    if layout is not None:
        assert not read_dump(run.trace, layout).meta.anomalies
    return run.cycles


def more(before: float, after: float) -> str:
    """The difference as a share."""
    return f"{100 * (after / before - 1):+.2f}%"


def summary(name: str, ratios: list[float]) -> str:
    """Geometric mean and maximum of a column."""
    return f"{name}: geometric mean {more(1, geometric_mean(ratios))}, most {more(1, max(ratios))}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--area", action="store_true")
    kind.add_argument("--clock", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--counters", default="all")
    parser.add_argument("--period", type=int, default=1024)
    parser.add_argument("examples", nargs="*", default=sorted(map(str, EXAMPLES.glob("*/*.c"))))
    asked = parser.parse_args()
    ratios: dict[str, list[float]] = {}
    for name in asked.examples:
        path = Path(name)
        program = compile_c(path, threads=THREADS)
        unit = UnitOptions(path.name, period=asked.period, counters=chosen_counters(asked.counters))
        pairs: dict[str, tuple[float, float]] = {}
        if asked.area or asked.clock:
            seeds = asked.seeds if asked.clock else 0
            costs = [cost_of(program, "", u, seeds=seeds) for u in (None, unit)]
            areas = [cost.area for cost in costs]
            pairs["FF"] = (areas[0].ffs, areas[1].ffs)
            pairs["LUT4"] = (areas[0].luts, areas[1].luts)
            pairs["BRAM"] = (areas[0].brams, areas[1].brams)
            others = [cost.xc7 for cost in costs]
            pairs["7 series: FF"] = (others[0].ffs, others[1].ffs)
            pairs["LUT6"] = (others[0].luts, others[1].luts)
            pairs["RAMB18"] = (others[0].brams, others[1].brams)
            if asked.clock:
                pairs["MHz"] = (round(costs[0].mhz or 0, 1), round(costs[1].mhz or 0, 1))
        else:
            machines = [machine_of(program, unit=u) for u in (None, unit)]
            arguments = ARGUMENTS.get(path.parent.name, [])
            before, after = (cycles(program, m, arguments) for m in machines)
            pairs["cycles"] = (before, after)
        row = f"{path.stem:20}"
        for what, (without, with_) in pairs.items():
            share = f" {more(without, with_)}" if without else ""
            row += f"  {what} {without:,} {with_:,}{share}"
            if without:
                ratios.setdefault(what, []).append(with_ / without)
        print(row, flush=True)
    for what, column in ratios.items():
        print(summary(what, column))


if __name__ == "__main__":
    main()
