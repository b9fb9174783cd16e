"""The typed tree of a C text.

Expressions and statements are frozen; nodes compare by identity, since each stands for one
place in the text. Parentheses and conversions that do not change a value are gone; every other
implicit conversion is a `Cast`. What the front end does not know is an `Opaque` node that names
the construct, so that a source can refuse it only where it matters.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclescope.c._refused import Construct
    from cyclescope.c._types import CType, Struct

__all__ = [
    "STEPS",
    "Assign",
    "Binary",
    "Block",
    "Break",
    "Call",
    "Cast",
    "Conditional",
    "Continue",
    "Declare",
    "DoWhile",
    "Empty",
    "Evaluate",
    "Expr",
    "For",
    "Function",
    "Goto",
    "If",
    "Index",
    "InitList",
    "Literal",
    "Member",
    "Name",
    "Opaque",
    "OpaqueStmt",
    "Pragma",
    "Range",
    "Return",
    "Section",
    "Stmt",
    "Switch",
    "Text",
    "Unary",
    "Unit",
    "Variable",
    "While",
    "children",
    "rebuilt",
    "walk",
]


@dataclass(frozen=True, slots=True)
class Range:
    """The range of something in a text: lines and columns count from 1; `end_column` excluded."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def start(self) -> tuple[int, int]:
        """Its first line and column."""
        return self.line, self.column

    @property
    def end(self) -> tuple[int, int]:
        """Its last line, and the column behind it."""
        return self.end_line, self.end_column

    def __str__(self) -> str:
        """Render as `file:line`, as compilers print it."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Pragma:
    """A `#pragma` or `_Pragma`.

    Attributes:
        tokens: what it says, token by token (`omp`, `for`, `(` …); OpenMP's with macros expanded.
        where: the directive; of a macro's `_Pragma`, where the macro is used.
        is_operator: whether it is a `_Pragma`.
        trouble: why it can't be told what it says, or of which statement; empty if it can.
    """

    tokens: tuple[str, ...]
    where: Range
    is_operator: bool = False
    trouble: str = ""

    def unplaced(self) -> Pragma:
        """The same where it can't be told of which statement it is."""
        trouble = (
            "a macro contains both this pragma and statements; write the pragma in front of it"
        )
        return replace(self, trouble=self.trouble or trouble)


@dataclass(eq=False, slots=True)
class Variable:
    """A declared variable or parameter.

    Attributes:
        name: as written.
        type: its type; a parameter declared as an array keeps that type.
        where: the declaration.
        scope: `param`, `local`, `static` (a static local) or `global`.
        extents: the array extents as written, outermost first, where they aren't constants.
        init: the initial value, None without one.
        internal: a global that only its own file sees (`static`).
        volatile: each access to it, its elements or what it points to counts.
    """

    name: str
    type: CType
    where: Range
    scope: str
    extents: tuple[Expr, ...] = ()
    init: Expr | None = None
    internal: bool = False
    volatile: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class _Node:
    where: Range


@dataclass(frozen=True, eq=False, slots=True)
class _TypedNode(_Node):
    type: CType


@dataclass(frozen=True, eq=False, slots=True)
class Literal(_TypedNode):
    """A number (also an enumerator, a character, `sizeof`)."""

    value: int | float


@dataclass(frozen=True, eq=False, slots=True)
class Name(_TypedNode):
    """A use of a variable."""

    variable: Variable


@dataclass(frozen=True, eq=False, slots=True)
class Index(_TypedNode):
    """`base[index]`; the base is an array, a pointer or a vector."""

    base: Expr
    index: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Member(_TypedNode):
    """`base.field`, or `base->field` if `arrow`."""

    base: Expr
    field: str
    arrow: bool


@dataclass(frozen=True, eq=False, slots=True)
class Unary(_TypedNode):
    """`op operand`; op is one of `- + ! ~ & *`, `pre++ pre-- post++ post--`."""

    op: str
    operand: Expr


STEPS = {"pre++": "+", "post++": "+", "pre--": "-", "post--": "-"}
"""The operators of `Unary` that give its operand a value: the sign of the one that is added."""


@dataclass(frozen=True, eq=False, slots=True)
class Binary(_TypedNode):
    """`left op right` for every operator that assigns nothing, the comma included."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Assign(_TypedNode):
    """`target op value`; op is `=` or a compound (`+=` …).

    A compound's arithmetic is done in `common`, the type that C's conversions give for target
    and value; `=` has the target's type there.
    """

    op: str
    target: Expr
    value: Expr
    common: CType


@dataclass(frozen=True, eq=False, slots=True)
class Conditional(_TypedNode):
    """`condition ? then : other`."""

    condition: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Call(_TypedNode):
    """A call of a named function."""

    function: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Cast(_TypedNode):
    """A conversion to `type`; `implicit` if the text does not show it."""

    operand: Expr
    implicit: bool


@dataclass(frozen=True, eq=False, slots=True)
class InitList(_TypedNode):
    """`{…}` in an initialisation; missing values are zero."""

    values: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Opaque(_TypedNode):
    """An expression outside the tree."""

    construct: Construct


@dataclass(frozen=True, eq=False, slots=True)
class Text(Opaque):
    """A string; `spelling` is what C would have for it, with quotes and escapes."""

    spelling: str


Expr: TypeAlias = (
    Literal
    | Name
    | Index
    | Member
    | Unary
    | Binary
    | Assign
    | Conditional
    | Call
    | Cast
    | InitList
    | Opaque
)


@dataclass(frozen=True, eq=False, slots=True)
class _StmtNode(_Node):
    """The common parts of all statements: the pragmas before it, and its label."""

    pragmas: tuple[Pragma, ...] = field(default=(), kw_only=True)
    label: str = field(default="", kw_only=True)


@dataclass(frozen=True, eq=False, slots=True)
class Block(_StmtNode):
    """`{ … }`; `trailing` are pragmas after its last statement (a barrier, say)."""

    body: tuple[Stmt, ...]
    trailing: tuple[Pragma, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Declare(_StmtNode):
    """Local declarations."""

    variables: tuple[Variable, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Evaluate(_StmtNode):
    """An expression as a statement."""

    value: Expr


@dataclass(frozen=True, eq=False, slots=True)
class If(_StmtNode):
    """`if (condition) then else other`."""

    condition: Expr
    then: Stmt
    other: Stmt | None


@dataclass(frozen=True, eq=False, slots=True)
class For(_StmtNode):
    """`for (init; condition; step) body`."""

    init: Stmt | None
    condition: Expr | None
    step: Expr | None
    body: Stmt


@dataclass(frozen=True, eq=False, slots=True)
class While(_StmtNode):
    """`while (condition) body`."""

    condition: Expr
    body: Stmt


@dataclass(frozen=True, eq=False, slots=True)
class DoWhile(_StmtNode):
    """`do body while (condition);`."""

    body: Stmt
    condition: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Return(_StmtNode):
    """`return value;`."""

    value: Expr | None


@dataclass(frozen=True, eq=False, slots=True)
class Break(_StmtNode):
    """`break;`."""


@dataclass(frozen=True, eq=False, slots=True)
class Continue(_StmtNode):
    """`continue;`."""


@dataclass(frozen=True, eq=False, slots=True)
class Empty(_StmtNode):
    """`;`."""


@dataclass(frozen=True, eq=False, slots=True)
class OpaqueStmt(_StmtNode):
    """A statement outside the tree (`goto`, inline assembly)."""

    construct: Construct


@dataclass(frozen=True, eq=False, slots=True)
class Goto(OpaqueStmt):
    """`goto target;`, to a statement with that label."""

    target: str


@dataclass(frozen=True, eq=False, slots=True)
class Section:
    """The statements at some labels of a `switch`, up to the next ones.

    Attributes:
        values: of its `case` labels; None means `default`.
        body: its statements; without a `break` the next section follows.
    """

    values: tuple[int | None, ...]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Switch(OpaqueStmt):
    """`switch (condition) { sections }`; one with labels inside inner statements is opaque."""

    condition: Expr
    sections: tuple[Section, ...]


Stmt: TypeAlias = (
    Block
    | Declare
    | Evaluate
    | If
    | For
    | While
    | DoWhile
    | Return
    | Break
    | Continue
    | Empty
    | OpaqueStmt
    | Goto
    | Switch
)


@dataclass(frozen=True, eq=False, slots=True)
class Function:
    """A function; `body` is None where the text only declares it; `internal` if it is `static`."""

    name: str
    params: tuple[Variable, ...]
    result: CType
    body: Block | None
    where: Range
    pragmas: tuple[Pragma, ...] = ()
    internal: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Unit:
    """A whole text with what it includes.

    Attributes:
        file: the name under which it was given.
        functions: by name, in the text's order; those of system headers are left out.
        variables: the global variables by name.
        structs: by name.
        sources: every file of the user's that took part, name → text.
        skipped: what the preprocessor left out: file, and the lines before and behind.
        doubled: names of functions that different files have, of which `functions` has one.
        stray: pragmas that no statement and no function has.
        expansions: the places where the user's text uses macros, outermost uses only.
    """

    file: str
    functions: dict[str, Function]
    variables: dict[str, Variable]
    structs: dict[str, Struct]
    sources: dict[str, str]
    skipped: tuple[tuple[str, int, int], ...] = ()
    doubled: frozenset[str] = frozenset()
    stray: tuple[Pragma, ...] = ()
    expansions: tuple[Range, ...] = ()

    def text(self, where: Range) -> str:
        """The text of a range in one line, white space reduced to single blanks."""
        lines = list(_lines(self.sources.get(where.file, ""))[where.line - 1 : where.end_line])
        if not lines:
            return ""
        if len(lines) == 1:
            return " ".join(lines[0][where.column - 1 : where.end_column - 1].split())
        lines[-1] = lines[-1][: where.end_column - 1]
        lines[0] = lines[0][where.column - 1 :]
        return " ".join(" ".join(lines).split())


@lru_cache(8)
def _lines(text: str) -> tuple[str, ...]:
    """The lines of a text, of which each statement asks for its own."""
    return tuple(text.splitlines())


def children(node: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside an expression, in the text's order."""
    match node:
        case Index(base=a, index=b) | Binary(left=a, right=b) | Assign(target=a, value=b):
            return (a, b)
        case Member(base=a) | Unary(operand=a) | Cast(operand=a):
            return (a,)
        case Conditional(condition=a, then=b, other=c):
            return (a, b, c)
        case Call(args=args):
            return args
        case InitList(values=values):
            return values
        case _:
            return ()


def rebuilt(node: Expr, parts: Sequence[Expr]) -> Expr:
    """The same expression with other ones in the place of its `children`."""
    if not parts:
        return node
    match node:
        case Index():
            return replace(node, base=parts[0], index=parts[1])
        case Binary():
            return replace(node, left=parts[0], right=parts[1])
        case Assign():
            return replace(node, target=parts[0], value=parts[1])
        case Member():
            return replace(node, base=parts[0])
        case Unary() | Cast():
            return replace(node, operand=parts[0])
        case Conditional():
            return replace(node, condition=parts[0], then=parts[1], other=parts[2])
        case Call():
            return replace(node, args=tuple(parts))
        case InitList():
            return replace(node, values=tuple(parts))
    return node


def walk(node: Expr) -> Iterator[Expr]:
    """An expression and everything inside it, outside in."""
    yield node
    for inner in children(node):
        yield from walk(inner)
