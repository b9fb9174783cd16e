"""The nesting of the statements of a control program."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

__all__ = ["Nesting"]


class Nesting:
    """The statements of one component, by number.

    Args:
        parent: statement → the one around it, None for an outermost one.
        blocks: those that are control blocks; the others enable a group or invoke a cell.
    """

    def __init__(self, parent: Mapping[int, int | None], blocks: Collection[int]) -> None:
        self.parent = parent
        self.blocks = frozenset(blocks)

    def chain(self, node: int) -> list[int]:
        """A statement and those around it, upwards."""
        result = [node]
        while (parent := self.parent[result[-1]]) is not None:
            result.append(parent)
        return result

    def around(self, node: int) -> int | None:
        """The innermost block around a statement."""
        return next((above for above in self.chain(node)[1:] if above in self.blocks), None)

    def common_ancestor(self, nodes: Iterable[int]) -> int | None:
        """The innermost statement that is or contains each of these; None for none."""
        common: list[int] | None = None
        for node in nodes:
            chain = self.chain(node)
            if common is None:
                common = chain
            else:
                above = set(chain)
                common = [n for n in common if n in above]
        return common[0] if common else None
