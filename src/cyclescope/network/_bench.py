"""The testbench of a network: it feeds the sources and keeps what the sinks collect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.sim import Harness, go_done

if TYPE_CHECKING:
    from cyclescope.network._channels import Network
    from cyclescope.network._top import Hardware

__all__ = ["bench", "harness", "wrapper"]


def harness(network: Network, hardware: Hardware, *, judge: bool, keep: bool) -> Harness:
    """The bench for Verilator; arguments as of `bench`."""
    text = bench(network, hardware, judge=judge, keep=keep)
    return Harness("bench", text, go_done("bench").cpp)


def bench(
    network: Network,
    hardware: Hardware,
    *,
    judge: bool = False,
    keep: bool = False,
) -> str:
    """The module `bench`: clock in, `go` from the first cycle on, `done` at the end.

    Of the folder that the plusarg `RUN` names (default: the current one) it reads the elements of
    each source from `source<station>.hex`; it writes `sink<station>.out` there. If
    nothing moves any more it says `CYC deadlock`.

    Args:
        network: what the hardware was made from.
        hardware: what is driven.
        judge: it compares each result with the word of `result<station>_<number>.hex` of its
            firing, and says `CYC wrong` and whose the first is that differs.
        keep: it writes each result to `result<station>_<number>.out` at the end instead.
    """
    pins = [".clk(clk)", ".reset(reset)", ".done(finished)", ".moving(moving)"]
    outside: list[str] = []
    reading: list[str] = []
    clocked: list[str] = []
    writing: list[str] = []
    for station in network.stations:
        number, count = station.number, station.count
        if station.process.kind == "source":
            pins.append(f".next_{number}(next_{number})")
            outside.append(f"  wire next_{number};")
            width = station.widths[0]
            outside.append(f"  reg [{width - 1}:0] elements_{number} [0:{count - 1}];")
            outside.append(f"  reg [31:0] at_{number};")
            pins.append(f".element_{number}(elements_{number}[at_{number}])")
            reading += _read(f"source{number}.hex", f"elements_{number}")
            reading.append(f"    at_{number} = 0;")
            step = f"at_{number} + 1 < {count} ? at_{number} + 1 : 0"
            clocked.append(f"      if (next_{number}) at_{number} <= {step};")
        if station.process.kind == "sink":
            pins.append(f".written_{number}(written_{number})")
            outside.append(f"  wire written_{number};")
            width = station.widths[0]
            outside.append(f"  wire [{width - 1}:0] result_{number};")
            outside.append(f"  reg [{width - 1}:0] collected_{number} [0:{count - 1}];")
            outside.append(f"  reg [31:0] to_{number};")
            pins.append(f".result_{number}(result_{number})")
            reading.append(f"    to_{number} = 0;")
            clocked += [
                f"      if (written_{number}) begin",
                f"        collected_{number}[to_{number}] <= result_{number};",
                f"        to_{number} <= to_{number} + 1;",
                "      end",
            ]
            writing += _write(f"sink{number}.out", f"collected_{number}")
        elif (judge or keep) and station.process.kind != "source":
            process = f"{hardware.top.name}.process{number}"
            outside.append(f"  reg [31:0] written_{number};")
            reading.append(f"    written_{number} = 0;")
            clocked.append(f"      if ({process}.write) begin")
            clocked.append(f"        written_{number} <= written_{number} + 1;")
            for result, width in enumerate(station.widths):
                words = f"results_{number}_{result}"
                outside.append(f"  reg [{width - 1}:0] {words} [0:{count - 1}];")
                net = f"{hardware.top.name}.process{number}_result{result}"
                if keep:
                    clocked.append(f"        {words}[written_{number}] <= {net};")
                    writing += _write(f"result{number}_{result}.out", words)
                    continue
                reading += _read(f"result{number}_{result}.hex", words)
                clocked += [
                    f"        if ({net} !== {words}[written_{number}]) begin",
                    f'          $display("CYC wrong {number} {result} %0d", written_{number});',
                    "          $finish;",
                    "        end",
                ]
            clocked.append("      end")
    longest = max((s.process.interval for s in network.stations), default=1)
    lines = [
        f"// What drives {hardware.top.name}: it feeds the sources, and collects what sinks write.",
        "/* verilator lint_off WIDTHEXPAND */",
        "/* verilator lint_off UNUSEDSIGNAL */",
        "module bench (",
        "  input wire clk,",
        "  output reg go,",
        "  output wire done",
        ");",
        "  reg reset, over;",
        "  reg [1:0] edges;",
        "  reg [31:0] still;",
        "  reg [2047:0] folder;",
        "  reg [2175:0] name;",
        "  wire finished, moving;",
        *outside,
        "  initial begin",
        '    if (!$value$plusargs("RUN=%s", folder)) folder = ".";',
        "    go = 0;",
        "    reset = 1;",
        "    over = 0;",
        "    edges = 0;",
        "    still = 0;",
        *reading,
        "  end",
        f"  {hardware.top.name} {hardware.top.name} (",
        "    " + ",\n    ".join(pins),
        "  );",
        "  assign done = go & finished;",
        "  always @(posedge clk) begin",
        "    if (edges == 3) begin",
        "      go <= 1;",
        "      reset <= 0;",
        "    end else edges <= edges + 1;",
        "    if (!reset) begin",
        *clocked,
        "      still <= moving ? 0 : still + 1;",
        f"      if (still > {longest + 16} && !finished) begin",
        '        $display("CYC deadlock");',
        "        $finish;",
        "      end",
        "    end",
        "  end",
        "  // What was collected in the last cycle is there behind its end.",
        "  always @(negedge clk) if (done && !over) begin",
        "    over <= 1;",
        *writing,
        "  end",
        "endmodule",
        "",
    ]
    return "\n".join(lines)


def _read(file: str, memory: str) -> list[str]:
    return [
        f'    $sformat(name, "%0s/{file}", folder);',
        f"    $readmemh(name, {memory});",
    ]


def _write(file: str, memory: str) -> list[str]:
    return [
        f'      $sformat(name, "%0s/{file}", folder);',
        f"      $writememh(name, {memory});",
    ]


def wrapper() -> str:
    """A clock for simulators that have time: it prints the cycles."""
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
  bench bench (.clk(clk), .go(go), .done(done));
  always #1 clk = !clk;
  always @(posedge clk) begin
    if (go && !done) cycles <= cycles + 1;
  end
  always @(negedge clk) if (done) begin
    #1 $display("cycles %0d", cycles);
    $finish;
  end
endmodule
"""
