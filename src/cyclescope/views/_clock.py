"""The clock that a design reaches: its longest path by lines of the program, as text and table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from cyclescope.errors import InputError
from cyclescope.model import Part, StepKind
from cyclescope.views._grid import Column, Grid
from cyclescope.views._text import clip, duration, percent, visible

if TYPE_CHECKING:
    from cyclescope.model import Clock, PathStep, Profile

__all__ = ["clock_json", "clock_text", "clock_view", "step_place"]

_LABEL = 40


def clock_text(clock: Clock) -> str:
    """The clock, and from where to where its longest path goes, in three lines."""
    mega = Fraction(10**6, clock.period_ps)
    logic = Fraction(clock.logic_ps, clock.period_ps)
    lines = [
        f"clock: {float(mega):.1f} MHz, {duration(clock.period_ps)} a cycle"
        f" ({visible(clock.device)})",
        f"  longest path: from {_end(clock.path[0])} to {_end(clock.path[-1])}",
        f"  {percent(logic)} logic, {percent(1 - logic)} wires",
    ]
    return "".join(f"{line}\n" for line in lines)


def clock_json(clock: Clock) -> dict[str, Any]:
    """The same as JSON values, with all steps of the path."""
    return {
        "period_ps": clock.period_ps,
        "logic_ps": clock.logic_ps,
        "device": clock.device,
        "seed": clock.seed,
        "path": [
            {
                "kind": str(step.kind),
                "delay_ps": step.delay_ps,
                "cell": step.cell,
                "net": step.net,
                "part": str(step.part),
                "file": step.file,
                "line": step.line,
            }
            for step in clock.path
        ],
    }


def clock_view(profile: Profile, fmt: str = "text") -> bytes:
    """Tabulate the longest path, a row a step; the delays add up to the clock's period.

    Args:
        profile: what to show.
        fmt: one of `TABLE_FORMATS`.

    Raises:
        InputError: its design was not placed and routed.
    """
    clock = profile.meta.clock
    if clock is None:
        raise InputError(
            f"{profile.meta.title}: its design was not placed and routed; measure it with"
            " hls PROGRAM.c --clock -o FILE"
        )
    after = accumulate(step.delay_ps for step in clock.path)
    rows = [_Row(step, at, clock.period_ps) for step, at in zip(clock.path, after, strict=True)]
    columns: list[Column[_Row]] = [
        Column(" ps", "delay_ps", int, lambda row: row.step.delay_ps),
        Column(" until", "until_ps", int, lambda row: row.until),
        Column(" share", "share", float, lambda row: Fraction(row.step.delay_ps, row.period)),
        Column("step", "kind", str, lambda row: str(row.step.kind)),
        Column("cell", "cell", str, lambda row: row.step.cell),
        Column("part", "part", str, lambda row: str(row.step.part)),
        Column("file", "file", str, lambda row: row.step.file),
        Column(" line", "line", int, lambda row: row.step.line or None),
        Column("net", "net", str, lambda row: row.step.net),
    ]
    return Grid.of(columns).render(rows, fmt)


@dataclass(frozen=True, slots=True)
class _Row:
    step: PathStep
    until: int
    period: int


def step_place(step: PathStep) -> str:
    """The place that a step belongs to: its line, its part of the design, or both."""
    if not step.line:
        return str(step.part)
    place = f"{visible(step.file)}:{step.line}"
    return place if step.part is Part.OPERATION else f"{step.part} of {place}"


def _end(step: PathStep) -> str:
    place = step_place(step)
    if step.kind in (StepKind.LAUNCH, StepKind.SETUP) and step.net:
        return f"{place} ({clip(visible(step.net), _LABEL)}, {step.cell})"
    return f"{place} ({step.cell})"
