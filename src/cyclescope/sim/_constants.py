"""Constants in an ECP5's netlist, made where they are read.

nextpnr sets most constant inputs in place. Those of a multiplier's control and of a LUT memory's
addresses it routes, from one LUT to the whole device: thousands of wires, each of which its router
finds only after a search through all the others. A multiplier's reset can be entered by few wires;
when these are taken, the search covers the device over and over, for minutes.
"""

from __future__ import annotations

from typing import Any

__all__ = ["make_constants_near"]

_CONTROL = ("RST0", "SIGNEDA", "SIGNEDB", "SOURCEA", "SOURCEB")


def make_constants_near(module: dict[str, Any]) -> int:
    """Make the constants that nextpnr would route beside the cells that read them.

    The 0 of a multiplier's control inputs comes from a LUT of its own. An address bit of a LUT
    memory that is 0 where it is read and where it is written follows the bit below it: each word
    is then in another place, but in one, and two words are never in the same. A memory with initial
    contents stays as it is.

    Args:
        module: a dissolved design as Yosys' `write_json` has it; its cells are changed.

    Returns:
        The number of LUTs that there are more.
    """
    cells, free = module["cells"], _first_free(module)
    made: dict[str, Any] = {}
    for name, cell in cells.items():
        wired = cell["connections"]
        if cell["type"] == "MULT18X18D":
            if ports := [port for port in _CONTROL if wired.get(port) == ["0"]]:
                zero = free + len(made)
                wired |= {port: [zero] for port in ports}
                made[f"{name}$zero"] = _zero(zero)
        elif cell["type"] == "TRELLIS_DPR16X4" and not cell["parameters"]["INITVAL"].strip("x"):
            _follow(wired["RAD"], wired["WAD"])
    cells |= made
    return len(made)


def _first_free(module: dict[str, Any]) -> int:
    """The first number that no bit has; Yosys numbers them from 2."""
    wired = [bits for cell in module["cells"].values() for bits in cell["connections"].values()]
    for kind in ("ports", "netnames"):
        wired += [found["bits"] for found in module.get(kind, {}).values()]
    return 1 + max((bit for bits in wired for bit in bits if isinstance(bit, int)), default=1)


def _zero(bit: int) -> dict[str, Any]:
    """A LUT that makes 0."""
    return {
        "type": "LUT4",
        "parameters": {"INIT": "0" * 16},
        "attributes": {},
        "port_directions": {**dict.fromkeys("ABCD", "input"), "Z": "output"},
        "connections": {**{port: ["0"] for port in "ABCD"}, "Z": [bit]},
    }


def _follow(read: list[int | str], written: list[int | str]) -> None:
    """Let the bits of both addresses of a memory that are 0 be those below them."""
    for at in range(1, len(read)):
        if read[at] == written[at] == "0":
            read[at], written[at] = read[at - 1], written[at - 1]
