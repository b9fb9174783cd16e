"""The activity of one component in one cycle, from the values of its probes (Petal, section 5.2).

The groups come straight from their probes. The control blocks that are active are

- those around an active group or under a promoted block that is active;
- those that an active compiler-made group runs;
- a repeat while its counter is set up or moves on;
- in a cycle in which such a group only updates its state: the block around what that state
  runs. Which state runs what is learned from the trace: the groups ever seen active in it. If
  that is all of a promoted block, the step is of the block around that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.calltree._component import Call, Compiled, Component, Group
    from cyclescope.calltree._recording import Vectors

__all__ = ["Activity", "Decoder", "GroupActivity", "Seen"]

Seen = Mapping[tuple[str, int], set[int]]
"""(compiler-made group, its state) → the statements that were seen to run in it."""


@dataclass(frozen=True, slots=True)
class GroupActivity:
    """An active group: where the control program runs it, and what it calls.

    `node` is None for a group that another group calls, or that nobody is known to call.
    `lingering` are its calls of components whose start is not high now: it lasts one cycle, the
    component as long as it takes.
    """

    group: Group
    node: int | None
    calls: tuple[Call, ...]
    lingering: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Activity:
    """The active parts of a component: control blocks, groups, continuous calls."""

    blocks: frozenset[int]
    groups: tuple[GroupActivity, ...]
    continuous: tuple[Call, ...]


class Decoder:
    """Decodes the vectors of one component's signals.

    Args:
        component: whose signals they are.
        vectors: their values.
    """

    def __init__(self, component: Component, vectors: Vectors) -> None:
        self._component, self._nesting = component, component.nesting
        self._values = vectors
        self._by_name = {compiled.name: compiled for compiled in component.compiled}
        self._probed = [(p.signal, p.block) for p in component.promoted]
        self._probed += [(r.signal, r.block) for r in component.repeats]
        self._by_signal = {group.signal: group for group in component.groups}
        self._state_block = self._learn(max(map(len, vectors.values()), default=0))

    def activity(self, vector: int) -> Activity:
        """Return the active parts when the signals have their `vector`-th distinct value."""
        component, nesting = self._component, self._nesting
        live = [g for g in component.groups if self._high(g.signal, vector)]
        called = {
            call.actual for g in live for call in g.calls if call.kind == "group"
            and self._calls(call, vector)
        }  # fmt: skip
        groups = tuple(
            GroupActivity(
                group=g,
                node=node,
                calls=tuple(c for c in g.calls if self._calls(c, vector)),
                lingering=tuple(c for c in g.calls if c.lingers and not self._calls(c, vector)),
            )
            for g in live
            for node in ([None] if g.name in called else self._nodes_now(g, vector))
        )
        blocks: set[int] = set()
        for group in groups:
            if group.node is not None:
                blocks.update(nesting.chain(group.node)[1:])
        for signal, block in self._probed:
            if self._high(signal, vector):
                blocks.update(nesting.chain(block))
        for compiled in component.compiled:
            if self._high(compiled.signal, vector):
                inner = self._block_in(compiled, vector)
                if inner is not None:
                    blocks.update(nesting.chain(inner))
        continuous = tuple(c for c in component.continuous if self._calls(c, vector))
        return Activity(frozenset(blocks), groups, continuous)

    def _high(self, signal: str, vector: int) -> bool:
        return signal in self._values and self._values[signal][vector] > 0

    def _calls(self, call: Call, vector: int) -> bool:
        return all(self._high(signal, vector) for signal in call.when)

    def _nodes_now(self, group: Group, vector: int) -> tuple[int | None, ...]:
        """The statements that an active group implements now: several threads may run it."""
        if len(group.places) < 2:
            return group.places or (None,)
        callers = [
            compiled
            for compiled in self._component.compiled
            for leaf, signal in compiled.sites
            if leaf == group.signal and self._high(signal, vector)
        ]
        found: list[int] = []
        for caller in callers:
            inside = [place for place in group.places if self._owner(place) is caller]
            if inside and inside[0] not in found:
                found.append(inside[0])
        return tuple(found) or group.places[:1]

    def _owner(self, node: int) -> Compiled | None:
        """The compiler-made group that runs a statement: that of the nearest compiled block."""
        for above in self._nesting.chain(node):
            for compiled in self._component.compiled:
                if compiled.block == above:
                    return compiled
        return None

    def _runs(self, compiled: Compiled, vector: int) -> list[tuple[int, int | None]]:
        """(statement, block) of what is active directly under a compiler-made group.

        The block is the one whose control runs the statement: the one around it, or a repeat that
        counts.
        """
        inner = [
            self._by_name[name]
            for name in compiled.inner
            if name in self._by_name and self._high(self._by_name[name].signal, vector)
        ]
        covered = {leaf for other in inner for leaf in other.leaves}
        found = [c.block for c in inner if c.block is not None]
        for leaf in compiled.leaves:
            if leaf in self._by_signal and leaf not in covered and self._high(leaf, vector):
                found += self._by_signal[leaf].places[:1]
        own = set(compiled.leaves)
        # Of a block that was promoted in part, the statements in that part tell more.
        found += [
            promoted.block
            for promoted in self._component.promoted
            if promoted.whole and promoted.leaves <= own and self._high(promoted.signal, vector)
        ]
        started = set(compiled.inner)
        counting = [
            (repeat.block, repeat.block)
            for repeat in self._component.repeats
            if not started.isdisjoint(repeat.inner) and self._high(repeat.signal, vector)
        ]
        return [*((node, self._nesting.around(node)) for node in found), *counting]

    def _state(self, compiled: Compiled, vector: int) -> int | None:
        register = compiled.state
        value = -1 if register is None else int(self._values[register][vector])
        return None if value < 0 else value

    def _learn(self, count: int) -> dict[tuple[str, int], int]:
        """(compiler-made group, state) → innermost block around what that state runs."""
        seen: dict[tuple[str, int], set[int]] = {}
        around: dict[tuple[str, int], set[int]] = {}
        for compiled in self._component.compiled:
            for vector in range(count):
                state = self._state(compiled, vector)
                if state is not None and self._high(compiled.signal, vector):
                    key, runs = (compiled.name, state), self._runs(compiled, vector)
                    seen.setdefault(key, set()).update(node for node, _ in runs)
                    around.setdefault(key, set()).update(b for _, b in runs if b is not None)
        blocks = {
            key: self._nesting.common_ancestor(sorted(nodes)) for key, nodes in around.items()
        }
        if self._component.steps is not None:
            for (name, state), nodes in seen.items():
                step = self._component.steps(seen, self._by_name[name], state) if nodes else None
                if step is not None:
                    blocks[name, state] = self._nesting.around(step)
        return {key: block for key, block in blocks.items() if block is not None}

    def _block_in(self, compiled: Compiled, vector: int) -> int | None:
        """The innermost block that an active compiler-made group shows to be active."""
        own = compiled.block
        if self._runs(compiled, vector):
            return own
        state = self._state(compiled, vector)
        if state is None:
            return own
        block = self._state_block.get((compiled.name, state))
        inside = block is not None and (own is None or own in self._nesting.chain(block))
        return block if inside else own
