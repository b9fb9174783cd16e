"""Advice: for the terminal, for programs, for a pull request."""

from __future__ import annotations

import json
import shlex
import textwrap
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cyclescope.views._text import clip, counted, markdown_cell, number, percent, place, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.analyse import Advice, Place
    from cyclescope.model import Profile

__all__ = ["advice_json", "advice_markdown", "advice_text", "bounded", "place_record", "where"]

_WIDTH = 100
_NAME = 48
_PLACE = 40


def advice_text(
    profile: Profile, advice: Sequence[Advice], *, file: str = "", sites: int = 5
) -> str:
    """Findings, most cycles first, each with what to change and how to check it.

    Args:
        profile: what was looked at.
        advice: what `analyse.advise` found.
        file: the profile's file, for the commands that show a place.
        sites: at most so many places of a finding; a line says what the others save.
    """
    lines = [f"{number(profile.cycles)} cycles  {clip(visible(profile.meta.title), 60)}"]
    if not profile.meta.complete:
        lines.append("INCOMPLETE: stopped before its end; savings are of the cycles so far")
    if not advice:
        lines += ["", "No rule has anything to say about it."]
    for finding in advice:
        rule = finding.rule
        lines += ["", f"{finding.rank}. {rule.title[0].upper()}{rule.title[1:]}  [{rule.name}]"]
        lines.append(f"   {_saving(finding, profile.cycles)}")
        lines += _folded("change", rule.change)
        lines += _folded("check", rule.verify)
        lines += _folded("see", rule.reference)
        for site in finding.places[:sites]:
            lines += ["", f"   {where(site)}"]
            if len(finding.places) > 1:
                lines.append(f"      {bounded(site)}")
            lines += textwrap.wrap(
                visible(site.evidence), _WIDTH, initial_indent="      ", subsequent_indent="      "
            )
            if site.cycles is not None:
                lines.append(f"      look: {_look(site.cycles, file)}")
        rest = finding.places[sites:]
        if rest:
            more = sum(site.saving for site in rest)
            lines += ["", f"   and {number(len(rest))} more places: about {number(more)} cycles"]
    if len(advice) > 1:
        lines += ["", "Savings of different findings may overlap."]
    return "\n".join(lines) + "\n"


def advice_markdown(
    profile: Profile, advice: Sequence[Advice], *, file: str = "", sites: int = 5
) -> str:
    """The same for a pull request or a report."""
    title = markdown_cell(profile.meta.title)
    lines = [f"### {title}: {number(profile.cycles)} cycles", ""]
    if not advice:
        lines.append("No rule has anything to say about it.")
    for finding in advice:
        rule = finding.rule
        lines += [
            f"{finding.rank}. **{markdown_cell(rule.title)}** (`{rule.name}`): "
            f"{markdown_cell(_saving(finding, profile.cycles))}",
            "",
            f"   {markdown_cell(rule.change)}",
            "",
            f"   *Check:* {markdown_cell(rule.verify)} *See:* {markdown_cell(rule.reference)}",
            "",
            "   | about | bound | where | evidence | look |",
            "   | ---: | ---: | --- | --- | --- |",
        ]
        lines += [
            f"   | {number(site.saving)} | {number(site.at_least)} to {number(site.at_most)} "
            f"| {markdown_cell(where(site))} | {markdown_cell(site.evidence)} "
            f"| {markdown_cell(_look(site.cycles, file)) if site.cycles else ''} |"
            for site in finding.places[:sites]
        ]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def advice_json(profile: Profile, advice: Sequence[Advice]) -> str:
    """One JSON object, ASCII only: `title`, `cycles`, `complete`, `advice`.

    Each finding has `rule`, `rank` (shared by findings that save equally much), `title`,
    `reference`, `change`, `verify`, `saving`, `at_least`, `at_most` (cycles) and `sites`, each with
    `name`, `component`, `file`, `line`, `evidence`, `saving`, `at_least`, `at_most` and `cycles`
    (first, and the one after the last).
    """
    head = {
        "title": profile.meta.title,
        "cycles": profile.cycles,
        "complete": profile.meta.complete,
        "advice": [_record(finding) for finding in advice],
    }
    return json.dumps(head, indent=1) + "\n"


def _record(finding: Advice) -> dict[str, Any]:
    rule = finding.rule
    return {
        "rule": rule.name,
        "rank": finding.rank,
        "title": rule.title,
        "reference": rule.reference,
        "change": rule.change,
        "verify": rule.verify,
        "saving": finding.saving,
        "at_least": finding.at_least,
        "at_most": finding.at_most,
        "sites": [
            place_record(site) | {"cycles": list(site.cycles) if site.cycles else None}
            for site in finding.places
        ],
    }


def place_record(site: Place) -> dict[str, Any]:
    """A place of a finding as plain values, by the names of its columns."""
    return {
        "name": site.name,
        "component": site.component,
        "file": site.position.file if site.position else None,
        "line": site.position.line if site.position else None,
        "evidence": site.evidence,
        "saving": site.saving,
        "at_least": site.at_least,
        "at_most": site.at_most,
    }


def _saving(finding: Advice, cycles: int) -> str:
    share = f" ({percent(Fraction(finding.saving, cycles))})" if cycles else ""
    tie = f", as much as {' and '.join(finding.ties)}: a tie" if finding.ties else ""
    return bounded(finding, share) + tie


def bounded(what: Advice | Place, share: str = "") -> str:
    """The cycles that a change saves, with their bounds."""
    between = f"between {number(what.at_least)} and {number(what.at_most)}"
    return f"saves about {counted(what.saving)}{share}, {between}"


def where(site: Place) -> str:
    """A place of a finding: file, line, name."""
    name = clip(visible(site.name), _NAME)
    inside = f" in {clip(visible(site.component), _NAME)}" if site.component else ""
    return f"{place(site.position, _PLACE)}  {name}{inside}".strip()


def _look(cycles: tuple[int, int], file: str) -> str:
    # A little around it shows how it is entered and left.
    first, last = max(cycles[0] - 2, 0), cycles[1] + 2
    name = shlex.quote(visible(file)) if file else "P.cyc"
    return f"cyclescope timeline {name} --from {first} --to {last}"


def _folded(label: str, text: str) -> list[str]:
    head = f"   {label}: "
    return textwrap.wrap(text, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
