"""The texts of a program, for profiles that carry them: Calyx, and what generated it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.calyx._text import ProgramText

__all__ = ["source_texts"]

_SUFFIXES = frozenset({".c", ".cpp", ".fuse", ".futil", ".h", ".mlir", ".py", ".scala"})
_LARGEST = 4 << 20  # bytes of a text that is worth carrying


def source_texts(main: Path, texts: Iterable[ProgramText]) -> dict[str, str]:
    """The program's files, and of the files that its position table names those at hand.

    A program can name any file, and a profile is made to be passed on: only source files below
    the program's folder or the current one are taken.

    Returns:
        File as positions name it → its text.
    """
    result: dict[str, str] = {}
    generators: dict[str, None] = {}
    for text in texts:
        found = _read(text.path)
        if found is not None:
            result[text.name] = found
        generators.update((file, None) for file in text.generators)
    folders = list(dict.fromkeys((main.parent.resolve(), Path.cwd().resolve())))
    for file in generators:
        text_of = _beside(file, folders)
        if text_of is not None:
            result.setdefault(file, text_of)
    return result


def _beside(file: str, folders: list[Path]) -> str | None:
    for folder in folders:
        try:
            path = (folder / file).resolve()
        except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL in the name
            continue
        if path.suffix in _SUFFIXES and any(path.is_relative_to(f) for f in folders):
            found = _read(path)
            if found is not None:
                return found
    return None


def _read(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
