"""A limit for what one iteration may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.errors import SourceError
from cyclescope.hls.ir import EFFECTS
from cyclescope.hls.passes._dead_code import graphs

if TYPE_CHECKING:
    from cyclescope.hls.ir import Draft

__all__ = ["check_size"]

_MOST_EFFECTS = 4_096  # in one iteration


def check_size(draft: Draft) -> None:
    """Whether what may depend on each other is few enough to look at all pairs.

    Raises:
        SourceError: it is not; neither hardware nor its simulation would come to an end soon.
    """
    for graph in graphs(draft.region.root):
        effects = [node for node in graph.nodes if node.op in EFFECTS]
        if len(effects) > _MOST_EFFECTS:
            raise SourceError(
                f"{effects[_MOST_EFFECTS].where}: more than {_MOST_EFFECTS:,} memory accesses,"
                " loops and locks one after the other; put them into loops, or unroll less"
            )
