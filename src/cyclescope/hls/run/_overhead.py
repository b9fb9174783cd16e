"""The cost of the profiling unit: cycles, and hardware of two FPGAs, with and without it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from cyclescope.errors import DataError, ToolError
from cyclescope.hls.run._measure import machine_of
from cyclescope.hls.trace import UnitOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.hls._compile import Program
    from cyclescope.sim import Ecp5, Xc7

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
        xc7: what it takes of Xilinx' 7 series.
        mhz: the clock it reaches in the ECP5; None if that is not known.
    """

    name: str
    cycles: int | None
    area: Ecp5
    xc7: Xc7
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
    doing: Callable[[str], object] = lambda _: None,
) -> str:
    """A table of what the profiling unit costs: without it, with the paper's counters, with all.

    Args:
        program: what the hardware does.
        title: of it.
        cycles: runs it with this profiling unit; all runs come before the first synthesis.
        period: of the samples.
        doing: called with the step that begins, if it is not in the cache.

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
    taken = {name: cycles(unit) for name, unit in units.items()}
    costs: list[Cost] = []
    for name, unit in units.items():
        seeds = int(not why)
        told = _placed(doing, f"{name}, {len(costs) + 1} of {len(units)}")
        costs.append(cost_of(program, name, unit, cycles=taken[name], seeds=seeds, doing=told))
    return overhead_table(costs, why)


def _placed(doing: Callable[[str], object], place: str) -> Callable[[str], object]:
    """Tell each step with the design that it is of."""
    return lambda step: doing(f"{place}: {step}")


def cost_of(
    program: Program,
    name: str,
    unit: UnitOptions | None,
    *,
    cycles: int | None = None,
    seeds: int = 0,
    doing: Callable[[str], object] = lambda _: None,
) -> Cost:
    """Synthesise a program's hardware, as it would be built: without the checks of a simulation.

    Args:
        program: what it does.
        name: of the design.
        unit: its profiling unit.
        cycles: of a run of it, if there was one.
        seeds: place and route it so many times, which takes minutes each; the clock is the median.
        doing: called with the step that begins, if it is not in the cache.

    Raises:
        ToolError: Yosys or nextpnr is missing or fails.
        OutputError: the cache cannot be written.
    """
    from cyclescope.sim import end_calls, on_ecp5, on_xc7, route_on_ecp5

    machine = machine_of(program, checks=False, unit=unit)
    text, top = "".join(machine.sources.values()), machine.name
    with ThreadPoolExecutor(1) as pool:
        # Beside the ECP5's synthesis and routing, which take longer.
        other = pool.submit(on_xc7, text, top)
        try:
            area = on_ecp5(text, top, doing=doing)
            clocks = [
                route_on_ecp5(text, top, seed=n, doing=doing).mhz for n in range(1, seeds + 1)
            ]
            if not other.done():
                doing("synthesis for the 7 series")
            xc7 = other.result()
        except BaseException:
            # The pool waits for its thread, and the thread for its tool.
            while not wait([other], 0.05).done:
                end_calls()
            raise
    return Cost(name, cycles, area, xc7, median(clocks) if clocks else None)


def overhead_table(costs: Sequence[Cost], why_no_speed: str = "") -> str:
    """The costs as text: cycles, the ECP5's area and clock, then the area in the 7 series.

    The first is what the others are compared with.
    """
    names = [cost.name for cost in costs]
    heads = ("", "cycles", "registers", "LUT4", "BRAM", "DSP", "MHz")
    lines = _block(
        heads,
        names,
        [(c.cycles, c.area.ffs, c.area.luts, c.area.brams, c.area.dsps, c.mhz) for c in costs],
    )
    if why_no_speed:
        lines.append(f"no MHz: {why_no_speed}")
    sevens = [(c.xc7.ffs, c.xc7.luts, c.xc7.brams, c.xc7.dsps) for c in costs]
    others = ("7 series", "registers", "LUT6", "BRAM", "DSP48")
    return "\n".join([*lines, "", *_block(others, names, sevens), "", _OTHERS]) + "\n"


def _block(
    heads: Sequence[str], names: Sequence[str], rows: Sequence[Sequence[float | None]]
) -> list[str]:
    """Lines of figures, and below them what each has more than the first, in columns."""
    first = rows[0]
    cells: list[tuple[str, ...]] = [tuple(heads)]
    cells += [(name, *map(_figure, row)) for name, row in zip(names, rows, strict=True)]
    for name, row in zip(names[1:], rows[1:], strict=True):
        cells.append((f"{name}, more", *(_more(a, b) for a, b in zip(first, row, strict=True))))
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    return [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _figure(value: float | None) -> str:
    """A count, or a clock in MHz."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"


def _more(before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return "-"
    if before == 0:
        return "-" if after == 0 else "new"
    return f"{100 * (after / before - 1):+.1f} %"
