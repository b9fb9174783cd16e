"""What the text of a line says, where the profile carries it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.model import Profile

__all__ = ["components_of", "counter_of", "is_comb_group", "source_line"]

_HEAD = re.compile(r"\bfor\s*\(([^;]*);[^;]*;([^)]*)\)")
_COMMENT = re.compile(r"//.*|/\*.*?\*/")
_CALYX_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
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


@lru_cache(maxsize=32)
def components_of(text: str) -> dict[str, str]:
    """The text of each component of a Calyx program, without comments."""
    bare = _CALYX_COMMENT.sub(" ", text)
    heads = list(re.finditer(r"\bcomponent\s+([A-Za-z_]\w*)", bare))
    ends = [*(head.start() for head in heads[1:]), len(bare)][: len(heads)]
    return {head[1]: bare[head.start() : end] for head, end in zip(heads, ends, strict=True)}


@lru_cache(maxsize=4096)
def is_comb_group(text: str, component: str, name: str) -> bool:
    """Whether a component declares a group of that name to be combinational."""
    own = components_of(text).get(component, "")
    return re.search(rf"\bcomb\s+group\s+{re.escape(name)}\b", own) is not None
