"""Changed copies of a program's files, for a compiler to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.calyx._float import float_constant
from cyclescope.calyx._syntax import (
    Attributes,
    ComponentText,
    Extern,
    GroupText,
    Statement,
    SyntaxFile,
    walk,
)
from cyclescope.calyx._syntax_print import print_syntax
from cyclescope.calyx._syntax_read import read_syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from cyclescope.calyx._text import ProgramText

__all__ = ["for_release", "plain", "write_copies"]


def write_copies(
    texts: Mapping[Path, ProgramText], folder: Path, change: Callable[[ComponentText, str], object]
) -> Path:
    """Write a program's files to a folder, each component changed; gives the main one's copy.

    Args:
        texts: the files, the main one first.
        folder: where to.
        change: told of each component and its file's name; changes it in place.

    Raises:
        SourceError: a file cannot be read as Calyx.
    """
    copies = {path.resolve(): folder / f"source{n}.futil" for n, path in enumerate(texts)}
    for path, text in texts.items():
        file = read_syntax(text.data, str(path))
        beside = path.resolve().parent
        for number, name in enumerate(file.imports):
            imported = (beside / name).resolve()
            if imported in copies:
                file.imports[number] = str(copies[imported])
            elif imported.exists():
                file.imports[number] = str(imported)
        for item in file.items:
            if isinstance(item, Extern):
                item.path = str((beside / item.path).resolve())
            elif isinstance(item, ComponentText):
                change(item, str(path))
        file.tables = []
        copies[path.resolve()].write_bytes(print_syntax(plain(file)))
    return next(iter(copies.values()))


def for_release(file: SyntaxFile) -> SyntaxFile:
    """As release 0.7.1 reads it: `plain`, constants in bits, no tables."""
    for item in plain(file).items:
        for cell in item.cells if isinstance(item, ComponentText) else ():
            if cell.type == "std_float_const":
                kind, width, number = cell.args
                bits = float_constant(int(kind), int(width), number)
                cell.type, cell.args = "std_const", [width, str(bits)]
    file.tables = []
    return file


def plain(file: SyntaxFile) -> SyntaxFile:
    """Without what no compiler reads back: sets, and marks of single passes."""
    for item in file.items:
        if isinstance(item, ComponentText):
            for attributes in _attributes(item):
                for name in [n for n, v in attributes.items() if _unread(n, v)]:
                    del attributes[name]
    return file


def _unread(name: str, value: int | tuple[int, ...]) -> bool:
    return isinstance(value, tuple) or name.upper() == name


def _attributes(component: ComponentText) -> Iterator[Attributes]:
    yield component.attributes
    yield from (port.attributes for port in (*component.inputs, *component.outputs))
    yield from (cell.attributes for cell in component.cells)
    for wire in component.wires:
        yield wire.attributes
        if isinstance(wire, GroupText):
            yield from (a.attributes for a in wire.assignments)
    statement: Statement
    for statement in walk(component.control or []):
        yield statement.attributes
