"""Texts for the report's page: visible, and no longer than a view shows."""

from __future__ import annotations

from cyclescope.views._text import visible

__all__ = ["LABEL", "page_file", "page_label"]

LABEL = 300
"""Characters of a name: no view shows more."""


def page_label(text: str) -> str:
    """A name, cut at its end."""
    return visible(text)[:LABEL]


def page_file(text: str) -> str:
    """The name of a file, cut at its beginning."""
    return visible(text)[-LABEL:]
