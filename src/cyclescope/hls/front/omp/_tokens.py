"""Tokens of pragmas: names, brackets, lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["closing", "is_name", "split"]


def split(words: Sequence[str], at: str) -> list[tuple[str, ...]]:
    """The parts of tokens between those that are `at`, outside of all brackets."""
    parts: list[tuple[str, ...]] = []
    depth = 0
    current: list[str] = []
    for word in words:
        if word == at and depth == 0:
            parts.append(tuple(current))
            current = []
            continue
        depth += word in ("(", "[", "{")
        depth -= word in (")", "]", "}")
        current.append(word)
    return [*parts, tuple(current)]


def closing(words: Sequence[str]) -> int:
    """The index of the bracket that closes the first token; they are known to be paired."""
    depth = 0
    for position, word in enumerate(words):
        depth += word in ("(", "[", "{")
        depth -= word in (")", "]", "}")
        if depth == 0:
            return position
    return len(words)


def is_name(word: str) -> bool:
    """Return whether a token is an identifier."""
    return re.fullmatch(r"[A-Za-z_$]\w*", word) is not None
