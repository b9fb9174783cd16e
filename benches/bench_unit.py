"""What the profiling unit costs: cycles of the examples with and without it; with --area hardware.

Prints one table: `python benches/bench_unit.py [--area] [--period N] [EXAMPLE …]`. Area is that of
Yosys for Xilinx' 7 series and takes minutes an example.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.hls import (
    START_COST,
    Host,
    MemoryModel,
    UnitOptions,
    compile_c,
    differences,
    machine_of,
    read_dump,
)
from cyclescope.hls._run import run_machine

if TYPE_CHECKING:
    from cyclescope.hls import Machine, Program

EXAMPLES = Path(__file__).parents[1] / "examples" / "hls"
ARGUMENTS = {"gemm": ["64"], "pi": ["64000"]}
THREADS = 8


def cycles(program: Program, machine: Machine, arguments: list[str]) -> int:
    """Cycles of a run whose results are right and whose trace is whole."""
    with Host(program) as host:
        native = host.run(arguments)
    run = run_machine(
        machine, native.inputs, native.scalars, start_cost=START_COST, memory=MemoryModel()
    )
    wrong = differences(program, native.outputs, run.arrays)
    assert not wrong, wrong
    if machine.trace is not None:
        assert not read_dump(run.trace, machine.trace).meta.anomalies
    return run.cycles


def area(machine: Machine) -> tuple[int, int]:
    """LUTs and flip-flops."""
    from cyclescope.sim._synthesis import synthesise

    usage = synthesise("".join(machine.sources.values()), machine.name)
    return sum(u.luts for u in usage), sum(u.ffs for u in usage)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--area", action="store_true")
    parser.add_argument("--period", type=int, default=1024)
    parser.add_argument("examples", nargs="*", default=sorted(map(str, EXAMPLES.glob("*/*.c"))))
    asked = parser.parse_args()
    head = f"{'':24}{'cycles':>12}{'with unit':>12}{'more':>8}"
    print(head + (f"{'LUT':>16}{'FF':>16}" if asked.area else ""))
    for name in asked.examples:
        path = Path(name)
        program = compile_c(path, threads=THREADS)
        unit = UnitOptions(path.name, period=asked.period)
        plain, profiled = (machine_of(program, unit=u) for u in (None, unit))
        arguments = ARGUMENTS.get(path.parent.name, [])
        before, after = (cycles(program, m, arguments) for m in (plain, profiled))
        row = f"{path.stem:24}{before:>12,}{after:>12,}{100 * (after / before - 1):>7.2f}%"
        if asked.area:
            bare, full = (area(machine_of(program, checks=False, unit=u)) for u in (None, unit))
            row += "".join(f"{a:>8,} {b:>7,}" for a, b in zip(bare, full, strict=True))
        print(row, flush=True)


if __name__ == "__main__":
    main()
