"""Edits of a source text by offsets: what they do not touch stays as it was written."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Edit", "apply_edits", "overlap"]


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """A piece of a text, and the text that replaces it.

    Attributes:
        start, end: offsets in bytes, `end` exclusive; equal where the edit only inserts.
        text: the replacement.
    """

    start: int
    end: int
    text: bytes


def overlap(edits: Iterable[Edit]) -> bool:
    """Return whether two edits change the same piece of text.

    Insertions at one place do not overlap: they come one after another, as given.
    """
    ordered = sorted(edits, key=_place)
    return any(after.start < before.end for before, after in pairwise(ordered))


def apply_edits(text: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply edits that do not overlap.

    Args:
        text: the source.
        edits: in any order; insertions at one place keep theirs.

    Raises:
        ValueError: two edits overlap, or one lies outside the text.
    """
    ordered = sorted(edits, key=_place)
    if overlap(ordered):
        raise ValueError("edits overlap")
    parts: list[bytes] = []
    at = 0
    for edit in ordered:
        if not at <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edit {edit.start}:{edit.end} lies outside the text")
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    return b"".join((*parts, text[at:]))


def _place(edit: Edit) -> tuple[int, int]:
    return edit.start, edit.end
