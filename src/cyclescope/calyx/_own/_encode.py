"""*encode-control* on text: a group of its own for every enable, an id for every block.

As the built-in compiler's pass of that name (`rust/src/encode.rs`): a combinational group that
serves two arms of one `par` stays one, since there the compiler gives both one condition register.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cyclescope.calyx._own._notes import (
    ELSE,
    ID,
    PLACE,
    Component,
    Design,
    Notes,
    holes,
    retarget,
)
from cyclescope.calyx._syntax import Assignment, GroupText, Statement, walk

__all__ = ["encode"]

_Arms = tuple[tuple[int, int], ...]


def encode(notes: Notes, design: Design) -> None:
    """Encode every component of a program."""
    names = [
        group.name for c in design.components for group in c.groups("dynamic", "static", "comb")
    ]
    while any(notes.marker in name for name in names):
        notes.marker += "x"
    for component in design.components:
        _describe(notes, component)
        _Encoder(notes, component).run()


def _describe(notes: Notes, component: Component) -> None:
    """Write down a component's cells and groups as its author wrote them."""
    text, design = component.text, component.design
    entry = notes.component(component.name)
    entry["is_comb"] = text.comb
    entry["assigns"] = any(isinstance(wire, Assignment) for wire in text.wires)
    entry["latency"] = text.latency
    entry["file"], entry["offset"] = notes.declared.get(component.name, ("", 0))
    for cell in text.cells:
        inside = design.is_component(cell.type)
        params = [int(p) for p in cell.args if p.isdecimal()]
        entry["cells"].append({
            "name": cell.name,
            "type": cell.type,
            "kind": "component" if inside else "primitive",
            "params": [] if inside else params,
            "reference": cell.reference,
            "external": "external" in cell.attributes,
        })  # fmt: skip
    places = notes.group_places.get(component.name, {})
    for group in component.groups("dynamic", "static", "comb"):
        file, offset = places.get(group.name, ("", 0))
        entry["group_positions"].append((group.name, file, offset))


@dataclass
class _Uses:
    replaced: set[str] = field(default_factory=set)
    conditions: dict[str, list[tuple[int, _Arms]]] = field(default_factory=dict)
    by_invoke: set[str] = field(default_factory=set)


class _Encoder:
    def __init__(self, notes: Notes, component: Component) -> None:
        self._notes = notes
        self._component = component
        self._driven, self._keep = _structural(component)
        self._uses = _Uses()

    def run(self) -> None:
        component, uses = self._component, self._uses
        if component.control is not None:
            self._statement(component.control, None, (), static=False)
            originals = self._unique_conditions(component.control)
            gone = (uses.replaced - self._driven - self._keep) | originals
            wires = component.text.wires
            component.text.wires = [
                w for w in wires if not (isinstance(w, GroupText) and w.name in gone)
            ]

    def _node(
        self, kind: str, parent: int | None, statement: Statement, latency: int | None = None
    ) -> int:
        place = statement.attributes.get(PLACE)
        file, offset = self._notes.places[place] if isinstance(place, int) else ("", 0)
        node: dict[str, Any] = {"component": self._component.name, "parent": parent, "kind": kind}
        node |= {"file": file, "offset": offset, "group": None, "cell": None}
        node |= {"latency": latency, "origin": None, "sites": []}
        self._notes.nodes.append(node)
        return len(self._notes.nodes) - 1

    def _statement(
        self, statement: Statement, parent: int | None, arms: _Arms, *, static: bool
    ) -> None:
        kind = statement.kind
        if kind == "empty":
            return
        latency = self._component.latency(statement)
        fixed = latency is not None and (static or statement.static or kind == "enable")
        shown = f"static {kind}" if fixed and kind != "enable" else kind
        node = self._node(shown, parent, statement, latency)
        if kind in ("if", "while") and statement.with_group is not None:
            condition = self._node("with", node, statement)
            self._notes.nodes[condition]["group"] = statement.with_group
            sites = self._uses.conditions.setdefault(statement.with_group, [])
            sites.append((condition, arms))
        statement.attributes.pop(PLACE, None)
        statement.attributes[ID] = node
        if kind == "enable":
            self._enable(statement, node)
        elif kind == "invoke":
            self._notes.nodes[node]["cell"] = statement.name
            if statement.with_group is not None:
                self._uses.by_invoke.add(statement.with_group)
        if statement.otherwise and ELSE in statement.otherwise[0].attributes:
            statement.otherwise = statement.otherwise[0].body
        for number, child in enumerate(statement.body + (statement.otherwise or [])):
            inside = (*arms, (node, number)) if kind == "par" and not fixed else arms
            self._statement(child, node, inside, static=fixed)

    def _enable(self, statement: Statement, node: int) -> None:
        name = statement.name
        self._notes.nodes[node]["group"] = name
        group = self._component.group(name)
        if group is None or name in self._keep:
            self._notes.aliases.setdefault((self._component.name, name), []).append(node)
            return
        statement.name = self._copy(group, node)
        self._uses.replaced.add(name)

    def _copy(self, group: GroupText, node: int) -> str:
        name = f"{group.name}{self._notes.marker}{node}_"
        assignments = retarget(group.assignments, group.name, name)
        copy = GroupText(name, dict(group.attributes), group.comb, group.latency, assignments)
        self._component.add(copy)
        return name

    def _unique_conditions(self, control: Statement) -> set[str]:
        """Copy the combinational groups and use the copies; gives the originals' names."""
        copies: dict[int, str] = {}
        for_invokes: dict[str, str] = {}
        for name, sites in self._in_order():
            group = self._component.group(name)
            assert group is not None
            nodes = [node for node, _ in sites]
            if name in self._uses.by_invoke or _meet_in_par([arms for _, arms in sites]):
                shared = {**self._notes.nodes[nodes[0]], "kind": "shared", "parent": None}
                shared["sites"] = list(nodes)
                self._notes.nodes.append(shared)
                copy = self._copy(group, len(self._notes.nodes) - 1)
                copies |= dict.fromkeys(nodes, copy)
                if name in self._uses.by_invoke:
                    for_invokes[name] = copy
            else:
                copies |= {node: self._copy(group, node) for node in nodes}
        for statement in walk([control]):
            if statement.kind in ("if", "while") and statement.with_group is not None:
                node = statement.attributes[ID]
                assert isinstance(node, int)
                # The `with` node of a block is the node made right after it.
                statement.with_group = copies.get(node + 1, statement.with_group)
            elif statement.kind == "invoke" and statement.with_group is not None:
                statement.with_group = for_invokes.get(statement.with_group, statement.with_group)
        return set(self._uses.conditions)

    def _in_order(self) -> list[tuple[str, list[tuple[int, _Arms]]]]:
        """Conditions in the order of their declaration: the compiler numbers what it makes."""
        names = [group.name for group in self._component.groups("comb")]
        used = self._uses.conditions
        return [(name, used[name]) for name in names if name in used]


def _meet_in_par(sites: list[_Arms]) -> bool:
    """Whether two sites lie in different arms of one par."""
    arm_of: dict[int, int] = {}
    return any(arm_of.setdefault(par, arm) != arm for arms in sites for par, arm in arms)


def _structural(component: Component) -> tuple[set[str], set[str]]:
    """Groups that other groups start, and groups whose holes are read where nobody starts them."""
    driven: set[str] = set()
    keep: set[str] = set()
    bodies: list[tuple[str | None, list[Assignment]]] = [
        (group.name, group.assignments) for group in component.groups("dynamic", "static")
    ]
    bodies.append((None, component.continuous))
    for own, assignments in bodies:
        mentioned = list(holes(assignments))
        starts = {group for group, hole, written in mentioned if written and hole == "go"}
        for group, _, _ in mentioned:
            if group != own:
                (driven if group in starts else keep).add(group)
    return driven, keep
