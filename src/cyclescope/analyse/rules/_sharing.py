"""Work that could run at once and does not, since its cells were shared (Petal, section 7.2)."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from cyclescope.analyse.rules._dependences import Uses, chain
from cyclescope.analyse.rules._leverage import bounds_of_blocks
from cyclescope.analyse.rules._rule import Place, Rule, counted
from cyclescope.model import Frame, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["RULE"]


def _find(facts: Facts) -> Iterable[Place]:
    options = facts.profile.meta.options
    if "cell-share" in options.get("disable", "").split(","):
        return
    for frame, paths in facts.blocks("seq"):
        place = _place(facts, frame, paths)
        if place is not None:
            yield place


def _place(facts: Facts, frame: Frame, paths: list[int]) -> Place | None:
    saving = at_most = 0
    apart: list[str] = []
    for path in paths:
        parts = [p for p in facts.children[path] if facts.of(p).kind in (Kind.GROUP, Kind.CONTROL)]
        parts.sort(key=facts.first)
        uses = [facts.dependences.of(facts, p) for p in parts]
        lengths = [facts.lengths([p]) for p in parts]
        known = [use for use in uses if use is not None]
        # Only a fixed schedule is rearranged; one of varying parts is as it was written.
        fixed = all(low == high for low, high in lengths) and facts.own[path] == 0
        # Rounds of a fixed schedule follow each other without a gap: its parts count them.
        counts = {facts.times([p]) for p in parts}
        if len(parts) < 2 or len(known) < len(uses) or not fixed or len(counts) > 1:
            continue
        # The compiler moves groups; a block stays between what is before it and behind.
        blocks = [facts.of(p).kind is Kind.CONTROL for p in parts]
        known = [_fence(use, block=block) for use, block in zip(known, blocks, strict=True)]
        times, whole = counts.pop(), facts.cycles([path])
        cycles = [high for _, high in lengths]
        possible, longest = chain(known, cycles), whole // max(times, 1)
        if not times or whole % times or possible >= longest:
            continue
        if not any(
            not one.conflicts(other) and facts.dependences.interchangeable(frame, one, other)
            for one, other in combinations(known, 2)
        ):
            continue
        saving += times * (longest - possible)
        at_most += times * (longest - max(cycles))
        apart += [
            facts.of(p).name for p, use in zip(parts, known, strict=True)
            if sum(not use.conflicts(other) for other in known)
        ]  # fmt: skip
    if not saving:
        return None
    shown = list(dict.fromkeys(apart))
    more = f" and {len(shown) - 6} more" if len(shown) > 6 else ""
    return Place.at(
        frame,
        evidence=(
            f"{facts.lengths(paths)[1]:,} cycles each time "
            f"({counted(facts.times(paths), 'activation')}), "
            f"though there are parts that use no cell in common: {', '.join(shown[:6])}{more}"
        ),
        saving=saving,
        at_least=0,
        at_most=at_most,
        cycles=facts.example(paths),
    )


_PLACE = "a place in the sequence"  # no cell's name


def _fence(uses: Uses, *, block: bool) -> Uses:
    """Uses of which those of a block conflict with all others."""
    place = frozenset({_PLACE})
    return Uses(uses.written | place, uses.read) if block else Uses(uses.written, uses.read | place)


RULE = Rule(
    name="sharing",
    title="sharing of cells that puts independent work in sequence",
    reference="Petal, section 7.2",
    change=(
        "Compile without it and weigh the area: -d cell-share; or keep only the cells of these "
        "groups apart."
    ),
    verify=(
        "Profile with -d cell-share and compare with cyclescope diff; look at the area of both "
        "before you decide."
    ),
    sources=frozenset({"calyx"}),
    find=_find,
    bounds=bounds_of_blocks,
)
