"""A comparison as one HTML file: tables and both flame graphs, nothing from outside."""

from __future__ import annotations

import base64
import hashlib
import html
from typing import TYPE_CHECKING

from cyclescope.views._diff import diff_heading, diff_tables
from cyclescope.views._diffgraph import diff_flamegraph, diff_script
from cyclescope.views._html_table import html_table
from cyclescope.views._still import timeline_svg

if TYPE_CHECKING:
    from cyclescope.analyse import Diff

__all__ = ["diff_html"]

_ROWS = 12  # of each timeline

_STYLE = """
:root { color-scheme: light dark; font: 14px/1.45 system-ui, sans-serif; }
body { margin: 1.5rem; background: Canvas; color: CanvasText; }
a { color: light-dark(#1f4f99, #9cc1ff); }
h1 { font-size: 1.25rem; }
svg, img { display: block; width: 100%; background: #ffffff; margin: 1rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th, td { padding: 2px 10px; text-align: left; border-bottom: 1px solid #8886; white-space: nowrap; }
td:last-child { white-space: normal; overflow-wrap: anywhere; }
caption { text-align: left; font-weight: 600; padding: 4px 0; }
h2 { font-size: 1.05rem; margin: 1.5rem 0 0.5rem; }
nav a { margin-right: 1.2em; }
:focus-visible { outline: 2px solid #0b57d0; outline-offset: 1px; }
@media print {
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  nav { display: none; }
  .wide { overflow: visible; }
}
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
    tables = [
        *(html_table(name, grid) for name, grid in grids),
        *(f"<p>{html.escape(line)}</p>" for line in rest),
    ]
    sections = [
        ("flame", "Flame graphs", picture),
        ("timelines", "Timelines", _timelines(found)),
        ("changes", "Changes", "\n".join(tables)),
    ]
    sections = [section for section in sections if section[2]]
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{title}</title><style>{_STYLE}</style></head>",
        f"<body><header><h1>{title}</h1>",
        "<ul>",
        *(f"<li>{html.escape(note)}</li>" for note in notes),
        "</ul>",
        _links(sections),
        "</header><main>",
        *(_section(name, heading, inside) for name, heading, inside in sections),
        "</main></body></html>",
    ]
    return ("\n".join(parts) + "\n").encode()


def _links(sections: list[tuple[str, str, str]]) -> str:
    links = "".join(f'<a href="#{name}">{heading}</a>' for name, heading, _ in sections)
    return f'<nav aria-label="Parts of the page">{links}</nav>'


def _section(name: str, heading: str, inside: str) -> str:
    """A part of the page with a heading that names it: a landmark."""
    title = f'<h2 id="{name}-title">{heading}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{title}\n{inside}\n</section>'


def _timelines(found: Diff) -> str:
    """Both runs over one axis of cycles, as a picture of its own."""
    if not found.before.cycles or not found.after.cycles:
        return ""
    svg = timeline_svg([found.before, found.after], max_rows=_ROWS)
    data = base64.b64encode(svg).decode()
    return f'<img alt="timelines, before and after" src="data:image/svg+xml;base64,{data}">'
