"""Tables of cells, groups, control blocks and primitives: one row a frame and instance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from cyclescope.analyse._account import Account, account, accounts_of_instances
from cyclescope.analyse._activations import Activations, Key, activations
from cyclescope.analyse._constant import DECLARED, constant_frames
from cyclescope.model import Frame, Kind, Position, Profile, tree_cycles

__all__ = ["Row", "table"]

_NEVER = Activations(times=0, total=0, shortest=0, longest=0)


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one frame in one instance.

    Attributes:
        instance: the cell instance it lies in, dotted; for a cell its own. Empty for a frame
            that was never active: no path says which instances there are.
        frame: the frame itself.
        times: activations.
        cycles: cycles in which it was active.
        shortest, longest: cycles of one activation; 0 if it was never active.
        share: `cycles` of the run's total, exact.
        could_be_static: every activation of what the text defines here took equally long, in
            whatever instance and place, and it is not static yet (Petal, 8.1).
        account: of a cell's active cycles, of a track's whole run; None for other kinds.
        overhead: cycles in which it was active and nothing below it was: of a control block those
            that it cost by itself.
    """

    instance: str
    frame: Frame
    times: int
    cycles: int
    shortest: int
    longest: int
    share: Fraction
    could_be_static: bool
    account: Account | None
    overhead: int = 0

    @property
    def average(self) -> Fraction | None:
        """Mean cycles of an activation, exact; None if there was none."""
        return Fraction(self.cycles, self.times) if self.times else None

    @property
    def position(self) -> Position | None:
        """The place that it comes from, in the innermost language."""
        return self.frame.positions[0] if self.frame.positions else None


def table(profile: Profile, kind: Kind | str) -> tuple[Row, ...]:
    """Rows for every frame of that kind, most cycles first; never active ones last."""
    measured = activations(profile, kind)
    accounts = accounts_of_instances(profile) if kind is Kind.CELL else {}
    tracks = _tracks(profile) if any(f.track and f.kind == kind for f in profile.catalog) else {}
    keys: list[Key] = list(measured)
    seen = {frame for frame, _ in keys}
    keys += [
        (index, "")
        for index, frame in enumerate(profile.catalog)
        if frame.kind == kind and index not in seen
    ]
    total = profile.cycles
    ends = _at_the_end(profile)
    constant = constant_frames(profile) if kind in DECLARED else frozenset()
    rows = []
    for frame, instance in keys:
        what = measured.get((frame, instance), _NEVER)
        rows.append(
            Row(
                instance=instance,
                frame=profile.catalog[frame],
                times=what.times,
                cycles=what.total,
                shortest=what.shortest,
                longest=what.longest,
                share=Fraction(what.total, total) if total else Fraction(0),
                could_be_static=what.times > 0 and frame in constant,
                account=tracks.get((frame, instance), accounts.get(instance)),
                overhead=ends.get((frame, instance), 0),
            )
        )
    # Keys are in order of first mention, which the stable sort keeps among equals.
    return tuple(sorted(rows, key=lambda row: -row.cycles))


def _at_the_end(profile: Profile) -> dict[Key, int]:
    """Cycles in which a frame of an instance was at the end of a call path."""
    paths = profile.call_paths
    parent, frame = paths.parent.tolist(), paths.frame.tolist()
    lasted = tree_cycles(profile)
    found: dict[Key, int] = {}
    for tree in np.flatnonzero(lasted).tolist():
        active = profile.forest[tree].tolist()
        inner = {parent[path] for path in active}
        ends = {(frame[p], profile.instances[p]) for p in active if p not in inner}
        for key in ends:
            found[key] = found.get(key, 0) + int(lasted[tree])
    return found


def _tracks(profile: Profile) -> dict[Key, Account]:
    """The account of each track, by frame and instance: of all that share both, together."""
    whole = account(profile)
    rows: dict[Key, list[int]] = {}
    for number, path in enumerate(whole.tracks):
        key = (int(profile.call_paths.frame[path]), profile.instances[path])
        rows.setdefault(key, []).append(number)
    return {
        key: replace(
            whole, tracks=tuple(whole.tracks[n] for n in numbers), of_track=whole.of_track[numbers]
        )
        for key, numbers in rows.items()
    }
