"""Ids through the passes that lose them: group splitting and component inlining (on text).

As the built-in compiler's passes (`rust/src/inline.rs`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.calyx._own._notes import ID, Design, Notes, Shape, id_of
from cyclescope.calyx._syntax import walk

if TYPE_CHECKING:
    from cyclescope.calyx._syntax import Statement

__all__ = ["note_invokes", "tag_inlined", "tag_split_groups"]


def tag_split_groups(notes: Notes, design: Design) -> None:
    """After group2seq: give each half of a split group the id of the whole."""
    for component in design.components:
        for statement in walk(component.text.control or []):
            if statement.kind == "enable" and id_of(statement) is None:
                found = notes.nodes_of_group(component.name, statement.name)
                if len(found) == 1:
                    statement.attributes[ID] = found[0]


def note_invokes(notes: Notes, design: Design) -> None:
    """Before inline: remember each component's control program."""
    for component in design.components:
        if component.control is not None:
            notes.before_inline[component.name] = _shape(component.control)


def tag_inlined(notes: Notes, design: Design) -> None:
    """After inline: what came from another component gets nodes of its own below the invoke."""
    # Callees first, so that what they inlined is copied along.
    for component in design.callees_first():
        before = notes.before_inline.pop(component.name, None)
        if before is not None and component.control is not None:
            _compare(notes, before, component.control)


def _children(statement: Statement) -> list[Statement]:
    if statement.static:
        return []
    return statement.body + (statement.otherwise or [])


def _shape(statement: Statement) -> Shape:
    if statement.kind == "invoke" and not statement.static:
        return Shape(id_of(statement), [])
    return Shape(None, [_shape(child) for child in _children(statement)])


def _compare(notes: Notes, before: Shape, after: Statement) -> None:
    if before.invoke is not None:
        if after.kind != "invoke" or id_of(after) != before.invoke:
            _graft(notes, before.invoke, after)
        return
    for shape, child in zip(before.children, _children(after), strict=False):
        _compare(notes, shape, child)


def _graft(notes: Notes, invoke: int, control: Statement) -> None:
    """Copy the callee's nodes below `invoke` and re-tag the inlined control with them."""
    host, cell = notes.nodes[invoke]["component"], notes.nodes[invoke]["cell"]
    cells = notes.component(host)["cells"]
    callee = next((c["type"] for c in cells if c["name"] == cell), None)
    if callee is None:
        return
    originals = [n for n, node in enumerate(notes.nodes) if node["component"] == callee]
    copy_of = {node: len(notes.nodes) + i for i, node in enumerate(originals)}
    for number in originals:
        original = notes.nodes[number]
        parent = original["parent"]
        notes.nodes.append({
            **original,
            "component": host,
            "parent": invoke if parent is None else copy_of.get(parent),
            "origin": number,
            "sites": [copy_of[s] for s in original["sites"] if s in copy_of],
        })  # fmt: skip
    for statement in walk([control]):
        node = id_of(statement)
        if node in copy_of:
            statement.attributes[ID] = copy_of[node]
