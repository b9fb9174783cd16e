"""The uses of a Calyx program's groups, from its sites, and the shortest schedule they allow.

A profile's trees say which primitives a group starts, not which it only reads; its sites say both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cyclescope.model import Cell, Condition, Frame, Group, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.analyse.rules._facts import Facts
    from cyclescope.model import Position, Profile

__all__ = ["Dependences", "Uses", "chain"]

_NOTHING: frozenset[str] = frozenset()


class Uses(NamedTuple):
    """Cells that a group writes to, and cells that it reads."""

    written: frozenset[str]
    read: frozenset[str]

    def conflicts(self, other: Uses) -> bool:
        """Return whether the two may not run at once, or in another order."""
        return bool(self.written & (other.written | other.read) or self.read & other.written)


class Dependences:
    """The uses of a program's groups, by what its frames say of themselves."""

    def __init__(self, profile: Profile) -> None:
        self._groups: dict[tuple[str, str], Uses] = {}
        self._cells: dict[str, dict[str, str]] = {}
        self._asked: dict[tuple[str, Position], frozenset[str]] = {}
        for site in profile.sites:
            if isinstance(site, Group):
                uses = Uses(frozenset(site.writes), frozenset(site.reads))
                self._groups[site.function, site.name] = uses
            elif isinstance(site, Cell):
                self._cells.setdefault(site.function, {})[site.name] = site.prototype
            elif isinstance(site, Condition) and site.position is not None:
                self._asked[site.function, site.position] = frozenset(site.reads)

    def of(self, facts: Facts, path: int) -> Uses | None:
        """Return the uses of a group, or of all groups of a block; None if the sites do not say."""
        frame = facts.of(path)
        if frame.kind is Kind.GROUP:
            return self._of_group(frame)
        inside = [facts.of(p) for p in (path, *facts.below(path))]
        every = [self._of_group(frame) for frame in inside if frame.kind is Kind.GROUP]
        every += [self._of_condition(frame) for frame in inside if _decides(frame)]
        known = [uses for uses in every if uses is not None]
        if not every or len(known) < len(every):
            return None
        return Uses(
            _NOTHING.union(*(uses.written for uses in known)),
            _NOTHING.union(*(uses.read for uses in known)),
        )

    def _of_group(self, frame: Frame) -> Uses | None:
        return self._groups.get((frame.component, frame.definition or frame.name))

    def _of_condition(self, frame: Frame) -> Uses | None:
        for position in frame.positions:
            asked = self._asked.get((frame.component, position))
            if asked is not None:
                return Uses(_NOTHING, asked)
        return None

    def interchangeable(self, frame: Frame, one: Uses, other: Uses) -> bool:
        """Return whether two parts of a component use cells that the compiler could make one of."""
        kinds = self._cells.get(frame.component, {})
        first, second = (
            {kinds[cell] for cell in uses.written | uses.read if cell in kinds}
            for uses in (one, other)
        )
        return not first.isdisjoint(second)


def _decides(frame: Frame) -> bool:
    return frame.kind is Kind.CONTROL and frame.detail.removeprefix("static ") in ("if", "while")


def chain(uses: Sequence[Uses], cycles: Sequence[int]) -> int:
    """The shortest schedule of some things in this order, where only conflicting ones must wait."""
    done: list[int] = []
    for index, (what, length) in enumerate(zip(uses, cycles, strict=True)):
        ready = max((done[i] for i in range(index) if what.conflicts(uses[i])), default=0)
        done.append(ready + length)
    return max(done)
