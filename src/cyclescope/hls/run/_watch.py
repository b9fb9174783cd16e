"""The sources of a run's profile: signals that the bench gathers and the simulation captures.

States, active loops and waiting at barriers are captured as they change. Everything else is counted
in the bench and shown at the end of each sampling period, as totals since the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.microarch import BANKS
from cyclescope.hls.trace import CAUSES, LOST, asks, cause_of
from cyclescope.model import Cause
from cyclescope.sim import CaptureModule, Signal

if TYPE_CHECKING:
    from cyclescope.hls.ir import Graph
    from cyclescope.hls.microarch import Machine
    from cyclescope.rtl import Expr

__all__ = ["COUNTS", "captures", "waiting_gates", "watch", "watch_modules"]

COUNTS = (
    *(f"stalls_{cause.replace(' ', '_')}" for cause in CAUSES),
    "integers",
    "floats",
    "bytes_read",
    "bytes_written",
    "local_bytes",
    "outstanding",
)
_MISSES = tuple(f"row_misses{bank}" for bank in range(BANKS))
_BITS = 64


def captures(machine: Machine) -> tuple[CaptureModule, ...]:
    """The signals to capture of a bench that has `watch`."""
    loops = len(machine.pipelines)
    thread = [Signal("state", 2), Signal("at_barrier", 1), Signal("loops", loops)]
    thread += [Signal(c, _BITS) for c in COUNTS]
    whole = [Signal(name, _BITS) for name in _of_all(machine)]
    return (
        CaptureModule("thread_watch", tuple(thread)),
        CaptureModule("machine_watch", tuple(whole)),
    )


def watch_modules(machine: Machine) -> str:
    """Modules whose ports are captured, one for each thread and one for all."""
    thread = ["input wire [1:0] state", "input wire at_barrier"]
    thread += [f"input wire [{len(machine.pipelines) - 1}:0] loops"]
    thread += [f"input wire [{_BITS - 1}:0] {c}" for c in COUNTS]
    whole = [f"input wire [{_BITS - 1}:0] {name}" for name in _of_all(machine)]
    text = ""
    for name, ports in (("thread_watch", thread), ("machine_watch", whole)):
        inside = ",\n  ".join(["input wire clk", *ports])
        text += f"module {name} (\n  {inside}\n);\nendmodule\n"
    return text


def watch(machine: Machine) -> str:
    """Verilog for the inside of the bench: counts, and shows every `period` cycles."""
    n = machine.threads
    everything = _of_all(machine)
    lines = ["  // What a profile counts; shown every so many cycles."]
    for name in COUNTS:
        lines += [f"  reg [63:0] {name} [0:{n - 1}];", f"  reg [63:0] {name}_shown [0:{n - 1}];"]
    lines += [f"  reg [63:0] {name}, {name}_shown;" for name in everything]
    lines += [f"  reg [{max(1, len(machine.waits)) * n - 1}:0] waits_before;"]
    lines += ["  integer t;", "  reg [63:0] left;", "  initial begin", "    waits_before = 0;"]
    lines += [f"    {name} = 0; {name}_shown = 0;" for name in everything]
    lines += [f"    for (t = 0; t < {n}; t = t + 1) begin"]
    lines += [f"      {name}[t] = 0; {name}_shown[t] = 0;" for name in COUNTS]
    lines += ["    end"]
    lines += ["  end", "  always @(posedge clk) if (reset) left <= period - 1; else begin"]
    lines += _counting(machine)
    lines += [
        "    left <= left == 0 ? period - 1 : left - 1;",
        "    if (left == 0 || (finished == team_mask && !moving)) begin",
        f"      for (t = 0; t < {n}; t = t + 1) begin",
    ]
    lines += [f"        {name}_shown[t] <= {name}[t];" for name in COUNTS]
    lines += ["      end"]
    lines += [f"      {name}_shown <= {name};" for name in everything]
    lines += ["    end", "  end"]
    for t in range(n):
        active = ", ".join(_bit(machine, p.active.bits, t) for p in reversed(machine.pipelines))
        counts = ", ".join(f".{name}({name}_shown[{t}])" for name in COUNTS)
        state = f".state({{state_high[{t}], state_low[{t}]}}), .loops({{{active}}})"
        waits = " || ".join(_waiting(machine, Cause.BARRIER, t)) or "1'b0"
        state += f", .at_barrier(state_low[{t}] != state_high[{t}] && ({waits}))"
        lines.append(f"  thread_watch thread{t} (.clk(clk), {state}, {counts});")
    whole = ", ".join(f".{name}({name}_shown)" for name in everything)
    lines.append(f"  machine_watch whole (.clk(clk), {whole});")
    return "\n".join(lines) + "\n"


def _of_all(machine: Machine) -> list[str]:
    """The counters that are no thread's."""
    loops = [f"{what}{i}" for i in _loops(machine) for what in ("entries", "iterations")]
    gates = [f"{what}{i}" for i in range(len(_gates(machine))) for what in ("arrivals", "waited")]
    return [*(f"wait{i}" for i in range(len(machine.waits))), *_MISSES, "requests", *loops, *gates]


def waiting_gates(machine: Machine) -> list[tuple[Graph, int]]:
    """The stages of loops in which iterations may wait: counted as `arrivals0`, `waited0`, …."""
    return list(_gates(machine))


def _gates(machine: Machine) -> dict[tuple[Graph, int], list[int]]:
    """For each of these stages the bits of what iterations wait for there, of thread 0."""
    found: dict[tuple[Graph, int], list[int]] = {}
    low = {wait.node: wait.low for wait in machine.waits}
    for pipe in machine.pipelines:
        for gate in pipe.gates if not pipe.root else ():
            for operation in gate.operations:
                found.setdefault((pipe.graph, gate.stage), []).append(low[operation.node])
    return found


def _loops(machine: Machine) -> list[int]:
    """The numbers of the pipelines that are loops."""
    return [i for i, pipe in enumerate(machine.pipelines) if not pipe.root]


def _bit(machine: Machine, bits: Expr, thread: int) -> str:
    index = "" if machine.threads == 1 else f"[{thread}]"
    return f"{machine.core}.{bits.text}{index}"


def _thread(machine: Machine, tid: Expr) -> str:
    return "0" if machine.threads == 1 else f"{machine.core}.{tid.text}"


def _waiting(machine: Machine, cause: Cause, thread: int) -> list[str]:
    """The bits that say that a thread waits for something of a cause."""
    return [f"waits[{w.low + thread}]" for w in machine.waits if cause_of(w.node) is cause]


def _counting(machine: Machine) -> list[str]:
    """Blocking assignments: several places may count for one thread in one cycle."""
    n, lines = machine.threads, []
    for t in range(n):
        first = f"if (state_low[{t}] != state_high[{t}])"  # it runs, maybe with a lock
        for cause in CAUSES:
            terms = _waiting(machine, cause, t)
            if cause is Cause.ARBITRATION:
                terms = [_bit(machine, asking, t) for asking in machine.asking]
            if not terms:
                continue
            name = f"stalls_{cause.replace(' ', '_')}"
            when = f"if ({' || '.join(terms)}) {name}[{t}] = {name}[{t}] + 1;"
            if cause in LOST:
                lines.append(f"    {first} {when}")
                first = "else"
            else:
                lines.append(f"    {when}")
    for i, wait in enumerate(machine.waits):
        bits = " + ".join(f"{{63'd0, waits[{wait.low + t}]}}" for t in range(n))
        lines.append(f"    if (|waits[{wait.low + n - 1}:{wait.low}]) wait{i} = wait{i} + {bits};")
    for pipe in machine.pipelines:
        for work in pipe.op_activities:
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
    for traffic in machine.local_traffic:
        who = _thread(machine, traffic.tid)
        lines.append(
            f"    if ({machine.core}.{traffic.valid.text}) local_bytes[{who}] = local_bytes[{who}]"
            f" + {traffic.size};"
        )
    for wait in machine.waits:
        if asks(wait.node):
            lines += [
                f"    if (waits[{wait.low + t}]) outstanding[{t}] = outstanding[{t}] + 1;"
                for t in range(n)
            ]
    for i in _loops(machine):
        pipe, core = machine.pipelines[i], machine.core
        # A thread enters at a time, and one iteration at a time is in a stage.
        lines.append(f"    if (|{core}.{pipe.entered.text}) entries{i} = entries{i} + 1;")
        going = f"{core}.{pipe.tested.text} && !{core}.{pipe.stops.text}"
        lines.append(f"    if ({going}) iterations{i} = iterations{i} + 1;")
    for i, lows in enumerate(_gates(machine).values()):
        for t in range(n):
            # An iteration leaves a stage before the next one of its thread is there.
            now, then = (
                " || ".join(f"{name}[{low + t}]" for low in lows)
                for name in ("waits", "waits_before")
            )
            lines.append(f"    if ({now}) waited{i} = waited{i} + 1;")
            lines.append(f"    if (({now}) && !({then})) arrivals{i} = arrivals{i} + 1;")
    lines.append("    waits_before = waits;")
    lines += [f"    if (bank{b}_row_miss) {name} = {name} + 1;" for b, name in enumerate(_MISSES)]
    return lines
