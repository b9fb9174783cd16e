"""Area beside cycles: what each part costs, and how much of the run it is used."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model import Area, Kind, Profile, tree_cycles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["BLOCK_COST", "AreaRow", "area_table"]

BLOCK_COST = 100
"""LUTs that an arithmetic block, or half a memory block, counts as where one number is needed."""


@dataclass(frozen=True, slots=True)
class AreaRow:
    """The cost of a part of the design and how much it is used.

    Attributes:
        kind: of what it is; a cell's row is what is in none of the cells inside it: its wiring
            and control logic. Groups and control blocks have the cells that they use, whoever
            else uses them, so their rows do not add up.
        name: dotted, from the top.
        type: component, primitive or operator.
        luts, ffs, dsps, brams: as in `cyclescope.model.Area`.
        cycles: cycles in which it is used; None where nothing shows that.
        share: these, of the run's.
    """

    kind: Kind | str
    name: str
    type: str
    luts: int
    ffs: int
    dsps: int
    brams: int
    cycles: int | None
    share: Fraction | None

    @property
    def cost(self) -> int:
        """All of it as one number of LUTs and flip-flops; see `BLOCK_COST`."""
        return self.luts + self.ffs + BLOCK_COST * (self.dsps + self.brams)

    @property
    def idle_cost(self) -> Fraction | None:
        """Cost · share of the run in which it is not used: large and rarely used is high."""
        return None if self.share is None else self.cost * (1 - self.share)


def area_table(profile: Profile, kinds: Iterable[Kind] = ()) -> tuple[AreaRow, ...]:
    """Large and rarely used first; parts of which no use is known last, the largest first.

    Args:
        profile: of a design that was synthesised.
        kinds: which rows: `Kind.CELL` (with primitives), `Kind.GROUP`, `Kind.CONTROL`; all if
            empty.
    """
    wanted = set(kinds) or {Kind.CELL, Kind.GROUP, Kind.CONTROL}
    rows = _cells(profile) if Kind.CELL in wanted else []
    rows += [row for row in _users(profile) if row.kind in wanted]
    return tuple(
        sorted(rows, key=lambda row: (row.idle_cost is None, -(row.idle_cost or 0), -row.cost))
    )


def _cycles(profile: Profile, sets: Sequence[Iterable[int]]) -> list[int]:
    """For each set of paths the cycles in which one of them is active."""
    held = tree_cycles(profile)
    forest = profile.forest
    owner = np.repeat(np.arange(len(forest)), np.diff(forest.offset))
    order = np.argsort(forest.path, kind="stable")
    cut = np.searchsorted(forest.path[order], np.arange(len(profile.call_paths) + 1)).tolist()
    trees = owner[order]
    result = []
    for paths in sets:
        parts = [trees[cut[path] : cut[path + 1]] for path in paths]
        result.append(int(held[np.unique(np.concatenate(parts))].sum()) if parts else 0)
    return result


def _row(
    profile: Profile,
    kind: Kind | str,
    name: str,
    of: str,
    areas: Sequence[Area],
    cycles: int | None,
) -> AreaRow:
    return AreaRow(
        kind=kind,
        name=name,
        type=of,
        luts=sum(area.luts for area in areas),
        ffs=sum(area.ffs for area in areas),
        dsps=sum(area.dsps for area in areas),
        brams=sum(area.brams for area in areas),
        cycles=cycles,
        share=None if cycles is None else Fraction(cycles, max(profile.cycles, 1)),
    )


def _cells(profile: Profile) -> list[AreaRow]:
    used = _cycles(profile, [area.paths for area in profile.areas])
    rows = []
    for area, cycles in zip(profile.areas, used, strict=True):
        ends = {profile.frame_of(path).kind for path in area.paths}
        kind = Kind.CELL if Kind.CELL in ends else Kind.PRIMITIVE
        known = cycles if area.seen else None
        rows.append(_row(profile, kind, area.cell, area.type, [area], known))
    return rows


def _users(profile: Profile) -> list[AreaRow]:
    """Groups and control blocks, with the cells that are used at or below them."""
    keys: dict[tuple[int, str], list[int]] = {}
    for path, frame in enumerate(profile.call_paths.frame.tolist()):
        if profile.catalog[frame].kind in (Kind.GROUP, Kind.CONTROL):
            keys.setdefault((frame, profile.instances[path]), []).append(path)
    key_of = {path: key for key, paths in keys.items() for path in paths}
    cells: dict[tuple[int, str], dict[int, None]] = {key: {} for key in keys}
    for number, area in enumerate(profile.areas):
        for path in area.paths:
            for above in profile.lineage(path):
                if above in key_of:
                    cells[key_of[above]][number] = None
    cycles = _cycles(profile, list(keys.values()))
    rows = []
    for (key, numbers), active in zip(cells.items(), cycles, strict=True):
        frame = profile.catalog[key[0]]
        name = f"{key[1]}.{frame.name}"
        areas = [profile.areas[number] for number in numbers]
        rows.append(_row(profile, frame.kind, name, frame.detail, areas, active))
    return rows
