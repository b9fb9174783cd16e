"""The bounds ladder of a profile as text, Markdown, JSON or a picture."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cyclescope.analyse import NO_BOUNDS, NO_STATEMENT_BOUNDS
from cyclescope.errors import InputError
from cyclescope.views._svg import Svg
from cyclescope.views._text import clip, duration, markdown_cell, number, percent, visible, width_of

if TYPE_CHECKING:
    from cyclescope.model import Gap, Profile, Rung

__all__ = ["GAP_CLASSES", "ladder_json", "ladder_markdown", "ladder_svg", "ladder_text"]

GAP_CLASSES = {
    "recurrence": "program",
    "resource": "program",
    "late operands": "program",
    "groups": "program",
    "channels": "control",
    "control": "control",
    "iterations apart": "control",
    "control: steps of state registers": "control",
    "control: arms of a par": "control",
    "control: steps and arms": "control",
    "control: other": "control",
    "control: conditions": "control",
    "shared pipelines": "control",
    "reading and writing": "control",
    "latencies": "program",
    "operations": "program",
    "sources and sinks": "memory",
    "threads": "threads",
    "way to memory": "memory",
    "memory latency": "memory",
    "memory bandwidth": "memory",
    "arbitration": "memory",
    "lock": "threads",
    "imbalance": "threads",
    "imbalance at barriers": "threads",
    "imbalance: other threads end later": "threads",
    "thread start": "threads",
}
"""What a gap is due to, for colours: the program, its control, memory, other threads."""

_CLASS_NAMES = {
    "program": "the program",
    "control": "control",
    "memory": "memory",
    "threads": "threads",
}


def ladder_text(profile: Profile) -> str:
    """A line for each rung, and above it one for each gap that leads to it.

    With a clock a rung's time is beside its cycles.

    Raises:
        InputError: the profile carries no ladder.
    """
    period = profile.meta.period_ps
    lines = [visible(profile.meta.title), "", *_steps(_rungs(profile), -1, period)]
    if profile.meta.other_bounds:
        lines += ["", f"  {_OTHER}:", *_steps(profile.meta.other_bounds, 0, period)]
    lines += [f"  {visible(name)}: {visible(detail)}" for name, detail in _lost(profile)]
    return "\n".join(lines) + "\n"


_OTHER = "cyclescope bounds of the same function"


def _steps(rungs: tuple[Rung, ...], whole: int, period: int | None) -> list[str]:
    """Rungs, with their times, and between them the gaps with their shares of one of them."""
    rows: list[tuple[str, str, str]] = []
    for rung in rungs:
        rows += [
            (f"    {visible(g.name)}", f"{g.cycles:+,}", _share(g, rungs[whole])) for g in rung.gaps
        ]
        rows.append((visible(rung.name), number(rung.cycles), _time(rung, period)))
    left = max(width_of(name) for name, _, _ in rows)
    right = max(len(cycles) for _, cycles, _ in rows)
    last = max(7, *(len(third) for _, _, third in rows))
    lines = []
    for name, cycles, third in rows:
        space = " " * (left - width_of(name))
        lines.append(f"  {name}{space}  {cycles:>{right}}  {third:>{last}}".rstrip())
    return lines


def ladder_markdown(profile: Profile) -> str:
    """The same as a table.

    Raises:
        InputError: the profile carries no ladder.
    """
    lines = [
        f"### {markdown_cell(profile.meta.title)}",
        "",
        *_rows("of the run", _rungs(profile), -1, profile.meta.period_ps),
    ]
    if profile.meta.other_bounds:
        lines += [
            "",
            f"{_OTHER.capitalize()}:",
            "",
            *_rows("of the first", profile.meta.other_bounds, 0, profile.meta.period_ps),
        ]
    lost = [f"\n{name.capitalize()}: {markdown_cell(detail)}" for name, detail in _lost(profile)]
    return "\n".join([*lines, *lost]) + "\n"


def _rows(share: str, rungs: tuple[Rung, ...], whole: int, period: int | None) -> list[str]:
    """A table in Markdown."""
    heading = f"{share}; time" if period else share
    lines = [f"| | cycles | {heading} |", "| --- | ---: | ---: |"]
    for rung in rungs:
        lines += [
            f"| {markdown_cell(g.name)} | {g.cycles:+,} | {_share(g, rungs[whole])} |"
            for g in rung.gaps
        ]
        lines.append(
            f"| **{markdown_cell(rung.name)}** | **{number(rung.cycles)}** |"
            f" {_time(rung, period)}".rstrip()
            + " |"
        )
    return lines


def ladder_json(profile: Profile) -> str:
    """One JSON object, ASCII only: `title` and `rungs`, each `name`, `cycles`, `about`, `gaps`.

    `other_bounds` has the same of another model's bound, if there is one.

    Raises:
        InputError: the profile carries no ladder.
    """
    found = {"title": profile.meta.title, "rungs": _records(_rungs(profile))}
    if profile.meta.other_bounds:
        found["other_bounds"] = _records(profile.meta.other_bounds)
    return json.dumps(found, indent=1) + "\n"


def _records(rungs: tuple[Rung, ...]) -> list[dict[str, Any]]:
    return [
        {
            "name": rung.name,
            "cycles": rung.cycles,
            "about": rung.about,
            "gaps": [
                {"name": gap.name, "cycles": gap.cycles, "about": gap.about} for gap in rung.gaps
            ],
        }
        for rung in rungs
    ]


def _rungs(profile: Profile) -> tuple[Rung, ...]:
    if not profile.meta.ladder:
        raise InputError(
            f"{visible(profile.meta.title)}: its bounds are not known; make a profile that"
            " has them: `cyclescope ladder PROGRAM.c -o RUN.cyc`"
        )
    return profile.meta.ladder


def _share(gap: Gap, whole: Rung) -> str:
    return percent(Fraction(gap.cycles, whole.cycles)) if whole.cycles else ""


def _time(rung: Rung, period: int | None) -> str:
    return duration(rung.cycles * period) if period else ""


def _lost(profile: Profile) -> list[tuple[str, str]]:
    return [
        (a.name, a.detail)
        for a in profile.meta.anomalies
        if a.name in (NO_BOUNDS, NO_STATEMENT_BOUNDS)
    ]


_STYLE = """
.title { font: bold 15px sans-serif } text { font: 13px sans-serif; fill: #222 }
.rung { font-weight: bold } .figure { font-variant-numeric: tabular-nums; text-anchor: end }
.bar { fill: #5b6672 } .program { fill: #4c78a8 } .control { fill: #c77a16 }
.memory { fill: #1b9e8a } .threads { fill: #b4477f } .less { fill: none; stroke: #222 }
.join { stroke: #999; stroke-width: 1 }
"""
_NAMES, _BARS, _FIGURES, _ROW = 270, 520, 150, 22


def ladder_svg(profile: Profile) -> bytes:
    """The ladder as a picture: rungs are bars, gaps are the steps between them.

    Raises:
        InputError: the profile carries no ladder.
    """
    rungs = _rungs(profile)
    rows = sum(1 + len(rung.gaps) for rung in rungs)
    most = max(1, _top(rungs))
    width, height = _NAMES + _BARS + _FIGURES, 76 + rows * _ROW
    svg = Svg()
    svg.begin(viewBox=f"0 0 {width} {height}", width=str(width), height=str(height), role="img")
    title = f"{clip(visible(profile.meta.title), 60)}: from the bounds to the hardware"
    svg.leaf("title", title)
    svg.leaf("style", _STYLE)
    svg.leaf("rect", width="100%", height="100%", fill="#fff")
    svg.text(title, 10, 24, "title")
    at = 48.0
    before = 0
    for rung in rungs:
        for gap in rung.gaps:
            after = before + gap.cycles
            kind = GAP_CLASSES.get(gap.name, "program") if gap.cycles >= 0 else "less"
            text = f"{gap.cycles:+,} ({_share(gap, rungs[-1])})"
            _row(svg, at, visible(gap.name), (before, after, most), kind, text, gap.about)
            before = after
            at += _ROW
        _row(svg, at, visible(rung.name), (0, rung.cycles, most), "bar", number(rung.cycles),
             rung.about)  # fmt: skip
        before = rung.cycles
        at += _ROW
    x = _NAMES
    for kind, name in _CLASS_NAMES.items():
        svg.leaf("rect", x=str(x), y=f"{at + 6:g}", width="12", height="12", class_=kind)
        svg.text(name, x + 17, at + 16, "key")
        x += 110
    return svg.end()


def _top(rungs: tuple[Rung, ...]) -> int:
    found = before = 0
    for rung in rungs:
        for gap in rung.gaps:
            before += gap.cycles
            found = max(found, before)
        before = rung.cycles
        found = max(found, before)
    return found


def _row(
    svg: Svg,
    at: float,
    name: str,
    span: tuple[int, int, int],
    kind: str,
    figure: str,
    about: str,
) -> None:
    start, end, most = span
    low, high = min(start, end), max(start, end)
    x = _NAMES + low * _BARS / most
    size = max((high - low) * _BARS / most, 1.0)
    is_rung = kind == "bar"
    svg.open("g")
    svg.leaf("title", f"{name}: {figure}{f' - {about}' if about else ''}")
    svg.text(clip(name, 38), 10 if is_rung else 26, at + 13, "rung" if is_rung else "gap")
    svg.leaf("rect", x=f"{x:.1f}", y=f"{at + 3:g}", width=f"{size:.1f}", height="14", class_=kind)
    svg.text(
        figure, _NAMES + _BARS + _FIGURES - 10, at + 13, "figure rung" if is_rung else "figure"
    )
    svg.close("g")
