"""Threads in the summary: cycles by state, what they waited for, rates, how even it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclescope.analyse import LOST_STATES, Team
from cyclescope.views._text import clip, number, percent, visible

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import RenderableType
    from rich.table import Table

__all__ = ["team_json", "team_text"]

_ROWS = 16
_LABEL = 40
# The paper's colours: running green, critical blue, spinning red, idle black.
_STYLE = {"running": "green", "critical": "blue", "spinning": "red", "idle": "bright_black"}


def team_json(team: Team) -> dict[str, Any]:
    """The same as JSON values; rates as numbers a cycle."""
    return {
        "states": team.states,
        "balance": float(team.balance),
        "efficiency": float(team.efficiency),
        "members": [
            {
                "name": member.name,
                "states": member.states,
                "counts": [
                    {"metric": metric, "name": name, "sum": count}
                    for (metric, name), count in member.counts.items()
                ],
            }
            for member in team.members
        ],
        "waits": [{"name": wait.name, "thread_cycles": wait.cycles} for wait in team.waits],
    }


def team_text(team: Team, period_ps: int | None, width: int) -> list[RenderableType]:
    """The parts of the summary that a run of threads has instead of control overheads."""
    from rich.text import Text

    title = Text(f"{len(team.members)} threads", style="bold")
    title.append(
        f"  balance {percent(team.balance)} (mean of busy cycles over most), "
        f"busy {percent(team.efficiency)} of all thread-cycles",
        style="not bold dim",
    )
    parts: list[RenderableType] = [_bar(team, width), "", title, _members(team)]
    rates = _rates(team, period_ps)
    if rates:
        parts += ["", Text("; ".join(rates))]
    if team.waits:
        parts += ["", Text("Where threads waited", style="bold"), _waits(team)]
    return parts


def _bar(team: Team, width: int) -> RenderableType:
    from rich.text import Text

    text = Text(no_wrap=True)
    everything = len(team.members) * team.cycles
    shades = iter("█▓▒░·" * len(team.states))
    done = drawn = 0
    for state, cycles in team.states.items():
        done += cycles
        until = done * width // everything
        text.append(next(shades) * (until - drawn), style=_STYLE.get(state, ""))
        drawn = until
    return text


def _members(team: Team) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("thread", no_wrap=True)
    states = list(team.states)
    stalls = list(dict.fromkeys(n for m in team.members for k, n in m.counts if k == "stall"))
    stalls = [name for name in stalls if any(m.counts.get(("stall", name)) for m in team.members)]
    shades = iter("█▓▒░·" * len(states))
    for state in states:
        label = Text(f"{next(shades)} ", style=_STYLE.get(state, ""))
        label.append(clip(visible(state), _LABEL), style="default" if state in LOST_STATES else "")
        table.add_column(label, justify="right", no_wrap=True)
    for name in stalls:
        table.add_column(clip(visible(name), _LABEL), justify="right")
    for member in team.members[:_ROWS]:
        table.add_row(
            clip(visible(member.name), _LABEL),
            *(number(member.states.get(state, 0)) for state in states),
            *(number(member.counts.get(("stall", name), 0)) for name in stalls),
        )
    if len(team.members) > _ROWS:
        table.add_row(f"… {len(team.members) - _ROWS} more")
    everything = len(team.members) * team.cycles
    table.add_row(
        Text("share", style="dim"),
        *(percent(_share(cycles, everything)) for cycles in team.states.values()),
        *(
            percent(_share(sum(m.counts.get(("stall", n), 0) for m in team.members), everything))
            for n in stalls
        ),
    )
    return table


def _share(cycles: int, everything: int) -> Fraction:
    from fractions import Fraction

    return Fraction(cycles, everything) if everything else Fraction(0)


def _rates(team: Team, period_ps: int | None) -> list[str]:
    """Bytes and operations a cycle, and a second where the clock is known."""
    names = dict.fromkeys(
        (metric, name)
        for member in team.members
        for metric, name in member.counts
        if metric in ("bytes", "operations")
    )
    result = []
    for metric, name in names:
        rate = team.rate(metric, name)
        if not rate:
            continue
        text = f"{float(rate):.3g} {visible(name)} a cycle"
        if period_ps:
            giga = float(rate) * 1000 / period_ps
            unit = "GB/s" if metric == "bytes" else "Gop/s"
            text += f" ({giga:.3g} {unit})"
        result.append(text)
    return result


def _waits(team: Team) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for title in ("thread-cycles", "share"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("place")
    everything = len(team.members) * team.cycles
    for wait in team.waits[:10]:
        name = visible(wait.name.removeprefix("waiting: "))
        share = percent(_share(wait.cycles, everything))
        table.add_row(number(wait.cycles), share, clip(name, 2 * _LABEL))
    return table
