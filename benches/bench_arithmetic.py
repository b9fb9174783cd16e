"""Area and speed of the functional units in two FPGAs: the table of docs/units.md.

    python benches/bench_arithmetic.py [--seeds N] [UNIT …]    fadd32, sitofp32_64, …; all if none

All are measured alike, and as whole designs are: synthesised by Yosys, placed and routed by
nextpnr-ecp5 for a Lattice ECP5 of speed grade 6, with registers in front, so that the paths of the
first stage count. The clock is the median of so many placements. Beside it is the area in Xilinx' 7
series, whose multipliers take in registers with a reset, too: of an integer product none is left.
What was measured once is in the cache.
"""

from __future__ import annotations

import argparse
from statistics import median

from cyclescope.rtl import Module, Unit, sources, variants
from cyclescope.sim import on_ecp5, on_xc7, route_on_ecp5

MHZ = 150
"""What is aimed at: a little more than the goal of 140."""


def registered(unit: Unit) -> tuple[str, int]:
    """A functional unit behind registers, as the module `registered`; and how many they are."""
    top = Module("registered")
    clock = {"clk"}
    inputs = {p.name: top.input(p.name, p.width) for p in unit.module.ports() if p.name != "q"}
    # With a reset, so that a multiplier does not take them in.
    delayed = {name: top.delay(net, f"{name}_given", reset=0) for name, net in inputs.items()}
    top.output("q", top.instance(unit.module, "functional", delayed)["q"])
    assert not clock & inputs.keys()
    return "".join(sources(top).values()), sum(net.width for net in inputs.values())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("units", nargs="*", metavar="UNIT")
    asked = parser.parse_args()
    print("| | | ECP5 | | | | | 7 series | | | |")
    print("|---|" + "---:|" * 10)
    print(
        "| unit | cycles | LUT4 | flip-flops | multipliers | block RAM | MHz"
        " | LUT6 | flip-flops | DSP48 | block RAM |"
    )
    for unit in variants():
        if asked.units and unit.name not in asked.units:
            continue
        text, own = registered(unit)
        seeds = range(1, asked.seeds + 1)
        mhz = median(route_on_ecp5(text, "registered", mhz=MHZ, seed=n).mhz for n in seeds)
        ecp5, xc7 = on_ecp5(text, "registered"), on_xc7(text, "registered")
        row = f"| {unit.name} | {unit.latency} |"
        for used, clock in ((ecp5, f" {mhz:.0f} |"), (xc7, "")):
            ffs = max(0, used.ffs - own)
            row += f" {used.luts:,} | {ffs:,} | {used.dsps} | {used.brams} |{clock}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
