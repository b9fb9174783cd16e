"""The cells, groups, conditions and barriers of a Calyx program's text, as the profile's sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.calyx._syntax import Assignment, ComponentText, Fsm, GroupText, walk
from cyclescope.calyx._syntax_read import read_syntax
from cyclescope.errors import SourceError
from cyclescope.model import Barrier, Cell, Condition, Group

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cyclescope.calyx._syntax import Statement
    from cyclescope.calyx._text import ProgramText
    from cyclescope.model import Position, Site

__all__ = ["sites_of"]

_DECIDING = ("if", "while")


def sites_of(texts: Iterable[ProgramText]) -> tuple[Site, ...]:
    """The sites of all components; none of a file that this grammar does not know."""
    found: list[Site] = []
    for text in texts:
        try:
            file = read_syntax(text.clean, text.name)
        except SourceError:
            continue  # a newer compiler's: without these facts there is no advice from them
        for item in file.items:
            if isinstance(item, ComponentText):
                found += _Component(item, text).sites()
    return tuple(found)


class _Uses:
    """Cells that are driven, cells whose values are used, and groups that are called."""

    def __init__(self, assignments: Iterable[Assignment] = ()) -> None:
        self.writes: dict[str, None] = {}
        self.reads: dict[str, None] = {}
        self.calls: dict[str, None] = {}
        for assignment in assignments:
            self._note(assignment.dst, self.writes)
            self._note(assignment.src, self.reads)
            # One blank is around each operator, and none in a reference.
            for word in _words(assignment.guard or ""):
                self._note(word, self.reads)

    def _note(self, reference: str, cells: dict[str, None]) -> None:
        name, dot, _ = reference.partition(".")
        group, bracket, hole = reference.partition("[")
        if dot and not name[:1].isdigit():
            cells[name] = None
        elif bracket and hole == "go]":
            self.calls[group] = None


def _words(guard: str) -> list[str]:
    for sign in "()!":
        guard = guard.replace(sign, " ")
    return guard.split()


class _Component:
    def __init__(self, component: ComponentText, text: ProgramText) -> None:
        self._component, self._text = component, text
        groups = [wire for wire in component.wires if isinstance(wire, GroupText)]
        self._groups = {group.name: group for group in groups}
        self._uses = {group.name: _Uses(group.assignments) for group in groups}
        self._drivers: dict[str, dict[str, None]] = {}
        for assignment in _always(component):
            uses = _Uses([assignment])
            for cell in uses.writes:
                self._drivers.setdefault(cell, {}).update(uses.reads)

    def sites(self) -> Iterator[Site]:
        name = self._component.name
        used: dict[str, None] = {}
        groups, conditions = list(self._of_groups()), list(self._conditions())
        for group in groups:
            used.update(dict.fromkeys((*group.reads, *group.writes)))
        for condition in conditions:
            used.update(dict.fromkeys(condition.reads))
        for cell in self._component.cells:
            if cell.name in used:
                prototype = f"{cell.type}({', '.join(cell.args)})"
                yield Cell(name, cell.name, prototype, self._at(cell.start))
        yield from groups
        yield from conditions
        for statement in walk(self._component.control or ()):
            if "sync" in statement.attributes:
                yield Barrier(name, self._at(statement.start))

    def _of_groups(self) -> Iterator[Group]:
        for name, group in self._groups.items():
            reads, writes = self._all(name)
            yield Group(
                self._component.name,
                name,
                self._at(group.start),
                self._seen(reads),
                tuple(writes),
                comb=group.comb,
            )

    def _all(self, name: str) -> tuple[dict[str, None], dict[str, None]]:
        """The cells that a group uses, with those of the groups that it calls."""
        reads: dict[str, None] = {}
        writes: dict[str, None] = {}
        called, waiting = {name}, [name]
        while waiting:
            uses = self._uses[waiting.pop()]
            reads.update(uses.reads)
            writes.update(uses.writes)
            more = [other for other in uses.calls if other in self._uses and other not in called]
            called.update(more)
            waiting += more
        return reads, writes

    def _seen(self, cells: Iterable[str]) -> tuple[str, ...]:
        """These cells and all whose values they show by continuous assignments."""
        found: dict[str, None] = {}
        waiting = list(cells)[::-1]
        while waiting:
            cell = waiting.pop()
            if cell not in found:
                found[cell] = None
                waiting += self._drivers.get(cell, ())
        return tuple(found)

    def _conditions(self) -> Iterator[Condition]:
        for statement in walk(self._component.control or ()):
            if statement.kind in _DECIDING:
                yield Condition(
                    self._component.name,
                    self._at(statement.start),
                    self._seen(self._asked(statement)),
                    statement.with_group or "",
                )

    def _asked(self, statement: Statement) -> Mapping[str, None]:
        asked = dict.fromkeys([statement.port.partition(".")[0]] if "." in statement.port else [])
        if statement.with_group in self._uses:
            asked.update(self._all(statement.with_group)[0])
        return asked

    def _at(self, offset: int) -> Position:
        return self._text.positions(offset)[0]


def _always(component: ComponentText) -> Iterator[Assignment]:
    """The assignments that no group has."""
    for wire in component.wires:
        if isinstance(wire, Assignment):
            yield wire
        elif isinstance(wire, Fsm):
            for state in wire.states:
                yield from state.assignments
