"""`cyclescope` and `python -m cyclescope`."""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import TYPE_CHECKING, TextIO

from cyclescope._address_space import address_space, is_near, limited_to
from cyclescope._interrupts import interrupt, was_interrupted

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["main"]


_LEAST_MB = 192  # of address space, in which NumPy can be loaded


def main() -> int:
    """Run the command line; gives the exit status."""
    sys.stdout, sys.stderr = _unhurried(sys.stdout), _unhurried(sys.stderr)
    if too_small := _narrow():
        print(f"cyclescope: {too_small}", file=sys.stderr)
        return 1
    try:
        # See the package: from here on there is an answer.
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, interrupt)
        from cyclescope.cli import all_is_said
        from cyclescope.cli import main as program

        status = program(watched=True)
        all_is_said()
        return status
    except (Exception, KeyboardInterrupt) as error:  # while modules were still being loaded
        if was_interrupted(error):
            print("cyclescope: interrupted", file=sys.stderr)
            return 130
        if not is_near():
            raise
        what = f"out of memory: {limited_to()}; allow more, or profile less"
        print(f"cyclescope: {what}", file=sys.stderr)
        return 1
    finally:
        # All is done: nothing is left to be told of, and what is tidied up is soon over.
        for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(stop, signal.SIG_IGN)


def _narrow() -> str:
    """The fault of a limit of address space; empty if nothing, or if there is none."""
    limit = address_space()
    if not limit:
        return ""
    # Its threads reserve more than all the rest needs.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if limit < _LEAST_MB << 20:
        return f"{limited_to()}; allow at least {_LEAST_MB} MB, and 1 GB to run a program"
    return ""


class _Stream(io.FileIO):
    """One that is over when it fails: whoever read it left (`| head`), or its disk is full."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, self.fileno())
            os.close(nothing)
            if isinstance(error, BrokenPipeError):
                return memoryview(data).nbytes
            raise


def _unhurried(stream: TextIO) -> TextIO:
    """The same stream, but if nobody reads it the work goes on: other files, the exit status."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream  # closed before we began
    return io.TextIOWrapper(
        io.BufferedWriter(_Stream(stream.fileno(), "wb", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


if __name__ == "__main__":
    sys.exit(main())
