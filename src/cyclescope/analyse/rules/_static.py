"""Groups of fixed length, one after another under dynamic control (Petal, 7.1 and 8.1).

Where all of a block has fixed lengths, the block has one as a static schedule: what it took beyond
that goes. Elsewhere neighbours in a sequence do, and the state updates between them go.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from cyclescope.analyse.rules._dependences import chain
from cyclescope.analyse.rules._rule import Place, Rule, counted
from cyclescope.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts
    from cyclescope.model import Frame

__all__ = ["RULE"]


class _Fixed(NamedTuple):
    """An enable of a group whose activations were equally long, wherever it is enabled."""

    path: int
    times: int
    cycles: int


class _Length(NamedTuple):
    """Cycles of a static schedule, for each activation of what it is in.

    Attributes:
        plain: everything in the order of the text.
        packed: what may run at once does, as far as it is known what that is.
        least: only the longest of each sequence.
        groups: how many there are.
    """

    plain: int
    packed: int
    least: int
    groups: int

    def times(self, count: int) -> _Length:
        """So many, one after another."""
        return _Length(count * self.plain, count * self.packed, count * self.least, self.groups)


@dataclass
class _Found:
    """The totals of the paths of one block."""

    saving: int = 0
    at_least: int = 0
    at_most: int = 0
    groups: int = 0
    names: tuple[str, ...] = ()


def _find(facts: Facts) -> Iterable[Place]:
    found: dict[int, _Found] = defaultdict(_Found)
    waiting = [path for path, parent in enumerate(facts.parent) if parent < 0]
    while waiting:
        path = waiting.pop()
        if facts.of(path).kind is Kind.CONTROL and (length := _length(facts, path)) is not None:
            _add_whole(facts, path, length, found[facts.frame[path]])
            continue
        if facts.of(path).kind is Kind.CONTROL and facts.of(path).detail == "seq":
            _add_rows(facts, path, found[facts.frame[path]])
        waiting += facts.children[path]
    places = []
    for frame, sums in sorted(found.items()):
        if sums.saving > 0:
            paths = facts.paths[frame]
            place = _place(facts, facts.profile.catalog[frame], paths, sums)
            places.append((place, any(map(facts.hidden, paths))))
    yield from _within_the_lost(facts, places)


def _within_the_lost(facts: Facts, places: list[tuple[Place, bool]]) -> Iterable[Place]:
    """Limit what is saved side by side.

    Arms of a `par` lose the same cycle side by side: together they save no more than the run
    loses, whatever each of them would save alone.
    """
    beside = sum(place.saving for place, hidden in places if hidden)
    possible = sum(facts.account.lost.values())
    possible = max(possible - sum(place.saving for place, hidden in places if not hidden), 0)
    part = Fraction(min(possible, beside), max(beside, 1))
    for place, hidden in places:
        yield replace(place, saving=int(place.saving * part)) if hidden else place


def _place(facts: Facts, frame: Frame, paths: list[int], sums: _Found) -> Place:
    shown = list(dict.fromkeys(sums.names))
    more = f" and {len(shown) - 4} more" if len(shown) > 4 else ""
    return Place.at(
        frame,
        evidence=(
            f"{', '.join(shown[:4])}{more}: equally long each time "
            f"({counted(facts.times(paths), 'activation')}, min = max), "
            f"up to {sums.groups} in a row with a state update after each"
        ),
        saving=sums.saving,
        at_least=min(sums.at_least, sums.saving),
        at_most=max(sums.at_most, sums.saving),
        cycles=facts.example(paths),
    )


def _add_whole(facts: Facts, path: int, length: _Length, sums: _Found) -> None:
    """A block of which everything has a fixed length."""
    times, cycles = facts.times([path]), facts.cycles([path])
    lost = cycles - times * length.plain
    inside = [path, *facts.below(path)]
    groups = [p for p in inside if facts.of(p).kind is Kind.GROUP]
    if lost <= 0 or all(facts.of(p).static for p in groups):
        return
    # The last step of a component whose control is only this goes too.
    above = facts.parent[path]
    last = min(times, facts.own[above]) if facts.of(above).kind is Kind.CELL else 0
    sums.saving += cycles + last - times * length.packed
    sums.at_least += 0 if facts.hidden(path) else max(lost - times, 0)
    sums.at_most += cycles + times - times * length.least
    if above >= 0 and facts.of(above).detail == "while":
        # A loop with such a body may ask and step while the body runs.
        sums.at_most += facts.cycles([above]) - cycles
    sums.groups = max(sums.groups, length.groups)
    sums.names += tuple(facts.of(p).name for p in groups)


def _length(facts: Facts, path: int) -> _Length | None:
    """A block as a static schedule, of one activation; None if not all of it has fixed lengths."""
    frame, times = facts.of(path), facts.times([path])
    if not times:
        return None
    if frame.latency is not None:
        groups = sum(facts.of(p).kind is Kind.GROUP for p in facts.below(path))
        return _Length(*(frame.latency,) * 3, groups)
    kind = frame.detail.removeprefix("static ")
    parts = [_part(facts, child, times) for child in _in_order(facts, path)]
    known = [part for part in parts if part is not None]
    if kind not in ("seq", "par", "repeat") or not known or len(known) < len(parts):
        return None
    if len(facts.children[path]) > len(parts):
        return None
    groups = sum(part.groups for part in known)
    if kind == "par":
        plain, packed, least = (max(part[i] for part in known) for i in range(3))
        return _Length(plain, packed, least, groups)
    plain, packed = (sum(part[i] for part in known) for i in range(2))
    if kind == "seq":
        every = [facts.dependences.of(facts, child) for child in _in_order(facts, path)]
        uses = [one for one in every if one is not None]
        if len(uses) == len(every):
            packed = chain(uses, [part.packed for part in known])
        return _Length(plain, packed, max(part.least for part in known), groups)
    return _Length(plain, packed, sum(part.least for part in known), groups)


def _part(facts: Facts, path: int, times: int) -> _Length | None:
    """The length of a block of so many activations, for each of these."""
    if facts.of(path).kind is Kind.GROUP:
        fixed = _fixed(facts, path)
        if fixed is None or fixed.times % times:
            return None
        return _Length(*(fixed.cycles,) * 3, 1).times(fixed.times // times)
    own = facts.times([path])
    length = _length(facts, path) if facts.of(path).kind is Kind.CONTROL else None
    return None if length is None or own % times else length.times(own // times)


def _add_rows(facts: Facts, path: int, sums: _Found) -> None:
    """Neighbours of fixed length in a sequence of other things."""
    left = facts.own[path]  # cycles in which the sequence only takes a step
    for row in _rows(facts, path):
        times = min(entry.times for entry in row)
        steps = min(times * (len(row) - 1), left)
        if not steps:
            continue
        left -= steps
        sequence = sum(entry.cycles for entry in row)
        sums.saving += steps + times * (sequence - (_shortest(facts, row) or sequence))
        sums.at_most += steps + times * (sequence - max(entry.cycles for entry in row))
        sums.at_least += max(steps - times, 0) if not facts.hidden(path) else 0
        sums.groups = max(sums.groups, len(row))
        sums.names += tuple(facts.of(entry.path).name for entry in row)


def _rows(facts: Facts, path: int) -> Iterable[list[_Fixed]]:
    """Neighbours, at least two, whose length never varied; not all static already."""
    row: list[_Fixed] = []
    for child in [*_in_order(facts, path), -1]:
        fixed = _fixed(facts, child) if child >= 0 else None
        if fixed is not None and (not row or row[-1].times == fixed.times):
            row.append(fixed)
            continue
        if len(row) > 1 and not all(facts.of(entry.path).static for entry in row):
            yield row
        row = [fixed] if fixed is not None else []


def _in_order(facts: Facts, path: int) -> list[int]:
    """The paths that a `seq` called, in order."""
    begun = [child for child in facts.children[path] if facts.times([child])]
    return sorted(begun, key=lambda child: (facts.first(child), child))


def _fixed(facts: Facts, path: int) -> _Fixed | None:
    frame = facts.of(path)
    if frame.kind is not Kind.GROUP:
        return None
    # A cell of the user's may take another time for other data.
    if any(facts.of(child).kind is Kind.CELL for child in facts.children[path]):
        return None
    if not frame.static and facts.frame[path] not in facts.constant:
        return None
    shortest, longest = facts.lengths([path])
    return _Fixed(path, facts.times([path]), longest) if 0 < shortest == longest else None


def _shortest(facts: Facts, row: list[_Fixed]) -> int | None:
    """The shortest fixed schedule, as far as the sites tell what depends on what."""
    every = [facts.dependences.of(facts, entry.path) for entry in row]
    known = [uses for uses in every if uses is not None]
    if len(known) < len(every):
        return None
    return chain(known, [entry.cycles for entry in row])


RULE = Rule(
    name="static",
    title="groups of fixed length under dynamic control",
    reference="Petal, sections 7.1 and 8.1",
    change=(
        "Make sure that the groups' lengths depend on no data, then declare them static "
        "(static<N> group, or @promotable); or let the compiler do it: do not disable "
        "static-promotion."
    ),
    verify=(
        "cyclescope table P.cyc groups must show 'is' under static?; compare with cyclescope diff. "
        "Run other data too: equal times in one run are evidence, not proof."
    ),
    sources=frozenset({"calyx"}),
    find=_find,
)
