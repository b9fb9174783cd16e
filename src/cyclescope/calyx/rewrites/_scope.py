"""A component as rewrites see it: who drives and who reads each cell, and where its control is.

A *cell* is one of the component's; each of the component's own ports counts as one (`.port`). What
a statement reads is followed through continuous assignments and combinational cells: it reads all
that these depend on.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope.calyx._syntax import (
    Assignment,
    CellText,
    ComponentText,
    Fsm,
    GroupText,
    PrimitiveText,
    Statement,
    SyntaxFile,
    names_in,
    walk,
)
from cyclescope.calyx._syntax_tokens import END, Tokens
from cyclescope.calyx.rewrites._library import declared, library

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cyclescope.calyx._syntax import Span

__all__ = ["Effects", "Facts", "Scope", "asks_done", "cell_of", "references", "scopes"]


@dataclass(frozen=True)
class Facts:
    """Facts of a run, which no text tells.

    Attributes:
        lengths: (component, group) → its cycles, if they were the same in every activation.
        exclusive: (component, the names that a `par` enables in order) of those of which never
            more than one arm had work.
    """

    lengths: Mapping[tuple[str, str], int] = field(default_factory=dict)
    exclusive: frozenset[tuple[str, tuple[str, ...]]] = frozenset()


@dataclass(frozen=True)
class Effects:
    """The cells that something drives and those that it reads."""

    drives: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()

    def __or__(self, other: Effects) -> Effects:
        return Effects(self.drives | other.drives, self.reads | other.reads)

    def conflicts(self, other: Effects) -> frozenset[str]:
        """The cells for whose sake the order of the two matters, or which both drive."""
        return self.drives & other.drives | self.drives & other.reads | self.reads & other.drives


def cell_of(reference: str) -> str:
    """The cell of a port (`cell.port`); a port of the component itself counts as one."""
    cell, dot, _ = reference.partition(".")
    return cell if dot else f".{reference}"


def references(text: str | None) -> list[str]:
    """The ports that a reference or guard names; constants and holes are none."""
    if not text:
        return []
    found: list[str] = []
    tokens = Tokens(text, "guard")
    while tokens.word != END:
        word = tokens.word
        if not (word[0].isalpha() or word[0] == "_"):
            tokens.advance()
            continue
        tokens.advance()
        if tokens.accept("."):
            found.append(f"{word}.{tokens.advance()}")
        elif tokens.accept("["):
            tokens.advance()
            tokens.accept("]")
        else:
            found.append(word)
    return found


def asks_done(assignments: Iterable[Assignment]) -> bool:
    """Return whether one of some assignments depends on the `done` of a cell."""
    named = (r for a in assignments for r in (*references(a.src), *references(a.guard)))
    return any(reference.endswith(".done") for reference in named)


def _holes(text: str) -> list[str]:
    """The groups of whose holes (`group[go]`) a reference or guard speaks."""
    found: list[str] = []
    tokens = Tokens(text, "guard")
    while tokens.word != END:
        word = tokens.advance()
        if tokens.word == "[" and (word[0].isalpha() or word[0] == "_"):
            found.append(word)
    return found


def scopes(file: SyntaxFile, text: bytes, facts: Facts) -> Iterator[Scope]:
    """The components of a file that have control."""
    known = {item.name: item for item in file.items if isinstance(item, ComponentText)}
    primitives = {**library(), **{p.name: p for p in declared(file)}}
    for component in known.values():
        if component.control is not None and not component.comb:
            yield Scope(component, text, known, primitives, facts)


@dataclass(eq=False)
class Scope:
    """A component with control, in its file.

    Attributes:
        component: as read.
        text: of the file.
        known: the file's components by name.
        primitives: those of the library and of the file.
        facts: of a run.
    """

    component: ComponentText
    text: bytes
    known: Mapping[str, ComponentText]
    primitives: Mapping[str, PrimitiveText]
    facts: Facts

    # What is declared.

    @property
    def name(self) -> str:
        """The component's name."""
        return self.component.name

    @cached_property
    def cells(self) -> dict[str, CellText]:
        """Its cells."""
        return {cell.name: cell for cell in self.component.cells}

    @cached_property
    def groups(self) -> dict[str, GroupText]:
        """Its groups, combinational ones included."""
        return {w.name: w for w in self.component.wires if isinstance(w, GroupText)}

    @cached_property
    def continuous(self) -> list[Assignment]:
        """Its continuous assignments."""
        return [w for w in self.component.wires if isinstance(w, Assignment)]

    @property
    def plain(self) -> bool:
        """Return whether all that drives its cells is assignments: it has no written-out FSM."""
        return not any(isinstance(w, Fsm) for w in self.component.wires)

    @cached_property
    def taken(self) -> set[str]:
        """Names that a new cell or group must not have."""
        return names_in(self.component) | set(self.known)

    def fresh(self, stem: str) -> str:
        """A name that nothing has; the same for the same stem."""
        name = stem
        while name in self.taken:
            name += "_"
        return name

    def is_comb(self, cell: str) -> bool:
        """Return whether a cell is a combinational primitive: without state, of no width zero."""
        found = self.cells.get(cell)
        primitive = self.primitives.get(found.type) if found else None
        return primitive is not None and primitive.comb

    def is_register(self, cell: str) -> bool:
        """Return whether a cell is a register of the library."""
        found = self.cells.get(cell)
        return found is not None and found.type == "std_reg"

    # Control.

    @cached_property
    def statements(self) -> list[Statement]:
        """All statements, in the order of the text."""
        return list(walk(self.component.control or []))

    @cached_property
    def parents(self) -> dict[int, Statement]:
        """The statement around each, by `id`; none for those at the top."""
        return {
            id(inner): outer
            for outer in self.statements
            for inner in (*outer.body, *(outer.otherwise or ()))
        }

    @property
    def successive(self) -> Iterator[tuple[Statement, Statement]]:
        """Statements that follow each other in a `seq` of dynamic control."""
        for block in self.statements:
            if block.kind == "seq" and not block.static:
                yield from pairwise(block.body)

    @cached_property
    def enables(self) -> dict[str, list[Statement]]:
        """The statements that enable each group, or test it with `with`."""
        found: dict[str, list[Statement]] = defaultdict(list)
        for statement in self.statements:
            if statement.kind == "enable":
                found[statement.name].append(statement)
            elif statement.with_group:
                found[statement.with_group].append(statement)
        return found

    @cached_property
    def called(self) -> set[str]:
        """The groups whose holes others than they themselves use."""
        found = set()
        for owner, assignment in self._assignments():
            for text in (assignment.dst, assignment.src, assignment.guard or ""):
                found |= {name for name in _holes(text) if text != f"{owner}[done]"}
        return found

    def line(self, offset: int) -> int:
        """The line of an offset, from 1."""
        return self.text.count(b"\n", 0, offset) + 1

    def names_in(self, statement: Statement) -> tuple[str, ...]:
        """The groups and cells that a statement enables and invokes, in the order of the text."""
        return tuple(s.name for s in walk([statement]) if s.kind in ("enable", "invoke"))

    def groups_in(self, statement: Statement) -> set[str]:
        """The groups that a statement enables, or asks a condition of."""
        inside = list(walk([statement]))
        enabled = {s.name for s in inside if s.kind == "enable"}
        return enabled | {s.with_group for s in inside if s.with_group}

    def invoked_in(self, statement: Statement) -> set[str]:
        """The cells that a statement invokes, or gives to what it invokes."""
        found: set[str] = set()
        for inner in walk([statement]):
            if inner.kind == "invoke":
                found |= {inner.name, *(given for _, given in inner.refs)}
                found |= {cell_of(given) for _, given in inner.outputs}
        return found

    def place(self, statement: Statement) -> str:
        """The identity of a statement among those of the component: by what is in it."""
        return self._places[id(statement)]

    @cached_property
    def _places(self) -> dict[int, str]:
        counts: dict[str, int] = defaultdict(int)
        found = {}
        for statement in self.statements:
            names = self.names_in(statement)
            inside = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" if names else ""
            port = f" {statement.port}" if statement.port else ""
            label = f"{statement.kind}{port} ({inside})"
            counts[label] += 1
            number = f" #{counts[label]}" if counts[label] > 1 else ""
            found[id(statement)] = f"{self.name}: {label}{number}"
        return found

    # Who drives what.

    @cached_property
    def drivers(self) -> dict[str, set[str]]:
        """Cell → the groups that drive a port of it.

        The driver is "" for continuous assignments and `invoke` for invocations.
        """
        found: dict[str, set[str]] = defaultdict(set)
        for owner, assignment in self._assignments():
            found[cell_of(assignment.dst)].add(owner)
        for statement in self.statements:
            if statement.kind == "invoke":
                for cell in (statement.name, *(given for _, given in statement.refs)):
                    found[cell].add("invoke")
                for _, given in statement.outputs:
                    found[cell_of(given)].add("invoke")
        return found

    @cached_property
    def readers(self) -> dict[str, set[str]]:
        """Cell → the groups that read a port of it.

        The reader is "" for continuous assignments, `control` for conditions without `with` and
        for invocations.
        """
        found: dict[str, set[str]] = defaultdict(set)
        for owner, assignment in self._assignments():
            for reference in (*references(assignment.src), *references(assignment.guard)):
                found[cell_of(reference)].add(owner)
        for statement in self.statements:
            if statement.port:
                owner = statement.with_group or "control"
                found[cell_of(statement.port)].add(owner)
            for _, given in (*statement.inputs, *statement.refs):
                for reference in references(given):
                    found[cell_of(reference)].add(statement.with_group or "control")
        return found

    def _assignments(self) -> Iterator[tuple[str, Assignment]]:
        for assignment in self.continuous:
            yield "", assignment
        for group in self.groups.values():
            for assignment in group.assignments:
                yield group.name, assignment

    # Effects.

    def effects(self, statement: Statement) -> Effects:
        """The effects of a statement and all inside it."""
        known = self._effects.get(id(statement))
        if known is None:
            known = Effects()
            for inner in walk([statement]):
                known |= self._own_effects(inner)
            self._effects[id(statement)] = known
        return known

    @cached_property
    def _effects(self) -> dict[int, Effects]:
        return {}

    def condition(self, statement: Statement) -> frozenset[str]:
        """The cells that the condition of an if or while depends on."""
        found = self.behind([statement.port])
        if statement.with_group:
            effects = self.group_effects(statement.with_group)
            found |= effects.reads | effects.drives
        return found

    def _own_effects(self, statement: Statement) -> Effects:
        found = Effects()
        for name in (statement.name if statement.kind == "enable" else None, statement.with_group):
            if name is not None:
                found |= self.group_effects(name)
        if statement.port:
            found |= Effects(reads=self.behind([statement.port]))
        if statement.kind == "invoke":
            given = [value for _, value in (*statement.inputs, *statement.outputs)]
            refs = [value for _, value in statement.refs]
            outputs = [cell_of(value) for _, value in statement.outputs]
            # The callee may do all with what it gets, and its own state changes.
            reads = self.behind(r for value in given for r in references(value))
            touched = frozenset((statement.name, *refs, *outputs))
            found |= Effects(touched, reads | touched)
        return found

    def group_effects(self, name: str) -> Effects:
        """The effects of a group."""
        if name not in self._of_groups:
            group = self.groups.get(name)
            drives: set[str] = set()
            read: list[str] = []
            for assignment in group.assignments if group else ():
                if "[" in assignment.dst:
                    other = assignment.dst.partition("[")[0]
                    if other != name:  # a group that calls another: not followed
                        drives.update(self.cells)
                else:
                    drives.add(cell_of(assignment.dst))
                read += [*references(assignment.src), *references(assignment.guard)]
            if group is not None and any(
                _holes(t) for a in group.assignments for t in (a.src, a.guard or "")
            ):
                drives.update(self.cells)
            # What a memory or another cell with state gives depends on what it was given before.
            state = frozenset(cell for cell in drives if not self.is_comb(cell))
            reads = frozenset(self.behind(read))
            reads |= frozenset(c for c in state if any(cell_of(r) == c for r in read))
            self._of_groups[name] = Effects(frozenset(drives), reads)
        return self._of_groups[name]

    @cached_property
    def _of_groups(self) -> dict[str, Effects]:
        return {}

    def behind(self, ports: Iterable[str]) -> frozenset[str]:
        """The cells that some ports depend on through what is driven continuously."""
        seen: set[str] = set()
        waiting = [cell_of(port) for port in ports]
        while waiting:
            cell = waiting.pop()
            if cell in seen:
                continue
            seen.add(cell)
            waiting += self._sources[cell]
        return frozenset(seen)

    def behind_group(self, group: GroupText, ports: Iterable[str]) -> frozenset[str]:
        """The cells that some ports depend on, through what a group drives as well."""
        inside: dict[str, list[str]] = defaultdict(list)
        for a in group.assignments:
            inside[cell_of(a.dst)] += [*references(a.src), *references(a.guard)]
        seen: set[str] = set()
        waiting = list(self.behind(ports))
        while waiting:
            cell = waiting.pop()
            if cell not in seen:
                seen.add(cell)
                if self.is_comb(cell):
                    waiting += self.behind(inside[cell])
        return frozenset(seen)

    def sources(self, cell: str) -> list[str]:
        """The cells that a cell is driven from continuously."""
        return self._sources.get(cell, [])

    def renamed(self, span: Span, cell: str, name: str) -> Iterator[Edit]:
        """Rename a cell in a piece of text without comments: where a port of it is named."""
        tokens = Tokens(self.text.decode("latin-1"), "text", span[0])
        while tokens.word != END and tokens.start < span[1]:
            start, end, word = tokens.start, tokens.end, tokens.advance()
            if word == "." and tokens.word != END:
                tokens.advance()
            elif word == cell and tokens.word == ".":
                yield Edit(start, end, name.encode("latin-1"))

    @cached_property
    def _sources(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for assignment in self.continuous:
            named = (*references(assignment.src), *references(assignment.guard))
            found[cell_of(assignment.dst)] += [cell_of(reference) for reference in named]
        return found

    def aliased(self) -> bool:
        """Return whether two of its `ref` cells may be one cell: some caller passes one twice."""
        return self.name in self._aliased

    @cached_property
    def _aliased(self) -> set[str]:
        found = set()
        for component in self.known.values():
            types = {cell.name: cell.type for cell in component.cells}
            for statement in walk(component.control or []):
                if statement.kind == "invoke":
                    given = [value for _, value in statement.refs]
                    if len(set(given)) < len(given):
                        found.add(types.get(statement.name, ""))
        return found
