"""A test that a parse stays within bounds: tried in a process that can be stopped.

A few lines of C can have libclang expand macros, read files without an end, or make arrays until
memory or patience is gone, and it has no limit of its own that it could be given. What people write
it parses in a few milliseconds; so it does that twice, first where limits hold.
"""

from __future__ import annotations

import math
import os
import resource
import select
import signal
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._native import end_with

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["too_much"]

_SECONDS = 10  # of the processor
_PATIENCE = 120.0  # seconds of the clock: what waits uses no processor
_MEMORY = 1 << 30  # bytes on top of what we have
_STACK = 512 << 20  # of the thread in which it parses


def too_much(work: Callable[[], bool]) -> str:
    """Describe which limit some work exceeds; empty if it stays within all.

    Args:
        work: done in a copy of the process; nothing that it makes stays. Says whether it was done:
            libclang survives that there is no memory, and has no result then.
    """
    us = os.getpid()
    try:
        with warnings.catch_warnings():
            # Other threads hold no lock that the work needs: it is libclang's alone.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
    except OSError:
        return ""  # no process to be had: the work itself will show
    if child == 0:
        done = False
        try:
            end_with(us)
            _limit()
            done = work()
        finally:
            os._exit(not done)
    try:
        watched = os.pidfd_open(child)
        try:
            in_time = bool(select.select([watched], [], [], _PATIENCE)[0])
        finally:
            os.close(watched)
    except OSError:
        in_time = True  # an old kernel: the processor's time is limited all the same
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    if not in_time:
        os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    if not in_time:
        return f"more than {_PATIENCE:g} s"
    if status == 0:
        return ""
    if used.ru_utime + used.ru_stime >= _SECONDS - 1:
        return f"more than {_SECONDS} s"
    if (limit := _own_limit()) < _most():
        return f"more address space than {limit / (1 << 20):.0f} MB (ulimit -v: allow more)"
    return f"more than {_MEMORY >> 30} GB"


def _own_limit() -> float:
    """Bytes of address space that the user lets us have."""
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if soft == resource.RLIM_INFINITY else soft


def _most() -> int:
    """Bytes of address space within which it must stay."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize() + _STACK + _MEMORY


def _limit() -> None:
    """Of the processor's time and of memory; no core, no word."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    with suppress(OSError, ValueError):
        if _own_limit() > (most := _most()):
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
