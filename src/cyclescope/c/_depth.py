"""How deep a program's trees may be."""

from __future__ import annotations

__all__ = ["DEEPEST"]

DEEPEST = 1200
"""Levels of nesting that an expression or a statement may have."""
