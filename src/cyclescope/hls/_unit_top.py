"""A core with its profiling unit: the same ports, and a region of memory for the trace.

The unit's lines go to the banks between the core's requests; a request of the core that waits
already is never taken back. So the cost of profiling in cycles is real.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.errors import DataError
from cyclescope.hls._machine_memory import ADDRESS, BANKS, LINE, bank_bits
from cyclescope.hls._machine_parts import either
from cyclescope.hls._trace_format import OnFull, make_layout
from cyclescope.hls._unit import profiling_unit
from cyclescope.hls._unit_feed import feed
from cyclescope.rtl import Module, cat, const, mux

if TYPE_CHECKING:
    from cyclescope.hls._machine import Core
    from cyclescope.hls._trace_format import TraceLayout
    from cyclescope.rtl import Expr, Instance, Net

__all__ = ["UnitOptions", "with_unit"]


@dataclass(frozen=True, slots=True)
class UnitOptions:
    """How a profiling unit is to be built.

    Attributes:
        title: of what runs, for the profile.
        period: cycles between two samples of the counters; 0: one at the end.
        on_full: what happens when the trace region is full.
        counters: names of the counters wanted; None: all that the region can have.
        period_ps: of the clock, if known.
    """

    title: str
    period: int = 4096
    on_full: OnFull = OnFull.STOP
    counters: frozenset[str] | None = None
    period_ps: int | None = None


def with_unit(core: Core, options: UnitOptions) -> tuple[Module, TraceLayout]:
    """The top module with a unit in it, and the layout of what that writes.

    The core's instance is called `core`. Further inputs: `trace_base`, a multiple of 64;
    `trace_lines`; `bank0_row_miss` … `moving` is 1 until the trace is written, too.

    Raises:
        DataError: a counter is not known, or the period does not fit.
    """
    fed = feed(core)
    wanted = options.counters
    known = {source.counter.name for source, _ in fed}
    if wanted is not None and not wanted <= known:
        raise DataError(
            f"no counter {', '.join(sorted(wanted - known))}; there are {', '.join(sorted(known))}"
        )
    fed = [pair for pair in fed if wanted is None or pair[0].counter.name in wanted]
    layout = make_layout(
        options.title,
        core.threads,
        [source for source, _ in fed],
        period=options.period,
        line_bits=8 * LINE,
        on_full=options.on_full,
        period_ps=options.period_ps,
    )
    for number, (_, amount) in enumerate(fed):
        if amount is not None:
            core.m.output(f"count{number}", amount)
    m = Module(f"{core.m.name}_profiled", f"{core.m.name} with its profiling unit.")
    _Top(m, core, layout, [(source.index, amount is None) for source, amount in fed])
    return m, layout


class _Top:
    def __init__(
        self, m: Module, core: Core, layout: TraceLayout, fed: list[tuple[int, bool]]
    ) -> None:
        self._m = m
        base, lines = m.input("trace_base", ADDRESS), m.input("trace_lines", ADDRESS)
        misses = [m.input(f"bank{b}_row_miss", 1) for b in range(BANKS)]
        self._waits = [m.ahead(f"core_waitrequest{b}", 1) for b in range(BANKS)]
        inputs: dict[str, Expr] = {}
        memory: dict[str, Net] = {}
        for port in core.m.ports():
            if port.direction == "input":
                net = m.input(port.name, port.width)
                if port.name.endswith("_waitrequest"):
                    memory[port.name] = net
                else:
                    inputs[port.name] = net
        for b in range(BANKS):
            inputs[f"bank{b}_waitrequest"] = self._waits[b]
        self._core = m.instance(core.m, "core", inputs)
        ended = m.wire(
            "ended", self._core["finished"].eq(inputs["team_mask"]) & ~self._core["moving"]
        )
        over = m.register("over", 1, reset=0)
        m.update(over, 1, ended)
        run = m.wire("run", ~(ended | over))
        high, low = self._core["state_high"], self._core["state_low"]
        states = [cat(high[t], low[t]) for t in reversed(range(core.threads))]
        adds = {
            f"add{i}": misses[index] if outside else self._core[f"count{i}"]
            for i, (index, outside) in enumerate(fed)
        }
        waits = m.ahead("unit_waitrequest", 1)
        unit = m.instance(
            profiling_unit(layout),
            "unit",
            {
                "run": run,
                "state": cat(*states),
                "base": base,
                "lines": lines,
                "waitrequest": waits,
                **adds,
            },
        )
        taken = [self._bank(b, unit, memory[f"bank{b}_waitrequest"]) for b in range(BANKS)]
        m.assign(waits, ~either(taken, 1))
        for port in core.m.ports():
            if port.direction == "input" or port.name.startswith(("bank", "count")):
                continue
            value: Expr = self._core[port.name]
            if port.name == "moving":
                value = value | (~run & ~unit["done"])
            m.output(port.name, value)

    def _bank(self, b: int, unit: Instance, waitrequest: Net) -> Expr:
        """The interface of a bank; gives when it takes a line of the unit."""
        m, core, name = self._m, self._core, f"bank{b}"
        address = unit["address"]
        reading, writing = core[f"{name}_read"], core[f"{name}_write"]
        kept = m.register(f"{name}_kept", 1, reset=0, note="a request of the core waits")
        mine = bank_bits(address[ADDRESS - 1 : 6]).eq(b)
        pick = m.wire(f"{name}_trace", unit["write"] & mine & ~kept)
        m.update(kept, (reading | writing) & ~pick & waitrequest)
        m.assign(self._waits[b], waitrequest | pick)
        m.output(f"{name}_read", reading & ~pick)
        m.output(f"{name}_write", writing | pick)
        m.output(f"{name}_address", mux(pick, address[ADDRESS - 1 : 8], core[f"{name}_address"]))
        m.output(f"{name}_byteenable", mux(pick, const(-1, LINE), core[f"{name}_byteenable"]))
        m.output(f"{name}_writedata", mux(pick, unit["writedata"], core[f"{name}_writedata"]))
        return pick & ~waitrequest
