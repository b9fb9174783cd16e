"""Runs of native code that leave the interpreter to others, several at once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["side_by_side"]

T = TypeVar("T")
R = TypeVar("R")

_MOST = 4  # at once: each may have memory of its own


def side_by_side(work: Callable[[T], R], cases: Sequence[T]) -> list[R]:
    """The results of some cases, in their order."""
    if len(cases) < 2:
        return [work(case) for case in cases]
    with ThreadPoolExecutor(min(len(cases), os.cpu_count() or 1, _MOST)) as pool:
        return list(pool.map(work, cases))
