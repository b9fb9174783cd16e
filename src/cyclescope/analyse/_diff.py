"""The difference between two profiles, slower and faster, by call path.

Cycles are compared as the scaled flame graph shows them: a cycle belongs, in equal parts, to
what is at the ends of its call tree. So the differences of all rows add up to the difference of
the totals exactly, and a row says how much of it happened there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from cyclescope.analyse._account import Account, Use, account
from cyclescope.analyse._contents import same_results
from cyclescope.analyse._match import match_paths, plain_name
from cyclescope.analyse._places import places
from cyclescope.analyse._rebuilt import Rebuilt, rebuilt
from cyclescope.analyse._spots import Spot, cycles_of, spot_at
from cyclescope.model import Kind, Profile, scaled_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.analyse._contents import SameResults

__all__ = ["Change", "Diff", "diff"]


_NAMED = (Kind.GROUP, Kind.CELL, Kind.LOOP, Kind.PROCESS)  # by their authors
_RELATED = 3  # of so many things one at least is in both of two versions of a program


@dataclass(frozen=True, slots=True)
class Change:
    """One thing before and after; None where it is not there.

    `renamed` and `moved` (another caller) may both hold; both are False for what is new or gone.
    """

    before: Spot | None
    after: Spot | None
    renamed: bool
    moved: bool

    @property
    def own(self) -> Fraction:
        """Cycles at its end, after minus before: negative if it became faster."""
        return (self.after.own if self.after else Fraction(0)) - (
            self.before.own if self.before else Fraction(0)
        )

    @property
    def active(self) -> int:
        """Cycles in which it was active, after minus before."""
        return (self.after.active if self.after else 0) - (self.before.active if self.before else 0)

    @property
    def status(self) -> str:
        """`new`, `gone`, `renamed`, `moved`, `renamed, moved`, or nothing."""
        if self.before is None:
            return "new"
        if self.after is None:
            return "gone"
        flags = {"renamed": self.renamed, "moved": self.moved}
        return ", ".join(name for name, holds in flags.items() if holds)

    @property
    def spot(self) -> Spot:
        """The present place, or the former one if it is gone."""
        spot = self.after or self.before
        assert spot is not None
        return spot


@dataclass(frozen=True)
class Diff:
    """Two profiles compared.

    Attributes:
        before, after: the profiles.
        partner: for each path of `before` its counterpart in `after`, or -1.
        changes: what differs, most cycles first. Their `own` sum to `after` minus `before`.
        accounts: of both.
        uses: units of each use before and after.
        settings: compiler options, inputs and tools that differ, by name, before and after.
        results: whether they computed the same; None if one of them does not say.
        rebuilt: blocks of other operators around the same groups, each summed as a whole; these
            cycles are in `changes` too.
        shared: how many groups, cells, loops and the like both have, and how many each has.
    """

    before: Profile
    after: Profile
    partner: tuple[int, ...]
    changes: tuple[Change, ...]
    accounts: tuple[Account, Account]
    uses: dict[Use, tuple[int, int]]
    settings: dict[str, tuple[str, str]]
    results: SameResults | None = None
    rebuilt: tuple[Rebuilt, ...] = ()
    shared: tuple[int, int, int] = (0, 0, 0)

    __hash__ = None  # type: ignore[assignment]

    @property
    def cycles(self) -> int:
        """Total cycles, after minus before."""
        return self.after.cycles - self.before.cycles

    @property
    def unrelated(self) -> bool:
        """Next to nothing of one is in the other: they are hardly versions of one program."""
        both, *each = self.shared
        return min(each) > 0 and both * _RELATED < sum(each) / 2

    @property
    def empty(self) -> bool:
        """Nothing differs in where the cycles went."""
        return not self.changes


def diff(before: Profile, after: Profile) -> Diff:
    """Compare two profiles of one design, or of two versions of it."""
    partner = match_paths(before, after)
    accounts = account(before), account(after)
    return Diff(
        before=before,
        after=after,
        partner=partner,
        changes=tuple(_changes(before, after, partner)),
        accounts=accounts,
        uses=_uses(*accounts),
        settings=_settings(before, after),
        results=same_results(before, after),
        rebuilt=rebuilt(before, after, partner),
        shared=_shared(before, after, partner),
    )


def _shared(before: Profile, after: Profile, partner: Sequence[int]) -> tuple[int, int, int]:
    """Count the places with names of their own: of both, and of each."""
    found, both = [], set()
    for profile in (before, after):
        place, parents = places(profile, as_team=True), profile.call_paths.parent.tolist()
        named = {
            place[path]
            for path, parent in enumerate(parents)
            if parent >= 0 and profile.frame_of(path).kind in _NAMED
        }
        found.append(named)
        if profile is before:
            both = {place[path] for path, other in enumerate(partner) if other >= 0} & named
    return len(both), len(found[0]), len(found[1])


def _uses(old: Account, new: Account) -> dict[Use, tuple[int, int]]:
    every = sorted({*old.parts, *new.parts}, key=lambda use: use.rank)
    return {use: (old.parts.get(use, 0), new.parts.get(use, 0)) for use in every}


def _settings(before: Profile, after: Profile) -> dict[str, tuple[str, str]]:
    result = {}
    for part in ("options", "inputs", "tools"):
        old, new = getattr(before.meta, part), getattr(after.meta, part)
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                result[f"{part[:-1]} {name}"] = (old.get(name, ""), new.get(name, ""))
    return result


def _changes(before: Profile, after: Profile, partner: Sequence[int]) -> list[Change]:
    """One change for each pair of places; see `places`."""
    counterpart = [-1] * len(after.call_paths)
    for path, other in enumerate(partner):
        if other >= 0:
            counterpart[other] = path
    old, new = _Places(before), _Places(after)
    # A pair of places is one row: callers of one cell are not told apart.
    groups: dict[tuple[int, int], int] = {}
    old_group = [-1] * len(partner)
    new_group = [-1] * len(counterpart)
    for path, other in enumerate(counterpart):
        if not new.folded[path]:
            key = (old.place[other] if other >= 0 else -1, new.place[path])
            new_group[path] = groups.setdefault(key, len(groups))
    for path, other in enumerate(partner):
        if not old.folded[path]:
            key = (old.place[path], new.place[other] if other >= 0 else -1)
            old_group[path] = groups.setdefault(key, len(groups))
    spots = zip(old.spots(old_group, len(groups)), new.spots(new_group, len(groups)), strict=True)
    changes = []
    for was, now in spots:
        change = _change(before, after, partner, was, now)
        if change is not None and (change.own or change.active or change.status):
            changes.append(change)
    return sorted(changes, key=_weight)


def _change(
    before: Profile, after: Profile, partner: Sequence[int], was: Spot | None, now: Spot | None
) -> Change | None:
    if was is None and now is None:
        return None
    if was is None or now is None:
        return Change(was, now, renamed=False, moved=False)
    old, new = before.frame_of(was.path), after.frame_of(now.path)
    above = int(before.call_paths.parent[was.path])
    return Change(
        was,
        now,
        renamed=(plain_name(old), old.detail) != (plain_name(new), new.detail),
        moved=(partner[above] if above >= 0 else -1) != int(after.call_paths.parent[now.path]),
    )


def _weight(change: Change) -> tuple[object, ...]:
    """Most cycles first; equals in an order that does not depend on which side is which."""
    spots = [s for s in (change.before, change.after) if s is not None]
    names = sorted((spot.instance, spot.stack, spot.path) for spot in spots)
    return (-abs(change.own), -abs(change.active), names)


class _Places:
    """The places of one profile, for rows."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.place = places(profile, as_team=True)
        self.folded = [
            profile.frame_of(p).kind is Kind.PRIMITIVE for p in range(len(profile.call_paths))
        ]

    def spots(self, group: Sequence[int], groups: int) -> list[Spot | None]:
        """For each group of paths the spot where they end; None where there are none."""
        profile = self.profile
        parent = profile.call_paths.parent.tolist()
        own = [Fraction(0)] * groups
        for path, weight in enumerate(scaled_weights(profile)):
            own[group[parent[path] if self.folded[path] else path]] += weight
        active = cycles_of(profile, group, groups)
        result: list[Spot | None] = [None] * groups
        for path, number in enumerate(group):
            if number >= 0 and result[number] is None:
                result[number] = spot_at(profile, path, own[number], active[number])
        return result
