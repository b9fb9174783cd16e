"""Profiles side by side: cycles, and what kind they are, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cyclescope.analyse import account
from cyclescope.views._grid import Grid
from cyclescope.views._text import number, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cyclescope.analyse import Account, Use
    from cyclescope.model import Area, Meta, Profile

__all__ = ["comparison"]

_WRONG = "WRONG"

_COSTS = {"luts": " LUT", "ffs": " FF", "dsps": " DSP", "brams": " BRAM"}


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    account: Account
    cycles: int
    first: int
    areas: tuple[Area, ...]
    memories: str

    @property
    def change(self) -> Fraction | None:
        """Cycles more than the first's, as a share of them; None for what is wrong."""
        if self.memories == _WRONG:
            return None
        return Fraction(self.cycles - self.first, self.first) if self.first else None


def comparison(profiles: Sequence[Profile], fmt: str = "text") -> bytes:
    """Tabulate profiles under their titles, changes against the first.

    Args:
        profiles: at least one.
        fmt: `text`, `csv`, `json`, `markdown` or `parquet`; columns `name`, `cycles`, `change`
            (share of the first's cycles; empty if its results are wrong), `account` (units: cycles,
            or cycles of all tracks), `useful`, and a column for each use that is lost in one of
            them (`control: fsm`); `luts`, `ffs`, `dsps`, `brams` (halves) if one of them was
            synthesised; `memories` (`right`, `WRONG` or empty) if somebody said what they should
            be.
    """
    first = profiles[0].cycles
    rows = [
        _Row(p.meta.title, account(p), p.cycles, first, p.areas, _memories(p.meta))
        for p in profiles
    ]
    lost = sorted({use for row in rows for use in row.account.lost}, key=lambda use: use.rank)
    costs = _COSTS if any(row.areas for row in rows) else {}
    shown: dict[str, Callable[[_Row], str]] = {
        "program": lambda row: row.name,
        " cycles": lambda row: number(row.cycles),
        " change": lambda row: "" if row is rows[0] else _change(row.change),
    }
    shown[" useful"] = lambda row: number(row.account.useful)
    for use in lost:
        shown[f" {use.label}"] = lambda row, use=use: number(row.account.parts.get(use, 0))  # type: ignore[misc]
    for key, heading in costs.items():
        shown[heading] = lambda row, key=key: _cost(row, key)  # type: ignore[misc]
    judged = any(row.memories for row in rows)
    if judged:
        shown["memories"] = lambda row: row.memories
    schema: dict[str, type] = {"name": str, "cycles": int, "change": float}
    schema |= dict.fromkeys(("account", "useful", *(use.label for use in lost), *costs), int)
    if judged:
        schema["memories"] = str
    return Grid(shown, schema, lambda row: _record(row, lost, costs, judged=judged)).render(
        rows, fmt
    )


def _memories(meta: Meta) -> str:
    """Return whether a run left what it should; empty if nobody said."""
    if not any(memory.expected for memory in meta.memories):
        return ""
    return _WRONG if any(memory.wrong for memory in meta.memories) else "right"


def _cost(row: _Row, what: str) -> str:
    if not row.areas:
        return ""
    total = sum(getattr(area, what) for area in row.areas)
    return f"{total / 2:g}" if what == "brams" else number(total)


def _change(change: Fraction | None) -> str:
    if change is None:
        return ""
    sign = "+" if change > 0 else "\u2212" if change < 0 else "±"
    return f"{sign}{percent(abs(change))}"


def _record(
    row: _Row, lost: Iterable[Use], costs: Iterable[str], *, judged: bool
) -> dict[str, Any]:
    areas = row.areas
    return {
        "name": row.name,
        "cycles": row.cycles,
        "change": float(row.change) if row.change is not None else None,
        "account": row.account.total,
        "useful": row.account.useful,
        **{use.label: row.account.parts.get(use, 0) for use in lost},
        **{c: sum(getattr(a, c) for a in areas) if areas else None for c in costs},
        **({"memories": row.memories} if judged else {}),
    }
