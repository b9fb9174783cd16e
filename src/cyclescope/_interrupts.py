"""Ctrl-C and its kin: told by KeyboardInterrupt, and remembered.

Libraries written in C may put an error of their own in its place (NumPy: "cannot compare", Python
itself where a class is made), so whatever comes after is the interrupt's doing.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["forget", "interrupt", "was_interrupted"]

_told = False


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """Stop what is being done: the handler of a signal."""
    global _told
    _told = True
    raise KeyboardInterrupt


def forget() -> None:
    """Begin anew, with `interrupt` in the place of Python's own handler."""
    global _told
    _told = False
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    for stop in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(stop) is signal.SIG_DFL:  # not so under nohup
            signal.signal(stop, interrupt)


def was_interrupted(error: BaseException | None = None) -> bool:
    """Return whether a signal told us to stop, or an interrupt led to this error."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return _told or error is not None
