"""A piece of VCD text in which each change has its own line, read by the native module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from cyclescope._native import VcdLines
from cyclescope.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["TIME_DIGITS", "Layout", "Piece", "read_lines"]

TIME_DIGITS = 18
"""Times are integers of 64 bits; the standard knows no more either."""


@dataclass(frozen=True)
class Piece:
    """Changes in a piece of text.

    `step` counts its own times, -1 before the first; `strange` are words that are no VCD.
    """

    times: NDArray[np.int64]
    step: NDArray[np.int32]
    signal: NDArray[np.int32]
    value: NDArray[np.signedinteger[Any]]
    strange: int


class Layout:
    """The identifiers asked for.

    Args:
        keys: identifiers, 1 to 8 bytes each, all different.
        widths: declared bits of each, at most 62.
    """

    def __init__(self, keys: Sequence[bytes], widths: Sequence[int]) -> None:
        self.index = {key: place for place, key in enumerate(keys)}
        self.widths = widths
        self.value_type = np.int32 if max(widths, default=0) < 31 else np.int64
        self.lines = VcdLines(keys, widths)


def read_lines(path: Path, text: bytes, start: int, layout: Layout) -> Piece | None:
    """Read a piece of whole lines; None if its layout needs reading word by word.

    Args:
        path: for messages.
        text: ends with a newline.
        start: where in the file it lies, for messages.
        layout: what to look for.

    Raises:
        DataError: a time or a value of a wanted signal cannot be read.
    """
    try:
        found = layout.lines.read(text)
    except ValueError as error:
        why, at = error.args
        if why == "time":
            refuse_time(path, start + at)
        raise DataError(f"{path}: byte {start + at}: {why}; the file is damaged") from None
    if found is None:
        return None
    times, step, signal, value, strange = found
    return Piece(
        np.frombuffer(times, np.int64),
        np.frombuffer(step, np.int32),
        np.frombuffer(signal, np.int32),
        np.frombuffer(value, np.int64).astype(layout.value_type),
        strange,
    )


def refuse_time(path: Path, at: int) -> NoReturn:
    """Complain of a time."""
    raise DataError(
        f"{path}: byte {at}: a time is not a number of at most {TIME_DIGITS} digits; "
        "the file is damaged"
    )
