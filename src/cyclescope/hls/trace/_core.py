"""A core with its profiling unit: the same ports, and a region of memory for the trace.

The profiling unit's lines go to bank 0 through its arbiter, before the threads' requests, and its
registers. So the cost of profiling in cycles is real; a way to all banks would cost more hardware
than the profiling unit itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.errors import DataError
from cyclescope.hls.microarch import (
    ADDRESS,
    BANKS,
    LINE,
    LINE_BITS,
    OFFSET,
    Core,
    Machine,
    machine_around,
    peaks_of,
)
from cyclescope.hls.trace._feed import feed, side_by_side
from cyclescope.hls.trace._format import COUNTERS, OnFull, Scope, make_layout
from cyclescope.hls.trace._sites import Sites
from cyclescope.hls.trace._unit import profiling_unit
from cyclescope.model import Part
from cyclescope.rtl import Module, Origin, cat, mux

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.hls.ir import Graph, Region, Schedule
    from cyclescope.hls.trace._feed import Fed
    from cyclescope.hls.trace._format import TraceLayout
    from cyclescope.hls.trace._rings import Feed
    from cyclescope.rtl import Expr

__all__ = ["ProfiledMachine", "UnitOptions", "build_profiled", "layout_of"]

_ORIGIN = Origin(Part.PROFILING_UNIT)


@dataclass(frozen=True, slots=True)
class UnitOptions:
    """The options of a profiling unit.

    Attributes:
        title: of what runs, for the profile.
        period: cycles between two samples of the counters; 0: one at the end.
        periods: of counters that have their own, by name: each a multiple of the next shorter.
        on_full: what happens when the trace region is full.
        counters: names of the counters wanted, as far as the region can have them; None: all.
        period_ps: of the clock, if known.
        line_bits: of the lines that it writes: a power of two from 256 to the memory's width.
        time_bits: of the clock in a record, its time stamp.
    """

    title: str
    period: int = 4096
    periods: Mapping[str, int] = field(default_factory=dict)
    on_full: OnFull = OnFull.STOP
    counters: frozenset[str] | None = None
    period_ps: int | None = None
    line_bits: int = LINE_BITS
    time_bits: int = 32


@dataclass(frozen=True, eq=False, slots=True)
class ProfiledMachine(Machine):
    """A machine with a profiling unit.

    Attributes:
        trace: the layout of what the profiling unit writes.
    """

    trace: TraceLayout

    @property
    def core(self) -> str:
        """The path from the bench to the instance with the named nets."""
        return "accelerator.core"


def layout_of(machine: Machine) -> TraceLayout | None:
    """The layout of what a machine's profiling unit writes; None if it has none."""
    return machine.trace if isinstance(machine, ProfiledMachine) else None


def build_profiled(
    region: Region,
    schedules: Mapping[Graph, Schedule],
    options: UnitOptions,
    *,
    checks: bool = True,
) -> ProfiledMachine:
    """Builds the hardware of a region with a profiling unit.

    Args:
        region: what it does.
        schedules: of its root and all its loops.
        options: how the profiling unit is to be built.
        checks: hardware that notices accesses out of range; for simulation.

    Raises:
        LawError: a schedule that cannot be built, a fault of the scheduler.
        DataError: a counter is not known, or the period or the lines do not fit.
    """
    core = Core(region, schedules, checks=checks, trace=True)
    with core.m.part_of(_ORIGIN):
        top, layout = _with_unit(core, options)
    machine = machine_around(core, top)
    parts = {f.name: getattr(machine, f.name) for f in fields(machine)}
    return ProfiledMachine(**parts, trace=layout)


def _with_unit(core: Core, options: UnitOptions) -> tuple[Module, TraceLayout]:
    """The top module with a profiling unit in it, and the layout of what that writes.

    The core's instance is called `core`. Further inputs: `trace_base`, the region's address in bank
    0, a multiple of 64; `trace_lines`; `trace_stop`, 1 from the first cycle on that is not wanted
    any more (once all threads have finished it has no say); `bank0_row_miss` … The output `moving`
    is 1 until the trace is written, too; `trace_done` from then on.

    Raises:
        DataError: a counter is not known, or the period or the lines do not fit.
    """
    if options.line_bits not in (256, LINE_BITS):
        raise DataError(
            f"lines of {options.line_bits} bits: the profiling unit writes 256 or {LINE_BITS}, no"
            " more than the memory takes at once"
        )
    found = feed(core)
    wanted = options.counters
    known = {fed.sources[0].counter.name for fed in found}
    # What a region can never have is not asked of it.
    named = (wanted or frozenset()) | options.periods.keys()
    strange = named - known - {counter.name for counter in COUNTERS}
    if strange:
        raise DataError(
            f"no counter {', '.join(sorted(strange))}; there are {', '.join(sorted(known))}"
        )
    if wanted is not None and (unasked := options.periods.keys() - wanted):
        raise DataError(f"{', '.join(sorted(unasked))}: has a sampling period and is not counted")
    found = [f for f in found if wanted is None or f.sources[0].counter.name in wanted]
    design = [f for f in found if f.sources[0].counter.scope is Scope.DESIGN]
    found = [f for f in found if f.sources[0].counter.scope is not Scope.DESIGN]
    place = core.region.where
    layout = make_layout(
        options.title,
        core.threads,
        [source for fed in (*found, *design) for source in fed.sources],
        period=options.period,
        periods=options.periods,
        line_bits=options.line_bits,
        time_bits=options.time_bits,
        on_full=options.on_full,
        period_ps=options.period_ps,
        peaks=peaks_of(core.pipelines),
        region=core.region.name,
        where=(Path(place.file).name, place.line, place.column),
        sites=Sites(core.region, core.pipelines).every,
    )
    found = _in_order(core, found, design, options, layout.round)
    for j, fed in enumerate(found):
        for k, (bits, lane) in enumerate(fed.inputs):
            if bits is not None:
                core.m.output(f"count{j}_{k}", bits)
            if lane is not None:
                core.m.output(f"count{j}_{k}_lane", lane)
    title = f"{core.m.name} with its profiling unit."
    m = Module(f"{core.m.name}_profiled", title, origin=_ORIGIN)
    _Top(
        m,
        core,
        layout,
        [fed.feed for fed in found],
        {j for j, fed in enumerate(found) if fed.inputs[0][0] is None},
    )
    return m, layout


def _in_order(
    core: Core, found: list[Fed], design: list[Fed], options: UnitOptions, slots: int
) -> list[Fed]:
    """The inputs of the profiling unit, in the order of the layout."""

    def period(fed: Fed) -> int:
        return options.periods.get(fed.sources[0].counter.name, options.period)

    ordered: list[Fed] = []
    for every in sorted({period(fed) for fed in (*found, *design)}):
        ordered += [fed for fed in found if period(fed) == every]
        alike = [fed for fed in design if period(fed) == every]
        ordered += side_by_side(core, alike, slots, len(ordered))
    return ordered


class _Top:
    def __init__(
        self, m: Module, core: Core, layout: TraceLayout, feeds: list[Feed], outside: set[int]
    ) -> None:
        self._m = m
        base, lines = m.input("trace_base", ADDRESS), m.input("trace_lines", ADDRESS)
        stop = m.input("trace_stop", 1)
        misses = [m.input(f"bank{b}_row_miss", 1) for b in range(BANKS)]
        bits = layout.line_bits
        wide = {
            "write": 1,
            "coming": 1,
            "address": ADDRESS,
            "byteenable": bits // 8,
            "writedata": bits,
        }
        from_unit = {name: m.forward_wire(f"trace_{name}", width) for name, width in wide.items()}
        inputs: dict[str, Expr] = {}
        for port in core.m.ports():
            if port.direction == "input" and not port.name.startswith("trace_"):
                inputs[port.name] = m.input(port.name, port.width)
        # A narrow line is a part of the memory's.
        parts = LINE_BITS // bits
        bytes_on: Expr = from_unit["byteenable"].repeat(parts)
        if parts > 1:
            part = from_unit["address"][OFFSET - 1 : LINE.bit_length() - parts.bit_length()]
            bytes_on = bytes_on & cat(
                *(part.eq(i).repeat(LINE // parts) for i in reversed(range(parts)))
            )
        width = next(p.width for p in core.m.ports() if p.name == "trace_line")
        to_core = {
            "trace_write": from_unit["write"],
            "trace_coming": from_unit["coming"],
            "trace_line": from_unit["address"][ADDRESS - 1 : OFFSET].trunc(width),
            "trace_bytes": bytes_on,
            "trace_data": from_unit["writedata"].repeat(parts),
        }
        with m.part_of(None):  # the core says itself where its parts come from
            self._core = m.instance(core.m, "core", {**inputs, **to_core})
        finished = m.wire("all_finished", self._core["finished"].eq(inputs["team_mask"]))
        # Once all threads have finished, the end is near: it is waited for.
        # A cycle old: what is over stays over, and the path to it is long.
        moves = m.delay(self._core["moving"], "moved", reset=1)
        ended = m.wire("ended", mux(finished, ~moves, stop))
        over = m.register("over", 1, reset=0)
        m.update(over, 1, ended)
        # What is seen of the core goes into registers first: it is known late in its cycle, and the
        # profiling unit may be far away.
        run = m.wire("run", ~(ended | over))
        high, low = self._core["state_high"], self._core["state_low"]
        states = [cat(high[t], low[t]) for t in reversed(range(core.threads))]
        adds: dict[str, Expr] = {}
        for j, one in enumerate(feeds):
            for k, term in enumerate(one.terms):
                count = cat(*reversed(misses)) if j in outside else self._core[f"count{j}_{k}"]
                adds[f"feed{j}_{k}"] = m.delay(count, f"seen{j}_{k}", reset=0)
                if term.tagged:
                    lane = self._core[f"count{j}_{k}_lane"]
                    adds[f"feed{j}_{k}_lane"] = m.delay(lane, f"seen{j}_{k}_lane")
        unit = m.instance(
            profiling_unit(layout, feeds),
            "unit",
            {
                "run": m.delay(run, "run_seen", reset=0),
                "state": m.delay(cat(*states), "state_seen"),
                "base": base,
                "lines": lines,
                "waitrequest": ~self._core["trace_taken"],
                **adds,
            },
        )
        for name, net in from_unit.items():
            m.assign(net, unit[name])
        done = m.wire("trace_written", unit["done"] & ~self._core["trace_moving"])
        moving = self._core["moving"] | ((finished | ~run) & ~done)
        m.output("trace_done", done)
        for port in core.m.ports():
            hidden = port.direction == "input" or port.name.startswith(("count", "trace_"))
            if not hidden:
                shown = moving if port.name == "moving" else self._core[port.name]
                m.output(port.name, shown)
