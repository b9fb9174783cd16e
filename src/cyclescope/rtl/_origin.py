"""The origins of nets: the part of a design that each belongs to, and the line of a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.model import Part

__all__ = ["Origin"]


@dataclass(frozen=True, slots=True)
class Origin:
    """The part of a design that has something made.

    Attributes:
        part: of the design.
        file, line: the line of the program; empty and 0 if it belongs to none.
    """

    part: Part
    file: str = ""
    line: int = 0
