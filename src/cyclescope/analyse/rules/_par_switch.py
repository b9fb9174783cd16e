"""A `par` of `if`s of which never more than one has work: a switch (Petal, 2 and 8.2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse.rules._facts import Facts
from cyclescope.analyse.rules._leverage import bounds_of_blocks
from cyclescope.analyse.rules._rule import Place, Rule, counted
from cyclescope.model import Frame, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.model import Profile

__all__ = ["RULE", "exclusive_pars"]


def _find(facts: Facts) -> Iterable[Place]:
    for frame, paths in facts.blocks("par"):
        if frame.static:
            continue  # as long as its longest arm whatever happens, and nested ifs would be too
        arms = {facts.frame[child] for path in paths for child in facts.children[path]}
        frames = [facts.profile.catalog[arm] for arm in arms]
        if len(arms) > 1 and all(f.detail == "if" for f in frames):
            place = _place(facts, frame, paths, len(arms))
            if place is not None:
                yield place


def exclusive_pars(profile: Profile) -> list[Frame]:
    """The dynamic `par`s of `if`s of which, in a run, never more than one arm had work."""
    facts = Facts(profile)
    return [
        frame
        for frame, paths in facts.blocks("par")
        if not frame.static and all(_exclusive(facts, path) for path in paths)
    ]


def _place(facts: Facts, frame: Frame, paths: list[int], arms: int) -> Place | None:
    if not all(_exclusive(facts, path) for path in paths):
        return None
    times = facts.times(paths)
    managing = sum(_managing(facts, path) for path in paths)
    if not managing:
        return None
    # In a sequence nested ifs are states of the sequence's own register: the `par` and the step
    # after it go, one step per activation stays. Where the `par` is all there is, it needs its own.
    saving = at_most = 0
    for path in paths:
        above = facts.of(facts.parent[path])
        own, often = _managing(facts, path), facts.times([path])
        inside = 2 * often if above.detail == "par" else 0
        step = often if above.kind is Kind.CELL else inside
        saving += max(own - step, 0)
        at_most += own + (often if above.kind is Kind.CONTROL else 0)
    # Conditions with a group of their own are worked out at once now, and would be in turn.
    conditions = sum(
        facts.is_condition(p) for path in paths for c in facts.children[path]
        for p in facts.children[c]
    )  # fmt: skip
    at_least = max(saving - times, 0)
    if conditions or any(map(facts.hidden, paths)):
        at_least = 0
    return Place.at(
        frame,
        evidence=(
            f"{counted(times, 'activation')}, {arms} arms seen, never more than one with work; "
            f"{managing:,} cycles of overhead ({_per(managing, times)} each)"
        ),
        saving=saving,
        at_least=at_least,
        at_most=at_most,
        cycles=facts.example(paths),
    )


def _per(cycles: int, times: int) -> str:
    return f"{cycles / times:.1f}".removesuffix(".0") if times else "0"


def _exclusive(facts: Facts, path: int) -> bool:
    """Return whether in no activation of the block more than one arm did work."""
    arms = [[p for p in facts.below(arm) if _works(facts, p)] for arm in facts.children[path]]
    start = facts.starts_together([path, *(p for arm in arms for p in arm)])
    busy = [
        np.unique(np.searchsorted(start[path], np.concatenate(begun), side="right") - 1)
        for begun in ([start[p] for p in arm] for arm in arms)
        if begun
    ]
    if not busy:
        return False
    every = np.concatenate(busy)
    return len(np.unique(every)) == len(every)


def _works(facts: Facts, path: int) -> bool:
    return facts.of(path).kind is Kind.GROUP and not facts.is_condition(path)


def _managing(facts: Facts, path: int) -> int:
    """Cycles in which the block or its arms were active and nothing below the arms was."""
    forest = facts.profile.forest
    arms = set(facts.children[path])
    deeper = set(facts.below(path)) - arms
    cycles = 0
    for tree in np.flatnonzero(facts.tree_cycles).tolist():
        active = forest[tree].tolist()
        if path in active and deeper.isdisjoint(active):
            cycles += int(facts.tree_cycles[tree])
    return cycles


RULE = Rule(
    name="par-switch",
    title="a switch written as a par of ifs",
    reference="Petal, sections 2 and 8.2.1",
    change=(
        "If the conditions exclude each other, nest them: if A {..} else { if B {..} else {..} }. "
        "Where a generator writes the switch, change it there."
    ),
    verify=(
        "Profile again and compare: cyclescope diff BEFORE.cyc AFTER.cyc; memories must be equal."
    ),
    sources=frozenset({"calyx"}),
    find=_find,
    bounds=bounds_of_blocks,
)
