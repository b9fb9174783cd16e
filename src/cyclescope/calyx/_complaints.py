"""A Calyx compiler's complaint about a program, as one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.calyx._text import ProgramText

__all__ = ["explain", "explain_printed"]

# The parser names the rules of its grammar.
_RULES = {
    "cell_without_semi": "a cell (name = type(parameters);)",
    "connections": "wires { … }",
    "cells": "cells { … }",
    "control": "control { … }",
    "stmts": "statements",
    "bitwidth": "a number",
    "num_lit": "a sized number (8'd1)",
    "bad_num": "a sized number (8'd1)",
    "semi": "a semicolon",
}

# What a reader of the compiler's message can do about it.
_HINTS = (
    ("expected", "correct the syntax here"),
    ("Undefined", "declare it or correct the name"),
    ("already bound", "rename one of the two"),
    ("outside the program's folder", ""),
    ("Import path", "correct the import or add the file"),
    ("unknown pass", ""),
    ("ombinational cycle", "break it with a register"),
    ("Unused", "use it in control or remove it"),
    ("never used", "use it in control or remove it"),
    ("ntry point", "name one component main"),
    ("Groups / Holes", "run the passes of `compile` and `lower` too"),
    ("[Papercut]", "or leave the check out with -d papercut"),
    ("stopped", "try other passes, or report it to Calyx with the program"),
)

_PARSE = re.compile(
    r"Failed to parse `([^`]*)`.*?--> (?:.*?:)?(\d+):(\d+)\n.*\n\s*= (.*)", re.DOTALL
)


def _parsed(text: str) -> tuple[str, str] | None:
    """Parse the place of a complaint and what was expected, if it is the parser's."""
    found = _PARSE.search(text)
    if found is None:
        return None
    expected = re.sub(r"\w+", lambda word: _RULES.get(word[0], word[0]), found[4])
    return f"{found[1]}:{found[2]}:{found[3]}", expected


def explain(path: Path, known: dict[str, ProgramText], message: str, file: str, offset: int) -> str:
    """The built-in compiler's complaint as one line: where, what, what to do.

    Args:
        path: the program.
        known: its files, and copies of them, by the names that the compiler knows.
        message: what it says.
        file: where, if it says so.
        offset: the byte in that file.
    """
    for copy, text in known.items():
        message = message.replace(copy, str(text.path))
    where = str(path)
    if file in known:
        text = known[file]
        position = text.positions(offset)[0]
        where = f"{text.path}:{position.line}:{position.column}"
    if parsed := _parsed(message):
        where, message = parsed
    message = " ".join(message.split())
    hint = next((h for word, h in _HINTS if word in message), "")
    return f"{where}: {message}" + (f"; {hint}" if hint else "")


def explain_printed(path: Path, text: str, compiler: Path) -> SourceError:
    """Explain as one line why another compiler refused a program: where, what."""
    where = str(path)
    said = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in said if not line.startswith("[WARN")] or said[:1]
    panic = re.search(r"panicked at [^\n]*\n([^\n]*)", text)
    if parsed := _parsed(text):
        where, lines = parsed[0], parsed[1].splitlines()
    elif panic:
        lines = [f"the compiler {compiler} stopped: {panic[1]}"]
    elif match := re.match(r"(?:Error: )?(\S*\.futil)$", lines[0]):
        where = match[1]
        place = re.match(r"(\d+)\s*\|", lines[1]) if len(lines) > 1 else None
        if place:
            where = f"{where}:{place[1]}"
        lines = [re.sub(r"^[\d\s]*\|\s*\^*\s*", "", line) for line in lines[2:]] or lines[1:]
    message = " ".join(line.removeprefix("Error: ") for line in lines)
    return SourceError(f"{where}: {message}")
