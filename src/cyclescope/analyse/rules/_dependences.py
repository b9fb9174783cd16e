"""What groups of a Calyx program use, from its text, and the shortest schedule that leaves.

A profile says which primitives a group starts, not which it only reads; the text says both.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from cyclescope.analyse._match import plain_name
from cyclescope.analyse._texts import components_of, source_line
from cyclescope.model import Frame, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["Uses", "chain", "interchangeable", "uses_of"]

_CONDITION = re.compile(r"\b(?:if|while)\s+([A-Za-z_]\w*)\s*\.")
_CELL = re.compile(r"([A-Za-z_][\w]*)\s*\.\s*[A-Za-z_]")


class Uses(NamedTuple):
    """Cells that a group writes to, and cells that it reads."""

    written: frozenset[str]
    read: frozenset[str]

    def conflicts(self, other: Uses) -> bool:
        """Whether the two may not run at once, or in another order."""
        return bool(self.written & (other.written | other.read) or self.read & other.written)


@lru_cache(maxsize=1024)
def _group(component: str, name: str) -> str | None:
    """The text between a group's braces."""
    head = re.search(rf"\bgroup\s+{re.escape(name)}\b[^{{]*{{", component)
    if head is None:
        return None
    depth = 1
    for brace in re.finditer(r"[{}]", component[head.end() :]):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return component[head.end() : head.end() + brace.start()]
    return None


def _uses(text: str) -> Uses:
    written: set[str] = set()
    read: set[str] = set()
    for statement in text.split(";"):
        left, equals, right = statement.partition("=")
        if equals:
            written.update(_CELL.findall(left))
            read.update(_CELL.findall(right))
    return Uses(frozenset(written), frozenset(read))


@lru_cache(maxsize=64)
def _prototypes(component: str) -> dict[str, str]:
    """What each cell of a component is an instance of, with its parameters."""
    head = re.search(r"\bcells\s*{([^}]*)}", component)
    if head is None:
        return {}
    found = re.findall(r"([A-Za-z_]\w*)\s*=\s*(?:ref\s+)?([A-Za-z_]\w*\s*\([^)]*\))", head[1])
    return {name: re.sub(r"\s+", "", prototype) for name, prototype in found}


def interchangeable(facts: Facts, frame: Frame, one: Uses, other: Uses) -> bool:
    """Whether two parts of a component use cells that the compiler could make one of."""
    kinds: dict[str, str] = {}
    for position in frame.positions:
        texts = components_of(facts.profile.sources.get(position.file, ""))
        kinds |= _prototypes(texts.get(frame.component, ""))
    first, second = (
        {kinds[cell] for cell in uses.written | uses.read if cell in kinds} for uses in (one, other)
    )
    return not first.isdisjoint(second)


def uses_of(facts: Facts, path: int) -> Uses | None:
    """What a group, or all groups of a block, use; None if the text does not say."""
    frame = facts.of(path)
    if frame.kind is Kind.GROUP:
        return _group_uses(facts, frame)
    inside = [facts.of(p) for p in (path, *facts.below(path))]
    every = [_group_uses(facts, frame) for frame in inside if frame.kind is Kind.GROUP]
    known = [uses for uses in every if uses is not None]
    if not every or len(known) < len(every):
        return None
    asked = [_asked(facts, frame) for frame in inside if frame.detail in ("if", "while")]
    return Uses(
        frozenset().union(*(uses.written for uses in known)),
        frozenset().union(*asked, *(uses.read for uses in known)),
    )


def _asked(facts: Facts, frame: Frame) -> frozenset[str]:
    """The cells on which an `if` or `while` decides."""
    found: set[str] = set()
    for position in frame.positions:
        line = source_line(facts.profile, position.file, position.line)
        component = components_of(facts.profile.sources.get(position.file, "")).get(frame.component)
        if component:
            found |= _seen(component, _CONDITION.findall(line))
    return frozenset(found)


@lru_cache(maxsize=64)
def _wires(component: str) -> dict[str, frozenset[str]]:
    """For each cell the cells that drive it always, in no group."""
    head = re.search(r"\bwires\s*{", component)
    if head is None:
        return {}
    # What is left when the innermost braces go are the statements outside of groups.
    text = component[head.end() :].split("control", 1)[0]
    while (bare := re.sub(r"[^;{}]*{[^{}]*}", ";", text)) != text:
        text = bare
    drivers: dict[str, set[str]] = {}
    for statement in text.split(";"):
        left, equals, right = statement.partition("=")
        if equals:
            for cell in _CELL.findall(left):
                drivers.setdefault(cell, set()).update(_CELL.findall(right))
    return {cell: frozenset(by) for cell, by in drivers.items()}


def _seen(component: str, cells: Iterable[str]) -> set[str]:
    """These cells and all whose values they show."""
    drivers = _wires(component)
    found: set[str] = set()
    waiting = list(cells)
    while waiting:
        cell = waiting.pop()
        if cell not in found:
            found.add(cell)
            waiting += drivers.get(cell, ())
    return found


def _group_uses(facts: Facts, frame: Frame) -> Uses | None:
    for position in frame.positions:
        component = components_of(facts.profile.sources.get(position.file, "")).get(frame.component)
        text = _group(component, plain_name(frame.name)) if component else None
        if component and text is not None:
            uses = _uses(text)
            return uses._replace(read=frozenset(_seen(component, uses.read)))
    return None


def chain(uses: Sequence[Uses], cycles: Sequence[int]) -> int:
    """The shortest schedule of things in this order, where only conflicting ones must wait."""
    done: list[int] = []
    for index, (what, length) in enumerate(zip(uses, cycles, strict=True)):
        ready = max((done[i] for i in range(index) if what.conflicts(uses[i])), default=0)
        done.append(ready + length)
    return max(done, default=0)
