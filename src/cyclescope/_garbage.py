"""Python's collector of circular garbage, set for programs that build large trees once."""

from __future__ import annotations

import gc

__all__ = ["collect_rarely"]

_NEW_OBJECTS = 50_000


def collect_rarely() -> None:
    """Let the collector look less often, in this whole process.

    Syntax trees, graphs and hardware live until the end, and hardly any garbage is circular. At the
    usual setting, every 700 new objects, a third of a large program's compile time goes into
    looking through what stays.
    """
    gc.set_threshold(_NEW_OBJECTS, 20, 100)
