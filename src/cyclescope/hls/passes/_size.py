"""Limits for what one iteration, and what block RAM may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.errors import SourceError
from cyclescope.hls.ir import EFFECTS, Place
from cyclescope.hls.passes._dead_code import graphs

if TYPE_CHECKING:
    from cyclescope.hls.ir import Draft

__all__ = ["check_size"]

_MOST_EFFECTS = 4_096  # in one iteration
_MOST_BYTES = 1 << 28  # of memories on the chip, all together


def check_size(draft: Draft) -> None:
    """Refuse a region of which neither hardware nor a simulation would come to an end soon.

    Raises:
        SourceError: an iteration has too many effects, or the memories on the chip are too large.
    """
    total = 0
    for array in draft.region.arrays:
        if array.place is not Place.EXTERNAL:
            copies = draft.region.threads if array.place is Place.LOCAL else 1
            total += copies * (array.bytes or 0)
            if total > _MOST_BYTES:
                raise SourceError(
                    f"{array.where}: with {array.name} the memories on the chip have {total:,}"
                    f" bytes, all threads together; the most is {_MOST_BYTES:,}: map large arrays"
                    " from the host"
                )
    for graph in graphs(draft.region.root):
        effects = [node for node in graph.nodes if node.op in EFFECTS]
        if len(effects) > _MOST_EFFECTS:
            raise SourceError(
                f"{effects[_MOST_EFFECTS].where}: more than {_MOST_EFFECTS:,} memory accesses,"
                " loops and locks one after the other; put them into loops, or unroll less"
            )
