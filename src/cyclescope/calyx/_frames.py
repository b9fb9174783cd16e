"""The frames of a program: its cells, control blocks, groups and primitives, with good names."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from cyclescope.calyx._blocks import ControlTree
from cyclescope.model import CONTROL, WORK, Frame, Kind, Position

if TYPE_CHECKING:
    from cyclescope.calyx._compile import Program
    from cyclescope.calyx._record import CellRecord, ComponentRecord, GroupRecord

__all__ = ["ComponentFrames"]

# Statements that stand for the combinational group of an `if`, a `while` or an `invoke`.
_CONDITIONS = frozenset({"with", "shared"})


class ComponentFrames:
    """Frames of one component. The same question gives the same frame."""

    def __init__(self, program: Program, name: str, component: ComponentRecord) -> None:
        self.name = name
        self.component = component
        self.tree = ControlTree(program.record, name, component)
        self._program = program
        self._nodes = program.record.nodes
        self._cells = {cell.name: cell for cell in component.cells}
        self._groups = {n: (file, offset) for n, file, offset in component.group_positions}
        self._latency = self._latencies()
        self._split = self._taken_apart()
        # Inlining repeats statements; what counts is in how many places of the text a name is.
        places = {(self._plain_name(node), *self._place(node)) for node in self.tree.parent}
        self._uses = Counter(name for name, _, _ in places)
        self._lines = Counter((name, self._line_at(file, offset)) for name, file, offset in places)
        self.node = cache(self._node)

    def cell(self, name: str, *, kind: Kind = Kind.CELL, group: GroupRecord | None = None) -> Frame:
        """A cell or primitive that a group of this component calls."""
        component, known = self.name, self._cells.get(name)
        if known is None and group is not None:
            component, known = self._inlined(name, group)
        called = self._program.record.components.get(known.type) if known else None
        return Frame(
            kind=kind,
            name=known.name if known else name,
            component=component,
            detail=known.type if known else "",
            latency=_in_reach(called.latency) if called is not None else None,
            generated=known is None,
            **(CONTROL if kind is Kind.CELL else WORK),
        )

    def _taken_apart(self) -> frozenset[int]:
        """The enables that are several groups now, with state updates between these.

        In a block of fixed length the parts follow each other at once: together they are as long
        as the whole.
        """
        parts: dict[int, set[str]] = {}
        for group in self.component.groups:
            for node in group.nodes:
                parts.setdefault(node, set()).add(group.probe)
        wholes = [frozenset(block.leaves) for block in self.component.statics]
        return frozenset(
            node
            for node, probes in parts.items()
            if len(probes) > 1 and not any(probes <= whole for whole in wholes)
        )

    def _inlined(self, name: str, group: GroupRecord) -> tuple[str, CellRecord | None]:
        """A cell that came here with an inlined component, under a name with digits appended."""
        for node in group.nodes:
            origin = self._nodes[node].origin
            while origin is not None and self._nodes[origin].origin is not None:
                origin = self._nodes[origin].origin
            if origin is not None:
                home = self._nodes[origin].component
                cells = {c.name: c for c in self._program.record.components[home].cells}
                found = cells.get(name) or cells.get(name.rstrip("0123456789"))
                return home, found
        return self.name, None

    def declared(self, name: str) -> CellRecord | None:
        """A cell as the program declares it, None if a pass made it."""
        return self._cells.get(name)

    def is_static(self, name: str) -> bool:
        """Return whether a cell's component was written with a fixed length."""
        known = self._cells.get(name)
        component = self._program.record.components.get(known.type) if known else None
        return component is not None and component.latency is not None

    def inner_group(self, group: GroupRecord) -> Frame:
        """A group that other groups call: no statement of the control program names it."""
        place = self._groups.get(group.name)
        positions = self._program.positions(*place) if place else ()
        generated = place is None
        return Frame(Kind.GROUP, group.name, self.name, "", positions, generated=generated, **WORK)

    @property
    def only_continuous(self) -> bool:
        """Return whether all its work is in continuous assignments: it has no control program."""
        return self.component.assigns and not self.tree.parent

    def _node(self, node: int) -> Frame:
        """The frame of a statement: a control block, or the group that an enable runs."""
        entry = self._nodes[node]
        block = node in self.tree.blocks
        name = self._plain_name(node)
        line = self._line(node)
        # An enable needs its line only where the group is enabled more than once.
        if block or self._uses[name] > 1:
            name = f"{name} L{line}" if line else name
            if self._lines[self._plain_name(node), line] > 1:
                name = f"{name}:{self._at(*self._place(node)).column}"
        return Frame(
            kind=Kind.CONTROL if block else Kind.GROUP,
            name=name,
            component=self.name,
            detail=entry.kind if block else "comb group" if entry.kind in _CONDITIONS else "",
            positions=self._positions(node),
            # What the text declares goes before what is told from the compiler's own blocks.
            latency=_in_reach(self._latency.get(node) if entry.latency is None else entry.latency),
            definition=self._definition(node, name),
            split=not block and node in self._split,
            **(CONTROL if block else WORK),
        )

    def _definition(self, node: int, name: str) -> str:
        """The group that an enable runs, the component that an invoke calls."""
        entry = self._nodes[node]
        if entry.kind in ("invoke", "static invoke"):
            called = self._cells.get(entry.cell or "")
            return called.type if called else ""
        return entry.group if entry.group is not None and entry.group != name else ""

    def _plain_name(self, node: int) -> str:
        entry = self._nodes[node]
        if entry.kind in ("invoke", "static invoke"):
            return f"invoke {entry.cell}"
        return entry.group if entry.group is not None else entry.kind

    def _positions(self, node: int) -> tuple[Position, ...]:
        own = self._program.positions(*self._place(node))
        group = self._groups.get(self._nodes[node].group or "")
        if group and len(own) < 2:
            # The statement has no position of its generator's, but perhaps its group has.
            own = (*own, *self._program.positions(*group)[1:])
        return own

    def _place(self, node: int) -> tuple[str, int]:
        """File and offset of a statement; of its first inner one where braces alone make a seq."""
        entry = self._nodes[node]
        while not entry.file and (inner := self.tree.children[node]):
            node = inner[0]
            entry = self._nodes[node]
        return entry.file, entry.offset

    def _line(self, node: int) -> int:
        return self._line_at(*self._place(node))

    def _line_at(self, file: str, offset: int) -> int:
        return self._at(file, offset).line

    def _at(self, file: str, offset: int) -> Position:
        positions = self._program.positions(file, offset)
        return positions[0] if positions else Position("calyx", "", 0)

    def _latencies(self) -> dict[int, int]:
        """Fixed cycles of statements, where the compiler fixed them.

        A `while` has none: what the compiler fixed is one of its rounds.
        """
        found: dict[int, list[int]] = {}
        by_probe = {group.probe: group.nodes for group in self.component.groups}
        for block in self.component.statics:
            if block.kind == "enable":
                # One group, or the merged halves of one.
                nodes = {by_probe.get(leaf, ()) for leaf in block.leaves}
                if len(nodes) == 1 and len(only := nodes.pop()) == 1:
                    found.setdefault(only[0], []).append(block.latency)
        groups = {node: cycles[0] for node, cycles in found.items() if len(cycles) == 1}
        for block in self.component.statics:
            node = self.tree.block_of(block.leaves, block.kind) if block.kind != "enable" else None
            if node is None or self._nodes[node].kind == "while":
                continue
            # A block of which only a part was promoted has no fixed length; but the condition of an
            # `if` may be a step of its own before it.
            before = self.tree.conditions_before(node, block.leaves)
            if before is not None and (not before or block.kind == "if"):
                lengths = [groups.get(condition) for condition in before]
                if None not in lengths:
                    cycles = block.latency + sum(length or 0 for length in lengths)
                    found.setdefault(node, []).append(cycles)
        # A statement that became several pieces has no single length.
        return {node: cycles[0] for node, cycles in found.items() if len(cycles) == 1}


def _in_reach(cycles: int | None) -> int | None:
    """A fixed length; None if it is longer than any count of cycles can say."""
    return cycles if cycles is not None and cycles < 1 << 63 else None
