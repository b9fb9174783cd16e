"""A comparison as one HTML file: tables and both flame graphs, nothing from outside."""

from __future__ import annotations

import base64
import hashlib
import html
from typing import TYPE_CHECKING

from cyclescope.views._diff import diff_heading, diff_tables
from cyclescope.views._diffgraph import diff_flamegraph, diff_script
from cyclescope.views._still import timeline_svg

if TYPE_CHECKING:
    from cyclescope.analyse import Diff

__all__ = ["diff_html"]

_ROWS = 12  # of each timeline

_STYLE = """
:root { color-scheme: light dark; font: 14px/1.45 system-ui, sans-serif; }
body { margin: 1.5rem; }
h1 { font-size: 1.25rem; }
svg, img { display: block; width: 100%; background: #ffffff; margin: 1rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th, td { padding: 2px 10px; text-align: left; border-bottom: 1px solid #8886; white-space: nowrap; }
td:last-child { white-space: normal; overflow-wrap: anywhere; }
.n { text-align: right; }
"""


def diff_html(found: Diff, *, top: int = 200) -> bytes:
    """The comparison as a page that works from disk, without a network, under a strict policy.

    Args:
        found: the comparison.
        top: at most so many changes.

    Returns:
        A document in UTF-8, the same bytes for the same comparison.
    """
    picture = diff_flamegraph(found).decode().partition("?>")[2]
    digest = hashlib.sha256(diff_script().encode()).digest()
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{base64.b64encode(digest).decode()}'"
    )
    title = html.escape(diff_heading(found))
    notes, grids, rest = diff_tables(found, top)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{title}</title><style>{_STYLE}</style></head>",
        f"<body><h1>{title}</h1>",
        "<ul>",
        *(f"<li>{html.escape(note)}</li>" for note in notes),
        "</ul>",
        picture,
        *_timelines(found),
        *(_table(grid) for grid in grids),
        *(f"<p>{html.escape(line)}</p>" for line in rest),
        "</body></html>",
    ]
    return ("\n".join(parts) + "\n").encode()


def _timelines(found: Diff) -> list[str]:
    """Both runs over one axis of cycles, as a picture of its own."""
    if not found.before.cycles or not found.after.cycles:
        return []
    svg = timeline_svg([found.before, found.after], max_rows=_ROWS)
    data = base64.b64encode(svg).decode()
    return [f'<img alt="timelines, before and after" src="data:image/svg+xml;base64,{data}">']


def _table(grid: list[list[str]]) -> str:
    numeric = [heading.startswith(" ") for heading in grid[0]]

    def row(cells: list[str], tag: str, more: str = "") -> str:
        return "".join(
            f"<{tag}{more}{' class=n' if right else ''}>{html.escape(cell.strip())}</{tag}>"
            for cell, right in zip(cells, numeric, strict=True)
        )

    head = row(grid[0], "th", " scope=col")
    body = "\n".join(f"<tr>{row(cells, 'td')}</tr>" for cells in grid[1:])
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
