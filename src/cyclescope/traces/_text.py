"""Text files that may be packed by gzip or xz, and may end too early."""

from __future__ import annotations

import gzip
import lzma
import zlib
from typing import TYPE_CHECKING

from cyclescope._files import endless
from cyclescope.errors import DataError

if TYPE_CHECKING:
    from io import BufferedIOBase
    from pathlib import Path

__all__ = ["Text", "check_file", "open_compressed"]


def check_file(path: Path) -> None:
    """Refuse a device or a pipe, which need not end: all that is imported is read twice.

    Raises:
        DataError: it is one.
    """
    try:
        if refused := endless(path):
            raise DataError(refused)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error


def open_compressed(path: Path) -> BufferedIOBase:
    """Open a file that may be packed by gzip or xz.

    Raises:
        DataError: it cannot be opened.
    """
    check_file(path)
    try:
        with path.open("rb") as stream:
            magic = stream.read(6)
        if magic.startswith(b"\x1f\x8b"):
            return gzip.open(path)
        if magic == b"\xfd7zXZ\x00":
            return lzma.open(path)
        return path.open("rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


class Text:
    """A file's text in pieces; remembers whether it ends too early."""

    def __init__(self, path: Path, stream: BufferedIOBase) -> None:
        self._path, self._stream = path, stream
        self.cut = False

    def read(self, size: int) -> bytes:
        """The next bytes; fewer at the end, or where packed text is cut off or damaged."""
        parts: list[bytes] = []
        missing = size
        try:
            # read1 gives what could be unpacked before a break, read would lose it.
            while missing and not self.cut and (part := self._stream.read1(missing)):
                parts.append(part)
                missing -= len(part)
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile):
            self.cut = True
        except OSError as error:
            raise DataError(f"{self._path}: cannot be read: {error.strerror or error}") from error
        return b"".join(parts)
