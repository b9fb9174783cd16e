"""What the text of a line says, where the profile carries it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.model import Profile

__all__ = ["counter_of", "source_line"]

_HEAD = re.compile(r"\bfor\s*\(([^;]*);[^;]*;([^)]*)\)")
_COMMENT = re.compile(r"//.*|/\*.*?\*/")
_WORD = re.compile(r"[A-Za-z_]\w*")


def source_line(profile: Profile, file: str, line: int) -> str:
    """A line of the program without comments; empty if the profile does not carry it."""
    lines = profile.sources.get(file, "").splitlines()
    return _COMMENT.sub(" ", lines[line - 1]) if 0 < line <= len(lines) else ""


def counter_of(head: str) -> str:
    """The variable that a `for` counts, empty if the text does not show one."""
    match = _HEAD.search(head)
    names = _WORD.findall(match[2]) if match is not None else []
    return names[0] if names else ""
