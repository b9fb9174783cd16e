"""Probes on the blocks that a compiler promotes or compiles, and on the groups that count repeats.

As the built-in compiler's passes (`rust/src/blocks.rs`, `rust/src/repeat.rs`): a block is described
by the probes inside it, which survive where most ids of blocks do not.
"""

from __future__ import annotations

import re
from typing import Any

from cyclescope.calyx._own._notes import PROBE, Component, Design, Notes, id_of
from cyclescope.calyx._own._probe import probe_continuous
from cyclescope.calyx._syntax import Assignment, GroupText, Statement
from cyclescope.errors import SourceError

__all__ = ["note_blocks", "note_repeats", "probe_blocks", "probe_repeats", "probe_static"]

_FINAL = re.compile(r"\S+ == \d+'d(\d+)")


class _Leaves:
    """The probes that each group of a component writes, through the groups that it starts."""

    def __init__(self, component: Component) -> None:
        own = {
            group.name: _written(component, group.assignments)
            for group in component.groups("dynamic", "static")
        }
        self._closed: dict[str, set[str]] = {}
        for name in own:
            seen, waiting = {name}, [name]
            leaves: set[str] = set()
            while waiting:
                probes, starts = own.get(waiting.pop(), (set(), []))
                leaves |= probes
                new = [start for start in starts if start not in seen]
                seen.update(new)
                waiting += new
            self._closed[name] = leaves

    def of(self, group: str) -> set[str]:
        return self._closed.get(group, set())

    def forget(self, group: str) -> None:
        self._closed.pop(group, None)

    def inside(self, statement: Statement) -> set[str]:
        """The probes of all groups that a statement runs."""
        found: set[str] = set()
        waiting = [statement]
        while waiting:
            here = waiting.pop()
            if here.kind == "enable":
                found |= self.of(here.name)
            waiting += here.body + (here.otherwise or [])
        return found


def _written(component: Component, assignments: list[Assignment]) -> tuple[set[str], list[str]]:
    """Probes written and groups started."""
    probes: set[str] = set()
    starts: list[str] = []
    for assignment in assignments:
        cell, dot, _ = assignment.dst.partition(".")
        if dot and cell in component.cells and component.cells[cell].type == PROBE:
            probes.add(cell)
        elif assignment.dst.endswith("[go]"):
            starts.append(assignment.dst[: -len("[go]")])
    return probes, starts


def _active(notes: Notes, component: str, leaves: set[str]) -> list[str]:
    """The "group active" probes among these, in order."""
    return sorted(leaf for leaf in leaves if (component, leaf) in notes.probe_nodes)


def probe_static(notes: Notes, design: Design) -> None:
    """Before static-inline: every static block runs beside a probe of the same length."""
    for component in design.components:
        if component.text.control and component.control is not None:
            leaves = _Leaves(component)
            found: list[dict[str, Any]] = []
            control = _wrap(component, leaves, component.control, found)
            component.text.control = [control]
            for entry in found:
                entry["leaves"] = _active(notes, component.name, entry["leaves"])
            notes.component(component.name)["statics"].extend(found)


def _wrap(
    component: Component, leaves: _Leaves, statement: Statement, found: list[dict[str, Any]]
) -> Statement:
    inside = leaves.inside(statement)
    latency = component.latency(statement)
    if statement.kind == "enable":
        if latency is not None:
            entry = {"kind": "enable", "probe": "", "latency": latency, "leaves": inside}
            found.append(entry)
        return statement
    statement.body = [_wrap(component, leaves, s, found) for s in statement.body]
    if statement.otherwise is not None:
        statement.otherwise = [_wrap(component, leaves, s, found) for s in statement.otherwise]
    if not statement.static or not latency or statement.kind not in ("seq", "par", "if", "repeat"):
        return statement
    probe, assignment = component.probe(None)
    name = component.free_name("cyclescope_static")
    component.add(GroupText(name, {}, False, latency, [assignment]))
    found.append({"kind": statement.kind, "probe": probe, "latency": latency, "leaves": inside})
    beside = Statement("enable", name=name)
    return Statement("par", static=True, latency=latency, body=[statement, beside])


def note_repeats(notes: Notes, design: Design) -> None:
    """Before compile-repeat: list the repeats that will become loops, inner ones first."""
    for component in design.components:
        nodes: list[int | None] = []
        if component.control is not None:
            _repeats(component.control, nodes)
        groups = {g.name for g in component.groups("dynamic")}
        notes.repeats[component.name] = (nodes, groups)


def _repeats(statement: Statement, nodes: list[int | None]) -> None:
    if statement.static:
        return
    for child in statement.body + (statement.otherwise or []):
        _repeats(child, nodes)
    # None or one iteration needs no counter.
    if statement.kind == "repeat" and statement.count > 1:
        nodes.append(id_of(statement))


def probe_repeats(notes: Notes, design: Design) -> None:
    """After compile-repeat: probe the groups that it made."""
    for component in design.components:
        nodes, before = notes.repeats.pop(component.name, ([], set()))
        made = [g for g in component.groups("dynamic") if g.name not in before]
        _same_number(component, "compile-repeat", len(made), 2 * len(nodes))
        for number, node in enumerate(nodes):
            if node is None:
                continue
            counting = made[2 * number : 2 * number + 2]
            probe = component.new_probe()
            for group in counting:
                group.assignments.append(Assignment(f"{probe}.in", None, "1'd1"))
            entry = {"node": node, "probe": probe, "groups": [g.name for g in counting]}
            notes.component(component.name)["repeats"].append(entry)


def _same_number(component: Component, name: str, made: int, expected: int) -> None:
    if made != expected:
        raise SourceError(
            f"component {component.name}: this compiler's pass {name} made {made} groups where"
            f" release 0.7.1 and main of June 2026 make {expected}; its control cannot be followed:"
            " use one of those, or leave out --compiler"
        )


def note_blocks(notes: Notes, design: Design) -> None:
    """Before tdcc: list the groups that it will make, in the order in which it makes them."""
    for component in design.components:
        expected: list[tuple[str, set[str]]] = []
        control = component.control
        if control is not None and control.kind not in ("enable", "empty"):
            leaves = _Leaves(component)
            single = _upcoming(control, leaves, expected)
            # Where the root became a single group, tdcc wraps it in one more.
            expected.append(("root" if single else _operator(control), leaves.inside(control)))
        groups = {g.name for g in component.groups("dynamic")}
        notes.expected[component.name] = (expected, groups)


def _operator(statement: Statement) -> str:
    if statement.static:
        return "static"
    return "enable" if statement.kind == "invoke" else statement.kind


def _upcoming(statement: Statement, leaves: _Leaves, expected: list[tuple[str, set[str]]]) -> bool:
    """Append the groups made for what is in a statement; true if it becomes one group itself."""
    if statement.kind == "enable":
        return True
    children = statement.body + (statement.otherwise or [])
    if statement.kind == "par":
        single = [_upcoming(arm, leaves, expected) for arm in children]
        expected.append(("par", leaves.inside(statement)))
        expected += [
            (_operator(arm), leaves.inside(arm))
            for arm, one in zip(children, single, strict=True)
            if not one
        ]
        return True
    if statement.kind not in ("seq", "if", "while"):
        return False
    for child in children:
        _upcoming(child, leaves, expected)
    own_fsm = "new_fsm" in statement.attributes
    if own_fsm:
        expected.append((_operator(statement), leaves.inside(statement)))
    return own_fsm


def probe_blocks(notes: Notes, design: Design) -> None:
    """After tdcc: probe the groups that it made, and list their registers."""
    for component in design.components:
        _probe_compiled(notes, component)
        probe_continuous(notes, component)


def _probe_compiled(notes: Notes, component: Component) -> None:
    expected, before = notes.expected.pop(component.name, ([], set()))
    made = [g for g in component.groups("dynamic") if g.name not in before]
    _same_number(component, "tdcc", len(made), len(expected))
    leaves = _Leaves(component)
    # A compiled group answers for its own children: look no further down than them.
    for group in made:
        leaves.forget(group.name)
    for group, (kind, inside) in zip(made, expected, strict=True):
        registers = _registers(component, group, of_par=kind == "par")
        final = _final_state(group)
        children = _written(component, group.assignments)[1]
        calls_shared = _calls_shared(notes, component, group, leaves)
        probe, assignment = component.probe(None)
        group.assignments.append(assignment)
        notes.component(component.name)["compiled"].append({
            "name": group.name,
            "kind": kind,
            "probe": probe,
            "leaves": _active(notes, component.name, inside),
            "registers": registers,
            "final_state": final,
            "children": children,
            "calls_shared": calls_shared,
        })  # fmt: skip


def _registers(component: Component, group: GroupText, *, of_par: bool) -> list[dict[str, Any]]:
    """The registers that hold a compiled group's state."""
    found: dict[str, dict[str, Any]] = {}
    for assignment in group.assignments:
        cell, _, port = assignment.dst.partition(".")
        known = component.cells.get(cell)
        if port == "in" and known is not None and known.type == "std_reg":
            kind = "par done" if of_par else "fsm"
            found.setdefault(cell, {"name": cell, "kind": kind, "width": int(known.args[0])})
    return list(found.values())


def _final_state(group: GroupText) -> int | None:
    """The FSM state in which a compiled group is done; a par's group has none."""
    for assignment in group.assignments:
        if assignment.dst == f"{group.name}[done]":
            match = _FINAL.fullmatch(assignment.guard or "")
            return int(match[1]) if match else None
    return None


def _calls_shared(
    notes: Notes, component: Component, caller: GroupText, leaves: _Leaves
) -> list[tuple[str, str]]:
    """A group that stands for several nodes: probe who calls it, to tell them apart."""

    def ambiguous(leaf: str) -> bool:
        nodes = notes.probe_nodes.get((component.name, leaf), [])
        return len(nodes) > 1 or any(notes.nodes[n]["kind"] == "shared" for n in nodes)

    found = []
    for start in [a for a in caller.assignments if a.dst.endswith("[go]")]:
        for leaf in sorted(filter(ambiguous, leaves.of(start.dst[: -len("[go]")]))):
            probe, assignment = component.probe(start.guard)
            caller.assignments.append(assignment)
            found.append((leaf, probe))
    return found
