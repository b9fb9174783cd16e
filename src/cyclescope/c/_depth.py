"""Room for deep trees: Python's recursion limit is made for shallower ones."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DEEPEST", "deep_recursion"]

DEEPEST = 1200
"""Levels of nesting that an expression or a statement may have."""


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Allow functions that walk trees to descend `DEEPEST` levels."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 8 * DEEPEST + 1000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
