"""The testbench: host, clocked bench, four banks of DDR4; for Verilator and any simulator.

The bench reads what the host would say from `config.hex` (64-bit words, `config_words`) and the
banks from `bank0.hex` … in the folder that the plusarg `RUN` names (default: the current one); at
the end it leaves `bank0.out` … there.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from cyclescope.hls.ir import Place
from cyclescope.hls.microarch import ADDRESS, BANK_BITS, BANKS, LINE, LINE_BITS, OFFSET, tid_width
from cyclescope.hls.run._memory_model import MemoryModel
from cyclescope.hls.trace import layout_of
from cyclescope.sim import Harness, go_done

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.hls.microarch import Machine

__all__ = ["LAST_WORDS", "Host", "bench", "config_words", "dram", "harness", "wrapper"]

_MODEL = tuple(field.name for field in fields(MemoryModel))
LAST_WORDS = 1 << 16
"""Cycles in which a profiling unit has written its last lines, and more."""

_BANK = ("address", "read", "write", "byteenable", "writedata", "waitrequest")
_HOST = ("team", "only", "in_order", "start_cost", "patience", "period")


@dataclass(frozen=True, slots=True)
class Host:
    """The settings of the host.

    Attributes:
        team: threads that there are.
        only: 0: it starts all of them; else only thread `only` - 1.
        in_order: variable-latency stages keep the order of arrival.
        start_cost: cycles from one thread's start to the next one's.
        bases, sizes: of the external arrays, in bytes.
        scalars: as bit patterns.
        period: cycles between two samples of a profile's counters.
        patience: cycles without any movement until it gives up.
        trace: address and lines of the profiling unit's region.
        stop_at: the cycle in which a run with a profiling unit is cut; 0: never.
    """

    team: int
    in_order: bool
    start_cost: int
    bases: Sequence[int]
    sizes: Sequence[int]
    scalars: Sequence[int]
    only: int = 0
    period: int = 1
    patience: int = 1000
    trace: tuple[int, int] = (0, 0)
    stop_at: int = 0


@cache
def dram() -> str:
    """The Verilog of a bank of external memory."""
    return (resources.files("cyclescope.hls.run") / "dram.v").read_text("utf-8")


def config_words(host: Host, model: MemoryModel) -> list[int]:
    """The words of `config.hex`, in the bench's order."""
    words = [int(getattr(host, name)) for name in _HOST]
    words += [getattr(model, name) for name in _MODEL]
    for base, size in zip(host.bases, host.sizes, strict=True):
        words += [base, size]
    return words + list(host.scalars) + [*host.trace, host.stop_at]


def bench(machine: Machine, lines: int, inside: str = "") -> str:
    """The module `bench`: clock in, `go` from the first cycle on, `done` at the end.

    With a profiling unit `stop` cuts the run.

    Args:
        machine: what it drives.
        lines: of 64 bytes in each bank, a power of two.
        inside: more Verilog for its inside.
    """
    n, region = machine.threads, machine.region
    tid = tid_width(n)
    config: list[str] = [*_HOST, *_MODEL]
    pins = [
        ".clk(clk), .reset(reset), .start(start), .start_tid(start_tid)",
        f".team(team[{tid}:0]), .team_mask(team_mask), .in_order(in_order[0])",
        ".finished(finished), .running(running), .moving(moving), .waits(waits)",
        ".state_low(state_low), .state_high(state_high)",
    ]
    for number, array in enumerate(region.arrays):
        if array.place is Place.EXTERNAL:
            config += [f"base{number}", f"size{number}"]
            pins.append(f".base{number}(base{number}[31:0]), .size{number}(size{number}[31:0])")
    for number, (name, width) in enumerate(region.scalars):
        config.append(f"scalar{number}")
        pins.append(f".scalar{number}(scalar{number}[{width - 1}:0])  // {name}")
    config += ["trace_base", "trace_lines", "stop_at"]
    no_trace = "  assign trace_done = 0;"
    if layout_of(machine) is not None:
        no_trace = ""
        pins.append(".trace_base(trace_base[31:0]), .trace_lines(trace_lines[31:0])")
        pins.append(".trace_stop(trace_stop), .trace_done(trace_done)")
        pins += [f".bank{b}_row_miss(bank{b}_row_miss)" for b in range(BANKS)]
    if machine.accesses:
        pins.append(".faulty(faulty), .faulty_access(faulty_access)")
        pins.append(".faulty_tid(faulty_tid), .faulty_offset(faulty_offset)")
    for b in range(BANKS):
        ports = (*_BANK, "readdatavalid", "readdata")
        pins.append(", ".join(f".bank{b}_{p}(bank{b}_{p})" for p in ports))
    waits = max(1, len(machine.waits)) * n
    words = "\n".join(f"  wire [63:0] {name} = config_words[{i}];" for i, name in enumerate(config))
    return f"""\
// Host and memory of {machine.name}: starts the threads, waits for their end.
/* verilator lint_off UNUSEDSIGNAL */
module bench (
  input wire clk,
  input wire stop,
  output reg go,
  output reg done
);
  reg [63:0] config_words [0:{len(config) - 1}];
{words}

  reg reset;
  reg [1:0] edges;
  reg [2047:0] folder;
  reg [2175:0] name;
  initial begin
    go = 0;
    done = 0;
    reset = 1;
    edges = 0;
    dump = 0;
    if (!$value$plusargs("RUN=%s", folder)) folder = ".";
    $sformat(name, "%0s/config.hex", folder);
    $readmemh(name, config_words);
  end

  wire [{n - 1}:0] finished, running, state_low, state_high;
  wire [{waits - 1}:0] waits;
  wire moving, faulty;
  wire [15:0] faulty_access;
  wire [{tid - 1}:0] faulty_tid;
  wire [63:0] faulty_offset;
{_bank_wires()}

  // The host: one thread after the other, or one alone.
  wire [{tid}:0] first = only == 0 ? 0 : only[{tid}:0] - 1;
  wire [{tid}:0] last = only == 0 ? team[{tid}:0] : only[{tid}:0];
  wire [{n - 1}:0] team_mask = ~({{{n}{{1'b1}}}} << last) & ({{{n}{{1'b1}}}} << first);
  reg [{tid}:0] started;
  reg [63:0] countdown;
  wire start = go && !reset && started != last && countdown == 0;
  wire [{tid - 1}:0] start_tid = started[{tid - 1}:0];
  reg dump;
  reg [63:0] quiet;
  reg [63:0] clock;
  // A run that is to be cut: the profiling unit writes what it has, then memory is looked at.
  reg cutting;
  wire wanted = stop || (stop_at != 0 && clock >= stop_at);
  wire trace_stop = cutting || (wanted && finished != team_mask);
  wire trace_done;
  wire cut = cutting && trace_done;
  always @(posedge clk) begin
    if (edges == 3) begin
      go <= 1;
      reset <= 0;
    end else edges <= edges + 1;
    if (reset) begin
      started <= first;
      countdown <= 0;
      quiet <= 0;
      clock <= 0;
      cutting <= 0;
    end else begin
      clock <= clock + 1;
      cutting <= trace_stop;
      if (start) begin
        started <= started + 1;
        countdown <= start_cost;
      end else if (countdown != 0) countdown <= countdown - 1;
      quiet <= moving || start || countdown != 0 ? 0 : quiet + 1;
      if (cut && !dump) $display("CYC cut");
      if (cut || (finished == team_mask && !moving)) dump <= 1;
      if (dump) done <= 1;
      if (faulty) begin
        $display("CYC fault %0d %0d %0d", faulty_access, faulty_tid, faulty_offset);
        $finish;
      end else if (quiet > patience && !dump) begin
        $display("CYC deadlock %0d %h %h", clock, finished, waits);
        $finish;
      end
    end
  end

  {machine.name} accelerator (
    {_joined(pins)}
  );
{"" if machine.accesses else _no_faults(tid)}{no_trace}
{_banks(lines)}{inside}
endmodule
"""


def harness(machine: Machine, lines: int, inside: str = "") -> Harness:
    """The bench for Verilator; arguments as of `bench`.

    A profiling unit is told when somebody stops the run: what it has counted is then written.
    """
    cpp = go_done("bench").cpp
    if layout_of(machine) is not None:
        end = "if (top.done) cyc::done();"
        assert end in cpp
        cpp = cpp.replace(
            end,
            f"{end}\n        top.stop = 1;\n"
            f"        for (int i = 0; i < {LAST_WORDS} && !top.done; ++i) cycle();",
        )
    return Harness("bench", bench(machine, lines, inside), cpp)


def wrapper() -> str:
    """A clock for simulators that have time."""
    return """\
// Runs the bench in any Verilog simulator.
module testbench;
  reg clk;
  wire go, done;
  integer cycles;
  initial begin
    clk = 0;
    cycles = 0;
  end
  bench bench (.clk(clk), .stop(1'b0), .go(go), .done(done));
  always #1 clk = !clk;
  always @(posedge clk) begin
    if (go) cycles <= cycles + 1;
    if (done) begin
      $display("%0d cycles", cycles);
      $finish;
    end
  end
endmodule
"""


def _joined(pins: list[str]) -> str:
    # A comma behind a comment would be a part of it.
    lines = []
    for number, pin in enumerate(pins):
        code, mark, comment = pin.partition("  //")
        lines.append(code + ("," if number + 1 < len(pins) else "") + mark + comment)
    return "\n    ".join(lines)


def _no_faults(tid: int) -> str:
    return (
        "  assign faulty = 0;\n  assign faulty_access = 0;\n"
        f"  assign faulty_tid = {tid}'d0;\n  assign faulty_offset = 0;\n"
    )


def _bank_wires() -> str:
    text = ""
    for b in range(BANKS):
        text += f"""\
  wire [{ADDRESS - OFFSET - BANK_BITS - 1}:0] bank{b}_address;
  wire bank{b}_read, bank{b}_write, bank{b}_waitrequest, bank{b}_readdatavalid, bank{b}_row_miss;
  wire [{LINE - 1}:0] bank{b}_byteenable;
  wire [{LINE_BITS - 1}:0] bank{b}_writedata, bank{b}_readdata;
"""
    return text


def _banks(lines: int) -> str:
    place = lines.bit_length() - 1
    channel = {"may": 1, "wants": 1, "issue": 1, "issue_write": 1, "transfer": 32}
    text = "".join(f"  wire [{BANKS * w - 1}:0] bus_{name};\n" for name, w in channel.items())
    text += f"""\
  wire [31:0] bus_taken;
  wire bus_taken_by_write;
  channel #(.BANKS({BANKS})) bus (
    .clk(clk), .reset(reset), .shared(shared != 0), .line(line[31:0]), .taken(bus_taken),
    .taken_by_write(bus_taken_by_write), {", ".join(f".{c}(bus_{c})" for c in channel)}
  );
"""
    for b in range(BANKS):
        pins = ", ".join(f".{name}({name}[31:0])" for name in _MODEL)
        ports = (*_BANK, "readdatavalid", "readdata", "row_miss")
        own = ", ".join(f".{p}(bank{b}_{p})" for p in ports)
        bus = ", ".join(f".{c}(bus_{c}[{w * b} +: {w}])" for c, w in channel.items())
        text += f"""\
  dram #(.LINES({lines}), .PLACE({place}), .NUMBER({b})) bank{b} (
    .clk(clk), .reset(reset), .dump(dump), {pins},
    {own},
    {bus}, .taken(bus_taken), .taken_by_write(bus_taken_by_write)
  );
"""
    return text
