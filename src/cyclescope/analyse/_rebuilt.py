"""Control that was rebuilt: blocks of other operators around the same groups, before and after.

A `par` of `if`s that became nested `if`s has no block in common with them, so that what the change
brought is spread over rows that are gone, new and moved. But the groups inside are the same: the
blocks are a pair by what they hold, and each is summed as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from cyclescope.analyse._places import places
from cyclescope.analyse._spots import Spot, cycles_of, spot_at
from cyclescope.model import Kind, Profile, scaled_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Rebuilt", "rebuilt"]

_HOLDERS = (Kind.CONTROL, Kind.LOOP)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Two blocks around the same groups and cells, whose operators differ.

    Attributes:
        before, after: the blocks.
        spent: cycles at the ends of all call paths through each, cells that it calls included;
            exact, a cycle split evenly among what runs in parallel.
    """

    before: Spot
    after: Spot
    spent: tuple[Fraction, Fraction]

    @property
    def change(self) -> Fraction:
        """Cycles spent, after minus before."""
        return self.spent[1] - self.spent[0]


def rebuilt(before: Profile, after: Profile, partner: Sequence[int]) -> tuple[Rebuilt, ...]:
    """The pairs of blocks that hold the same matched groups and cells, though built otherwise.

    Blocks inside a pair that are pairs themselves have their own entry. Largest change first.

    Args:
        before: one profile.
        after: the other.
        partner: for each path of `before` its counterpart, see `match_paths`.
    """
    old, new = _Side(before), _Side(after)
    same: dict[int, int] = {}
    for path, other in enumerate(partner):
        if other >= 0:
            same.setdefault(new.place[other], old.place[path])
    here = old.chains({place: place for place in same.values()})
    there = new.chains(same)
    tops = [_top(old, chain, new, there[held]) for held, chain in here.items() if held in there]
    pairs = sorted({top for top in tops if top is not None})
    was, now = old.blocks([x for x, _ in pairs]), new.blocks([y for _, y in pairs])
    found = [
        Rebuilt(one, two, (spent, later))
        for (one, spent), (two, later) in zip(was, now, strict=True)
    ]
    return tuple(sorted(found, key=lambda pair: -abs(pair.change)))


def _top(old: _Side, one: list[int], new: _Side, two: list[int]) -> tuple[int, int] | None:
    """The outermost blocks of two nests from which on they differ; None if they do not."""
    was, now = [old.forms[place] for place in one], [new.forms[place] for place in two]
    if was == now:
        return None
    alike = 0
    while alike < min(len(was), len(now)) - 1 and was[alike] == now[alike]:
        alike += 1
    return one[alike], two[alike]


class _Side:
    """The places of one profile as a forest of blocks, cut at groups and cells."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.parent = profile.call_paths.parent.tolist()
        self.place = places(profile, as_team=True)
        self.kinds = [profile.frame_of(path).kind for path in range(len(self.parent))]
        self.forms = {
            place: (self.kinds[path], profile.frame_of(path).detail)
            for path, place in enumerate(self.place)
            if self.kinds[path] in _HOLDERS
        }
        self.above: dict[int, int] = {}
        self.items: dict[int, set[int]] = defaultdict(set)  # what lies directly in a block
        for path, parent in enumerate(self.parent):
            if parent >= 0 and self.kinds[parent] in _HOLDERS:
                if self.kinds[path] in _HOLDERS:
                    self.above[self.place[path]] = self.place[parent]
                elif self.kinds[path] != Kind.PRIMITIVE:
                    self.items[self.place[parent]].add(self.place[path])

    def chains(self, known: dict[int, int]) -> dict[frozenset[int], list[int]]:
        """Sets of items, named as `known` does, → the blocks that hold just these, outside in.

        Blocks that hold more that is unknown than known are left out.
        """
        held: dict[int, set[int]] = defaultdict(set)
        for block, items in self.items.items():
            at: int | None = block
            while at is not None:
                held[at] |= items
                at = self.above.get(at)
        depth = {block: self._depth(block) for block in held}
        chains: dict[frozenset[int], list[int]] = defaultdict(list)
        for block in sorted(held, key=depth.__getitem__):
            named = frozenset(known[item] for item in held[block] if item in known)
            if 2 * len(named) >= len(held[block]):
                chains[named].append(block)
        return chains

    def _depth(self, block: int) -> int:
        count = 0
        while block in self.above:
            block, count = self.above[block], count + 1
        return count

    def blocks(self, wanted: Sequence[int]) -> list[tuple[Spot, Fraction]]:
        """The blocks at some places, and the cycles spent in each."""
        if not wanted:
            return []
        weights = scaled_weights(self.profile)
        spent, own = dict.fromkeys(wanted, Fraction(0)), dict.fromkeys(wanted, Fraction(0))
        example: dict[int, int] = {}
        inside: list[frozenset[int]] = []
        for path, weight in enumerate(weights):
            parent, place = self.parent[path], self.place[path]
            around = inside[parent] if parent >= 0 else frozenset()
            if place in spent:
                example.setdefault(place, path)
                own[place] += weight
                around |= {place}
            inside.append(around)
            if weight:
                for each in around:
                    spent[each] += weight
        active = self._active(wanted)
        return [
            (spot_at(self.profile, example[p], own[p], active[n]), spent[p])
            for n, p in enumerate(wanted)
        ]

    def _active(self, wanted: Sequence[int]) -> list[int]:
        number = {place: n for n, place in enumerate(wanted)}
        return cycles_of(self.profile, [number.get(p, -1) for p in self.place], len(wanted))
