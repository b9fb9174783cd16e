"""Enough stack for recursion: parsers of nested programs, walks over deep trees."""

from __future__ import annotations

import resource
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["deep_recursion", "on_large_stack"]

T = TypeVar("T")

_STACK = 512 << 20  # bytes; the system gives them as they are used
_MAIN_STACK = 96 << 20  # below what the system keeps free under the main thread's
_LEVELS = 12_000


def on_large_stack(work: Callable[..., T], *arguments: object) -> T:
    """Call what recurses in compiled code where the stack is large."""
    before = threading.stack_size(_STACK)
    try:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(work, *arguments).result()
    finally:
        threading.stack_size(before)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Allow functions that walk trees to descend far; also a decorator.

    Raises:
        SourceError: a program's tree goes deeper yet.
    """
    levels, (soft, hard) = sys.getrecursionlimit(), resource.getrlimit(resource.RLIMIT_STACK)
    endless = resource.RLIM_INFINITY
    wanted = _MAIN_STACK if hard == endless else min(hard, _MAIN_STACK)
    grown = soft != endless and wanted > soft
    sys.setrecursionlimit(max(levels, _LEVELS))
    if grown:
        # The main thread's stack grows up to this while it runs.
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
    try:
        yield
    except RecursionError:
        raise SourceError("calls or statements lie too deep in each other; split them") from None
    finally:
        sys.setrecursionlimit(levels)
        if grown:
            resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
