"""The summary: a profile in one screen of text, or as JSON."""

from __future__ import annotations

import json
from itertools import cycle
from typing import TYPE_CHECKING, Any

from cyclescope.analyse import Summary, summarise
from cyclescope.model import Kind, Profile, Severity
from cyclescope.views._clock import clock_json, clock_text
from cyclescope.views._team import team_json, team_text
from cyclescope.views._text import clip, counted, duration, number, percent, place, visible
from cyclescope.views._uses import SHADES, use_style

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import Console, RenderableType
    from rich.table import Table

    from cyclescope.analyse import Account

__all__ = ["print_summary", "summary_json", "summary_text"]

_KIND_STYLE: dict[Kind | str, str] = {
    Kind.CELL: "magenta",
    Kind.CONTROL: "red",
    Kind.GROUP: "yellow",
    Kind.PRIMITIVE: "bright_yellow",
}
_SEVERITY_STYLE = {Severity.INFO: "", Severity.DATA_LOSS: "yellow", Severity.ERROR: "bold red"}


def summary_json(profile: Profile, *, hottest: int = 10) -> str:
    """The summary as one JSON object, ASCII only, keys in a fixed order.

    Keys: `title`, `source`, `cycles`, `account` (`unit`, `total`), `useful`, `lost` (by use, such
    as `control: fsm` or `waiting: memory`; with `useful` they sum to the account's total),
    `complete`, `stop_reason`, `period_ps`, `hottest` (each `instance`, `stack` inside it, `kind`,
    `cycles`, `file`, `line`), `anomalies` (each `name`, `severity`, `count`, `detail`); of a run of
    threads also `threads` (`states` in thread-cycles, `balance`, `efficiency`, `members`, `waits`);
    of a design that was placed and routed also `clock` (`period_ps`, `logic_ps`, `device`, `seed`,
    `path`).
    """
    summary = summarise(profile, hottest=hottest)
    meta = summary.meta
    head: dict[str, Any] = {
        "title": meta.title,
        "source": meta.source,
        "cycles": summary.cycles,
        "account": {"unit": summary.account.unit, "total": summary.account.total},
        "useful": summary.account.useful,
        "lost": {use.label: units for use, units in summary.account.lost.items()},
        "complete": meta.complete,
        "stop_reason": meta.stop_reason,
        "period_ps": meta.period_ps,
        "hottest": [
            {
                "instance": path.instance,
                "stack": list(path.stack),
                "kind": str(path.kind),
                "cycles": path.cycles,
                "file": path.position.file if path.position else None,
                "line": path.position.line if path.position else None,
            }
            for path in summary.hottest
        ],
        "anomalies": [
            {
                "name": anomaly.name,
                "severity": anomaly.severity.value,
                "count": anomaly.count,
                "detail": anomaly.detail,
            }
            for anomaly in meta.anomalies
        ],
    }
    if meta.clock is not None:
        head["clock"] = clock_json(meta.clock)
    if summary.team is not None:
        head["threads"] = team_json(summary.team)
    return json.dumps(head, indent=2) + "\n"


def summary_text(profile: Profile, *, hottest: int = 10, width: int = 100) -> str:
    """The summary as plain text without colours, so many columns wide."""
    import io

    from rich.console import Console

    buffer = io.StringIO()
    # In a notebook, too, it is text: Rich would show its own there.
    console = Console(file=buffer, width=width, color_system=None, force_jupyter=False)
    _render(console, profile, hottest)
    return "".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines())


def print_summary(profile: Profile, stream: TextIO, *, hottest: int = 10) -> None:
    """Print the summary: with colours if the stream is a terminal and `NO_COLOR` is not set.

    What the stream's encoding cannot show is printed as visible escapes.
    """
    import io

    from rich.console import Console

    real = Console(file=stream, highlight=False, force_jupyter=False)
    # A narrow terminal wraps lines; cut off numbers would be wrong ones.
    width = max(real.width, 80 if real.is_terminal else 100)
    buffer = io.StringIO()
    target = Console(
        file=buffer,
        width=width,
        color_system=real.color_system if real.is_terminal else None,  # type: ignore[arg-type]
        force_terminal=real.is_terminal,
        no_color=real.no_color,
        force_jupyter=False,
    )
    _render(target, profile, hottest)
    encoding = stream.encoding or "utf-8"
    stream.write(buffer.getvalue().encode(encoding, "backslashreplace").decode(encoding))


def _render(console: Console, profile: Profile, hottest: int) -> None:
    from rich.padding import Padding

    summary = summarise(profile, hottest=hottest)
    parts: list[RenderableType] = [_head(summary), *_notices(summary)]
    if summary.cycles:
        parts += ["", _bar(summary.account, console.width - 4), "", _uses(summary.account)]
    if summary.cycles and summary.team is not None:
        parts += ["", *team_text(summary.team, summary.meta.period_ps)]
    if summary.meta.clock is not None:
        parts += ["", clock_text(summary.meta.clock).rstrip()]
    if summary.hottest:
        parts += ["", *_hottest(summary, console.width - 4)]
    for part in parts:
        console.print(Padding(part, (0, 2)) if part else "", highlight=False, markup=False)


def _head(summary: Summary) -> RenderableType:
    from rich.text import Text

    text = Text(counted(summary.cycles), style="bold")
    text.append(f"  {clip(visible(summary.meta.title), _LABEL)}", style="not bold")
    if summary.meta.period_ps:
        period = summary.meta.period_ps
        text.append(
            f"  {duration(summary.cycles * period)} at {duration(period)} a cycle",
            style="not bold dim",
        )
    return text


def _notices(summary: Summary) -> list[RenderableType]:
    from rich.text import Text

    meta = summary.meta
    lines: list[RenderableType] = []
    if not meta.complete:
        reason = f" ({visible(meta.stop_reason)})" if meta.stop_reason else ""
        lines.append(
            Text(
                f"INCOMPLETE: the run was stopped before its end{reason}; "
                "all figures are of the cycles so far",
                style="bold red",
            )
        )
    for anomaly in meta.anomalies:
        detail = f": {clip(visible(anomaly.detail), 5 * _LABEL)}" if anomaly.detail else ""
        lines.append(
            Text(
                f"{anomaly.severity.value.upper()}: {clip(visible(anomaly.name), _LABEL)} "
                f"\u00d7 {number(anomaly.count)}{detail}",
                style=_SEVERITY_STYLE[anomaly.severity],
            )
        )
    return lines


_LABEL = 60  # columns: generated names can be as long as a page


def _bar(account: Account, width: int) -> RenderableType:
    """A bar of the uses; shades tell them apart where there are no colours."""
    from rich.text import Text

    text = Text(no_wrap=True)
    done = drawn = 0
    for (use, units), shade in zip(account.parts.items(), cycle(SHADES), strict=False):
        done += units
        until = done * width // account.total
        text.append(shade * (until - drawn), style=use_style(use).terminal)
        drawn = until
    return text


def _uses(account: Account) -> Table:
    """Units and share of each use; of tracks also what the units are, and the sum."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for justify in ("left", "right", "right"):
        table.add_column(justify=justify)
    for (use, units), shade in zip(account.parts.items(), cycle(SHADES), strict=False):
        style = use_style(use)
        label = Text(f"{shade} ", style=style.terminal)
        label.append(clip(visible(style.name), _LABEL), style="default")
        table.add_row(label, number(units), percent(account.share(units)))
    if account.tracks:
        table.add_row(Text(f"  {account.unit}", style="dim"), number(account.total), "")
    return table


def _hottest(summary: Summary, width: int) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", width=width)
    table.add_column("cycles", justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    table.add_column("line", no_wrap=True)
    table.add_column("path", ratio=1, overflow="fold")
    for path in summary.hottest:
        stack = Text()
        names = [clip(visible(label), _LABEL) for label in (path.instance, *path.stack)]
        for name in names[:-1]:
            stack.append(f"{name} \u203a ", style="dim")
        stack.append(names[-1], style="bold")
        table.add_row(
            number(path.cycles),
            percent(path.share),
            Text(str(path.kind), style=_KIND_STYLE.get(path.kind, "")),
            Text(place(path.position, _LABEL // 2)),
            stack,
        )
    title = Text("Hottest paths", style="bold")
    what = "cycles" if summary.team is None else "thread-cycles"
    title.append(f"  ({what} at their end; paths active in parallel each count)", style="dim")
    return [title, table]
