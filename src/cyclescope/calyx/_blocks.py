"""The block of the original control program that a compiled or promoted block implements.

The rule (measured to hold on every program of Calyx's own test suite): take the groups that the
block runs; the least common ancestor of their enables in the original tree, and those of its
ancestors that hold no further live group, are the candidates; the topmost candidate with the
block's own operator is it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.calltree import Nesting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.calyx._record import CompiledRecord, ComponentRecord, Record

__all__ = ["ControlTree"]


# Statements that run a group or a cell.
_CALLS = frozenset({"enable", "invoke", "static invoke", "with"})


class ControlTree(Nesting):
    """The original control program of one component.

    Nodes are the numbers of `Record.nodes`.
    """

    def __init__(self, record: Record, name: str, component: ComponentRecord) -> None:
        self._nodes = record.nodes
        self._repeats = [repeat for repeat in component.repeats if repeat.probe in component.live]
        members = [
            number
            for number, node in enumerate(record.nodes)
            if node.component == name and node.kind != "shared"
        ]
        super().__init__(
            {number: record.nodes[number].parent for number in members},
            [number for number in members if record.nodes[number].kind not in _CALLS],
        )
        self.children: dict[int, list[int]] = {number: [] for number in members}
        for number, parent in self.parent.items():
            if parent is not None:
                self.children[parent].append(number)
        self._probed = {
            group.probe: group.nodes for group in component.groups if group.probe in component.live
        }
        self._live = {
            node for nodes in self._probed.values() for node in nodes if node in self.parent
        }
        self._live_below = {number: self._count(number) for number in members}

    def _count(self, root: int) -> int:
        """Live groups at and below a node."""
        count, waiting = 0, [root]
        while waiting:
            node = waiting.pop()
            count += node in self._live
            waiting.extend(self.children[node])
        return count

    def holds_all(self, node: int, leaves: Iterable[str]) -> bool:
        """Return whether these group probes are all that is live at and below a node."""
        return len(self._of(leaves)) == self._live_below[node]

    def conditions_before(self, node: int, leaves: Iterable[str]) -> list[int] | None:
        """The conditions of a block that run before these group probes, which are the rest of it.

        None if more than conditions is missing from them.
        """
        nodes = self._of(leaves)
        found = [
            child
            for child in self.children[node]
            if child in self._live and child not in nodes and self._nodes[child].kind == "with"
        ]
        return found if len(nodes) + len(found) == self._live_below[node] else None

    def _of(self, leaves: Iterable[str]) -> set[int]:
        """The live nodes that some group probes are of."""
        return {n for leaf in leaves for n in self._probed.get(leaf, ())} & self._live

    def compiled_block(self, compiled: CompiledRecord) -> int | None:
        """The node that a compilation group implements, None if all of it is compiler-made."""
        block = self.block_of(compiled.leaves, compiled.kind)
        around = [] if block is None else self.chain(block)
        counting = [
            r.node for r in self._repeats if not set(compiled.children).isdisjoint(r.groups)
        ]
        # A group that counts for a repeat, which no leaf tells, implements no less than that.
        return max((n for n in around if n in counting), key=around.index, default=block)

    def block_of(self, leaves: Iterable[str], operator: str) -> int | None:
        """The node that a block with these group probes and this operator implements.

        None if nothing of the original program is in it, or all of it is compiler-made.
        """
        nodes: list[int] = []
        shared: list[list[int]] = []
        for leaf in leaves:
            stands_for = self._probed.get(leaf, ())
            if len(stands_for) == 1 and stands_for[0] in self.parent:
                nodes.append(stands_for[0])
            else:
                shared.append(self.sites(stands_for))
        lowest = self.common_ancestor(nodes or [site for sites in shared for site in sites])
        if lowest is None:
            return None
        # Of a group that is in several places, one at least is inside: the nearest.
        for sites in shared if nodes else ():
            with_site = [self.common_ancestor((lowest, site)) for site in sites]
            reached = [node for node in with_site if node is not None]
            lowest = max(reached, key=lambda node: len(self.chain(node)), default=lowest)
        candidates = [lowest]
        for above in self.chain(lowest)[1:]:
            if self._live_below[above] > max(self._live_below[lowest], 1):
                break
            candidates.append(above)
        blocks = [node for node in candidates if node in self.blocks]
        same = [node for node in blocks if self._operator(node) == operator]
        split = operator == "seq" and lowest not in blocks and len(nodes) == 1
        if same:
            return same[-1]
        if blocks and not split:
            return blocks[-1]
        # The halves of one group, run in sequence: no block of the program but the one around.
        return next((node for node in self.chain(lowest) if node in self.blocks), None)

    def sites(self, nodes: Iterable[int]) -> list[int]:
        """The places in this component that a group's nodes implement."""
        sites = [s for node in nodes for s in (self._nodes[node].sites or (node,))]
        return [site for site in sites if site in self.parent]

    def _operator(self, node: int) -> str:
        return self._nodes[node].kind.removeprefix("static ")
