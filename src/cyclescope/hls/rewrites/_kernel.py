"""A C program whose target region is to be rewritten: its tree, its text, facts about both."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope._stack import deep_recursion
from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Call,
    Construct,
    Declare,
    Expr,
    Function,
    Name,
    Opaque,
    OpaqueStmt,
    Pointer,
    Return,
    Scalar,
    Stmt,
    Unary,
    Variable,
    expressions,
    fold,
    outermost,
    read_c,
    statements,
    walk,
    whole,
    without_casts,
)
from cyclescope.errors import RegionError
from cyclescope.hls.front import Constants, find_target

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from cyclescope.c import Range, Unit
    from cyclescope.hls.front import Target

__all__ = ["Kernel", "read_kernel"]

_TRIVIA = re.compile(rb"(?:\s|/\*.*?\*/|//[^\n]*(?:\n|\Z)|\\\r?\n)*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_ALIGNED = {"malloc": 16, "calloc": 16, "realloc": 16}  # bytes, as the C library has it on x86-64
_ABI = 16  # bytes: how arrays of at least as many are aligned (System V ABI for x86-64, 3.1.2)


@dataclass(frozen=True)
class Kernel:
    """A program, read.

    Attributes:
        unit: its typed tree.
        target: the region.
        text: of its file; offsets count its bytes.
        values: of the text's macros.
    """

    unit: Unit
    target: Target
    text: bytes
    values: Constants

    # Places in the text

    @cached_property
    def _lines(self) -> list[int]:
        """The offset at which each line begins."""
        return [0, *(m.end() for m in re.finditer(rb"\n", self.text))]

    def span(self, where: Range) -> tuple[int, int]:
        """The offsets of a range."""
        return (
            self._lines[where.line - 1] + where.column - 1,
            self._lines[where.end_line - 1] + where.end_column - 1,
        )

    def statement_span(self, stmt: Stmt) -> tuple[int, int]:
        """The offsets of a statement without its pragmas, its semicolon included."""
        start, end = self.span(stmt.where)
        if self.text[start:end].rstrip().endswith((b"}", b";")):
            return start, end
        trivia = _TRIVIA.match(self.text, end)
        after = trivia.end() if trivia else end
        return start, after + 1 if self.text[after : after + 1] == b";" else end

    def indent(self, offset: int) -> bytes:
        """The white space in front of the first word of a place's line."""
        line = self.text.rfind(b"\n", 0, offset) + 1
        found = re.compile(rb"[ \t]*").match(self.text, line)
        return found.group() if found else b""

    def written(self, where: Range) -> bytes:
        """The text of a range, as it is."""
        start, end = self.span(where)
        return self.text[start:end]

    def line_of(self, offset: int) -> int:
        """The line of a place, from 1."""
        return self.text.count(b"\n", 0, offset) + 1

    @cached_property
    def _expanded(self) -> list[tuple[int, int]]:
        here = self.unit.file
        return [self.span(e) for e in self.unit.expansions if e.file == here]

    def is_plain(self, where: Range) -> bool:
        """Return whether a range is the text's own: no macro makes a part of it and more."""
        if where.file != self.unit.file:
            return False
        start, end = self.span(where)
        return start < end and all(
            last <= start
            or end <= first
            or (start <= first and last <= end and (first, last) != (start, end))
            for first, last in self._expanded
        )

    def is_use(self, where: Range) -> bool:
        """Return whether a range is exactly the use of a macro."""
        return where.file == self.unit.file and self.span(where) in self._expanded

    # Names

    @cached_property
    def _taken(self) -> set[str]:
        return {word for text in self.unit.sources.values() for word in _WORD.findall(text)}

    def fresh(self, wanted: str, also: Sequence[str] = ()) -> str:
        """A name that the program's text does not contain."""
        taken = self._taken.union(also)
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}{number}"
        return name

    # Variables

    @cached_property
    def _given(self) -> dict[Variable, int]:
        """The number of times that a variable gets a value or gives its address, by variable."""
        found: dict[Variable, int] = {}
        for function in self.unit.functions.values():
            for expr in expressions(function.body):
                changed: Expr | None = None
                match expr:
                    case Assign(target=target):
                        changed = whole(target)
                    case Unary(op=op, operand=operand) if op in STEPS or op == "&":
                        changed = whole(operand)
                if isinstance(changed, Name):
                    found[changed.variable] = found.get(changed.variable, 0) + 1
        return found

    def is_fixed(self, variable: Variable) -> bool:
        """Return whether a variable has one value from its declaration on."""
        return isinstance(variable.type, Scalar) and variable not in self._given

    @cached_property
    def _calls(self) -> dict[str, list[Call]]:
        """The calls of each function, everywhere in the text."""
        found: dict[str, list[Call]] = {}
        for function in self.unit.functions.values():
            for expr in expressions(function.body):
                if isinstance(expr, Call):
                    found.setdefault(expr.function, []).append(expr)
        return found

    def _arguments(self, function: Function, param: Variable) -> list[Expr]:
        """The arguments for a parameter, of all calls; empty if they are not known.

        A program has one text, so nobody else calls; it is known if no address of a function is
        taken but to call it.
        """
        calls = self._calls.get(function.name, [])
        if "main" not in self.unit.functions or function.name == "main" or self._function_pointers:
            return []
        number = function.params.index(param)
        return [c.args[number] for c in calls] if all(len(c.args) > number for c in calls) else []

    @cached_property
    def _function_pointers(self) -> bool:
        return any(
            isinstance(e, Opaque) and e.construct is Construct.FUNCTION_POINTER
            for f in self.unit.functions.values() for e in expressions(f.body)
        ) or any(
            "*)" in str(v.type) and "(" in str(v.type)
            for f in self.unit.functions.values() for v in f.params
        )  # fmt: skip

    @cached_property
    def _home(self) -> dict[Variable, Function]:
        """The function of each parameter."""
        return {p: f for f in self.unit.functions.values() for p in f.params}

    @cached_property
    def _known(self) -> dict[Variable, int | None]:
        return {}

    def constant(self, variable: Variable) -> int | None:
        """The value that an integer variable always has, if it is known."""
        if variable in self._known:
            return self._known[variable]
        self._known[variable] = None  # while it is asked for: calls may go round
        if (
            isinstance(variable.type, Scalar)
            and not variable.type.is_float
            and not variable.volatile
            and self.is_fixed(variable)
        ):
            if variable.scope == "param":
                home = self._home.get(variable)
                args = self._arguments(home, variable) if home else []
                values = {self.constant_of(arg) for arg in args}
                if len(values) == 1:
                    self._known[variable] = values.pop()
            elif variable.scope != "global" or variable.internal or "main" in self.unit.functions:
                self._known[variable] = self.constant_of(variable.init)
        return self._known[variable]

    def constant_of(self, expr: Expr | None) -> int | None:
        """The value of an expression of integers, if it always has the same."""
        if expr is None:
            return None
        names: dict[str, int | float] = {}
        for variable in {e.variable for e in walk(expr) if isinstance(e, Name)}:
            value = self.constant(variable)
            if value is None or variable.name in names:
                return None
            names[variable.name] = value
        found = fold(expr, names)
        return found if isinstance(found, int) else None

    def alignment(self, expr: Expr, depth: int = 0) -> int:
        """The bytes to which an address that an expression gives is aligned, as far as is known."""
        expr = without_casts(expr)
        if depth > 8:
            return 1
        match expr:
            case Name(variable=variable) if isinstance(variable.type, Array):
                if variable.scope == "param":
                    return self._pointer_alignment(variable, depth)
                size = _size(variable.type)
                return _ABI if size is not None and size >= _ABI else 1
            case Name(variable=variable):
                return self._pointer_alignment(variable, depth)
            case Call(function="aligned_alloc", args=(first, *_)):
                value = self.constant_of(first)
                return value if value and value & (value - 1) == 0 else 1
            case Call(function=name) if name in _ALIGNED and name not in self.unit.functions:
                return _ALIGNED[name]
            case Call(function=name) if name in self.unit.functions:
                body = self.unit.functions[name].body
                ends = [s.value for s in statements(body) if isinstance(s, Return)]
                found = [self.alignment(e, depth + 1) for e in ends if e is not None]
                return min(found) if found and len(found) == len(ends) else 1
        return 1

    def _pointer_alignment(self, variable: Variable, depth: int) -> int:
        """Of a pointer variable: of all that it is ever given."""
        if any(
            isinstance(e, Unary) and (e.op in STEPS or e.op == "&")
            and isinstance(whole(e.operand), Name) and whole(e.operand).variable is variable  # type: ignore[union-attr]
            for f in self.unit.functions.values() for e in expressions(f.body)
        ):  # fmt: skip
            return 1
        given: list[Expr] = []
        if variable.scope == "param":
            home = self._home.get(variable)
            args = self._arguments(home, variable) if home else []
            if not args:
                return 1
            given += args
        elif variable.init is not None:
            given.append(variable.init)
        for function in self.unit.functions.values():
            for expr in expressions(function.body):
                if not isinstance(expr, Assign) or not isinstance(expr.target, Name):
                    continue
                if expr.target.variable is variable:
                    if expr.op != "=":
                        return 1
                    given.append(expr.value)
        return min((self.alignment(e, depth + 1) for e in given), default=1)

    # The region

    @cached_property
    def own(self) -> frozenset[Variable]:
        """The variables that the region declares."""
        return frozenset(
            v for s in statements(self.target.stmt) if isinstance(s, Declare) for v in s.variables
        )

    @cached_property
    def is_simple(self) -> bool:
        """Return whether the region's memory is what its arrays' names say.

        No pointers of its own, no calls of functions that touch memory, nothing outside the tree.
        """
        if any(isinstance(v.type, Pointer) or v.scope == "static" for v in self.own):
            return False
        if any(isinstance(s, OpaqueStmt) or s.label for s in statements(self.target.stmt)):
            return False
        if any(v.volatile for v in self.own):
            return False
        return all(self._is_simple(e) for e in outermost(self.target.stmt))

    def _is_simple(self, expr: Expr) -> bool:
        for e in walk(expr):
            if isinstance(e, Opaque) and not str(e.type).startswith("void"):
                return False
            if isinstance(e, Name) and e.variable.volatile:
                return False
            if isinstance(e, Call) and not self.is_pure(e.function):
                return False
        return True

    def is_pure(self, name: str) -> bool:
        """Return whether a function computes with its arguments alone."""
        function = self.unit.functions.get(name)
        if function is None or function.body is None:
            return name in _PURE
        if any(not isinstance(p.type, Scalar) for p in function.params):
            return False
        local = {
            v for s in statements(function.body) if isinstance(s, Declare) for v in s.variables
        }
        if any(not isinstance(v.type, Scalar) or v.scope == "static" for v in local):
            return False
        local |= set(function.params)
        if any(isinstance(s, OpaqueStmt) for s in statements(function.body)):
            return False
        return all(
            (not isinstance(e, Name) or e.variable in local)
            and not (isinstance(e, Call) and (e.function == name or not self.is_pure(e.function)))
            for e in expressions(function.body)
        )

    def edit(self, start: int, end: int, text: str | bytes) -> Edit:
        """An edit of the text."""
        return Edit(start, end, text.encode() if isinstance(text, str) else text)


_PURE = frozenset(
    f"{name}{kind}"
    for name in (
        "sqrt", "fabs", "fmin", "fmax", "floor", "ceil", "trunc", "round", "rint", "nearbyint",
        "copysign", "fdim", "exp", "log", "sin", "cos", "tanh", "pow",
    )
    for kind in ("", "f")
) | {"abs", "omp_get_thread_num", "omp_get_num_threads"}  # fmt: skip


def _size(kind: object) -> int | None:
    """The bytes of an array of scalars."""
    count = 1
    while isinstance(kind, Array):
        if kind.extent is None:
            return None
        count *= kind.extent
        kind = kind.element
    return count * kind.bits // 8 if isinstance(kind, Scalar) else None


@deep_recursion()
def read_kernel(
    file: str | os.PathLike[str],
    text: bytes,
    *,
    defines: Mapping[str, str] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    region: int | None = None,
) -> Kernel | None:
    """Read a text with a target region; None if it has none, or several of which none is chosen.

    Args:
        file: the name of the text.
        text: it.
        defines: macros: name → value.
        include: folders of headers.
        region: a line of the region, if there are several.

    Raises:
        SourceError: the text isn't C.
        ToolError: libclang is missing.
    """
    decoded = text.decode("utf-8", "surrogateescape")
    unit = read_c(file, text=decoded, defines=defines, include=include)
    try:
        target = find_target(unit, region)
    except RegionError:
        return None
    return Kernel(
        unit, target, text, Constants(unit, dict(defines or {}), tuple(map(Path, include)))
    )
