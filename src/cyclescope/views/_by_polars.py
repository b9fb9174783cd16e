"""A stream for Polars to write to, whose failures come back as they were."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer

__all__ = ["by_polars"]


@contextmanager
def by_polars(stream: BinaryIO) -> Iterator[BinaryIO]:
    """A file that Polars may write to in place of a stream.

    Raises:
        OSError: the stream's own; Polars tells of one in a text only, without its number.
    """
    from polars.exceptions import PolarsError

    target = _Target(stream)
    try:
        yield cast("BinaryIO", target)
    except (PolarsError, OSError):
        if target.failed is not None:
            raise target.failed from None
        raise


class _Target(io.RawIOBase):
    """A stream that remembers why it failed; without a descriptor, which Polars would write to."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.failed: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        try:
            return self._stream.write(data)
        except OSError as error:
            self.failed = error
            raise
