"""The phases of long work, told to whoever listens: what is compiled, what runs."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["phase", "telling"]

_listener: ContextVar[Callable[[str], object] | None] = ContextVar("listener", default=None)


def phase(what: str) -> None:
    """Tell that a phase begins, which ends the one before it."""
    listener = _listener.get()
    if listener is not None:
        listener(what)


@contextmanager
def telling(listener: Callable[[str], object]) -> Iterator[None]:
    """Have a listener told of phases while this lasts, in this thread."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
