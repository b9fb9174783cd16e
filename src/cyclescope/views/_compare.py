"""Profiles side by side: cycles, and what kind they are, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cyclescope.analyse import OVERHEADS, Overhead, design_overhead
from cyclescope.views._grid import Grid
from cyclescope.views._text import number, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.model import Profile

__all__ = ["comparison"]

_HEADINGS = {
    "useful": " useful",
    "fsm": " FSM",
    "par_done": " par done",
    "both": " both",
    "other": " other",
}


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    overhead: Overhead
    first: int

    @property
    def change(self) -> Fraction | None:
        """Cycles more than the first's, as a share of them; None for the first itself."""
        cycles = self.overhead.cycles
        return Fraction(cycles - self.first, self.first) if self.first else None


def comparison(profiles: Sequence[Profile], fmt: str = "text") -> bytes:
    """Tabulate profiles under their titles, changes against the first.

    Args:
        profiles: at least one.
        fmt: `text`, `csv`, `json`, `markdown` or `parquet`; columns `name`, `cycles`, `change`
            (share of the first's cycles), `useful`, `fsm`, `par_done`, `both`, `other`.
    """
    found = [(p.meta.title, design_overhead(p)) for p in profiles]
    rows = [_Row(name, overhead, found[0][1].cycles) for name, overhead in found]
    shown: dict[str, Callable[[_Row], str]] = {
        "program": lambda row: row.name,
        " cycles": lambda row: number(row.overhead.cycles),
        " change": lambda row: "" if row is rows[0] else _change(row.change),
    }
    for key, heading in _HEADINGS.items():
        shown[heading] = lambda row, key=key: number(getattr(row.overhead, key))  # type: ignore[misc]
    schema: dict[str, type] = {"name": str, "cycles": int, "change": float, "useful": int}
    schema |= dict.fromkeys(OVERHEADS, int)
    return Grid(shown, schema, _record).render(rows, fmt)


def _change(change: Fraction | None) -> str:
    if change is None:
        return ""
    sign = "+" if change > 0 else "\u2212" if change < 0 else "±"
    return f"{sign}{percent(abs(change))}"


def _record(row: _Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "cycles": row.overhead.cycles,
        "change": float(row.change) if row.change is not None else None,
        "useful": row.overhead.useful,
        **row.overhead.by_kind(),
    }
