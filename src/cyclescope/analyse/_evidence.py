"""Evidence of a run for changes of the program: fixed lengths, arms that exclude each other."""

from __future__ import annotations

from cyclescope.analyse._tables import table
from cyclescope.analyse.rules._par_switch import exclusive_pars
from cyclescope.model import Kind, Profile

__all__ = ["exclusive_blocks", "fixed_lengths"]


def fixed_lengths(profile: Profile) -> dict[tuple[str, str], int]:
    """The groups that were equally long in every activation: (component, name) → cycles.

    All enables of a definition count, in all instances. None that the compiler took apart: its
    parts tell nothing of the whole.
    """
    lengths: dict[tuple[str, str], set[int]] = {}
    split: set[tuple[str, str]] = set()
    for row in table(profile, Kind.GROUP):
        if row.times:
            frame = row.frame
            key = frame.component, frame.definition or frame.name
            lengths.setdefault(key, set()).update((row.shortest, row.longest))
            if frame.split:
                split.add(key)
    return {
        key: min(found) for key, found in lengths.items() if len(found) == 1 and key not in split
    }


def exclusive_blocks(profile: Profile) -> frozenset[tuple[str, int]]:
    """The `par`s of `if`s of which never more than one arm had work: (component, line)."""
    return frozenset(
        (frame.component, frame.positions[0].line)
        for frame in exclusive_pars(profile)
        if frame.positions
    )
