"""A region while passes change it, with what is known of its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.hls.ir._builder import Shared
    from cyclescope.hls.ir._graph import Array, Region

__all__ = ["Draft"]


@dataclass(slots=True)
class Draft:
    """A region on its way from the lowering to the schedule.

    Attributes:
        region: its graphs, changed in place.
        shared: what is known of their nodes.
        warnings: for people; each begins with file and line.
        undecided: memories whose contents depend on which thread is last.
        is_ordered: effects are ordered by `after` and `orders`; before, they happen one after the
            other, and fences are among them.
    """

    region: Region
    shared: Shared
    warnings: list[str] = field(default_factory=list)
    undecided: set[Array] = field(default_factory=set)
    is_ordered: bool = False
