"""libclang, and what its Python side leaves out: operators, constants' values, initial values.

Everything here is loosely typed, since the binding is; nothing outside the package sees a cursor.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from cyclescope._stack import on_large_stack
from cyclescope.c._limits import too_much
from cyclescope.c._tree import Range
from cyclescope.errors import SourceError, ToolError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "Cursor",
    "children",
    "declarations",
    "evaluate",
    "initial_value",
    "is_system",
    "kinds",
    "operator",
    "parse",
    "skipped",
    "warnings",
]

Cursor: TypeAlias = Any

_STUBS = Path(__file__).parent / "include"
# Where this machine's C compiler has the headers that there are no stubs of.
_SYSTEM = ("/usr/include", *(f"/usr/include/{m}-linux-gnu" for m in ("x86_64", "aarch64")))

# As compilers say it that obey the directives: OpenMP 4.5.
_OPENMP = "-D_OPENMP=201511"

# CXUnaryOperatorKind (clang-c/Index.h): spelling alone does not tell x++ from ++x.
_UNARY = {
    1: "post++",
    2: "post--",
    3: "pre++",
    4: "pre--",
    5: "&",
    6: "*",
    7: "+",
    8: "-",
    9: "~",
    10: "!",
    14: "+",  # __extension__ changes nothing
}
# CXEvalResultKind
_EVAL_INT, _EVAL_FLOAT = 1, 2


class _RangeData(ctypes.Structure):
    """CXSourceRange (clang-c/CXSourceLocation.h)."""

    _fields_ = (("data", ctypes.c_void_p * 2), ("begin", ctypes.c_uint), ("end", ctypes.c_uint))


class _Ranges(ctypes.Structure):
    """CXSourceRangeList."""

    _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(_RangeData)))


@cache
def _library() -> tuple[Any, Any]:
    try:
        from clang import cindex
    except ImportError:
        raise ToolError("libclang is not installed; `pip install libclang` brings it") from None
    try:
        lib = cindex.conf.lib
    except cindex.LibclangError as error:
        reason = str(error).splitlines()[0]
        raise ToolError(f"libclang cannot be loaded: {reason}; reinstall libclang") from None
    # In our thread, whose stack suffices for deep nesting, not in one of its own, which has not.
    os.environ["LIBCLANG_NOTHREADS"] = "1"
    for name, result, arguments in (
        ("clang_getCursorBinaryOperatorKind", ctypes.c_int, [cindex.Cursor]),
        ("clang_getBinaryOperatorKindSpelling", cindex._CXString, [ctypes.c_int]),
        ("clang_getCursorUnaryOperatorKind", ctypes.c_int, [cindex.Cursor]),
        ("clang_Cursor_getVarDeclInitializer", cindex.Cursor, [cindex.Cursor]),
        ("clang_Cursor_Evaluate", ctypes.c_void_p, [cindex.Cursor]),
        ("clang_EvalResult_getKind", ctypes.c_int, [ctypes.c_void_p]),
        ("clang_EvalResult_getAsLongLong", ctypes.c_longlong, [ctypes.c_void_p]),
        ("clang_EvalResult_isUnsignedInt", ctypes.c_uint, [ctypes.c_void_p]),
        ("clang_EvalResult_getAsUnsigned", ctypes.c_ulonglong, [ctypes.c_void_p]),
        ("clang_EvalResult_getAsDouble", ctypes.c_double, [ctypes.c_void_p]),
        ("clang_EvalResult_dispose", None, [ctypes.c_void_p]),
        ("clang_getCursorPrintingPolicy", ctypes.c_void_p, [cindex.Cursor]),
        ("clang_getCursorPrettyPrinted", cindex._CXString, [cindex.Cursor, ctypes.c_void_p]),
        ("clang_PrintingPolicy_dispose", None, [ctypes.c_void_p]),
        ("clang_getAllSkippedRanges", ctypes.POINTER(_Ranges), [cindex.TranslationUnit]),
        ("clang_disposeSourceRangeList", None, [ctypes.POINTER(_Ranges)]),
    ):
        function = getattr(lib, name, None)
        if function is None:
            raise ToolError(f"libclang lacks {name}; install libclang 18 or newer")
        function.argtypes = arguments
        function.restype = result
        if result is cindex._CXString:
            function.errcheck = _string
    return cindex, lib


def _string(result: Any, function: Any, arguments: Any) -> str:
    del function, arguments
    cindex, lib = _library()
    del cindex
    text: bytes = lib.clang_getCString(result)
    return text.decode() if isinstance(text, bytes) else str(text)


def kinds() -> Any:
    """`CursorKind` and `TypeKind` of the binding, as attributes `.CursorKind` and `.TypeKind`."""
    return _library()[0]


def is_system(file: str) -> bool:
    """Return whether a header is no part of the user's text."""
    return file.startswith((str(_STUBS), "/usr/include/"))


def operator(cursor: Cursor) -> str:
    """The operator of a binary, compound-assigning or unary cursor, empty if it is none.

    Unary ones are told apart as in `cyclescope.c.Unary.op`.
    """
    cindex, lib = _library()
    if cursor.kind == cindex.CursorKind.UNARY_OPERATOR:
        return _UNARY.get(lib.clang_getCursorUnaryOperatorKind(cursor), "")
    code = lib.clang_getCursorBinaryOperatorKind(cursor)
    return str(lib.clang_getBinaryOperatorKindSpelling(code))


def evaluate(cursor: Cursor) -> int | float | None:
    """The value of a constant expression, through macros; None if it has none."""
    _, lib = _library()
    result = lib.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = lib.clang_EvalResult_getKind(result)
        if kind == _EVAL_INT:
            unsigned = lib.clang_EvalResult_isUnsignedInt(result)
            read = "Unsigned" if unsigned else "LongLong"
            return int(getattr(lib, f"clang_EvalResult_getAs{read}")(result))
        if kind == _EVAL_FLOAT:
            return float(lib.clang_EvalResult_getAsDouble(result))
        return None
    finally:
        lib.clang_EvalResult_dispose(result)


def printed(declaration: Cursor) -> str:
    """The text of a declaration as the compiler understood it, without its macros."""
    _, lib = _library()
    policy = lib.clang_getCursorPrintingPolicy(declaration)
    try:
        return str(lib.clang_getCursorPrettyPrinted(declaration, policy))
    finally:
        lib.clang_PrintingPolicy_dispose(policy)


def children(cursor: Cursor) -> list[Cursor]:
    """The cursors directly below one.

    The binding's own way calls back into Python, where an interrupt would be lost.
    """
    from cyclescope._native import child_cursors

    cindex, lib = _library()
    visit = ctypes.cast(lib.clang_visitChildren, ctypes.c_void_p).value
    found = child_cursors(visit or 0, ctypes.addressof(cursor))
    result = []
    for at in range(0, len(found), ctypes.sizeof(cindex.Cursor)):
        child = cindex.Cursor.from_buffer_copy(found, at)
        child._tu = cursor._tu
        result.append(child)
    return result


def initial_value(cursor: Cursor) -> Cursor | None:
    """The cursor of a variable's initialiser, None without one."""
    _, lib = _library()
    found = lib.clang_Cursor_getVarDeclInitializer(cursor)
    found._tu = cursor._tu
    return None if found.kind.is_invalid() else found


def skipped(unit: Any) -> list[tuple[str, int, int]]:
    """Parts that the preprocessor left out: file, line of the `#if` or `#else`, its end."""
    cindex, lib = _library()
    found = lib.clang_getAllSkippedRanges(unit)
    try:
        result = []
        for number in range(found.contents.count):
            place = cindex.SourceRange.from_buffer_copy(found.contents.ranges[number])
            if place.start.file is not None:
                result.append((place.start.file.name, place.start.line, place.end.line))
        return result
    finally:
        lib.clang_disposeSourceRangeList(found)


def parse(
    file: Path, text: str, flags: tuple[str, ...], folders: Sequence[Path] | None = None
) -> Any:
    """The translation unit of a text, parsed as GNU C11 against the stub headers.

    Only a header without a stub comes from the system.

    Args:
        file: the text's name.
        text: it.
        flags: for libclang.
        folders: besides these and the system's, no file may be included from elsewhere; None: any
            may.

    Raises:
        SourceError: the text is not C, its first error by file and line; or it includes a file from
            elsewhere.
        ToolError: libclang is missing or too old.
    """
    cindex, _ = _library()
    given = (
        str(file),
        _arguments(flags),
        [(str(file), text)],
        # Without it nothing is known of what `#if` leaves out.
        cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD,
    )

    def parsed() -> Any:
        try:
            return on_large_stack(cindex.Index.create().parse, *given)
        except cindex.TranslationUnitLoadError:
            return None

    excess = too_much(lambda: parsed() is not None)
    unit = None if excess else parsed()
    if unit is None:
        raise SourceError(
            f"{file}: takes libclang {excess or 'too much'}; look at its macros, what it includes"
            " and its largest array, and split its longest functions"
        )
    if folders is not None:
        _refuse_outside(file, unit, folders)
    for diagnostic in unit.diagnostics:
        if diagnostic.severity >= cindex.Diagnostic.Error:
            raise SourceError(_diagnostic(file, diagnostic))
    return unit


def _arguments(flags: tuple[str, ...]) -> list[str]:
    given = ["-x", "c", "-std=gnu11", "-nostdinc", "-isystem", str(_STUBS), _OPENMP]
    # As the compilers of the time took it: the host's may call what nothing declares.
    given += ["-Wno-implicit-function-declaration", *flags]
    return given + [word for folder in _SYSTEM for word in ("-idirafter", folder)]


def warnings(
    file: Path, texts: Mapping[str, str], flags: tuple[str, ...]
) -> list[tuple[str, Range, str]]:
    """The warnings of libclang about texts: the option that asks for it, where, what.

    Functions' bodies are not looked at but by the preprocessor.

    Args:
        file: the text's name.
        texts: this and others, in the place of files.
        flags: for libclang.
    """
    cindex, _ = _library()
    unsaved = [(name, text.encode("utf-8", "replace").decode()) for name, text in texts.items()]
    skip = cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES
    try:
        parse = cindex.Index.create().parse
        unit = on_large_stack(parse, str(file), _arguments(flags), unsaved, skip)
    except cindex.TranslationUnitLoadError:
        raise SourceError(f"{file}: libclang fails on its pragmas; simplify them") from None
    found = []
    for diagnostic in unit.diagnostics:
        place = diagnostic.location
        if place.file is not None and diagnostic.option:
            where = Range(place.file.name, place.line, place.column, place.line, place.column)
            found.append((diagnostic.option, where, diagnostic.spelling))
    return found


def _refuse_outside(file: Path, unit: Any, folders: Sequence[Path]) -> None:
    """Before any message quotes what is in them."""
    allowed = [folder.resolve() for folder in folders]
    allowed += [_STUBS.resolve(), *(Path(folder) for folder in _SYSTEM)]
    for inclusion in unit.get_includes():
        name = Path(inclusion.include.name)
        found = name.resolve()
        if not any(found.is_relative_to(folder) for folder in allowed):
            place = inclusion.location
            where = f"{place.file.name if place.file else file}:{place.line}"
            raise SourceError(
                f"{where}: includes {name}, which is outside the program's folder; name its folder"
                " with -I, or pass --trust"
            )


def declarations(text: str) -> list[Cursor]:
    """The declarations at the top of a preprocessed text; the compiler reports its errors."""
    cindex, _ = _library()
    unit = cindex.Index.create().parse(
        "preprocessed.c",
        args=["-x", "cpp-output", "-std=gnu11", "-ferror-limit=0", "-w"],
        unsaved_files=[("preprocessed.c", text)],
    )
    return children(unit.cursor)


def _diagnostic(file: Path, diagnostic: Any) -> str:
    place = diagnostic.location
    name = place.file.name if place.file else str(file)
    message = diagnostic.spelling
    if "file not found" in message:
        return f"{name}:{place.line}: {message}; name its folder with -I"
    return f"{name}:{place.line}: {message}"
