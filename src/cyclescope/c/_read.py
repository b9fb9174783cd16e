"""Read a C file: functions, statements, pragmas."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._files import read_text
from cyclescope._stack import deep_recursion
from cyclescope.c import _clang
from cyclescope.c._build import ExprBuilder
from cyclescope.c._depth import DEEPEST, MOST_STATEMENTS
from cyclescope.c._for_heads import ForHeads
from cyclescope.c._pragmas import Pragmas, find_pragmas
from cyclescope.c._refused import Construct
from cyclescope.c._tree import (
    Block,
    Break,
    Continue,
    Declare,
    DoWhile,
    Empty,
    Evaluate,
    Expr,
    For,
    Function,
    Goto,
    If,
    OpaqueStmt,
    Pragma,
    Return,
    Section,
    Stmt,
    Switch,
    Unit,
    Variable,
    While,
)
from cyclescope.errors import SourceError
from cyclescope.sim import current_trust

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from cyclescope.c._clang import Cursor
    from cyclescope.c._pragmas import Place
    from cyclescope.c._tree import Range

__all__ = ["read_c"]

_MOST_CASES = 256  # that a range may stand for: each becomes a comparison

_CONSTRUCTS = {
    **dict.fromkeys(("SWITCH_STMT", "CASE_STMT", "DEFAULT_STMT"), Construct.SWITCH),
    **dict.fromkeys(("ASM_STMT", "GCC_ASM_STMT", "MS_ASM_STMT"), Construct.ASSEMBLY),
}


def read_c(
    file: str | os.PathLike[str],
    *,
    text: str | None = None,
    defines: Mapping[str, str] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    externals: dict[str, Variable] | None = None,
) -> Unit:
    """Read a C file into its typed tree.

    Args:
        file: its path, and the name that messages give it.
        text: its text, if it isn't the file's own.
        defines: macros (`-D`): name → value.
        include: folders to look for headers in (`-I`), after the file's own.
        externals: globals that the program's other files name, by name; what this one names is
            added.

    Raises:
        SourceError: the file cannot be read, isn't C, or includes one from outside its folder and
            the folders to look in, and is not trusted.
        ToolError: libclang is missing.
    """
    path = Path(file)
    if text is None:
        try:
            text = read_text(path, errors="surrogateescape")
        except FileNotFoundError:
            raise SourceError(f"{path}: no such file") from None
        except OSError as error:
            raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from error
    if "\0" in text:
        raise SourceError(f"{path}: contains zero bytes; give a C text")
    flags = [f"-D{name}={value}" for name, value in (defines or {}).items()]
    flags += [f"-I{folder}" for folder in include]
    folders = [path.parent, *map(Path, include)] if current_trust().refuse else None
    unit = _clang.parse(path, text.encode("utf-8", "replace").decode(), tuple(flags), folders)
    with deep_recursion():
        return _Reader(path, text, unit, externals, tuple(flags)).unit()


class _Reader:
    def __init__(
        self,
        path: Path,
        text: str,
        unit: Cursor,
        externals: dict[str, Variable] | None,
        flags: tuple[str, ...],
    ) -> None:
        self._path = path
        self._unit = unit
        self._sources = {str(path): text}
        for inclusion in unit.get_includes():
            name = inclusion.include.name
            if name not in self._sources and not _clang.is_system(name):
                self._sources[name] = read_text(Path(name), errors="replace")
        self._skipped = tuple(r for r in _clang.skipped(unit) if r[0] in self._sources)
        self._pragmas = Pragmas(find_pragmas(self._sources, path, flags, self._skipped))
        self._build = ExprBuilder(externals)
        self._nesting = self._statements = 0

    _heads: ForHeads  # of the function under way

    def unit(self) -> Unit:
        functions: dict[str, Function] = {}
        variables: dict[str, Variable] = {}
        last: dict[str, Place] = {}
        expansions: list[Range] = []
        for cursor in _clang.children(self._unit.cursor):
            file = cursor.location.file
            if file is None or file.name not in self._sources:
                continue
            if cursor.kind.is_preprocessing():
                if cursor.kind.name == "MACRO_INSTANTIATION":
                    expansions.append(self._build.where(cursor))
                continue
            kind = cursor.kind.name
            where = self._build.where(cursor)
            if kind == "VAR_DECL":
                variables[cursor.spelling] = self._build.variable(cursor, "global")
            elif kind == "FUNCTION_DECL":
                pragmas = self._pragmas.take(where.file, last.get(where.file, (1, 1)), where.start)
                function = self._function(cursor, pragmas)
                known = functions.get(function.name)
                if known is not None:
                    # What is in front of one declaration is said of the function.
                    here = function if known.body is None else known
                    both = (*known.pragmas, *function.pragmas)
                    function = dataclasses.replace(here, pragmas=both)
                functions[function.name] = function
            last[where.file] = where.end
        return Unit(
            str(self._path),
            functions,
            variables,
            self._build.structs,
            self._sources,
            self._skipped,
            stray=self._pragmas.left(),
            expansions=tuple(expansions),
        )

    def _function(self, cursor: Cursor, pragmas: tuple[Pragma, ...]) -> Function:
        self._heads = ForHeads(cursor)
        params = tuple(self._build.variable(p, "param") for p in cursor.get_arguments())
        body = next((c for c in _clang.children(cursor) if c.kind.name == "COMPOUND_STMT"), None)
        return Function(
            name=cursor.spelling,
            params=params,
            result=self._build.type(cursor.result_type),
            body=self._block(body, pragmas=(), label="") if body is not None else None,
            where=self._build.where(cursor),
            pragmas=pragmas,
            internal=cursor.storage_class.name == "STATIC",
        )

    def _block(self, cursor: Cursor, *, pragmas: tuple[Pragma, ...], label: str) -> Block:
        where = self._build.where(cursor)
        body: list[Stmt] = []
        at = where.start
        for inner in map(_bare, _clang.children(cursor)):
            place = self._build.where(inner)
            own = self._pragmas.take(where.file, at, place.start)
            body.append(self._stmt(inner, pragmas=own))
            at = place.end
        trailing = self._pragmas.take(where.file, at, where.end)
        return Block(where, tuple(body), trailing, pragmas=pragmas, label=label)

    def _stmt(self, cursor: Cursor, *, pragmas: tuple[Pragma, ...] = (), label: str = "") -> Stmt:
        cursor = _bare(cursor)
        self._nesting += 1
        if self._nesting > DEEPEST:
            raise SourceError(f"{self._build.where(cursor)}: nested too deeply; split this block")
        self._statements += 1
        if self._statements > MOST_STATEMENTS:
            raise SourceError(
                f"{self._build.where(cursor)}: more than {MOST_STATEMENTS:,} statements in a file;"
                " put them into loops"
            )
        result = self._built(cursor, pragmas, label)
        self._nesting -= 1
        return result

    def _body(self, cursor: Cursor, after: Place) -> Stmt:
        """An arm or a loop's body, with the pragmas between `after` and it."""
        where = self._build.where(_bare(cursor))
        return self._stmt(cursor, pragmas=self._pragmas.take(where.file, after, where.start))

    def _built(self, cursor: Cursor, pragmas: tuple[Pragma, ...], label: str) -> Stmt:
        where = self._build.where(cursor)
        expr = self._build.expr
        inner = _clang.children(cursor)
        kind = cursor.kind.name
        match kind:
            case "COMPOUND_STMT":
                return self._block(cursor, pragmas=pragmas, label=label)
            case "DECL_STMT":
                declared = [
                    (c.storage_class.name, self._build.variable(c, _scope(c)))
                    for c in inner
                    if c.kind.name == "VAR_DECL"
                ]
                # `extern` names a variable that is elsewhere.
                variables = tuple(v for storage, v in declared if storage != "EXTERN")
                return Declare(where, variables, pragmas=pragmas, label=label)
            case "IF_STMT":
                condition, then = expr(inner[0]), self._body(inner[1], where.start)
                other = self._body(inner[2], then.where.end) if len(inner) > 2 else None
                return If(where, condition, then, other, pragmas=pragmas, label=label)
            case "FOR_STMT":
                return self._for(cursor, inner, pragmas, label)
            case "WHILE_STMT":
                condition, then = expr(inner[0]), self._body(inner[1], where.start)
                return While(where, condition, then, pragmas=pragmas, label=label)
            case "DO_STMT":
                then, condition = self._body(inner[0], where.start), expr(inner[1])
                return DoWhile(where, then, condition, pragmas=pragmas, label=label)
            case "SWITCH_STMT" if inner[-1].kind.name == "COMPOUND_STMT":
                sections = self._sections(inner[-1])
                if sections is not None:
                    test = expr(inner[0])
                    return Switch(
                        where, Construct.SWITCH, test, sections, pragmas=pragmas, label=label
                    )
            case "RETURN_STMT":
                value = expr(inner[0]) if inner else None
                return Return(where, value, pragmas=pragmas, label=label)
            case "BREAK_STMT":
                return Break(where, pragmas=pragmas, label=label)
            case "CONTINUE_STMT":
                return Continue(where, pragmas=pragmas, label=label)
            case "GOTO_STMT" if inner:
                return Goto(where, Construct.GOTO, inner[0].spelling, pragmas=pragmas, label=label)
            case "NULL_STMT":
                return Empty(where, pragmas=pragmas, label=label)
            case "LABEL_STMT":
                return self._stmt(inner[0], pragmas=pragmas, label=cursor.spelling)
        if cursor.kind.is_expression():
            return Evaluate(where, expr(cursor), pragmas=pragmas, label=label)
        construct = _CONSTRUCTS.get(kind, Construct.OTHER)
        return OpaqueStmt(where, construct, pragmas=pragmas, label=label)

    def _sections(self, cursor: Cursor) -> tuple[Section, ...] | None:
        """The sections of a switch's block; None if it isn't made of them alone."""
        sections: list[tuple[list[int | None], list[Stmt]]] = []
        at = self._build.where(cursor).start
        for given in map(_bare, _clang.children(cursor)):
            inner = given
            values: list[int | None] = []
            labelled = False
            while inner.kind.name in ("CASE_STMT", "DEFAULT_STMT"):
                *label, inner = _clang.children(inner)
                numbers = _case(label)
                if numbers is None:
                    return None
                values += numbers
                labelled = True
            if labelled:
                sections.append((values, []))
            if not sections:
                return None
            inner = _bare(inner)
            place = self._build.where(inner)
            own = self._pragmas.take(place.file, at, place.start)
            sections[-1][1].append(self._stmt(inner, pragmas=own))
            at = place.end
        return tuple(Section(tuple(values), tuple(body)) for values, body in sections)

    def _for(
        self, cursor: Cursor, inner: list[Cursor], pragmas: tuple[Pragma, ...], label: str
    ) -> Stmt:
        where = self._build.where(cursor)
        parts = self._heads.parts(cursor, inner[:-1])
        if parts is None:
            return OpaqueStmt(where, Construct.OTHER, pragmas=pragmas, label=label)
        init, condition, step = parts
        build = self._build.expr
        first = self._stmt(init) if init is not None else None
        test: Expr | None = build(condition) if condition is not None else None
        after: Expr | None = build(step) if step is not None else None
        body = self._body(inner[-1], where.start)
        return For(where, first, test, after, body, pragmas=pragmas, label=label)


def _case(label: list[Cursor]) -> list[int] | list[None] | None:
    """The values of a case, several of GNU's `first ... last`; None if there are too many."""
    if not label:
        return [None]
    ends = [_clang.evaluate(end) for end in label]
    first, last = ends[0], ends[-1]
    if not isinstance(first, int) or not isinstance(last, int) or last - first >= _MOST_CASES:
        return None
    return list(range(first, last + 1))


def _scope(cursor: Cursor) -> str:
    """The scope of a variable that a block declares."""
    return {"STATIC": "static", "EXTERN": "global"}.get(cursor.storage_class.name, "local")


def _bare(cursor: Cursor) -> Cursor:
    """The statement inside what clang makes of a loop hint (`#pragma unroll`)."""
    while cursor.kind.name == "UNEXPOSED_STMT":
        inner = [c for c in _clang.children(cursor) if c.kind.is_statement()]
        if len(inner) != 1:
            break
        cursor = inner[0]
    return cursor
