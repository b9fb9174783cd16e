"""The cost of the profiling unit: cycles, and hardware on an ECP5, with and without it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from cyclescope.errors import DataError, ToolError
from cyclescope.hls.run._measure import machine_of
from cyclescope.hls.trace import UnitOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.hls._compile import Program
    from cyclescope.sim import Ecp5

__all__ = ["PAPERS", "Cost", "chosen_counters", "cost_of", "overhead", "overhead_table"]

PAPERS = frozenset(
    {
        "stalls: memory",
        "integer operations",
        "floating-point operations",
        "bytes read",
        "bytes written",
    }
)
"""The counters that the paper has (section IV-B2)."""

_OTHERS = """\
for comparison: Huthmann et al., "Extending High-Level Synthesis with High-Performance Computing
Performance Visualization", section V-B: registers +5.4 % at most (geometric mean +2.4 %), ALMs
+4.0 % (+3.4 %), on a Stratix 10; RealProbe: LUT +17 %, FF +43 %."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A design's hardware and run.

    Attributes:
        name: what it is.
        cycles: of a run; None if it did not run.
        area: what it takes of an ECP5.
        mhz: the clock it reaches; None if that is not known.
    """

    name: str
    cycles: int | None
    area: Ecp5
    mhz: float | None


def chosen_counters(text: str) -> frozenset[str] | None:
    """The counters that a text asks for: `all`, `paper`, or names with commas between; None: all.

    Raises:
        DataError: there is no name.
    """
    if text == "all":
        return None
    if text == "paper":
        return PAPERS
    names = frozenset(name for part in text.split(",") if (name := part.strip()))
    if not names:
        raise DataError(f"no counter in {text!r}; write all, paper, or names with commas between")
    return names


def overhead(
    program: Program,
    title: str,
    cycles: Callable[[UnitOptions | None], int],
    *,
    period: int,
) -> str:
    """A table of what the profiling unit costs: without it, with the paper's counters, with all.

    Args:
        program: what the hardware does.
        title: of it.
        cycles: runs it with this profiling unit.
        period: of the samples.

    Raises:
        ToolError: there is no Yosys, or a tool fails.
        OutputError: the cache cannot be written.
    """
    from cyclescope.sim import find_nextpnr, find_yosys

    find_yosys()
    why = ""
    try:
        find_nextpnr()
    except ToolError as error:
        why = str(error)
    units = {
        "without": None,
        "paper's counters": UnitOptions(title, period=period, counters=PAPERS),
        "all counters": UnitOptions(title, period=period),
    }
    costs = [
        cost_of(program, name, unit, cycles=cycles(unit), seeds=int(not why))
        for name, unit in units.items()
    ]
    return overhead_table(costs, why)


def cost_of(
    program: Program,
    name: str,
    unit: UnitOptions | None,
    *,
    cycles: int | None = None,
    seeds: int = 0,
) -> Cost:
    """Synthesise a program's hardware, as it would be built: without the checks of a simulation.

    Args:
        program: what it does.
        name: of the design.
        unit: its profiling unit.
        cycles: of a run of it, if there was one.
        seeds: place and route it so many times, which takes minutes each; the clock is the median.

    Raises:
        ToolError: Yosys or nextpnr is missing or fails.
        OutputError: the cache cannot be written.
    """
    from cyclescope.sim import on_ecp5, route_on_ecp5

    machine = machine_of(program, checks=False, unit=unit)
    text = "".join(machine.sources.values())
    area = on_ecp5(text, machine.name)
    clocks = [route_on_ecp5(text, machine.name, seed=seed).mhz for seed in range(1, seeds + 1)]
    return Cost(name, cycles, area, median(clocks) if clocks else None)


def overhead_table(costs: Sequence[Cost], why_no_speed: str = "") -> str:
    """The costs as text; the first is what the others are compared with."""
    heads = ("", "cycles", "registers", "LUT4", "BRAM", "DSP", "MHz")
    rows: list[tuple[str, ...]] = [heads]
    first = costs[0]
    for cost in costs:
        values = (cost.cycles, cost.area.ffs, cost.area.luts, cost.area.brams, cost.area.dsps)
        mhz = "-" if cost.mhz is None else f"{cost.mhz:.1f}"
        rows.append((cost.name, *("-" if v is None else f"{v:,}" for v in values), mhz))
    for cost in costs[1:]:
        pairs: list[tuple[float | None, float | None]] = [
            (first.cycles, cost.cycles),
            (first.area.ffs, cost.area.ffs),
            (first.area.luts, cost.area.luts),
            (first.area.brams, cost.area.brams),
            (first.area.dsps, cost.area.dsps),
            (first.mhz, cost.mhz),
        ]
        rows.append((f"{cost.name}, more", *(_more(a, b) for a, b in pairs)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    lines = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    if why_no_speed:
        lines.append(f"no MHz: {why_no_speed}")
    return "\n".join([*lines, "", _OTHERS]) + "\n"


def _more(before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return "-"
    if before == 0:
        return "-" if after == 0 else "new"
    return f"{100 * (after / before - 1):+.1f} %"
