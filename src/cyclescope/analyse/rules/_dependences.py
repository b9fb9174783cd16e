"""What groups of a Calyx program use, from its text, and the shortest schedule that leaves.

A profile says which primitives a group starts, not which it only reads; the text says both.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from cyclescope.analyse._match import plain_name
from cyclescope.model import Frame, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["Uses", "chain", "uses_of"]

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CELL = re.compile(r"([A-Za-z_][\w]*)\s*\.\s*[A-Za-z_]")


class Uses(NamedTuple):
    """Cells that a group writes to, and cells that it reads."""

    written: frozenset[str]
    read: frozenset[str]

    def conflicts(self, other: Uses) -> bool:
        """Whether the two may not run at once, or in another order."""
        return bool(self.written & (other.written | other.read) or self.read & other.written)


@lru_cache(maxsize=32)
def _components(text: str) -> dict[str, str]:
    """The text of each component, without comments."""
    bare = _COMMENT.sub(" ", text)
    heads = list(re.finditer(r"\bcomponent\s+([A-Za-z_]\w*)", bare))
    ends = [*(head.start() for head in heads[1:]), len(bare)][: len(heads)]
    return {head[1]: bare[head.start() : end] for head, end in zip(heads, ends, strict=True)}


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


def uses_of(facts: Facts, path: int) -> Uses | None:
    """What a group, or all groups of a block, use; None if the text does not say."""
    frame = facts.of(path)
    if frame.kind is Kind.GROUP:
        return _group_uses(facts, frame)
    inside = [p for p in facts.below(path) if facts.of(p).kind is Kind.GROUP]
    every = [_group_uses(facts, facts.of(p)) for p in inside]
    known = [uses for uses in every if uses is not None]
    if not every or len(known) < len(every):
        return None
    return Uses(
        frozenset().union(*(uses.written for uses in known)),
        frozenset().union(*(uses.read for uses in known)),
    )


def _group_uses(facts: Facts, frame: Frame) -> Uses | None:
    for position in frame.positions:
        component = _components(facts.profile.sources.get(position.file, "")).get(frame.component)
        text = _group(component, plain_name(frame.name)) if component else None
        if text is not None:
            return _uses(text)
    return None


def chain(uses: Sequence[Uses], cycles: Sequence[int]) -> int:
    """The shortest schedule of things in this order, where only conflicting ones must wait."""
    done: list[int] = []
    for index, (what, length) in enumerate(zip(uses, cycles, strict=True)):
        ready = max((done[i] for i in range(index) if what.conflicts(uses[i])), default=0)
        done.append(ready + length)
    return max(done, default=0)
