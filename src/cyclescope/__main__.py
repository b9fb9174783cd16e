"""`cyclescope` and `python -m cyclescope`."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["main"]


def main() -> int:
    """Run the command line; gives the exit status."""
    sys.stdout, sys.stderr = _unhurried(sys.stdout), _unhurried(sys.stderr)
    try:
        from cyclescope.cli import main as program

        return program()
    except KeyboardInterrupt:  # while modules were still being loaded
        print("cyclescope: interrupted", file=sys.stderr)
        return 130


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
