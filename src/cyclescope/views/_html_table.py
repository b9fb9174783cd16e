"""A table of texts in HTML, for pages and notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["html_table"]


def html_table(name: str, grid: Sequence[Sequence[str]]) -> str:
    """A table that scrolls by itself where it is too wide.

    Args:
        name: its caption.
        grid: its headings, of which those of numbers start with a space; its rows.
    """
    numeric = [heading.startswith(" ") for heading in grid[0]]

    def row(cells: Sequence[str], tag: str, more: str = "") -> str:
        return "".join(
            f"<{tag}{more}{' class=n' if right else ''}>{html.escape(cell.strip())}</{tag}>"
            for cell, right in zip(cells, numeric, strict=True)
        )

    head = row(grid[0], "th", " scope=col")
    body = "\n".join(f"<tr>{row(cells, 'td')}</tr>" for cells in grid[1:])
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{html.escape(name)}">'
        f"<table><caption>{html.escape(name)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
