"""Calyx programs as trees: what the text says, in its order, with the place of every part.

The grammar is today's (main branch): positions as sets (`@pos{3}`), state machines (`fsm`),
floating-point constants, the tables after the components. References (`cell.port`,
`group[hole]`, `8'd3`) and guards are text in one spelling: no blanks inside a reference, one
blank around an operator. `read_syntax` makes trees, `print_syntax` makes text of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "NOWHERE",
    "Assignment",
    "Attributes",
    "CellText",
    "ComponentText",
    "Extern",
    "Fsm",
    "FsmState",
    "GroupText",
    "Port",
    "PrimitiveText",
    "Span",
    "Statement",
    "SyntaxFile",
    "names_in",
    "walk",
]

# Name to number, or to the numbers of a set; in the order of the text.
Attributes = dict[str, "int | tuple[int, ...]"]

# Offsets of a piece of the text, the second exclusive; NOWHERE for what has none in it.
Span = tuple[int, int]
NOWHERE: Span = (0, 0)


@dataclass(slots=True)
class Port:
    """A port of a signature; its width is a number or the name of a parameter."""

    name: str
    width: str
    attributes: Attributes


@dataclass(slots=True)
class PrimitiveText:
    """A primitive; `params` is None where the text has no list, `body` where it is external."""

    name: str
    attributes: Attributes
    comb: bool
    latency: int | None
    params: list[str] | None
    inputs: list[Port]
    outputs: list[Port]
    body: str | None
    start: int = field(default=0, compare=False)


@dataclass(slots=True)
class Extern:
    """Primitives whose Verilog is in another file."""

    path: str
    primitives: list[PrimitiveText]
    start: int = field(default=0, compare=False)


@dataclass(slots=True)
class CellText:
    """A cell; its arguments are numbers as written (a float constant's may be `-0.5`)."""

    name: str
    type: str
    args: list[str]
    reference: bool
    attributes: Attributes
    start: int = field(default=0, compare=False)
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(slots=True)
class Assignment:
    """`dst = guard ? src;`, without a guard if it always holds."""

    dst: str
    guard: str | None
    src: str
    attributes: Attributes = field(default_factory=dict)
    start: int = field(default=0, compare=False)
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(slots=True)
class GroupText:
    """A group: combinational, of a fixed length (`latency`), or neither.

    `named` is its name's piece of the text, `block` that of its assignments with their braces.
    """

    name: str
    attributes: Attributes
    comb: bool
    latency: int | None
    assignments: list[Assignment]
    start: int = field(default=0, compare=False)
    named: Span = field(default=NOWHERE, compare=False)
    block: Span = field(default=NOWHERE, compare=False)

    @property
    def span(self) -> Span:
        """Its piece of the text."""
        return self.start, self.block[1]


@dataclass(slots=True)
class FsmState:
    """A state: what it assigns, and where it goes (a state, or guards, None = default)."""

    index: int
    assignments: list[Assignment]
    next: int | list[tuple[str | None, int]]


@dataclass(slots=True)
class Fsm:
    """A state machine written out among the wires."""

    name: str
    attributes: Attributes
    states: list[FsmState]
    start: int = field(default=0, compare=False)


@dataclass(slots=True)
class Statement:
    """A statement of a control program.

    Attributes:
        kind: `empty`, `enable`, `invoke`, `seq`, `par`, `if`, `while` or `repeat`.
        name: the group that an enable runs, or the cell that an invoke runs.
        static, latency: `static` and the cycles in `static<…>`; None without a number.
        port, with_group: condition of an if or while; an invoke has a `with` too.
        refs, inputs, outputs: of an invoke: (name of the callee's, what is given).
        count: of a repeat.
        body: statements of a seq or par; then-branch of an if; body of a loop.
        otherwise: else-branch; None without one.
        chained: the else-branch is an `if` without braces.
        start: where it begins; after position sets, which say nothing of its own.
        span: its piece of the text, position sets included.
        block, otherwise_block: the pieces of the body and the else-branch, with their braces.
        head: of `static`, the kind and what follows, up to the block.
        conditioned: the piece ` with group`, from the end of the port on.
    """

    kind: str
    attributes: Attributes = field(default_factory=dict)
    name: str = ""
    static: bool = False
    latency: int | None = None
    port: str = ""
    with_group: str | None = None
    refs: list[tuple[str, str]] = field(default_factory=list)
    inputs: list[tuple[str, str]] = field(default_factory=list)
    outputs: list[tuple[str, str]] = field(default_factory=list)
    count: int = 0
    body: list[Statement] = field(default_factory=list)
    otherwise: list[Statement] | None = None
    chained: bool = False
    start: int = field(default=0, compare=False)
    span: Span = field(default=NOWHERE, compare=False)
    block: Span = field(default=NOWHERE, compare=False)
    otherwise_block: Span = field(default=NOWHERE, compare=False)
    head: Span = field(default=NOWHERE, compare=False)
    conditioned: Span = field(default=NOWHERE, compare=False)


@dataclass(slots=True)
class ComponentText:
    """A component; `control` is None where the text has no such section.

    The blocks are the pieces of its sections from brace to brace.
    """

    name: str
    attributes: Attributes
    comb: bool
    latency: int | None
    inputs: list[Port]
    outputs: list[Port]
    cells: list[CellText]
    wires: list[GroupText | Fsm | Assignment]
    control: list[Statement] | None
    start: int = field(default=0, compare=False)
    cells_block: Span = field(default=NOWHERE, compare=False)
    wires_block: Span = field(default=NOWHERE, compare=False)
    control_block: Span = field(default=NOWHERE, compare=False)


@dataclass(slots=True)
class SyntaxFile:
    """One file: imports, declarations, and the tables after them verbatim (text)."""

    imports: list[str]
    items: list[Extern | PrimitiveText | ComponentText]
    tables: list[str]


def walk(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Statements and all inside them, in the order of the text."""
    waiting = list(statements)[::-1]
    while waiting:
        statement = waiting.pop()
        yield statement
        waiting.extend((statement.body + (statement.otherwise or []))[::-1])


def names_in(component: ComponentText) -> set[str]:
    """The names that a component has given: cells, groups, state machines, ports."""
    wires = [wire for wire in component.wires if not isinstance(wire, Assignment)]
    return {item.name for item in (*component.cells, *wires, *component.inputs, *component.outputs)}
