"""The accesses of one iteration that may conflict, found by array and place, not pair by pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cyclescope.hls.passes._affine import Sum, differences, is_masked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclescope.hls.ir import Array, Value
    from cyclescope.hls.passes._affine import Forms

__all__ = ["Access", "Conflicts", "latest"]

_BLOCK = 64  # bytes
_MOST_BLOCKS = 64  # an access that is longer is looked for everywhere


@dataclass(frozen=True, slots=True)
class Access:
    """An effect touches bytes `[low, low + bytes)` of an array; all of it if low is None.

    Attributes:
        terms: equal for accesses whose places differ in a constant only.
        key: equal for equal accesses.
    """

    array: Array
    writes: bool
    low: Sum | None
    bytes: int
    terms: frozenset[tuple[Value, int]] = field(init=False, compare=False)
    key: tuple[object, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        terms = frozenset(self.low.terms.items()) if self.low is not None else frozenset()
        low = self.low and (self.low.constant, terms)
        object.__setattr__(self, "terms", terms)
        object.__setattr__(self, "key", (self.array, self.writes, low, self.bytes))


def latest(earlier: int, behind: Sequence[int]) -> tuple[list[int], int]:
    """Of earlier effects those that no other one of them waits for.

    Args:
        earlier: their numbers, as bits.
        behind: for each effect all those that are over before it begins.

    Returns:
        Their numbers, in order, and all that are over when they are.
    """
    kept: list[int] = []
    over = 0
    while earlier:
        number = earlier.bit_length() - 1
        kept.append(number)
        over |= 1 << number | behind[number]
        earlier &= ~over
    return kept[::-1], over


class _Family:
    """The accesses of an array whose places differ in a constant only; effects are bits."""

    def __init__(self, low: Sum) -> None:
        self.low = low
        self.all = self.written = 0
        self._blocks: dict[int, list[tuple[int, int, int, bool]]] = {}
        self._long: list[tuple[int, int, int, bool]] = []

    def add(self, low: int, size: int, bit: int, *, writes: bool) -> None:
        """An access of an effect."""
        self.all |= bit
        self.written |= bit if writes else 0
        entry = (low, low + size, bit, writes)
        blocks = _blocks(low, size)
        if blocks is None:
            self._long.append(entry)
            return
        for block in blocks:
            # What a store hides need not be looked at again: who meets that meets the store.
            old = self._blocks.get(block, ())
            kept = [e for e in old if not (writes and low <= e[0] < e[1] <= low + size)]
            self._blocks[block] = [*kept, entry]

    def meeting(self, low: int, size: int, *, writes: bool) -> int:
        """The effects that such an access meets."""
        found, high = 0, low + size
        for begin, end, bit, written in self._near(low, size):
            if (writes or written) and not (low >= end or begin >= high):
                found |= bit
        return found

    def _near(self, low: int, size: int) -> Iterator[tuple[int, int, int, bool]]:
        yield from self._long
        blocks = _blocks(low, size)
        if blocks is None or len(blocks) > len(self._blocks):
            for entries in self._blocks.values():
                yield from entries
        else:
            for block in blocks:
                yield from self._blocks.get(block, ())


def _blocks(low: int, size: int) -> range | None:
    found = range(low // _BLOCK, (low + max(size, 1) - 1) // _BLOCK + 1)
    return found if len(found) <= _MOST_BLOCKS else None


class _Places:
    """All accesses of one array so far."""

    def __init__(self) -> None:
        self.all = self.written = 0
        self.several = 0  # effects with more than one access
        self.anywhere = self.anywhere_written = 0  # those of which the place isn't known
        self.families: dict[frozenset[tuple[Value, int]], _Family] = {}
        self.masked: list[_Family] = []  # some that may be apart from others


class Conflicts:
    """The accesses of an iteration so far; which of them a further one must wait for."""

    def __init__(self, forms: Forms) -> None:
        self._forms = forms
        self._arrays: dict[Array, _Places] = {}

    def with_access(self, access: Access) -> int:
        """The effects that an access meets, a bit each; two loads never do."""
        places = self._arrays.get(access.array)
        if places is None:
            return 0
        writes = access.writes
        if access.low is None:
            return places.all if writes else places.written
        found = places.all if writes else places.written
        own = places.families.get(access.terms)
        # Where sums differ in more than a constant nothing is known but of some that are masked.
        others = places.families.values() if _has_mask(access.low) else places.masked
        checked = [(own, [access.low.constant])] if own is not None else []
        for family in others:
            if family is not own:
                values = differences(access.low.plus(family.low, -1), self._forms)
                if values is not None:
                    checked.append((family, [family.low.constant + v for v in values]))
        near = several = 0
        for family, lows in checked:
            found &= ~family.all
            several |= family.all & places.several
            for low in lows:
                near |= family.meeting(low, access.bytes, writes=writes)
        if several:
            # Their other accesses may be in families that weren't checked.
            near |= several & (places.anywhere if writes else places.anywhere_written)
            known = {family for family, _ in checked}
            for family in places.families.values():
                if family not in known:
                    near |= several & (family.all if writes else family.written)
        return found | near

    def add(self, access: Access, bit: int) -> None:
        """An effect's access."""
        places = self._arrays.setdefault(access.array, _Places())
        places.several |= places.all & bit
        places.all |= bit
        places.written |= bit if access.writes else 0
        if access.low is None:
            places.anywhere |= bit
            places.anywhere_written |= bit if access.writes else 0
            return
        family = places.families.get(access.terms)
        if family is None:
            family = places.families[access.terms] = _Family(access.low)
            if _has_mask(access.low):
                places.masked.append(family)
        family.add(access.low.constant, access.bytes, bit, writes=access.writes)


def _has_mask(low: Sum) -> bool:
    return any(map(is_masked, low.terms))
