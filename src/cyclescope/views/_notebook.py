"""The summary and the advice as tables, as notebooks show them."""

from __future__ import annotations

import html
from fractions import Fraction
from typing import TYPE_CHECKING

from cyclescope.analyse import summarise
from cyclescope.views._advise import bounded, where
from cyclescope.views._html_table import html_table
from cyclescope.views._text import clip, counted, duration, number, percent, place, visible
from cyclescope.views._uses import use_style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclescope.analyse import Account, Advice, Summary
    from cyclescope.model import Profile

__all__ = ["advice_html", "summary_html"]

_NAME = 60
_PLACE = 40
_SITES = 5  # places of a finding

# A notebook styles tables itself, but for these.
_STYLE = """<style>
.cyclescope table { font-variant-numeric: tabular-nums; }
.cyclescope caption { text-align: left; font-weight: 600; padding: 4px 0; }
.cyclescope td, .cyclescope th { text-align: left !important; }
.cyclescope td.n, .cyclescope th.n { text-align: right !important; }
.cyclescope .wide { overflow-x: auto; }
.cyclescope .uses { display: flex; height: 16px; max-width: 60em; margin: 6px 0; }
</style>"""


def summary_html(profile: Profile, *, hottest: int = 10) -> str:
    """A run at a glance: its cycles, what they were for, the hottest paths."""
    summary = summarise(profile, hottest=hottest)
    parts = [*_heading(summary)]
    if summary.cycles:
        parts += [_bar(summary.account), html_table("Cycles by use", _uses(summary.account))]
    if summary.hottest:
        parts.append(html_table("Hottest paths", _hottest(summary)))
    return _whole(parts)


def _heading(summary: Summary) -> Iterator[str]:
    meta = summary.meta
    text = f"<b>{counted(summary.cycles)}</b> {_escaped(meta.title)}"
    if meta.period_ps:
        period = meta.period_ps
        text += f", {duration(summary.cycles * period)} at {duration(period)} a cycle"
    yield f"<p>{text}</p>"
    if not meta.complete:
        reason = f" ({_escaped(meta.stop_reason)})" if meta.stop_reason else ""
        yield f"<p><b>Incomplete</b>: stopped before its end{reason}; figures are so far</p>"
    for anomaly in meta.anomalies:
        name = f"{anomaly.severity.value}: {_escaped(anomaly.name)}"
        yield f"<p>{name} \u00d7 {number(anomaly.count)}: {_escaped(anomaly.detail)}</p>"


def _bar(account: Account) -> str:
    parts = []
    for use, units in account.parts.items():
        style, share = use_style(use), percent(account.share(units))
        title = html.escape(f"{style.name}: {number(units)} ({share})")
        grow = f"flex: {units} 0 0; background: {style.colour}"
        parts.append(f'<span style="{grow}" title="{title}"></span>')
    return f'<div class="uses">{"".join(parts)}</div>'


def _uses(account: Account) -> list[list[str]]:
    rows = [["for", f" {account.unit}", " share"]]
    for use, units in account.parts.items():
        name = clip(visible(use_style(use).name), _NAME)
        rows.append([name, number(units), percent(account.share(units))])
    return [*rows, ["all", number(account.total), ""]]


def _hottest(summary: Summary) -> list[list[str]]:
    rows = [[" cycles", " share", "kind", "line", "path"]]
    for path in summary.hottest:
        names = [clip(visible(label), _NAME) for label in (path.instance, *path.stack)]
        line = place(path.position, _PLACE)
        figures = [number(path.cycles), percent(path.share)]
        rows.append([*figures, visible(str(path.kind)), line, " \u203a ".join(names)])
    return rows


def advice_html(profile: Profile, advice: Sequence[Advice], *, sites: int = _SITES) -> str:
    """The changes that save most cycles, first; below them how to make each, and where else.

    Args:
        profile: what was looked at.
        advice: what `analyse.advise` found.
        sites: at most so many places of a finding.
    """
    parts = [f"<p><b>{counted(profile.cycles)}</b> {_escaped(profile.meta.title)}</p>"]
    if not advice:
        return _whole([*parts, "<p>No rule has anything to say about it.</p>"])
    rows = [[" ", " saves about", " share", " at least", " at most", "change", "rule", "where"]]
    for finding in advice:
        share = percent(Fraction(finding.saving, profile.cycles)) if profile.cycles else ""
        figures = [number(n) for n in (finding.saving, finding.at_least, finding.at_most)]
        more = f", and {len(finding.places) - 1} more" if len(finding.places) > 1 else ""
        first = f"{where(finding.places[0])}{more}" if finding.places else ""
        title, rule = finding.rule.title, finding.rule.name
        rows.append([str(finding.rank), figures[0], share, *figures[1:], title, rule, first])
    parts.append(html_table("What to change", rows))
    return _whole([*parts, *(_finding(finding, sites) for finding in advice)])


def _finding(finding: Advice, sites: int) -> str:
    rule = finding.rule
    title = html.escape(f"{finding.rank}. {rule.title} ({rule.name})")
    said = [(rule.change, ""), (rule.verify, "Check: "), (rule.reference, "See: ")]
    lines = "".join(f"<p>{label}{html.escape(text)}</p>" for text, label in said)
    shown = finding.places[:sites]
    rows = [["where", "saving", "evidence"]]
    rows += [[where(site), bounded(site), visible(site.evidence)] for site in shown]
    rest = len(finding.places) - sites
    more = f"<p>and {number(rest)} more places</p>" if rest > 0 else ""
    table = html_table("Places", rows) if finding.places else ""
    return f"<details><summary>{title}</summary>{lines}{table}{more}</details>"


def _whole(parts: Sequence[str]) -> str:
    return f'{_STYLE}<div class="cyclescope">{"".join(parts)}</div>'


def _escaped(text: str) -> str:
    return html.escape(clip(visible(text), 5 * _NAME))
