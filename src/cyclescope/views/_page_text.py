"""Texts for the report's page: visible, and no longer than a view shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclescope.views._text import visible

if TYPE_CHECKING:
    from cyclescope.model import Position

__all__ = ["LABEL", "page_file", "page_label", "page_position"]

LABEL = 300
"""Characters of a name: no view shows more."""


def page_label(text: str) -> str:
    """A name, cut at its end."""
    return visible(text)[:LABEL]


def page_file(text: str) -> str:
    """The name of a file, cut at its beginning."""
    return visible(text)[-LABEL:]


def page_position(position: Position) -> list[Any]:
    """A place in a text: level, file, line."""
    return [page_label(position.level), page_file(position.file), position.line]
