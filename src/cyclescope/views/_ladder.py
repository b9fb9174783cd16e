"""The bounds ladder as text, Markdown or JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cyclescope.views._text import markdown_cell, number, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.analyse import Rung

__all__ = ["ladder_json", "ladder_markdown", "ladder_text"]


def ladder_text(rungs: Sequence[Rung], title: str) -> str:
    """A line for each rung, and under it one for each gap that leads to it."""
    rows: list[tuple[str, str]] = []
    for rung in rungs:
        rows += [(f"    {gap.name}", f"{gap.cycles:+,}") for gap in rung.gaps]
        rows.append((rung.name, number(rung.cycles)))
    left = max(len(name) for name, _ in rows)
    right = max(len(cycles) for _, cycles in rows)
    lines = [visible(title), ""]
    lines += [f"  {name:{left}}  {cycles:>{right}}" for name, cycles in rows]
    return "\n".join(lines) + "\n"


def ladder_markdown(rungs: Sequence[Rung], title: str) -> str:
    """The same as a table."""
    lines = [f"### {markdown_cell(title)}", "", "| | cycles |", "| --- | ---: |"]
    for rung in rungs:
        lines += [f"| {markdown_cell(gap.name)} | {gap.cycles:+,} |" for gap in rung.gaps]
        lines.append(f"| **{markdown_cell(rung.name)}** | **{number(rung.cycles)}** |")
    return "\n".join(lines) + "\n"


def ladder_json(rungs: Sequence[Rung], title: str) -> str:
    """One JSON object, ASCII only: `title` and `rungs`, each `name`, `cycles` and `gaps`."""
    records = [
        {
            "name": rung.name,
            "cycles": rung.cycles,
            "gaps": [{"name": gap.name, "cycles": gap.cycles} for gap in rung.gaps],
        }
        for rung in rungs
    ]
    return json.dumps({"title": title, "rungs": records}, indent=1) + "\n"
