"""Small designs in the calling convention of Calyx, and where they are built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cyclescope.errors import ToolError
from cyclescope.sim import CaptureModule, Design, Memory, Signal
from cyclescope.sim._toolchain import find_compiler

if TYPE_CHECKING:
    from collections.abc import Callable

# Counts down from the number in `mem[0]` and writes how often into `mem[1]`.
COUNTDOWN = """
module main(input logic clk, input logic reset, input logic go, output logic done);
  string DATA;
  int CODE;
  logic [7:0] mem[1:0];
  initial begin
    CODE = $value$plusargs("DATA=%s", DATA);
    $readmemh({DATA, "/mem.dat"}, mem);
  end
  final $writememh({DATA, "/mem.out"}, mem);
  logic [7:0] left, count;
  logic busy;
  assign done = busy && left == 0;
  always_ff @(posedge clk) begin
    if (reset) begin busy <= 0; left <= 0; count <= 0; end
    else if (go && !busy) begin busy <= 1; left <= mem[0]; end
    else if (busy && left != 0) begin left <= left - 1; count <= count + 1; mem[1] <= count + 1; end
  end
endmodule
"""

# Never done; what it does after some cycles is the caller's.
ENDLESS = """
module main(input logic clk, input logic reset, input logic go, output logic done);
  logic [31:0] n;
  assign done = 0;
  always_ff @(posedge clk) begin
    if (reset) n <= 0;
    else if (go) n <= n + 1;
    BODY
  end
endmodule
"""


@pytest.fixture(scope="session")
def compiler() -> None:
    """Skips what runs a simulation where no C++ compiler is."""
    try:
        find_compiler()
    except ToolError as error:
        pytest.skip(f"no simulation can be built here: {error}")


def make_countdown(*signals: Signal) -> Design:
    """The countdown; captures `left` and `busy` unless told otherwise."""
    wanted = signals or (Signal("left", 8), Signal("busy"))
    return Design(
        "main",
        {"main.sv": COUNTDOWN},
        capture=(CaptureModule("main", wanted),),
        memories=(Memory("mem", 8, (2,)),),
    )


def make_data(number: int) -> dict[str, object]:
    number_format = {"numeric_type": "bitnum", "is_signed": False, "width": 8}
    return {"mem": {"data": [number, 0], "format": number_format}}


def make_endless(body: str = "", *, capture: bool = True) -> Design:
    probes = (CaptureModule("main", (Signal("n[3:0]", 4, "low"),)),) if capture else ()
    return Design("main", {"main.sv": ENDLESS.replace("BODY", body)}, capture=probes)


@pytest.fixture
def countdown(compiler: None) -> Callable[..., Design]:
    return make_countdown


@pytest.fixture
def endless(compiler: None) -> Callable[..., Design]:
    return make_endless


@pytest.fixture
def data_for() -> Callable[[int], dict[str, object]]:
    return make_data
