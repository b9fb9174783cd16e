import sys
from pathlib import Path

from vcd import VCDWriter

with (
    Path(sys.argv[1]).open("w") as out,
    VCDWriter(out, timescale="1 ns", date="today") as writer,
):
    clk = writer.register_var("bench", "clk", "wire", size=1, init=0)
    count = writer.register_var("bench.dut", "count", "reg", size=4, init=0)
    state = writer.register_var("bench.dut", "state", "reg", size=2, init=0)
    busy = writer.register_var("bench.dut", "busy", "wire", size=1, init=0)
    phase = writer.register_var("bench.dut", "phase", "string", init="idle")
    level = writer.register_var("bench.dut", "level", "real", init=0.0)
    for cycle in range(1, 13):
        writer.change(clk, 10 * cycle - 5, 1)
        now = cycle % 16
        shown = 0 if now < 3 else 1 if now < 7 else 2
        writer.change(count, 10 * cycle - 5, now)
        writer.change(state, 10 * cycle - 5, shown)
        writer.change(busy, 10 * cycle - 5, int(shown == 1))
        writer.change(phase, 10 * cycle - 5, ["idle", "run", "at rest"][shown])
        writer.change(level, 10 * cycle - 5, shown * 1.5)
        writer.change(clk, 10 * cycle, 0)
