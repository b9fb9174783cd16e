import sys

from myhdl import Signal, StopSimulation, always, always_comb, block, delay, instance, intbv


@block
def counter():
    clk, busy = Signal(bool(0)), Signal(bool(0))
    count, state = Signal(intbv(0)[4:]), Signal(intbv(0)[2:])

    @always(delay(5))
    def clock():
        clk.next = not clk

    @always_comb
    def working():
        busy.next = state == 1

    @always(clk.posedge)
    def step():
        coming = (int(count) + 1) % 16
        count.next = coming
        state.next = 0 if coming < 3 else 1 if coming < 7 else 2

    @instance
    def stop():
        yield delay(122)
        raise StopSimulation

    return clock, working, step, stop


sim = counter()
sim.config_sim(trace=True, filename=sys.argv[1].removesuffix(".vcd"))
sim.run_sim()
