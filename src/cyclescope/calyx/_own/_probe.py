"""*instrument* on text: probes for "group active" and "calls group, cell or primitive".

As the built-in compiler's pass (`rust/src/instrument.rs`). A probe is the input of a primitive that
has nothing else. A call that holds whenever its group is active needs none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclescope.calyx._own._notes import (
    Component,
    Design,
    Notes,
    both,
    either,
    id_of,
    is_constant,
    owner,
)
from cyclescope.calyx._syntax import Assignment, GroupText, Statement, walk

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["drop_unused", "instrument", "note_cells", "probe_continuous"]


def note_cells(notes: Notes, design: Design) -> None:
    """Before cell-share: which cell each assignment writes and each invoke runs."""
    for component in design.components:
        for group in component.groups("dynamic", "static", "comb"):
            cells = [owner(a.dst) for a in group.assignments]
            notes.written.setdefault((component.name, group.name), cells)
        for statement in walk(component.text.control or []):
            node = id_of(statement)
            if statement.kind == "invoke" and node is not None:
                notes.invoked.setdefault(node, []).append(statement.name)


def drop_unused(_notes: Notes, design: Design) -> None:
    """After group2invoke: remove combinational groups that no control uses.

    It makes one for each group that it could turn into an invoke, even if no control enables
    that one, and the next pass refuses what nobody uses.
    """
    for component in design.components:
        used = {s.with_group for s in walk(component.text.control or [])}
        component.text.wires = [
            w
            for w in component.text.wires
            if not (isinstance(w, GroupText) and w.comb and w.name not in used)
        ]


def instrument(notes: Notes, design: Design) -> None:
    """Add the probes of all components."""
    for component in design.components:
        _Prober(notes, component).run()


class _Prober:
    def __init__(self, notes: Notes, component: Component) -> None:
        self._notes = notes
        self._component = component
        self._groups: list[dict[str, Any]] = []

    def run(self) -> None:
        component = self._component
        enabled: dict[str, list[int]] = {}
        invokes = []
        for statement in walk(component.text.control or []):
            if statement.kind == "enable":
                node = id_of(statement)
                found = enabled.setdefault(statement.name, [])
                if node is not None and found[-1:] != [node]:
                    found.append(node)
            elif statement.kind == "invoke":
                invokes.append(statement)
        for group in self._reachable(enabled):
            nodes = enabled.get(group.name) or self._notes.nodes_of_group(
                component.name, group.name
            )
            added = self._probes(group.name, nodes, group.assignments, None)
            group.assignments.extend(added)
        for statement in invokes:
            self._invoke(statement)
        self._notes.component(component.name)["groups"].extend(self._groups)

    def _reachable(self, enabled: Iterable[str]) -> list[GroupText]:
        """The groups that can become active: the enabled and those that they start."""
        groups = {g.name: g for g in self._component.groups("dynamic", "static")}
        waiting = [*enabled, *_started(self._component.continuous)]
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += _started(groups[name].assignments) if name in groups else ()
        return [groups[name] for name in sorted(groups) if name in seen]

    def _invoke(self, statement: Statement) -> None:
        """A combinational group for an invoke: what it had, and its probes."""
        component, notes = self._component, self._notes
        given = component.group(statement.with_group) if statement.with_group else None
        assignments = list(given.assignments) if given else []
        node = id_of(statement)
        actual = statement.name
        known = component.cells.get(actual)
        inside = known is not None and component.design.is_component(known.type)
        before = notes.invoked.get(node) if node is not None else None
        call = {
            "kind": "cell" if inside else "primitive",
            "name": before.pop(0) if before else actual,
            "actual": actual,
            "probe": None,
        }
        base = given.name if given else "invoke"
        nodes = [node] if node is not None else []
        added = self._probes(base, nodes, assignments, call)
        self._groups[-1]["refs"] = [list(pair) for pair in statement.refs]
        name = component.free_name("invoke_probes")
        component.add(GroupText(name, {}, True, None, assignments + added))
        statement.with_group = name

    def _probes(
        self,
        name: str,
        nodes: list[int],
        assignments: list[Assignment],
        invoked: dict[str, Any] | None,
    ) -> list[Assignment]:
        """Probe assignments for a group with these assignments; writes its record."""
        active, assignment = self._component.probe(None)
        added = [assignment]
        calls = [invoked] if invoked else []
        for call, guard in self._calls(name, assignments):
            if guard is not None:
                call["probe"], assignment = self._component.probe(guard)
                added.append(assignment)
            calls.append(call)
        self._notes.probe_nodes[self._component.name, active] = list(nodes)
        entry = {"name": name, "nodes": list(nodes), "probe": active, "calls": calls, "refs": []}
        self._groups.append(entry)
        return added

    def _calls(
        self, group: str, assignments: list[Assignment]
    ) -> list[tuple[dict[str, Any], str | None]]:
        """What the assignments call, each with the condition under which they do."""
        found: dict[tuple[str, str], tuple[dict[str, Any], str | None]] = {}
        for index, assignment in enumerate(assignments):
            callee = self._callee(assignment.dst)
            if callee is None:
                continue
            kind, actual, starts = callee
            name = actual
            if kind != "group":
                name = self._notes.source_name(self._component.name, group, index, actual)
            guard = assignment.guard
            if starts:
                if is_constant(assignment.src, 0):
                    continue
                if not is_constant(assignment.src, 1):
                    guard = both(guard, assignment.src)
            if (kind, name) in found:
                call, known = found[kind, name]
                found[kind, name] = call, either(known, guard)
            else:
                call = {"kind": kind, "name": name, "actual": actual, "probe": None}
                found[kind, name] = call, guard
        return list(found.values())

    def _callee(self, dst: str) -> tuple[str, str, bool] | None:
        """Who is called by a write to this port, and whether the write is its start.

        Something combinational has no start: any of its inputs will do.
        """
        if dst.endswith("[go]"):
            return "group", dst[: -len("[go]")], True
        name, _, port = dst.partition(".")
        cell = self._component.cells.get(name)
        kind = self._component.design.signature(cell.type) if cell else None
        if not port or kind is None:
            return None
        ports = (*kind.inputs, *kind.outputs)
        has_start = any("go" in p.attributes for p in ports)
        starts = any(p.name == port and "go" in p.attributes for p in ports)
        if not self._component.design.is_component(kind.name):
            called = starts or (kind.comb and not has_start)
            return ("primitive", name, starts) if called else None
        # A combinational component computes like a primitive.
        if not has_start:
            return "primitive", name, False
        return ("cell", name, True) if starts else None


def _started(assignments: Iterable[Assignment]) -> list[str]:
    """The groups that these assignments start."""
    return [a.dst[: -len("[go]")] for a in assignments if a.dst.endswith("[go]")]


def probe_continuous(notes: Notes, component: Component) -> None:
    """Probe the cells that continuous assignments start."""
    for assignment in component.continuous:
        name, _, port = assignment.dst.partition(".")
        cell = component.cells.get(name)
        kind = component.design.signature(cell.type) if cell else None
        if kind is None or not component.design.is_component(kind.name):
            continue
        if any(p.name == port and "go" in p.attributes for p in kind.inputs):
            probe = component.new_probe()
            component.add(Assignment(f"{probe}.in", assignment.guard, assignment.src))
            notes.component(component.name)["continuous"].append((name, probe))
