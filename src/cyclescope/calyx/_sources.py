"""The texts of a program, for profiles that carry them: Calyx, and what generated it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._files import read_source, source_below

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.calyx._text import ProgramText

__all__ = ["source_texts"]


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
        found = read_source(text.path)
        if found is not None:
            result[text.name] = found
        generators.update((file, None) for file in text.generators)
    folders = list(dict.fromkeys((main.parent.resolve(), Path.cwd().resolve())))
    for file in generators:
        text_of = source_below(file, folders)
        if text_of is not None:
            result.setdefault(file, text_of)
    return result
