"""What our passes learn about a program on its way through a compiler, and words for its parts.

The notes have the form of the record that the built-in compiler gives (see `_record`). The passes
work on the text that the compiler prints between its own passes, so everything about a
component is looked up by name there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cyclescope.calyx._syntax import (
    Assignment,
    CellText,
    ComponentText,
    Extern,
    GroupText,
    PrimitiveText,
    Statement,
    SyntaxFile,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "ELSE",
    "ID",
    "PLACE",
    "PROBE",
    "Component",
    "Design",
    "Notes",
    "Shape",
    "both",
    "either",
    "holes",
    "id_of",
    "inner",
    "is_constant",
    "owner",
    "retarget",
]

ID = "cyclescope_id"  # a statement's node
PLACE = "cyclescope_at"  # where a statement stands in the source
ELSE = "cyclescope_else"  # a seq around an else-branch that a compiler would not print
PROBE = "cyclescope_probe"

_HOLE = re.compile(r"([A-Za-z_][\w'-]*)\[(\w+)\]")
_SIZED = re.compile(r"(\d+)'([dbxo])([0-9A-Fa-f]+)")
_BASES = {"d": 10, "b": 2, "x": 16, "o": 8}


@dataclass(slots=True)
class Shape:
    """As much of a control program as is needed to find what inlining put into it."""

    invoke: int | None
    children: list[Shape]


@dataclass
class Notes:
    """Everything noted so far; `nodes` and `components` become the record."""

    places: list[tuple[str, int]]
    declared: dict[str, tuple[str, int]]
    group_places: dict[str, dict[str, tuple[str, int]]]
    marker: str = "__cs"
    nodes: list[dict[str, Any]] = field(default_factory=list)
    components: dict[str, dict[str, Any]] = field(default_factory=dict)
    aliases: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    written: dict[tuple[str, str], list[str | None]] = field(default_factory=dict)
    invoked: dict[int, list[str]] = field(default_factory=dict)
    probe_nodes: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    before_inline: dict[str, Shape] = field(default_factory=dict)
    repeats: dict[str, tuple[list[int | None], set[str]]] = field(default_factory=dict)
    expected: dict[str, tuple[list[tuple[str, set[str]]], set[str]]] = field(default_factory=dict)

    def component(self, name: str) -> dict[str, Any]:
        """The record of a component."""
        if name not in self.components:
            lists = ("cells", "group_positions", "groups", "statics", "repeats", "compiled")
            record: dict[str, Any] = {key: [] for key in (*lists, "continuous", "live", "kept")}
            record |= {"is_comb": False, "assigns": False, "file": "", "offset": 0, "latency": None}
            self.components[name] = record
        return self.components[name]

    def nodes_of_group(self, component: str, name: str) -> list[int]:
        """The nodes of a component for which a group of that name stands."""
        if (component, name) in self.aliases:
            return list(self.aliases[component, name])
        number = self._node_in_name(name)
        if number is None:
            return []
        if self.nodes[number]["component"] == component:
            return [number]
        return [
            n
            for n, node in enumerate(self.nodes)
            if node["origin"] == number and node["component"] == component
        ]

    def _node_in_name(self, name: str) -> int | None:
        _, marker, rest = name.rpartition(self.marker)
        digits, end, _ = rest.partition("_")
        if not (marker and end and digits.isdecimal()):
            return None
        return int(digits) if int(digits) < len(self.nodes) else None

    def source_name(self, component: str, group: str, index: int, actual: str) -> str:
        """The name that the cell written by a group's assignment had before cells were shared."""
        for name in (group, group.rstrip("0123456789")):
            if (component, name) in self.written:
                cells = self.written[component, name]
                return (cells[index] if index < len(cells) else None) or actual
        return actual


class Component:
    """A component of a printed program, its parts by name."""

    def __init__(self, text: ComponentText, design: Design) -> None:
        self.text = text
        self.name = text.name
        self.design = design
        self.cells = {cell.name: cell for cell in text.cells}
        self._names = {*self.cells, *(w.name for w in text.wires if not isinstance(w, Assignment))}
        self._numbers: dict[str, int] = {}
        for statement in walk(text.control or []):
            _fill(statement)
        text.control = None if text.comb else _whole(text.control or [])

    @property
    def control(self) -> Statement | None:
        """The control program; None of a combinational component."""
        return self.text.control[0] if self.text.control else None

    def groups(self, *kinds: str) -> list[GroupText]:
        """Groups of these kinds: `dynamic`, `static`, `comb`."""
        return [w for w in self.text.wires if isinstance(w, GroupText) and _kind(w) in kinds]

    def group(self, name: str) -> GroupText | None:
        """A group by its name."""
        return next((g for g in self.groups("dynamic", "static", "comb") if g.name == name), None)

    @property
    def continuous(self) -> list[Assignment]:
        """The assignments outside groups."""
        return [w for w in self.text.wires if isinstance(w, Assignment)]

    def sort_groups(self) -> None:
        """Put each group after those whose holes it mentions: compilers read them in one go."""
        groups = {group.name: group for group in self.groups("dynamic", "static", "comb")}
        done: dict[str, GroupText] = {}
        for name in groups:
            waiting = [name]
            while waiting:
                top = waiting[-1]
                below = [
                    other
                    for other, _, _ in holes(groups[top].assignments)
                    if other in groups and other not in done and other not in waiting
                ]
                if top in done or not below:
                    done.setdefault(waiting.pop(), groups[top])
                else:
                    waiting.append(below[0])
        rest = [wire for wire in self.text.wires if not isinstance(wire, GroupText)]
        self.text.wires = [*done.values(), *rest]

    def free_name(self, stem: str) -> str:
        """A name for a new cell or group."""
        number = self._numbers.get(stem, 0)
        while f"{stem}{number}" in self._names:
            number += 1
        self._numbers[stem] = number + 1
        self._names.add(f"{stem}{number}")
        return f"{stem}{number}"

    def add(self, wire: GroupText | Assignment) -> None:
        """Add a group or a continuous assignment."""
        self.text.wires.append(wire)

    def new_probe(self) -> str:
        """Add a probe cell."""
        name = self.free_name("cyclescope_probe_")
        cell = CellText(name, PROBE, [], False, {"external": 1, "control": 1})
        self.text.cells.append(cell)
        self.cells[name] = cell
        return name

    def probe(self, guard: str | None) -> tuple[str, Assignment]:
        """A new probe that is high where the guard holds, and the assignment that makes it so."""
        name = self.new_probe()
        return name, Assignment(f"{name}.in", guard, "1'd1")

    def latency(self, statement: Statement) -> int | None:
        """Cycles of a static statement; None of a dynamic one."""
        if statement.latency is not None:
            return statement.latency
        if statement.kind == "enable":
            group = self.group(statement.name)
            return group.latency if group else None
        if not statement.static:
            return None
        inside = [self.latency(s) or 0 for s in statement.body + (statement.otherwise or [])]
        if statement.kind in ("seq", "repeat"):
            return sum(inside) * max(statement.count, statement.kind == "seq")
        return max(inside, default=0)


class Design:
    """A printed program."""

    def __init__(self, file: SyntaxFile) -> None:
        self.file = file
        self.primitives: dict[str, PrimitiveText] = {}
        self.texts: dict[str, ComponentText] = {}
        for item in file.items:
            if isinstance(item, Extern):
                self.primitives |= {p.name: p for p in item.primitives}
            elif isinstance(item, PrimitiveText):
                self.primitives[item.name] = item
            else:
                self.texts[item.name] = item
        self.components = [Component(text, self) for text in self.texts.values()]

    @property
    def main(self) -> str:
        """The entry point."""
        top = [name for name, text in self.texts.items() if "toplevel" in text.attributes]
        return top[-1] if top else "main"

    def callees_first(self) -> list[Component]:
        """Components, each after those of which it has cells."""
        done: dict[str, Component] = {}
        by_name = {c.name: c for c in self.components}
        for component in self.components:
            waiting = [component]
            while waiting:
                top = waiting[-1]
                below = [
                    by_name[cell.type]
                    for cell in top.text.cells
                    if cell.type in by_name and cell.type not in done
                ]
                if top.name in done or not below:
                    done.setdefault(waiting.pop().name, top)
                else:
                    waiting.append(below[0])
        return list(done.values())

    def signature(self, kind: str) -> PrimitiveText | ComponentText | None:
        """The primitive or component of that name."""
        return self.primitives.get(kind) or self.texts.get(kind)

    def is_component(self, kind: str) -> bool:
        """Whether a cell's type is a component."""
        return kind in self.texts


def id_of(statement: Statement) -> int | None:
    """A statement's node, if it still has one."""
    value = statement.attributes.get(ID)
    return value if isinstance(value, int) else None


def inner(block: list[Statement]) -> Statement | None:
    """The one statement of a printed block."""
    return block[0] if block else None


def _fill(statement: Statement) -> None:
    """Give each block of a statement one statement."""
    if statement.kind in ("if", "while", "repeat"):
        statement.body = _whole(statement.body, static=statement.static)
        if statement.otherwise is not None:
            statement.otherwise = _whole(statement.otherwise, static=statement.static)


def _whole(block: list[Statement], *, static: bool = False) -> list[Statement]:
    """A block of one statement: braces are a seq, and nothing is the empty statement.

    The compiler's printer leaves the latter out.
    """
    if len(block) == 1:
        return block
    return [Statement("seq" if block else "empty", static=static, body=block)]


def _kind(group: GroupText) -> str:
    if group.comb:
        return "comb"
    return "dynamic" if group.latency is None else "static"


def owner(reference: str) -> str | None:
    """The cell of `cell.port`; None for holes, own ports and constants."""
    cell, dot, _ = reference.partition(".")
    return cell if dot else None


def holes(assignments: Iterable[Assignment]) -> Iterator[tuple[str, str, bool]]:
    """(group, hole, written?) for every hole that assignments mention."""
    for assignment in assignments:
        for text, written in (
            (assignment.dst, True),
            (assignment.src, False),
            (assignment.guard or "", False),
        ):
            for match in _HOLE.finditer(text):
                yield match[1], match[2], written


def retarget(assignments: Iterable[Assignment], old: str, new: str) -> list[Assignment]:
    """Copies of assignments in which one group's holes are another's."""
    pattern = re.compile(rf"(?<![\w'-]){re.escape(old)}\[")

    def moved(text: str) -> str:
        return pattern.sub(f"{new}[", text)

    return [
        Assignment(
            moved(a.dst),
            None if a.guard is None else moved(a.guard),
            moved(a.src),
            dict(a.attributes),
        )
        for a in assignments
    ]


def is_constant(reference: str, value: int) -> bool:
    """Whether a reference is this one-bit constant."""
    match = _SIZED.fullmatch(reference)
    return match is not None and match[1] == "1" and int(match[3], _BASES[match[2]]) == value


def both(one: str | None, other: str | None) -> str | None:
    """A guard that holds where both do; None always holds."""
    if one is None or other is None or one == other:
        return other if one is None else one
    return f"{_grouped(one)} & {_grouped(other)}"


def either(one: str | None, other: str | None) -> str | None:
    """A guard that holds where one of two does."""
    if one is None or other is None or one == other:
        return None if one is None or other is None else one
    return f"{_grouped(one)} | {_grouped(other)}"


def _grouped(guard: str) -> str:
    return f"({guard})" if " " in guard else guard
