"""The files beside a Petal waveform: what the compiler and its helpers wrote down.

Petal, section 5: `cells.json` lists what each component contains, `path-descriptors.json` where
in the control program each group is enabled, `fsm.json` which registers run it, `ctrl-pos.json`
the source lines, `shared-cells.json` what the compiler merged, `adl-metadata.json` the lines of
the program that generated this one. The first three are needed, the rest is used if there.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cyclescope.errors import DataError
from cyclescope.model import Position
from cyclescope.traces._text import check_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Component", "ControlGroup", "ControlNode", "SideFiles", "read_side_files"]

_NEEDED = ("cells.json", "path-descriptors.json", "fsm.json")
_OPTIONAL = ("shared-cells.json", "ctrl-pos.json", "adl-metadata.json", "enable-par-track.json")
_MOST_BYTES = 64 << 20
_LEVELS = {"Py": "calyx-py"}


@dataclass(frozen=True, slots=True)
class ControlNode:
    """A statement of the control program: operator and line, empty and 0 if not known."""

    operator: str
    line: int


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """A group that the compiler made to run a control statement.

    Attributes:
        name: of the group.
        node: descriptor of the statement, None if nothing says which.
        fsm: its state register, None for a `par`.
        done: its registers that say which arms are done.
        states: state → the group that it starts, none for a `par`.
    """

    name: str
    node: str | None
    fsm: str | None
    done: tuple[str, ...]
    states: dict[int, str] = field(default_factory=dict)


@dataclass
class Component:
    """The description of a component.

    Attributes:
        cells: name → component of which it is an instance.
        primitives: name → primitive of which it is an instance.
        shared: name of a cell → cell with which it was merged.
        enables: group → descriptor of the place where it is enabled.
        nodes: descriptor → control statement.
        groups: compiler-made groups.
        positions: "", a group's or a cell's name → lines of the generating program.
    """

    name: str
    cells: dict[str, str] = field(default_factory=dict)
    primitives: dict[str, str] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    enables: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, ControlNode] = field(default_factory=dict)
    groups: list[ControlGroup] = field(default_factory=list)
    positions: dict[str, Position] = field(default_factory=dict)

    def chain(self, descriptor: str) -> list[str]:
        """The statements around a place, outermost first; the place itself if it is one."""
        ends = [m.end() for m in re.finditer("-", descriptor)]
        return [d for end in ends if (d := descriptor[:end]) in self.nodes]


@dataclass(frozen=True)
class SideFiles:
    """All of it: `main` names the entry; `digests` is file name → SHA-256."""

    main: str
    components: dict[str, Component]
    digests: dict[str, str]


def read_side_files(folder: Path) -> SideFiles:
    """Read the files.

    Raises:
        DataError: one that is needed is missing, or one is damaged.
    """
    files = _Files(folder)
    components: dict[str, Component] = {}
    main = _read_cells(files, components)
    for name in files.table("shared-cells.json"):
        component = components.setdefault(name, Component(name))
        for entry in files.rows("shared-cells.json", name):
            component.shared[files.text(entry, "original")] = files.text(entry, "new")
    places = _read_descriptors(files, components)
    _read_control_groups(files, components, places)
    _read_generator(files, components)
    files.table("enable-par-track.json")
    return SideFiles(main, components, files.digests)


class _Files:
    """JSON whose shape is checked while it is read."""

    def __init__(self, folder: Path) -> None:
        self.digests: dict[str, str] = {}
        self._data: dict[str, Any] = {}
        self._folder, self._now = folder, ""
        for name in (*_NEEDED, *_OPTIONAL):
            path = folder / name
            if path.is_file():
                self._load(path)
            elif name in _NEEDED:
                raise DataError(f"{path}: is missing; it is one of the files that Petal leaves")

    def _load(self, path: Path) -> None:
        check_file(path)
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise DataError(
                    f"{path}: has more than {_MOST_BYTES:,} bytes; is it the right file?"
                )
            content = path.read_bytes()
            self._data[path.name] = json.loads(content)
            # JSON can name half of a pair of surrogates, which no text that is written may contain.
            json.dumps(self._data[path.name], ensure_ascii=False).encode()
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}: is not JSON: {error}; write it again") from error
        self.digests[path.name] = hashlib.sha256(content).hexdigest()

    def table(self, name: str) -> dict[str, Any]:
        """A file that is an object; empty if absent."""
        self._now = name
        found: dict[str, Any] = self.checked(self._data.get(name, {}), dict)
        return found

    def list_of(self, name: str) -> list[Any]:
        """A file that is a list."""
        self._now = name
        found: list[Any] = self.checked(self._data.get(name, []), list)
        return found

    def rows(self, name: str, key: str) -> list[Any]:
        """The list under a key of a file that is an object."""
        found: list[Any] = self.checked(self.table(name).get(key, []), list)
        return found

    def checked(self, value: Any, kind: type) -> Any:
        """The value, if it is of that type."""
        good = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
        if not good or (isinstance(value, int) and abs(value) >= 1 << 63):
            raise DataError(
                f"{self._folder / self._now}: {json.dumps(value)[:60]} replaces {_WORDS[kind]}; "
                "write it again"
            )
        return value

    def get(self, entry: Any, key: str, kind: type) -> Any:
        """A member of an object."""
        return self.checked(self.checked(entry, dict).get(key), kind)

    def text(self, entry: Any, key: str) -> str:
        """A member that is a string."""
        found: str = self.get(entry, key, str)
        return found

    def numbers(self, value: Any) -> frozenset[int]:
        """A list of integers."""
        return frozenset(self.checked(number, int) for number in self.checked(value, list))


_WORDS = {dict: "an object", list: "a list", str: "a string", int: "an integer", bool: "a yes/no"}


def _read_cells(files: _Files, components: dict[str, Component]) -> str:
    main = None
    for entry in files.list_of("cells.json"):
        component = Component(files.text(entry, "component"))
        components[component.name] = component
        for cell in files.get(entry, "cell_info", list):
            component.cells[files.text(cell, "cell_name")] = files.text(cell, "component_name")
        for cell in files.get(entry, "primitive_info", list):
            component.primitives[files.text(cell, "cell_name")] = files.text(cell, "primitive_type")
        if files.get(entry, "is_main_component", bool):
            main = component.name
    if main is None:
        raise DataError("cells.json: no component is the main one; write it again")
    return main


def _read_descriptors(files: _Files, components: dict[str, Component]) -> dict[str, dict[int, str]]:
    """Fill enables and nodes; returns for each component: source position → descriptor."""
    places: dict[str, dict[int, str]] = {}
    for name, entry in files.table("path-descriptors.json").items():
        component = components.setdefault(name, Component(name))
        lines = {
            files.get(row, "pos_num", int): ControlNode(
                files.text(row, "ctrl_node"), files.get(row, "linenum", int)
            )
            for row in files.rows("ctrl-pos.json", name)
        }
        files.table("path-descriptors.json")
        for group, descriptor in files.get(entry, "enables", dict).items():
            component.enables[group] = files.checked(descriptor, str)
        known = places.setdefault(name, {})
        shared: set[int] = set()
        for descriptor, positions in files.get(entry, "control_pos", dict).items():
            own = files.numbers(positions)
            node = next((lines[p] for p in sorted(own) if p in lines), ControlNode("", 0))
            component.nodes[descriptor] = node
            # Generated statements share their generator's line: it says nothing about which.
            shared |= own & known.keys()
            known.update(dict.fromkeys(own, descriptor))
        for position in shared - lines.keys():
            del known[position]
    return places


def _read_control_groups(
    files: _Files, components: dict[str, Component], places: dict[str, dict[int, str]]
) -> None:
    late: list[tuple[Component, str, list[str]]] = []
    for record in files.list_of("fsm.json"):
        for kind, entry in files.checked(record, dict).items():
            if kind not in ("Fsm", "Par"):
                continue  # a single enable has no group of its own
            name = files.text(entry, "component")
            component = components.setdefault(name, Component(name))
            children, key = ("states", "group") if kind == "Fsm" else ("child_groups", "par_group")
            rows = files.get(entry, children, list)
            group = files.text(entry, key)
            fsm = files.text(entry, "fsm") if kind == "Fsm" else None
            done = () if fsm else tuple(files.text(row, "register") for row in rows)
            known = places.get(name, {})
            positions = sorted(files.numbers(files.get(entry, "pos", list)) & known.keys())
            found = [known[p] for p in positions]
            # The line of the statement itself before that of its generator.
            found = [d for d in found if component.nodes[d].operator] or found
            started = [name for row in rows if (name := files.text(row, "group")) != f"{fsm}_END"]
            states = {files.get(row, "id", int): files.text(row, "group") for row in rows if fsm}
            component.groups.append(
                ControlGroup(group, found[0] if found else None, fsm, done, states)
            )
            if not found:
                late.append((component, group, started))
    for owner, group, names in late:
        _place_by_children(owner, group, names)


def _place_by_children(component: Component, name: str, children: list[str]) -> None:
    """A group without a position runs the statement around all that it starts, if that is free."""
    by_name = {group.name: group for group in component.groups}
    taken = {group.node for group in component.groups}
    places: list[str | None] = []
    for child in children:
        group = by_name.get(child)
        places.append(group.node if group else component.enables.get(child))
    chains = [[d for d in component.chain(p) if d != p] for p in places if p is not None]
    if not chains or None in places:
        return
    common = [d for d in chains[0] if all(d in chain for chain in chains)]
    if common and common[-1] not in taken:
        place = next(i for i, g in enumerate(component.groups) if g.name == name)
        component.groups[place] = replace(component.groups[place], node=common[-1])


def _read_generator(files: _Files, components: dict[str, Component]) -> None:
    """Lines of the program that generated this one, by component, cell and group."""
    table = files.table("adl-metadata.json")
    if not table:
        return
    language = files.text(table, "adl")
    level = _LEVELS.get(language, language.lower())

    def place(entry: Any) -> Position:
        return Position(level, files.text(entry, "filename"), files.get(entry, "linenum", int))

    def named(entry: Any, key: str) -> Iterator[tuple[str, Position]]:
        for row in files.get(entry, key, list):
            yield files.text(row, "name"), place(row)

    for entry in files.get(table, "components", list):
        component = components.get(files.text(entry, "component"))
        if component is not None:
            component.positions[""] = place(entry)
            component.positions.update(named(entry, "cells"))
            component.positions.update(named(entry, "groups"))
