"""What one component does in one cycle, from the values of its probes (Petal, section 5.2).

The groups come straight from their probes. The control blocks that are active are

- those around an active group or under a promoted block that is active;
- those that an active compilation group implements;
- a repeat while its counter is set up or moves on;
- in a cycle in which such a group only updates its state: the block around what that state
  runs. Which state runs what is learned from the trace: the groups ever seen active in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cyclescope.calyx._frames import ComponentFrames
    from cyclescope.calyx._record import Call, Compiled, Group

__all__ = ["Activity", "ComponentProbes", "GroupActivity"]


@dataclass(frozen=True, slots=True)
class GroupActivity:
    """An active group: where the control program runs it, and what it calls.

    `node` is None for a group that another group calls, or that nobody is known to call.
    `lingering` are its calls of static components whose start is not high now: it lasts one
    cycle, the component as long as it takes.
    """

    group: Group
    node: int | None
    calls: tuple[Call, ...]
    lingering: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Activity:
    """What is active in a component: control blocks (nodes), groups, continuously run cells."""

    blocks: frozenset[int]
    groups: tuple[GroupActivity, ...]
    continuous: tuple[str, ...]


class ComponentProbes:
    """Decodes the vectors of one component's probes.

    Args:
        frames: the component.
        values: signal → its value in each distinct vector.
        count: how many vectors there are.
    """

    def __init__(
        self, frames: ComponentFrames, values: Mapping[str, Sequence[int]], count: int
    ) -> None:
        component = frames.component
        self._tree = frames.tree
        self._values = values
        self._groups = [g for g in component.groups if g.probe in component.live]
        self._nodes_of = {g.probe: g.nodes for g in self._groups}
        self._compiled = [c for c in component.compiled if c.probe in component.live]
        self._by_name = {c.name: c for c in self._compiled}
        self._block = {c.name: self._tree.compiled_block(c) for c in self._compiled}
        self._statics = [
            (s.probe, self._tree.block_of(s.leaves, s.kind), frozenset(s.leaves))
            for s in component.statics
            if s.probe in component.live
        ]
        self._whole = [
            (probe, block, leaves)
            for probe, block, leaves in self._statics
            if block is not None and self._tree.holds_all(block, leaves)
        ]
        self._repeats = [r for r in component.repeats if r.probe in component.live]
        # Compiled, the groups of a component of fixed length are continuous assignments, too.
        called = {call.actual for g in component.groups for call in g.calls}
        self._continuous = [
            (cell, probe)
            for cell, probe in component.continuous
            if probe in component.live and cell not in called
        ]
        self._is_static = frames.is_static
        self._state_block = self._learn(count)

    def activity(self, vector: int) -> Activity:
        """What is active when the probes have their `vector`-th distinct value."""
        live = [g for g in self._groups if self._high(g.probe, vector)]
        called = {
            call.actual for g in live for call in g.calls if call.kind == "group"
            and self._calls(call, vector)
        }  # fmt: skip
        groups = tuple(
            GroupActivity(
                group=g,
                node=node,
                calls=tuple(c for c in g.calls if self._calls(c, vector)),
                lingering=tuple(c for c in g.calls if self._lingers(c, vector)),
            )
            for g in live
            for node in ([None] if g.name in called else self._nodes_now(g, vector))
        )
        blocks: set[int] = set()
        for group in groups:
            if group.node is not None:
                blocks.update(self._tree.chain(group.node)[1:])
        for probe, block, _ in self._statics:
            if block is not None and self._high(probe, vector):
                blocks.update(self._tree.chain(block))
        for repeat in self._repeats:
            if self._high(repeat.probe, vector):
                blocks.update(self._tree.chain(repeat.node))
        for compiled in self._compiled:
            if self._high(compiled.probe, vector):
                block = self._block_in(compiled, vector)
                if block is not None:
                    blocks.update(self._tree.chain(block))
        continuous = tuple(cell for cell, probe in self._continuous if self._high(probe, vector))
        return Activity(frozenset(blocks), groups, continuous)

    def _high(self, probe: str, vector: int) -> bool:
        return bool(self._values[probe][vector])

    def _calls(self, call: Call, vector: int) -> bool:
        if call.probe is None:
            return True
        return call.probe in self._values and self._high(call.probe, vector)

    def _lingers(self, call: Call, vector: int) -> bool:
        return (
            call.kind == "cell" and self._is_static(call.actual) and not self._calls(call, vector)
        )

    def _nodes_now(self, group: Group, vector: int) -> list[int] | list[None]:
        """The statements for which an active group stands now: several threads may run it."""
        sites = self._tree.sites(group.nodes)
        if len(sites) < 2:
            return sites or [None]
        callers = [
            compiled
            for compiled in self._compiled
            for leaf, probe in compiled.calls_shared
            if leaf == group.probe and probe in self._values and self._high(probe, vector)
        ]
        found = []
        for caller in callers:
            inside = [s for s in sites if self._owner(s) is caller]
            if inside and inside[0] not in found:
                found.append(inside[0])
        return found or sites[:1]

    def _owner(self, node: int) -> Compiled | None:
        """The compilation group that runs a statement: that of the nearest compiled block."""
        for above in self._tree.chain(node):
            for compiled in self._compiled:
                if self._block[compiled.name] == above:
                    return compiled
        return None

    def _runs(self, compiled: Compiled, vector: int) -> list[int | None]:
        """The blocks around what is active now directly under a compilation group."""
        inner = [
            self._by_name[name]
            for name in compiled.children
            if name in self._by_name and self._high(self._by_name[name].probe, vector)
        ]
        covered = {leaf for child in inner for leaf in child.leaves}
        found = [self._around(b) for child in inner if (b := self._block[child.name]) is not None]
        for leaf in compiled.leaves:
            if leaf in self._nodes_of and leaf not in covered and self._high(leaf, vector):
                found += map(self._around, self._tree.sites(self._nodes_of[leaf])[:1])
        own = set(compiled.leaves)
        # Of a block that was promoted in part, the statements in that part tell more.
        for probe, block, leaves in self._whole:
            if leaves <= own and self._high(probe, vector):
                found.append(self._around(block))
        started = set(compiled.children)
        for repeat in self._repeats:
            if not started.isdisjoint(repeat.groups) and self._high(repeat.probe, vector):
                found.append(repeat.node)
        return found

    def _state(self, compiled: Compiled, vector: int) -> int | None:
        for register in compiled.registers:
            if register.kind == "fsm":
                return int(self._values[register.name][vector])
        return None

    def _learn(self, count: int) -> dict[tuple[str, int], int]:
        """(compilation group, state) → innermost block around what that state runs."""
        seen: dict[tuple[str, int], set[int]] = {}
        for compiled in self._compiled:
            for vector in range(count):
                state = self._state(compiled, vector)
                if state is not None and self._high(compiled.probe, vector):
                    nodes = [node for node in self._runs(compiled, vector) if node is not None]
                    seen.setdefault((compiled.name, state), set()).update(nodes)
        blocks = {key: self._tree.common_ancestor(sorted(nodes)) for key, nodes in seen.items()}
        return {key: block for key, block in blocks.items() if block is not None}

    def _around(self, node: int) -> int | None:
        """The block in which a statement stands."""
        above: Iterable[int] = self._tree.chain(node)[1:]
        return next((n for n in above if self._tree.is_block(n)), None)

    def _block_in(self, compiled: Compiled, vector: int) -> int | None:
        """The innermost block that an active compilation group shows to be active."""
        own = self._block[compiled.name]
        if self._runs(compiled, vector):
            return own
        state = self._state(compiled, vector)
        if state is None:
            return own
        block = self._state_block.get((compiled.name, state))
        inside = block is not None and (own is None or own in self._tree.chain(block))
        return block if inside else own
