"""Groups of fixed length, one after another under dynamic control (Petal, 7.1 and 8.1)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from cyclescope.analyse._account import account
from cyclescope.analyse.rules._dependences import chain
from cyclescope.analyse.rules._rule import Place, Rule, counted
from cyclescope.model import Frame, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["RULE"]


class _Fixed(NamedTuple):
    """An enable of a group whose activations were equally long, wherever it is enabled."""

    path: int
    times: int
    cycles: int


def _find(facts: Facts) -> Iterable[Place]:
    found = []
    for frame, paths in facts.blocks("seq"):
        if not frame.static:
            place = _place(facts, frame, paths)
            if place is not None:
                found.append((place, any(map(facts.hidden, paths))))
    # Arms of a `par` lose the same cycle side by side: together they save no more than the run
    # loses, whatever each of them would save alone.
    beside = sum(place.saving for place, hidden in found if hidden)
    room = sum(account(facts.profile).lost.values())
    room = max(room - sum(place.saving for place, hidden in found if not hidden), 0)
    part = Fraction(min(room, beside), max(beside, 1))
    for place, hidden in found:
        yield replace(place, saving=int(place.saving * part)) if hidden else place


def _place(facts: Facts, frame: Frame, paths: list[int]) -> Place | None:
    saving = at_least = at_most = groups = 0
    names: list[str] = []
    for path in paths:
        for row in _rows(facts, path):
            times = min(entry.times for entry in row)
            steps = times * (len(row) - 1)
            # The last step of a component whose control is only this goes too.
            alone = len(row) == len(facts.children[path])
            if alone and facts.of(facts.parent[path]).kind is Kind.CELL:
                steps += times
            sequence = sum(entry.cycles for entry in row)
            shortest = _shortest(facts, row)
            saving += steps + times * (sequence - (shortest or sequence))
            at_most += steps + times * (sequence - max(entry.cycles for entry in row))
            at_least += max(steps - times, 0) if not facts.hidden(path) else 0
            groups = max(groups, len(row))
            names += [facts.of(entry.path).name for entry in row]
    if not saving:
        return None
    shown = list(dict.fromkeys(names))
    more = f" and {len(shown) - 4} more" if len(shown) > 4 else ""
    return Place.at(
        frame,
        evidence=(
            f"{', '.join(shown[:4])}{more}: equally long each time "
            f"({counted(facts.times(paths), 'activation')}, min = max), "
            f"up to {groups} in a row with a state update after each"
        ),
        saving=saving,
        at_least=at_least,
        at_most=at_most,
        cycles=facts.example(paths),
    )


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
    """What a `seq` called, in the order in which it did."""
    begun = [(int(start[0]), child) for child in facts.children[path]
             if len(start := facts.spans(child)[0])]  # fmt: skip
    return [child for _, child in sorted(begun)]


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
    """The shortest fixed schedule, as far as the program's text tells what depends on what."""
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
