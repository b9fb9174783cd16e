"""Constants made where they are read: a netlist does the same without and with it."""

from __future__ import annotations

import copy
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from cyclescope.sim import Design, build, find_yosys, run
from cyclescope.sim._constants import make_constants_near
from cyclescope.sim._ecp5 import _netlist
from cyclescope.sim._synthesis import run_yosys
from extras import NO_YOSYS

if TYPE_CHECKING:
    from pathlib import Path

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


WORDS = """
module kept(input clk, input we, input [2:0] at, input [2:0] from, input [5:0] d, output [5:0] q);
  reg [5:0] words [0:7];
  always @(posedge clk) if (we) words[at] <= d;
  assign q = words[from];
endmodule
"""
CELL = """
module TRELLIS_DPR16X4 #(
  parameter WCKMUX = "WCK", parameter WREMUX = "WRE", parameter [63:0] INITVAL = 64'd0
) (
  input [3:0] DI, input [3:0] WAD, input WRE, input WCK, input [3:0] RAD, output [3:0] DO
);
  reg [3:0] words [0:15];
  always @(posedge WCK) if (WRE) words[WAD] <= DI;
  assign DO = words[RAD];
endmodule
"""
MAIN = """
module main(input clk, input reset, input go, output done);
  reg [31:0] state = 1;
  reg [10:0] cycle = 0;
  reg [5:0] words [0:7];
  reg [7:0] written = 0;
  integer compared = 0;
  wire [2:0] at = state[10:8], from = state[13:11];
  wire [5:0] q;
  kept kept(.clk(clk), .we(state[20]), .at(at), .from(from), .d(state[19:14]), .q(q));
  assign done = cycle[10];
  always @(posedge clk) if (go) begin
    state <= state * 32'd1664525 + 32'd1013904223;
    cycle <= cycle + 1;
    if (state[20]) begin
      words[at] <= state[19:14];
      written[at] <= 1;
    end
    if (written[from]) begin
      compared <= compared + 1;
      if (q != words[from]) $display("word %d is %d, not %d", from, q, words[from]);
    end
    if (&cycle[9:0]) $display("compared %0d", compared);
  end
endmodule
"""


@pytest.mark.skipif(NO_YOSYS, reason="no yosys here; the cells are tested above")
def test_a_synthesised_memory_of_eight_words_works(tmp_path: Path) -> None:
    netlist = json.loads((_netlist(WORDS, "kept") / "netlist.json").read_text("utf-8"))
    memories = [
        found["connections"]
        for found in netlist["modules"]["kept"]["cells"].values()
        if found["type"] == "TRELLIS_DPR16X4"
    ]
    assert len(memories) == 2
    for wired in memories:
        assert (wired["RAD"][3], wired["WAD"][3]) == (wired["RAD"][2], wired["WAD"][2])
    (tmp_path / "given.json").write_text(json.dumps(netlist), "utf-8")
    script = "read_json given.json\nwrite_verilog -noattr made.v"
    run_yosys(find_yosys(), tmp_path, "", script, ["made.v"])
    made = (tmp_path / "made.v").read_text("utf-8")
    texts = {"kept.v": made, "cell.v": CELL, "main.v": MAIN}
    said = run(build(Design("main", texts)), cycle_limit=10_000).output.split()
    assert said[0] == "compared", said
    assert int(said[1]) > 900
