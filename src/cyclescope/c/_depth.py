"""How deep a program's trees may be, and how large."""

from __future__ import annotations

__all__ = ["DEEPEST", "MOST_STATEMENTS"]

DEEPEST = 1200
"""Levels of nesting that an expression or a statement may have."""

MOST_STATEMENTS = 20_000
"""Statements of a file: each takes about a millisecond, and some more of those that read it."""
