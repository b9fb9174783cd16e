"""Registers around the multipliers and block RAMs of an ECP5, moved into them.

A multiplier has registers of its own for its factors and for its product, which Yosys does not use.
Without them a factor comes from a flip-flop over a wire, is multiplied (3.9 ns at speed grade 6),
and the product goes over another wire to a flip-flop, all in one cycle. Multipliers are in a few
rows of the device, so these wires are long. With the registers the wires are in the cycles before
and behind. In the same way a block RAM has a register for its word, which without it comes 5.8 ns
after the clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["absorb_registers", "factor_bits"]

_FACTORS = tuple(f"{side}{i}" for side in "AB" for i in range(18))
_PRODUCT = tuple(f"P{i}" for i in range(36))
_MOVED = "registers of factors"
_WIDE = 36  # bits of a block RAM's word that takes the outputs of both sides


def absorb_registers(module: dict[str, Any]) -> int:
    """Move flip-flops that are beside a multiplier or behind a table in block RAM into it.

    Those of the factors are moved if all bits of both come from flip-flops or are constant: the
    timing of a multiplier is known for both or none. Those of a product or word are moved if each
    bit that is read goes to a flip-flop and nowhere else. The registers inside load in every cycle,
    with the rising edge, and nothing sets or resets them: so must the flip-flops. A block RAM's
    loads with what enables its port, so it is a table, which is read in every cycle.

    Args:
        module: a dissolved design as Yosys' `write_json` has it; its cells are changed.

    Returns:
        The number of flip-flops that there are less.
    """
    nets = _Nets(module)
    before = len(nets.cells)
    for name, cell in [*nets.cells.items()]:
        if cell["type"] == "MULT18X18D":
            _move_product(cell, nets)
            _move_factors(name, nets)
        elif cell["type"] == "DP16KD":
            for port in _ports(cell):
                _move_word(cell, port, nets)
    return before - len(nets.cells)


def factor_bits(cell: dict[str, Any]) -> list[int]:
    """The bits that the flip-flops made whose place the registers of a cell's factors took."""
    found = cell.get("attributes", {}).get(_MOVED, "")
    return [int(bit) for bit in found.split(",") if bit]


@dataclass(slots=True)
class _Nets:
    """The maker and the readers of each bit.

    Attributes:
        cells: of the module.
        flip_flops: those that can be moved, by the bit that they make.
        readers: of a bit, as (cell, port); the module's outputs are ports of the cell "".
    """

    module: dict[str, Any]
    cells: dict[str, Any] = field(init=False)
    flip_flops: dict[int, str] = field(init=False, default_factory=dict)
    readers: dict[int, list[tuple[str, str]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.cells = self.module["cells"]
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "input":
                    self._read(name, port, bits)
            if _is_plain(cell):
                self.flip_flops[cell["connections"]["Q"][0]] = name
        for port, found in self.module.get("ports", {}).items():
            if found["direction"] != "input":
                self._read("", port, found["bits"])

    def _read(self, cell: str, port: str, bits: list[int | str]) -> None:
        for bit in bits:
            if isinstance(bit, int):
                self.readers.setdefault(bit, []).append((cell, port))

    def connection(self, name: str, port: str) -> int:
        """The bit at a port of one bit."""
        return int(self.cells[name]["connections"][port][0])

    def remove(self, bit: int) -> None:
        """Remove the flip-flop that makes a bit."""
        name = self.flip_flops.pop(bit)
        for port, bits in self.cells.pop(name)["connections"].items():
            if port != "Q":
                for read in bits:
                    if isinstance(read, int):
                        self.readers[read].remove((name, port))


def _is_plain(cell: dict[str, Any]) -> bool:
    """It is a flip-flop that does what the registers of other cells do."""
    if cell["type"] != "TRELLIS_FF":
        return False
    wired, given = cell["connections"], cell["parameters"]
    return (
        isinstance(wired["DI"][0], int)
        and wired.get("LSR", ["0"]) == ["0"]
        and given.get("LSRMUX", "LSR") == "LSR"
        and (given.get("CEMUX", "1").strip() == "1" or wired.get("CE") == ["1"])
        and given.get("CLKMUX", "CLK") == "CLK"
        and given.get("REGSET", "RESET") == "RESET"
    )


def _move_product(cell: dict[str, Any], nets: _Nets) -> None:
    if "REG_OUTPUT_CLK" in cell["parameters"]:
        return
    moved = _behind(cell, _PRODUCT, nets)
    clocks = {nets.connection(name, "CLK") for name in moved.values()}
    if len(clocks) == 1:
        _move_back(cell, moved, nets)
        _clock(cell, "OUTPUT", *clocks)


def _behind(cell: dict[str, Any], outputs: tuple[str, ...], nets: _Nets) -> dict[str, str]:
    """The flip-flops behind those outputs that are read; none if something else reads one."""
    found: dict[str, str] = {}
    for port, bit in _bits(cell, outputs):
        readers = nets.readers.get(bit, ())
        if not readers:
            continue
        (name, at), *others = readers
        if others or at != "DI" or not name or not _is_plain(nets.cells[name]):
            return {}
        found[port] = name
    return found


def _move_back(cell: dict[str, Any], moved: dict[str, str], nets: _Nets) -> None:
    """Make the outputs what the flip-flops behind them made."""
    for port, name in moved.items():
        bit = nets.connection(name, "Q")
        nets.remove(bit)
        cell["connections"][port] = [bit]


@dataclass(frozen=True, slots=True)
class _Port:
    """A port of a block RAM: its side, of which the clock and enables are; where its word is."""

    side: str
    word: str

    def outputs(self) -> tuple[str, ...]:
        """The names of its word's bits."""
        return tuple(f"DO{half}{i}" for half in self.word for i in range(18))


def _ports(cell: dict[str, Any]) -> tuple[_Port, ...]:
    """Two ports of 18 bits; or, of 36, one that writes on side A and one that reads on side B."""
    wide = any(int(cell["parameters"][f"DATA_WIDTH_{side}"], 2) == _WIDE for side in "AB")
    return (_Port("B", "AB"),) if wide else (_Port("A", "A"), _Port("B", "B"))


def _move_word(cell: dict[str, Any], port: _Port, nets: _Nets) -> None:
    given, wired, side = cell["parameters"], cell["connections"], port.side
    always = {f"CE{side}": "1", f"OCE{side}": "1", f"RST{side}": "0", f"WE{side}": "0"}
    always |= {f"CS{side}{i}": "0" for i in range(3)}
    if (
        any(given.get(f"REGMODE_{half}") != "NOREG" for half in port.word)
        or any(wired.get(name) != [value] for name, value in always.items())
        or any(value == "INV" for value in given.values())
    ):
        return
    moved = _behind(cell, port.outputs(), nets)
    if {nets.connection(name, "CLK") for name in moved.values()} == {*wired[f"CLK{side}"]}:
        _move_back(cell, moved, nets)
        for half in port.word:
            given[f"REGMODE_{half}"] = "OUTREG"
            wired[f"OCE{half}"] = ["1"]


def _move_factors(name: str, nets: _Nets) -> None:
    cell = nets.cells[name]
    if "REG_INPUTA_CLK" in cell["parameters"]:
        return
    moved = dict(_bits(cell, _FACTORS))
    if not moved or not all(bit in nets.flip_flops for bit in moved.values()):
        return
    sources = {port: nets.flip_flops[bit] for port, bit in moved.items()}
    clocks = {nets.connection(source, "CLK") for source in sources.values()}
    if len(clocks) != 1:
        return
    for port, source in sources.items():
        bit = nets.connection(source, "DI")
        cell["connections"][port] = [bit]
        nets.readers.setdefault(bit, []).append((name, port))
        nets.readers[moved[port]].remove((name, port))
    for bit in {*moved.values()}:
        if not nets.readers[bit]:
            nets.remove(bit)
    names = ",".join(map(str, dict.fromkeys(moved.values())))
    cell.setdefault("attributes", {})[_MOVED] = names
    for side in "AB":
        _clock(cell, f"INPUT{side}", *clocks)


def _bits(cell: dict[str, Any], ports: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """The ports' bits that are not constant."""
    for port in ports:
        for bit in cell["connections"].get(port, ()):
            if isinstance(bit, int):
                yield port, bit


def _clock(cell: dict[str, Any], register: str, clock: int) -> None:
    """Turn one of a multiplier's registers on: it loads in every cycle and is never reset."""
    cell["parameters"] |= {
        f"REG_{register}_CLK": "CLK0",
        f"REG_{register}_CE": "CE0",
        f"REG_{register}_RST": "RST0",
        "GSR": "DISABLED",
    }
    for port, bits in (("CLK0", [clock]), ("CE0", ["1"]), ("RST0", ["0"])):
        cell["connections"][port] = bits
        cell["port_directions"][port] = "input"
