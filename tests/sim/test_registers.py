"""Registers moved into multipliers and tables: random circuits do the same with it."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from cyclescope.sim._registers import absorb_registers

CLOCK, RESET, ENABLE = 2, 3, 4
FACTORS = [f"{side}{i}" for side in "AB" for i in range(18)]
PRODUCT = [f"P{i}" for i in range(36)]
WORD = [f"DO{side}{i}" for side in "AB" for i in range(18)]
ADDRESS = [f"AD{side}{i}" for side in "AB" for i in range(14)]
CONTROLS = (("CE", ENABLE), ("RST", RESET))
Bit = int | str


class Circuit:
    """A module of flip-flops, multipliers and block RAMs, as Yosys writes it."""

    def __init__(self) -> None:
        self.cells: dict[str, Any] = {}
        self.bits = ENABLE
        self.outputs: list[Bit] = []

    def new(self, many: int) -> list[Bit]:
        """So many new bits."""
        self.bits += many
        return list(range(self.bits - many + 1, self.bits + 1))

    def flip_flops(self, bits: list[Bit], *, enable: Bit = "1", reset: Bit = "0") -> list[Bit]:
        """The bits a cycle later; constants stay."""
        return [
            bit if isinstance(bit, str) else self._flip_flop(bit, enable, reset) for bit in bits
        ]

    def _flip_flop(self, bit: Bit, enable: Bit, reset: Bit) -> Bit:
        (made,) = self.new(1)
        wired = {"CLK": [CLOCK], "DI": [bit], "LSR": [reset], "Q": [made]}
        given = {"CEMUX": "1 ", "CLKMUX": "CLK", "LSRMUX": "LSR", "REGSET": "RESET"}
        if enable != "1":
            wired["CE"], given["CEMUX"] = [enable], "CE"
        self._cell("TRELLIS_FF", given, wired, {"Q"})
        return made

    def product(self, a: list[Bit], b: list[Bit]) -> list[Bit]:
        """The product of two numbers of at most 18 bits."""
        made = self.new(36)
        wired = {port: ["0"] for port in FACTORS}
        wired |= {f"A{i}": [bit] for i, bit in enumerate(a)}
        wired |= {f"B{i}": [bit] for i, bit in enumerate(b)}
        wired |= {port: [bit] for port, bit in zip(PRODUCT, made, strict=True)}
        self._cell("MULT18X18D", {}, wired, {*PRODUCT})
        return made

    def word(self, address: list[Bit], *, wide: bool = True, **given: Bit) -> list[Bit]:
        """The word of a table at an address: 36 bits, or 18 at side A, while B reads nothing."""
        made = self.new(36 if wide else 18)
        side = "B" if wide else "A"
        wired = {port: ["0"] for port in ADDRESS}
        wired |= {f"AD{side}{i}": [bit] for i, bit in enumerate(address[:10])}
        # Of a wide word the low half is at side B.
        order = [*WORD[18:], *WORD[:18]] if wide else WORD[:18]
        wired |= {port: [bit] for port, bit in zip(order, made, strict=True)}
        for own in "AB":
            wired |= {f"CLK{own}": [CLOCK if own == side else "0"], f"WE{own}": ["0"]}
            wired |= {f"{port}{own}": ["1" if own == side else "0"] for port in ("CE", "OCE")}
            idle = (f"RST{own}", *(f"CS{own}{i}" for i in range(3)))
            wired |= {port: ["0"] for port in idle}
        wired |= {port: [bit] for port, bit in given.items()}
        width = format(36 if wide else 18, "032b")
        parameters = {f"REGMODE_{own}": "NOREG" for own in "AB"}
        parameters |= {f"DATA_WIDTH_{own}": width for own in "AB"}
        self._cell("DP16KD", parameters, wired, {*order})
        return made

    def _cell(
        self, kind: str, given: dict[str, str], wired: dict[str, list[Bit]], outputs: set[str]
    ) -> None:
        self.cells[f"{kind}{len(self.cells)}"] = {
            "type": kind,
            "parameters": given,
            "port_directions": {p: "output" if p in outputs else "input" for p in wired},
            "connections": wired,
        }

    def module(self) -> dict[str, Any]:
        """The circuit with its outputs."""
        return {
            "cells": copy.deepcopy(self.cells),
            "ports": {"q": {"direction": "output", "bits": [*self.outputs]}},
        }


def run(module: dict[str, Any], given: list[dict[int, int]]) -> list[list[int]]:
    """The outputs in each cycle, for the values of the bits that no cell makes."""
    held: dict[tuple[str, str], int] = {}  # what a register has, by its cell and the port behind it
    found: list[list[int]] = []
    for inputs in given:
        values: dict[Bit, int] = {"0": 0, "1": 1, "x": 0, **inputs}
        waiting = dict(module["cells"])
        while waiting:
            before = len(waiting)
            for name, cell in [*waiting.items()]:
                if _evaluate(name, cell, values, held):
                    del waiting[name]
            assert len(waiting) < before
        found.append([values[bit] for bit in module["ports"]["q"]["bits"]])
        held = {
            key: value
            for name, cell in module["cells"].items()
            for key, value in _next(name, cell, values, held)
        }
    return found


def _evaluate(name: str, cell: dict[str, Any], values: dict[Bit, int], held: Any) -> bool:
    """Make the outputs of a cell, if they are known."""
    wired = cell["connections"]
    if cell["type"] == "TRELLIS_FF":
        values[wired["Q"][0]] = held.get((name, "Q"), 0)
        return True
    if cell["type"] == "DP16KD":
        modes = {half: cell["parameters"][f"REGMODE_{half}"] for half in "AB"}
        for port in WORD:
            if port in wired:
                late = modes[port[2]] == "OUTREG"
                values[wired[port][0]] = held.get((name, f"{port} late" if late else port), 0)
        return True
    if "REG_OUTPUT_CLK" in cell["parameters"]:
        made = held.get((name, "P"), 0)
    elif "REG_INPUTA_CLK" in cell["parameters"]:
        made = held.get((name, "A"), 0) * held.get((name, "B"), 0)
    elif all(wired[port][0] in values for port in FACTORS):
        made = _number(wired, "A", values) * _number(wired, "B", values)
    else:
        return False
    values |= {wired[port][0]: made >> i & 1 for i, port in enumerate(PRODUCT)}
    return True


def _next(name: str, cell: dict[str, Any], values: dict[Bit, int], held: Any) -> Any:
    wired = cell["connections"]
    if cell["type"] == "TRELLIS_FF":
        value = held.get((name, "Q"), 0)
        if values[wired.get("CE", ["1"])[0]]:
            value = values[wired["DI"][0]]
        if values[wired["LSR"][0]]:
            value = 0
        yield (name, "Q"), value
        return
    if cell["type"] == "DP16KD":
        yield from _read(name, wired, values, held)
        return
    assert ("REG_INPUTA_CLK" in cell["parameters"]) is ("REG_INPUTB_CLK" in cell["parameters"])
    now = {side: _number(wired, side, values) for side in "AB"}
    if "REG_INPUTA_CLK" in cell["parameters"]:
        before = {side: held.get((name, side), 0) for side in "AB"}
        yield from (((name, side), value) for side, value in now.items())
        now = before
    yield (name, "P"), now["A"] * now["B"]


def _read(name: str, wired: dict[str, list[Bit]], values: dict[Bit, int], held: Any) -> Any:
    """The next word of a table: an arbitrary function of the address; and of its register."""
    address = [values[wired[port][0]] for port in ADDRESS]
    word = random.Random(sum(bit << i for i, bit in enumerate(address))).getrandbits(36)
    wide = "DOB0" in wired
    for i, port in enumerate(WORD):
        side = "B" if wide else port[2]
        if port in wired:
            before = held.get((name, port), 0)
            read = values[wired[f"CE{side}"][0]]
            yield (name, port), word >> i & 1 if read else before
            if values[wired[f"RST{side}"][0]]:
                yield (name, port), 0
            stays = held.get((name, f"{port} late"), 0)
            yield (name, f"{port} late"), before if values[wired[f"OCE{port[2]}"][0]] else stays


def _number(wired: dict[str, list[Bit]], side: str, values: dict[Bit, int]) -> int:
    return sum(values[wired[f"{side}{i}"][0]] << i for i in range(18))


def random_circuit(rng: random.Random) -> Circuit:
    """Numbers that are delayed and multiplied; the wires of some are read elsewhere, too."""
    circuit = Circuit()
    numbers = [circuit.new(rng.choice([3, 18])) for _ in range(3)]
    for _ in range(rng.randint(2, 8)):
        number = rng.choice(numbers)
        kind = rng.random()
        if kind < 0.2:
            waits, resets = ({f"{port}{side}": bit for side in "AB"} for port, bit in CONTROLS)
            how = rng.choice([{}, {}, waits, resets])
            numbers.append(circuit.word(number, wide=rng.random() < 0.5, **how))
            if rng.random() < 0.7:
                numbers[-1] = circuit.flip_flops(numbers[-1])
        elif kind < 0.6:
            how = rng.choice([{}, {}, {"enable": ENABLE}, {"reset": RESET}])
            numbers.append(circuit.flip_flops(number, **how))
        else:
            other = rng.choice([*numbers, ["1", "0", "1"]])
            product = circuit.product(number[:18], other[:18])
            numbers += [product[:18], product[5:20]][: rng.randint(1, 2)]
            if rng.random() < 0.7:
                numbers[-1] = circuit.flip_flops(numbers[-1])
    circuit.outputs = numbers[-1] + rng.choice([[], rng.choice(numbers)])
    return circuit


def test_random_circuits_do_the_same() -> None:
    moved = tables = 0
    for seed in range(160):
        rng = random.Random(seed)
        circuit = random_circuit(rng)
        module = circuit.module()
        gone = absorb_registers(module)
        moved += gone > 0
        tables += any("OUTREG" in c["parameters"].values() for c in module["cells"].values())
        made = {
            b
            for c in circuit.cells.values()
            for p in ("Q", *PRODUCT, *WORD)
            for b in c["connections"].get(p, ())
        }
        free = [bit for bit in range(RESET, circuit.bits + 1) if bit not in made]
        given = [{bit: rng.getrandbits(1) for bit in free} for _ in range(12)]
        assert run(module, given) == run(circuit.module(), given), seed
        kinds = [cell["type"] for cell in module["cells"].values()]
        assert len(circuit.cells) - len(kinds) == gone
        absorb_registers(module)  # what is there already stays as it is
        assert run(module, given) == run(circuit.module(), given), seed
    assert moved > 50
    assert tables > 10


def pipeline(**how: Any) -> Circuit:
    """A product with registers before and behind."""
    circuit = Circuit()
    a, b = circuit.new(18), circuit.new(6)
    factors = circuit.flip_flops(a), circuit.flip_flops(b, **how)
    circuit.outputs = circuit.flip_flops(circuit.product(*factors)[:24])
    return circuit


def test_a_pipelined_product_is_one_cell() -> None:
    module = pipeline().module()
    assert absorb_registers(module) == 18 + 6 + 24
    (cell,) = module["cells"].values()
    for register in ("INPUTA", "INPUTB", "OUTPUT"):
        assert cell["parameters"][f"REG_{register}_CLK"] == "CLK0"
        assert cell["parameters"][f"REG_{register}_CE"] == "CE0"
        assert cell["parameters"][f"REG_{register}_RST"] == "RST0"
    wired = cell["connections"]
    assert (wired["CLK0"], wired["CE0"], wired["RST0"]) == ([CLOCK], ["1"], ["0"])
    assert all(cell["port_directions"][port] == "input" for port in ("CLK0", "CE0", "RST0"))


@pytest.mark.parametrize("how", [{"enable": ENABLE}, {"reset": RESET}], ids=["enable", "reset"])
def test_registers_that_wait_or_are_reset_stay(how: dict[str, Bit]) -> None:
    module = pipeline(**how).module()
    assert absorb_registers(module) == 24  # the product's alone
    assert sum(cell["type"] == "TRELLIS_FF" for cell in module["cells"].values()) == 18 + 6


def test_one_that_others_read_stays_too() -> None:
    circuit = pipeline()
    first, second, *_ = circuit.cells.values()
    circuit.outputs += first["connections"]["Q"] + second["connections"]["Q"]
    module = circuit.module()
    assert absorb_registers(module) == 16 + 6 + 24
    assert sum(cell["type"] == "TRELLIS_FF" for cell in module["cells"].values()) == 2


@pytest.mark.parametrize("wide", [True, False], ids=["36 bits", "18 bits"])
def test_a_table_has_a_register_for_its_word(wide: bool) -> None:
    circuit = Circuit()
    word = circuit.word(circuit.new(9), wide=wide)
    circuit.outputs = circuit.flip_flops(word)
    module = circuit.module()
    assert absorb_registers(module) == len(word)
    (cell,) = module["cells"].values()
    modes = ["OUTREG", "OUTREG" if wide else "NOREG"]
    assert [cell["parameters"][f"REGMODE_{side}"] for side in "AB"] == modes
    assert cell["connections"]["OCEA"] == ["1"]


@pytest.mark.parametrize(
    "given", [{"CEB": ENABLE}, {"OCEB": ENABLE}, {"RSTB": RESET}, {"WEB": ENABLE}, {"CSB1": RESET}]
)
def test_a_memory_that_waits_keeps_the_register_behind_it(given: dict[str, Bit]) -> None:
    circuit = Circuit()
    circuit.outputs = circuit.flip_flops(circuit.word(circuit.new(9), **given))
    assert absorb_registers(circuit.module()) == 0
