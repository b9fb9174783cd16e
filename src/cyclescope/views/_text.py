r"""Names are data: how any text is made safe for a line of text, a CSV cell, a Markdown cell.

A name can hold whatever a program or a generator put there. Each view passes names through one
of these functions, so that a name is shown as itself where that is harmless, and as visible
escapes (`\\x1b`, `\\u202e`) where it is not.
"""

from __future__ import annotations

import unicodedata
from fractions import Fraction
from typing import TYPE_CHECKING

from cyclescope._visible import visible

if TYPE_CHECKING:
    from cyclescope.model import Position

__all__ = [
    "clip",
    "counted",
    "cycles_text",
    "duration",
    "markdown_cell",
    "nanoseconds",
    "number",
    "percent",
    "place",
    "spreadsheet_cell",
    "visible",
    "width_of",
]


def spreadsheet_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula (CSV injection): such gets a leading quote."""
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(("=", "+", "-", "@")) else shown


def markdown_cell(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    shown = visible(text)
    return "".join(f"\\{c}" if c in "\\`*_[]<>&|#~$!" else c for c in shown)


def width_of(text: str) -> int:
    """Columns that a text takes in a fixed-width font: East Asian characters take two."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    marks = sum(unicodedata.combining(c) != 0 for c in text)
    return len(text) + wide - marks


def clip(text: str, columns: int) -> str:
    """The text cut to so many columns, with an ellipsis where something was cut."""
    if width_of(text) <= columns:
        return text
    used, kept = 1, []
    for char in text:
        used += width_of(char)
        if used > columns:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…" if columns > 0 else ""


def place(position: Position | None, columns: int) -> str:
    """A position as `file:line`, the file cut from its left so that the line is always there."""
    if position is None:
        return ""
    file, line = visible(position.file), f":{position.line}"
    space = columns - len(line)
    return clip(file[::-1], space)[::-1] + line


def number(value: int) -> str:
    """An integer with separators: `1,489,329`."""
    return f"{value:,}"


def counted(cycles: int) -> str:
    """A number of cycles with its word: `1 cycle`, `12 cycles`."""
    return f"{number(cycles)} {'cycle' if cycles == 1 else 'cycles'}"


def cycles_text(value: Fraction | int) -> str:
    """An exact number of cycles: `12`, `4 1/3`."""
    whole, rest = divmod(Fraction(value), 1)
    if not rest:
        return number(int(whole))
    return f"{number(int(whole))} {rest}" if whole else str(rest)


def nanoseconds(picoseconds: int) -> str:
    """A time given in picoseconds, exactly: `4,966.912 ns`."""
    whole, rest = divmod(picoseconds, 1000)
    return f"{whole:,}.{rest:03d}".rstrip("0").rstrip(".") + " ns"


_TIMES = (("s", 10**12), ("ms", 10**9), ("µs", 10**6), ("ns", 10**3))


def duration(picoseconds: int) -> str:
    """A time given in picoseconds, to four digits, half up: `14.48 ms`."""
    for index, (unit, size) in enumerate(_TIMES):
        if picoseconds < size:
            continue
        digits = max(0, 4 - len(str(picoseconds // size)))
        units = (2 * picoseconds * 10**digits + size) // (2 * size)
        if index and units == 1000 * 10**digits:  # rounded up to one of the next larger
            return f"1 {_TIMES[index - 1][0]}"
        whole, rest = divmod(units, 10**digits)
        text = f"{whole:,}.{rest:0{digits}d}".rstrip("0").rstrip(".") if digits else f"{whole:,}"
        return f"{text} {unit}"
    return f"{picoseconds} ps"


def percent(share: Fraction, digits: int = 1) -> str:
    """A share in percent, rounded half up from the exact fraction: `48.5 %`.

    A share that is not zero is never shown as zero, nor one below 1 as all; a negative one is shown
    as its opposite, with its sign.
    """
    if share < 0:
        return f"-{percent(-share, digits)}"
    scale = 10**digits
    units = int(share * 100 * scale + Fraction(1, 2))
    if units == 0 and share > 0:
        return f"<{_decimal(1, digits)} %"
    if units == 100 * scale and share < 1:
        return f">{_decimal(100 * scale - 1, digits)} %"
    return f"{_decimal(units, digits)} %"


def _decimal(units: int, digits: int) -> str:
    whole, rest = divmod(units, 10**digits)
    return f"{whole}.{rest:0{digits}d}" if digits else str(whole)
