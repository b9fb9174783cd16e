import sys

from migen import If, Module, Signal, run_simulation


class Counter(Module):
    def __init__(self):
        self.count = Signal(4)
        self.state = Signal(2)
        self.busy = Signal()
        coming = Signal(4)
        self.comb += [coming.eq(self.count + 1), self.busy.eq(self.state == 1)]
        self.sync += [
            self.count.eq(coming),
            If(coming < 3, self.state.eq(0))
            .Elif(coming < 7, self.state.eq(1))
            .Else(self.state.eq(2)),
        ]


def wait():
    for _ in range(12):
        yield


dut = Counter()
run_simulation(dut, wait(), vcd_name=sys.argv[1])
