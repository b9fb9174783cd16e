"""The external memory's Verilog keeps the rules, which an interpreter has on its own."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from cyclescope.hls import MemoryModel
from cyclescope.hls.run._testbench import dram
from cyclescope.sim import Design, Harness, build, go_done, run
from hls.dram_rules import Request, transfers

if TYPE_CHECKING:
    from pathlib import Path

BANKS = 4
COUNT = 120

MODELS = {
    "default": MemoryModel(controller=5, refresh_interval=0),
    "refreshed": MemoryModel(controller=5, refresh_interval=90, refresh=20),
    "rows": MemoryModel(controller=3, cas=3, rcd=4, rp=5, ras=12, wr=6, refresh_interval=0),
    "groups": MemoryModel(controller=3, ccd=5, refresh_interval=0),
    "activations": MemoryModel(controller=3, rcd=3, ras=25, faw=21, refresh_interval=0),
    "slow": MemoryModel(controller=3, line=4, turnaround=3, refresh_interval=0),
    "shared": MemoryModel(controller=3, line=3, shared=1, refresh_interval=150, refresh=9),
    "reordered": MemoryModel(controller=3, rp=6, rcd=5, window=8, line=2, refresh_interval=0),
    "all": MemoryModel(
        controller=4, cas=3, rcd=3, rp=3, ras=8, wr=4, ccd=2, faw=9, line=2, shared=1,
        window=16, refresh_interval=200, refresh=15,
    ),
}  # fmt: skip

CLOCK = """\
module testbench;
  reg clk;
  wire go, done;
  initial clk = 0;
  bench bench (.clk(clk), .go(go), .done(done));
  always #1 clk = !clk;
  always @(posedge clk) if (done) $finish;
endmodule
"""


def _streams(seed: int) -> list[list[tuple[int, Request]]]:
    """Requests at random times, some of them in rows that were used before."""
    pick = random.Random(seed)
    streams = []
    for _ in range(BANKS):
        at, stream = 0, []
        row, bank = 0, 0
        for number in range(COUNT):
            at += pick.choice((0, 0, 0, 1, 2, 40 if pick.random() < 0.1 else 1))
            if pick.random() < 0.4:
                row, bank = pick.randrange(3), pick.randrange(16)
            stream.append((at, Request(number, row, bank, pick.random() < 0.3)))
        streams.append(stream)
    return streams


def _bench(model: MemoryModel, streams: list[list[tuple[int, Request]]]) -> str:
    """A module that offers the streams to four banks, and prints what becomes of them."""
    pins = ", ".join(f".{name}(32'd{value})" for name, value in model.values().items())
    text = """\
module bench (input wire clk, output reg go, output reg done);
  reg reset;
  reg [1:0] edges;
  reg [31:0] clock;
  initial begin go = 0; done = 0; reset = 1; edges = 0; end
  wire [3:0] may, wants, issue, issue_write, idle;
  wire [127:0] transfer;
  wire [31:0] taken;
  wire taken_by_write;
  reg [31:0] quiet;
"""
    text += f"""\
  channel bus (.clk(clk), .reset(reset), .shared({int(model.shared > 0)}), .line({model.line}),
    .wants(wants), .may(may), .issue(issue), .issue_write(issue_write), .transfer(transfer),
    .taken(taken), .taken_by_write(taken_by_write));
"""
    text += """\
  always @(posedge clk) begin
    if (edges == 3) begin go <= 1; reset <= 0; end else edges <= edges + 1;
    clock <= reset ? 0 : clock + 1;
    quiet <= &idle ? quiet + 1 : 0;
    if (quiet == 2000) done <= 1;
  end
"""
    for b, stream in enumerate(streams):
        loads = "\n".join(
            f"    asked{b}[{n}] = {{1'b{int(q.write)}, 24'd{q.row << 11 | q.bank << 7}, 32'd{at}}};"
            for n, (at, q) in enumerate(stream)
        )
        text += f"""\
  reg [56:0] asked{b} [0:{COUNT}];
  reg [31:0] next{b};
  initial begin
{loads}
  end
  wire offered{b} = !reset && next{b} < {COUNT} && clock >= asked{b}[next{b}][31:0];
  wire waits{b}, valid{b};
  assign idle[{b}] = next{b} == {COUNT} && !valid{b};
  always @(posedge clk) begin
    if (reset) next{b} <= 0;
    else if (offered{b} && !waits{b}) next{b} <= next{b} + 1;
    if (issue[{b}] && !reset)
      $display("T {b} %0d", transfer[{32 * b} +: 32] - (1 << 21));  // where its clock begins
    if (valid{b}) $display("A {b} %0d", clock - 1);
  end
  dram #(.LINES(1024), .PLACE(10), .NUMBER({b})) bank{b} (.clk(clk), .reset(reset), .dump(1'b0),
    {pins}, .address(asked{b}[next{b}][55:32]), .read(offered{b} && !asked{b}[next{b}][56]),
    .write(offered{b} && asked{b}[next{b}][56]), .byteenable(64'd0), .writedata(512'd0),
    .waitrequest(waits{b}), .readdatavalid(valid{b}), .wants(wants[{b}]), .may(may[{b}]),
    .issue(issue[{b}]), .issue_write(issue_write[{b}]), .transfer(transfer[{32 * b} +: 32]),
    .taken(taken), .taken_by_write(taken_by_write));
"""
    return text + "endmodule\n"


def _expected(
    model: MemoryModel, streams: list[list[tuple[int, Request]]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Transfers in the order of their commands, and answers in the order of the requests."""
    issued = transfers(model, streams)
    answers: list[list[int]] = []
    for stream, found in zip(streams, issued, strict=True):
        at, times = -1, []
        for _, request in stream:
            if not request.write:
                at = max(at + 1, found[request.number] + model.controller)
                times.append(at)
        answers.append(times)
    return [list(found.values()) for found in issued], answers


def _said(folder: Path) -> str:
    command = ["vvp", "sim"]
    ran = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, timeout=60
    )
    return ran.stdout


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_verilog_keeps_the_rules(model: MemoryModel, tmp_path: Path) -> None:
    streams = _streams(len(repr(model)))
    (wanted, answers) = _expected(model, streams)
    text = _bench(model, streams)
    design = Design(
        "bench", {"dram.v": dram()}, harness=Harness("bench", text, go_done("bench").cpp)
    )
    outputs = [run(build(design, optimise="-O0"), cycle_limit=100_000).output]
    if shutil.which("iverilog"):
        (tmp_path / "all.v").write_text(dram() + text + CLOCK)
        subprocess.run(["iverilog", "-g2005", "-o", "sim", "all.v"], cwd=tmp_path, check=True)
        outputs.append(_said(tmp_path))
    for output in outputs:
        for kind, expected in (("T", wanted), ("A", answers)):
            for b in range(BANKS):
                times = [int(t) for t in re.findall(rf"^{kind} {b} (\d+)$", output, re.MULTILINE)]
                assert times == expected[b], f"{kind} of bank {b}"


def test_every_rule_costs_something() -> None:
    """The streams meet each rule: without it the lines come at other times."""
    for name, least in [
        ("rows", {"ras": 0}), ("rows", {"wr": 0}), ("groups", {"ccd": 0}),
        ("activations", {"faw": 0}), ("slow", {"line": 1}), ("slow", {"turnaround": 0}),
        ("shared", {"shared": 0}), ("reordered", {"window": 0}), ("refreshed", {"refresh": 1}),
    ]:  # fmt: skip
        model = MODELS[name]
        streams = _streams(len(repr(model)))
        assert transfers(model, streams) != transfers(replace(model, **least), streams), name


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_bus_has_one_line_at_a_time(model: MemoryModel) -> None:
    banks = transfers(model, _streams(7))
    for bus in ([sorted(t for b in banks for t in b.values())] if model.shared else
                [sorted(b.values()) for b in banks]):  # fmt: skip
        assert all(b - a >= model.line for a, b in pairwise(bus))
