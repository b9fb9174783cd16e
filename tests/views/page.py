"""A report in a browser, as tests see it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Page

__all__ = ["Seen", "timeline_box", "whole"]


@dataclass
class Seen:
    """The effects of a page besides showing itself."""

    page: Page
    address: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def quiet(self) -> bool:
        return self.requests == [self.address] and not self.complaints

    def text(self, part: str) -> str:
        return self.page.locator(f'[data-part="{part}"]').inner_text()

    def box(self, name: str) -> object:
        return self.page.locator(".flame .box").filter(has_text=re.compile(f"^{name}$"))

    def numbers(self) -> dict[str, int]:
        """Cycles of the table's rows, by instance and name."""
        heads, *rows = self.page.locator('[data-part="table"] tr').evaluate_all(
            "all => all.map(row => [...row.cells].map(cell => cell.innerText))"
        )
        names = [head.rstrip(" \u25be\u25b4") for head in heads]
        found = {}
        for row in rows:
            cells = dict(zip(names, row, strict=True))
            found[f"{cells['instance']} {cells['name']}"] = whole(cells["cycles"])
        return found


def timeline_box(page: Page) -> FloatRect:
    """The place of the timeline's surface in the window, scrolled to."""
    surface = page.locator('[data-part="surface"]')
    surface.scroll_into_view_if_needed()
    box = surface.bounding_box()
    assert box is not None
    return box


def whole(text: str) -> int:
    """An integer with separators."""
    return int(text.replace(",", ""))
