"""A design to run: its Verilog, the signals to capture, and the testbench that drives it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CaptureModule", "Design", "Harness", "Memory", "Signal", "cpp_source", "go_done"]


@dataclass(frozen=True, slots=True)
class Signal:
    """An expression in the scope of a Verilog module.

    Attributes:
        expression: a net, register or any expression without side effects.
        width: its bits, at least 1.
        name: what to call it; the expression if empty.
    """

    expression: str
    width: int = 1
    name: str = ""

    @property
    def label(self) -> str:
        """The name if there is one, else the expression."""
        return self.name or self.expression


@dataclass(frozen=True, slots=True)
class CaptureModule:
    """Signals to be captured in every instance of a Verilog module.

    Attributes:
        module: the module's name in the sources.
        signals: at least one; labels are distinct.
        clock: expression of the clock at whose rising edge the signals are sampled.
    """

    module: str
    signals: tuple[Signal, ...]
    clock: str = "clk"


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory that a run fills from data and that is read back afterwards.

    The design does both itself: `$readmemh` of `<name>.dat` and `$writememh` of `<name>.out` in
    the folder that the plusarg `DATA` names, one word a line in row-major order.

    Attributes:
        name: as in the data.
        width: bits of a word.
        dims: words along each dimension, outermost first.
    """

    name: str
    width: int
    dims: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of words."""
        size = 1
        for dim in self.dims:
            size *= dim
        return size


@dataclass(frozen=True, slots=True)
class Harness:
    """The testbench of a design: a Verilog top and the C++ `main`.

    The C++ text sees the verilated class `Vcyc`, `recorder.h` and the constant `cyc_layout`. It
    calls `cyc::open`, `cyc::start`, `cyc::more`, `cyc::tick` and `cyc::close`, as
    `go_done.cpp` does.

    Attributes:
        top: name of the top module, whose name is cut from the names of instances.
        verilog: source of that module; empty if it is among the design's sources.
        cpp: source of `main`.
    """

    top: str
    verilog: str
    cpp: str

    @property
    def scope(self) -> str:
        """The prefix that Verilator gives the names of the design's instances."""
        return f"TOP.{self.top}." if self.verilog else "TOP."


@dataclass(frozen=True, slots=True)
class Design:
    """A design to be built.

    Attributes:
        top: its top module.
        sources: file name (no folder) → Verilog text, compiled in this order.
        capture: what to record; nothing if empty.
        memories: those that data is for.
        testbench: what drives it; `go_done(top)` if absent.
    """

    top: str
    sources: Mapping[str, str]
    capture: tuple[CaptureModule, ...] = ()
    memories: tuple[Memory, ...] = ()
    harness: Harness | None = field(default=None)

    @property
    def bench(self) -> Harness:
        """The testbench in force."""
        return self.harness or go_done(self.top)


@cache
def cpp_source(name: str) -> str:
    """A C++ source of this package."""
    return (resources.files("cyclescope.sim") / "cpp" / name).read_text("utf-8")


def go_done(top: str) -> Harness:
    """The testbench of Calyx's calling convention: reset, then hold `go` until `done`.

    `reset` is held for four clock edges; cycle 0 is the first with `go` high; a run's cycles are
    those before the first that sees `done`. This agrees with the counts of Calyx's own harness.

    Args:
        top: the module with the ports `go`, `clk`, `reset` and `done`.
    """
    verilog = f"""\
module cyc_top(input logic clk, output logic go, output logic done);
  logic reset;
  logic [2:0] edges;
  initial begin go = 0; reset = 1; edges = 0; end
  always_ff @(posedge clk) begin
    if (edges == 3) begin go <= 1; reset <= 0; end
    else edges <= edges + 1;
  end
  {top} {top}(.clk(clk), .reset(reset), .go(go), .done(done));
endmodule
"""
    return Harness(top="cyc_top", verilog=verilog, cpp=cpp_source("go_done.cpp"))
