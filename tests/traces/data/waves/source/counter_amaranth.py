import sys

from amaranth.hdl import Module, Mux, Signal
from amaranth.sim import Simulator

m = Module()
count = Signal(4)
state = Signal(2)
busy = Signal()
coming = Signal(4)
m.d.comb += [coming.eq(count + 1), busy.eq(state == 1)]
m.d.sync += [count.eq(coming), state.eq(Mux(coming < 3, 0, Mux(coming < 7, 1, 2)))]
sim = Simulator(m)
sim.add_clock(1e-8)
with sim.write_vcd(sys.argv[1]):
    sim.run_until(1.22e-7)
