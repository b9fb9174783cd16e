"""What a profile of a run is made of: signals that the bench gathers and the simulation captures.

States and active loops are captured as they change. Everything else is counted in the bench and
shown at the end of each sampling period, as totals since the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls._ir import Op
from cyclescope.sim import CaptureModule, Signal

if TYPE_CHECKING:
    from cyclescope.hls._machine import Machine, Wait
    from cyclescope.rtl import Expr

__all__ = ["CAUSES", "COUNTS", "captures", "cause_of", "watch", "watch_modules"]

CAUSES = ("memory", "lock", "barrier")
COUNTS = (
    *(f"stalls_{cause}" for cause in CAUSES),
    "integers",
    "floats",
    "bytes_read",
    "bytes_written",
)
_BITS = 64


def cause_of(wait: Wait) -> str:
    """Why threads wait there; empty for an inner loop, in which the thread works."""
    return {Op.ACQUIRE: "lock", Op.BARRIER: "barrier", Op.LOOP: ""}.get(wait.node.op, "memory")


def captures(machine: Machine) -> tuple[CaptureModule, ...]:
    """What to capture of a bench that has `watch`."""
    loops = len(machine.pipelines)
    thread = [Signal("state", 2), Signal("loops", loops), *(Signal(c, _BITS) for c in COUNTS)]
    whole = [Signal(f"wait{i}", _BITS) for i in range(len(machine.waits))]
    whole += [Signal("row_misses", _BITS), Signal("requests", _BITS)]
    return (
        CaptureModule("thread_watch", tuple(thread)),
        CaptureModule("machine_watch", tuple(whole)),
    )


def watch_modules(machine: Machine) -> str:
    """Modules whose ports are captured, one for each thread and one for all."""
    thread = ["input wire [1:0] state", f"input wire [{len(machine.pipelines) - 1}:0] loops"]
    thread += [f"input wire [{_BITS - 1}:0] {c}" for c in COUNTS]
    names = [f"wait{i}" for i in range(len(machine.waits))] + ["row_misses", "requests"]
    whole = [f"input wire [{_BITS - 1}:0] {name}" for name in names]
    text = ""
    for name, ports in (("thread_watch", thread), ("machine_watch", whole)):
        inside = ",\n  ".join(["input wire clk", *ports])
        text += f"module {name} (\n  {inside}\n);\nendmodule\n"
    return text


def watch(machine: Machine) -> str:
    """Verilog for the inside of the bench: counts, and shows every `period` cycles."""
    n = machine.threads
    waits = len(machine.waits)
    lines = ["  // What a profile counts; shown every so many cycles."]
    for name in COUNTS:
        lines += [f"  reg [63:0] {name} [0:{n - 1}];", f"  reg [63:0] {name}_shown [0:{n - 1}];"]
    for i in range(waits):
        lines += [f"  reg [63:0] wait{i};", f"  reg [63:0] wait{i}_shown;"]
    for name in ("row_misses", "requests"):
        lines += [f"  reg [63:0] {name};", f"  reg [63:0] {name}_shown;"]
    lines += [
        "  integer t;",
        "  reg [63:0] left;",
        "  initial begin",
        "    row_misses = 0; requests = 0; row_misses_shown = 0; requests_shown = 0;",
        f"    for (t = 0; t < {n}; t = t + 1) begin",
    ]
    lines += [f"      {name}[t] = 0; {name}_shown[t] = 0;" for name in COUNTS]
    lines += ["    end"]
    lines += [f"    wait{i} = 0; wait{i}_shown = 0;" for i in range(waits)]
    lines += ["  end", "  always @(posedge clk) if (reset) left <= period - 1; else begin"]
    lines += _counting(machine)
    lines += [
        "    left <= left == 0 ? period - 1 : left - 1;",
        "    if (left == 0 || (finished == team_mask && !moving)) begin",
        f"      for (t = 0; t < {n}; t = t + 1) begin",
    ]
    lines += [f"        {name}_shown[t] <= {name}[t];" for name in COUNTS]
    lines += ["      end"]
    lines += [f"      wait{i}_shown <= wait{i};" for i in range(waits)]
    lines += ["      row_misses_shown <= row_misses;", "      requests_shown <= requests;"]
    lines += ["    end", "  end"]
    for t in range(n):
        active = ", ".join(
            f"{machine.core}.{_bit(p.active.bits, t, n)}" for p in reversed(machine.pipelines)
        )
        counts = ", ".join(f".{name}({name}_shown[{t}])" for name in COUNTS)
        state = f".state({{state_high[{t}], state_low[{t}]}}), .loops({{{active}}})"
        lines.append(f"  thread_watch thread{t} (.clk(clk), {state}, {counts});")
    whole = [f".wait{i}(wait{i}_shown)" for i in range(waits)]
    whole += [".row_misses(row_misses_shown)", ".requests(requests_shown)"]
    lines.append(f"  machine_watch whole (.clk(clk), {', '.join(whole)});")
    return "\n".join(lines) + "\n"


def _bit(bits: Expr, index: int, threads: int) -> str:
    return bits.text if threads == 1 else f"{bits.text}[{index}]"


def _thread(machine: Machine, tid: Expr) -> str:
    return "0" if machine.threads == 1 else f"{machine.core}.{tid.text}"


def _counting(machine: Machine) -> list[str]:
    """Blocking assignments: several places may count for one thread in one cycle."""
    n, lines = machine.threads, []
    for cause in CAUSES:
        low = [w.low for w in machine.waits if cause_of(w) == cause]
        for t in range(n):
            if low:
                some = " || ".join(f"waits[{at + t}]" for at in low)
                lines.append(f"    if ({some}) stalls_{cause}[{t}] = stalls_{cause}[{t}] + 1;")
    for i, wait in enumerate(machine.waits):
        bits = " + ".join(f"{{63'd0, waits[{wait.low + t}]}}" for t in range(n))
        lines.append(f"    if (|waits[{wait.low + n - 1}:{wait.low}]) wait{i} = wait{i} + {bits};")
    for pipe in machine.pipelines:
        for work in pipe.works:
            who = _thread(machine, work.tid)
            adds = [
                f"{name}[{who}] = {name}[{who}] + {count};"
                for name, count in (("integers", work.integer), ("floats", work.floating))
                if count
            ]
            lines.append(f"    if ({machine.core}.{work.valid.text}) begin {' '.join(adds)} end")
    for traffic in machine.traffic:
        name = "bytes_written" if traffic.writes else "bytes_read"
        who = _thread(machine, traffic.tid)
        lines.append(
            f"    if ({machine.core}.{traffic.valid.text}) begin {name}[{who}] = {name}[{who}]"
            f" + {traffic.size}; requests = requests + 1; end"
        )
    misses = " + ".join(f"{{63'd0, bank{b}_row_miss}}" for b in range(4))
    lines.append(f"    row_misses = row_misses + {misses};")
    return lines
