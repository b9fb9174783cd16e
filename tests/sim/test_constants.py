"""Constants made where they are read: a netlist does the same without and with it."""

from __future__ import annotations

import copy
import random
from typing import Any

from cyclescope.sim._constants import make_constants_near

Bit = int | str
CONTROL = ("RST0", "SIGNEDA", "SIGNEDB", "SOURCEA", "SOURCEB")
FREE = 42  # the first number that no bit has


def cell(kind: str, given: dict[str, str], **wired: list[Bit]) -> dict[str, Any]:
    """A cell as Yosys writes it."""
    outputs = {"P0", "DO", "Z"}
    return {
        "type": kind,
        "parameters": given,
        "port_directions": {port: "output" if port in outputs else "input" for port in wired},
        "connections": wired,
    }


def multiplier(made: int, **wired: list[Bit]) -> dict[str, Any]:
    """A multiplier without a clock, as Yosys makes it, of which one bit is read."""
    control = {port: ["0"] for port in CONTROL[1:]}
    return cell("MULT18X18D", {}, **control | {"A0": [2], "B0": ["0"], "P0": [made]} | wired)


def memory(read: list[Bit], written: list[Bit], initial: str = "x" * 64) -> dict[str, Any]:
    """A LUT memory whose other inputs are bits of their own."""
    return cell(
        "TRELLIS_DPR16X4",
        {"INITVAL": initial},
        RAD=[*read],
        WAD=[*written],
        DI=[30, 31, 32, 33],
        DO=[34, 35, 36, 37],
        WRE=[38],
        WCK=[39],
    )


def test_each_multiplier_has_a_zero_of_its_own() -> None:
    cells = {"a": multiplier(35), "b": multiplier(39, RST0=["0"], CE0=["1"], SIGNEDB=[3])}
    before = copy.deepcopy(cells)
    ports = {"in": {"direction": "input", "bits": [2, 41]}}  # the last is read by no cell
    module = {"cells": cells, "ports": ports, "netnames": {"none": {"bits": [FREE - 1, "x"]}}}
    assert make_constants_near(module) == 2
    found = {
        name: made["connections"]["Z"][0]
        for name, made in module["cells"].items()
        if made["type"] == "LUT4" and made["parameters"]["INIT"] == "0" * 16
    }
    assert len(found) == 2
    assert sorted(found.values()) == [FREE, FREE + 1]
    for name in "ab":
        was, now = before[name]["connections"], cells[name]["connections"]
        zeros = {now[port][0] for port in CONTROL if was.get(port) == ["0"]}
        assert len(zeros) == 1
        assert zeros <= {*found.values()}
        kept = {port: bits for port, bits in was.items() if port not in CONTROL or bits != ["0"]}
        assert kept.items() <= now.items()
    assert cells["a"]["connections"]["SIGNEDA"] != cells["b"]["connections"]["SIGNEDA"]
    again = copy.deepcopy(module)
    assert make_constants_near(module) == 0
    assert module == again


def words(read: list[Bit], written: list[Bit], seed: int) -> list[int]:
    """The words that a memory reads, with random values of its address bits and writes between."""
    rng = random.Random(seed)
    kept: dict[tuple[int, ...], int] = {}
    found = []
    for word in range(200):
        values: dict[Bit, int] = {"0": 0, "1": 1} | {bit: rng.getrandbits(1) for bit in range(20)}
        kept[tuple(values[bit] for bit in written)] = word
        values |= {bit: rng.getrandbits(1) for bit in range(20)}
        found.append(kept.get(tuple(values[bit] for bit in read), -1))
    return found


def test_an_address_without_its_constants_finds_the_same_words() -> None:
    changed = 0
    for seed in range(200):
        rng = random.Random(seed)
        bits: list[Bit] = ["0", "0", "1", *range(2, 8)]
        read = rng.choices(bits, k=4)
        written = [bit if isinstance(bit, str) else bit + 8 for bit in read]
        if rng.random() < 0.3:  # another constant where it is written
            written[rng.randrange(4)] = rng.choice(["0", "1"])
        cells = {"m": memory(read, written)}
        assert make_constants_near({"cells": cells}) == 0
        wired = cells["m"]["connections"]
        assert words(wired["RAD"], wired["WAD"], seed) == words(read, written, seed), seed
        changed += wired["RAD"] != read
    assert changed > 60


def test_two_to_eight_words_need_no_constant() -> None:
    for used in (1, 2, 3):
        read, written = [2, 3, 4][:used], [5, 6, 7][:used]
        unused = 4 - used
        cells = {"m": memory([*read, *["0"] * unused], [*written, *["0"] * unused])}
        make_constants_near({"cells": cells})
        assert cells["m"] == memory(read + read[-1:] * unused, written + written[-1:] * unused)


def test_a_memory_with_contents_stays() -> None:
    given = memory([2, 3, 4, "0"], [5, 6, 7, "0"], initial="0" * 60 + "1010")
    cells = {"m": copy.deepcopy(given)}
    assert make_constants_near({"cells": cells}) == 0
    assert cells == {"m": given}


def test_an_empty_module() -> None:
    module: dict[str, Any] = {"cells": {}}
    assert make_constants_near(module) == 0
    assert module == {"cells": {}}
