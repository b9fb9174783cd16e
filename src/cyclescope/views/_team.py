"""Threads in the summary: what their cycles were for, where they waited, rates, how even it was."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle
from typing import TYPE_CHECKING, Any

from cyclescope.analyse import WORK, Member, Team, Use, Wait, efficiencies, team
from cyclescope.errors import InputError
from cyclescope.views._grid import Column, Grid
from cyclescope.views._text import clip, number, percent, visible
from cyclescope.views._uses import SHADES, use_style

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from cyclescope.model import Profile

__all__ = ["efficiencies_view", "team_json", "team_text", "team_view", "waits_view"]

_ROWS = 16
_PLACES = 10
_LABEL = 40


def team_json(team: Team) -> dict[str, Any]:
    """The same as JSON values; rates as numbers a cycle."""
    return {
        "states": team.states,
        "balance": float(team.balance),
        "efficiency": float(team.efficiency),
        "members": [
            {
                "name": member.name,
                "useful": member.useful,
                "lost": {use.label: n for use, n in member.uses.items() if n and use != WORK},
                "states": member.states,
                "counts": [
                    {"metric": metric, "name": name, "sum": count}
                    for (metric, name), count in member.counts.items()
                ],
            }
            for member in team.members
        ],
        "roofs": [
            {
                "names": list(roof.names),
                "a_cycle": float(roof.rate),
                "peak": roof.peak,
                "share": float(roof.share),
            }
            for roof in team.roofs
        ],
        "waits": [
            {
                "name": wait.name,
                "thread_cycles": wait.cycles,
                "cause": wait.cause,
                "file": wait.file,
                "line": wait.line,
                "text": wait.text,
            }
            for wait in team.waits
        ],
    }


def team_view(profile: Profile, fmt: str = "text") -> bytes:
    """Tabulate a run's threads: what their cycles were for, their states, what counters counted.

    Args:
        profile: what to show.
        fmt: one of `TABLE_FORMATS`.

    Raises:
        InputError: its threads are not each in one state at a time, or it has none.
    """
    team = _team(profile)
    counters = dict.fromkeys(key for m in team.members for key in m.counts)

    def of_state(state: str) -> Column[Member]:
        return Column(f" {state}", state, int, lambda member: member.states.get(state, 0))

    def of_use(use: Use) -> Column[Member]:
        return Column(
            f" {use_style(use).name}", use.label, int, lambda member: member.uses.get(use, 0)
        )

    def of_counter(key: tuple[str, str]) -> Column[Member]:
        return Column(f" {key[1]}", key[1], int, lambda member: member.counts.get(key, 0))

    columns = [
        Column[Member]("thread", "thread", str, lambda member: member.name),
        *map(of_use, team.account.uses),
        *map(of_state, team.states),
        *map(of_counter, counters),
    ]
    return Grid.of(columns).render(team.members, fmt)


def efficiencies_view(profile: Profile, fmt: str = "text") -> bytes:
    """Tabulate the efficiencies of a run's threads, each with what it is the product of.

    Args:
        profile: what to show.
        fmt: one of `TABLE_FORMATS`.

    Raises:
        InputError: it has no threads that are each in one state at a time, or no cycle.
    """
    found = efficiencies(profile)
    rows = [
        ("parallel efficiency", found.parallel, "load balance * communication"),
        ("load balance", found.balance, "mean work / most work of a thread"),
        ("communication efficiency", found.communication, "serialisation * transfer"),
        ("serialisation efficiency", found.serialisation, "most work / run without memory waits"),
        ("transfer efficiency", found.transfer, "run without memory waits / run"),
    ]
    columns: list[Column[tuple[str, Fraction | None, str]]] = [
        Column("efficiency", "efficiency", str, lambda row: row[0]),
        Column(" share", "share", float, lambda row: row[1]),
        Column("is", "is", str, lambda row: row[2]),
    ]
    return Grid.of(columns).render(rows, fmt)


def waits_view(profile: Profile, fmt: str = "text") -> bytes:
    """Tabulate the places where threads waited, by what was lost there, with their lines.

    Args:
        profile: what to show.
        fmt: one of `TABLE_FORMATS`.

    Raises:
        InputError: its threads are not each in one state at a time, or it has none.
    """
    team = _team(profile)
    everything = len(team.members) * team.cycles
    columns: list[Column[Wait]] = [
        Column(" thread-cycles", "thread_cycles", int, lambda wait: wait.cycles),
        Column(" share", "share", float, lambda wait: _share(wait.cycles, everything)),
        Column(" line", "line", int, lambda wait: wait.line or None, _line),
        Column("for", "what", str, lambda wait: wait.what),
        Column("text", "text", str, lambda wait: wait.text),
    ]
    return Grid.of(columns).render(team.waits, fmt)


def _line(wait: Wait) -> str:
    return str(wait.line) if wait.line else ""


def _team(profile: Profile) -> Team:
    found = team(profile)
    if found is None:
        raise InputError(
            f"{profile.meta.title}: no threads that are each in one state at a time; tabulate cells"
            " or groups"
        )
    return found


def team_text(team: Team, period_ps: int | None) -> list[RenderableType]:
    """The parts of the summary that only a run of threads has."""
    from rich.text import Text

    title = Text(f"{len(team.members)} threads", style="bold")
    title.append(
        f"  load balance {percent(team.balance)} (mean of useful cycles / most), parallel "
        f"efficiency {percent(team.efficiency)} (useful)",
        style="not bold",
    )
    parts: list[RenderableType] = [title, _members(team)]
    if any(row.rate for row in _rates(team)):
        parts += ["", Text("Work and roofs", style="bold"), _roofs(team, period_ps)]
    if team.waits:
        heading = Text("Where threads waited", style="bold")
        heading.append("  (a thread can wait in several places at once)", style="not bold dim")
        parts += ["", heading, _waits(team)]
    return parts


def _members(team: Team) -> Table:
    """Each thread's row of the account; a row sums to the run's cycles."""
    from rich.text import Text

    table = _plain()
    table.add_column("thread", no_wrap=True)
    uses = team.account.uses
    for use, shade in zip(uses, cycle(SHADES), strict=False):
        style = use_style(use)
        label = Text(f"{shade} ", style=style.terminal)
        label.append(clip(visible(style.name), _LABEL).replace(": ", ":\n"), style="default")
        table.add_column(label, justify="right", no_wrap=True)
    for member in team.members[:_ROWS]:
        table.add_row(
            clip(visible(member.name), _LABEL), *(number(member.uses.get(use, 0)) for use in uses)
        )
    if len(team.members) > _ROWS:
        table.add_row(f"… {len(team.members) - _ROWS} more")
    table.add_row(
        Text("share", style="dim"),
        *(percent(team.account.share(units)) for units in team.account.parts.values()),
    )
    return table


def _plain(*numbers: str) -> Table:
    """A table without lines, with these columns of numbers."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for title in numbers:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def _share(cycles: int, everything: int) -> Fraction:
    return Fraction(cycles, everything) if everything else Fraction(0)


@dataclass(frozen=True, slots=True)
class _Rate:
    """The rate that all threads count together, and its roof."""

    name: str
    metric: str
    rate: Fraction
    peak: int | None


def _rates(team: Team) -> list[_Rate]:
    """Operations and bytes a cycle, and below those that share a roof their sum."""
    metrics = {name: metric for m in team.members for metric, name in m.counts}
    own = {names[0]: roof for roof in team.roofs if len(names := roof.names) == 1}
    result = [
        _Rate(
            name,
            metric,
            team.rate(metric, name),
            own[name].peak if name in own else None,
        )
        for name, metric in metrics.items()
        if metric in ("bytes", "operations")
    ]
    for roof in team.roofs:
        if len(roof.names) > 1:
            metric = metrics[next(name for name in roof.names if name in metrics)]
            result.append(_Rate(" + ".join(roof.names), metric, roof.rate, roof.peak))
    return [row for row in result if row.rate or row.peak]


def _roofs(team: Team, period_ps: int | None) -> Table:
    table = _plain("a cycle", "roof", "share", *(("a second",) if period_ps else ()))
    table.add_column("of")
    for row in _rates(team):
        cells = [f"{float(row.rate):.3g}", "", ""]
        if row.peak:
            cells[1:] = [number(row.peak), percent(row.rate / row.peak)]
        if period_ps:
            giga = float(row.rate) * 1000 / period_ps
            unit = "GB" if row.metric == "bytes" else "GFLOP" if "float" in row.name else "Gop"
            cells.append(f"{giga:.3g} {unit}/s")
        table.add_row(*cells, visible(row.name))
    return table


def _waits(team: Team) -> Table:
    table = _plain("thread-cycles", "share", "line")
    table.add_column("for", no_wrap=True)
    table.add_column("", no_wrap=True, overflow="ellipsis", style="dim")
    everything = len(team.members) * team.cycles
    for wait in team.waits[:_PLACES]:
        share = percent(_share(wait.cycles, everything))
        what, text = (clip(visible(words), _LABEL) for words in (wait.what, wait.text))
        table.add_row(number(wait.cycles), share, _line(wait), what, text)
    if len(team.waits) > _PLACES:
        table.add_row("", "", "", f"… {len(team.waits) - _PLACES} more places")
    return table
