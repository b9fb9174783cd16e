"""Reads what Vivado's `report_utilization -hierarchical` printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope._files import read_text
from cyclescope.errors import InputError
from cyclescope.sim._synthesis import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["read_vivado"]

# What a heading may be called, by version of Vivado.
_HEADINGS = {
    "luts": ("total luts", "luts"),
    "ffs": ("ffs", "registers"),
    "dsps": ("dsp blocks", "dsp48 blocks", "dsps", "dsp slices"),
    "ramb36": ("ramb36",),
    "ramb18": ("ramb18",),
}
_LARGEST = 64 << 20
_COUNT_DIGITS = 18


@dataclass
class _Row:
    depth: int
    name: str
    module: str
    counts: dict[str, int]


def read_vivado(path: Path) -> tuple[Usage, ...]:
    """Read the cost of each instance from the text of a hierarchical utilisation report.

    Raises:
        InputError: the file cannot be read or has no such table.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{path}: larger than any utilisation report; give the report itself")
        text = read_text(path, errors="replace")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    try:
        rows = _rows(text)
    except ValueError as error:
        raise InputError(f"{path}: {error}; the report is damaged") from None
    if not rows:
        raise InputError(
            f"{path}: no table of instances; make it with `report_utilization -hierarchical`"
        )
    return tuple(_own(rows))


def _rows(text: str) -> list[_Row]:
    """The table's rows, with the totals that Vivado gives each instance."""
    columns: dict[str, int] = {}
    rows: list[_Row] = []
    margin = 1
    for line in text.splitlines():
        if not line.startswith("|"):
            if rows:
                break
            continue
        cells = line.split("|")[1:-1]
        names = [" ".join(cell.split()).lower() for cell in cells]
        if names[:2] == ["instance", "module"]:
            columns = {
                key: next((names.index(h) for h in headings if h in names), -1)
                for key, headings in _HEADINGS.items()
            }
            continue
        if not columns or len(cells) < 3:
            continue
        depth = len(cells[0]) - len(cells[0].lstrip())
        if not rows:
            margin = depth
        counts = {
            key: _count(cells[at]) if 0 <= at < len(cells) else 0 for key, at in columns.items()
        }
        rows.append(_Row((depth - margin) // 2, cells[0].strip(), cells[1].strip(), counts))
    return rows


def _count(cell: str) -> int:
    """A number of cells, 0 for a cell without any."""
    text = cell.strip()
    if len(text) > _COUNT_DIGITS and text.isdecimal():
        raise ValueError(f"a count of {len(text):,} digits")
    return int(text) if text.isdecimal() else 0


def _own(rows: list[_Row]) -> Iterator[Usage]:
    """Each instance without the instances in it."""
    names: list[str] = []
    for index, row in enumerate(rows):
        if row.name.startswith("("):  # Vivado's own row for what is in no instance
            continue
        names[row.depth :] = [row.name]
        counts = dict(row.counts)
        for below in rows[index + 1 :]:
            if below.depth <= row.depth:
                break
            if below.depth == row.depth + 1 and not below.name.startswith("("):
                counts = {key: max(n - below.counts[key], 0) for key, n in counts.items()}
        yield Usage(
            instance=".".join(names),
            module=row.module,
            luts=counts["luts"],
            ffs=counts["ffs"],
            dsps=counts["dsps"],
            brams=2 * counts["ramb36"] + counts["ramb18"],
        )
