"""The rewrites, in the order in which they are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._stack import deep_recursion
from cyclescope.hls.rewrites._blocking import BLOCKING
from cyclescope.hls.rewrites._double_buffer import DOUBLE
from cyclescope.hls.rewrites._lanes import LANES
from cyclescope.hls.rewrites._local_copy import COPY
from cyclescope.hls.rewrites._nest import nest_of
from cyclescope.hls.rewrites._outer_sharing import OUTER
from cyclescope.hls.rewrites._privatise import PRIVATE
from cyclescope.hls.rewrites._team import SCHEDULE, TEAM
from cyclescope.hls.rewrites._vector_loads import LOADS

if TYPE_CHECKING:
    from cyclescope._rewrites import Candidate
    from cyclescope.hls.rewrites._candidates import Rewriter
    from cyclescope.hls.rewrites._kernel import Kernel

__all__ = ["REWRITERS", "candidates_of"]

REWRITERS: tuple[Rewriter, ...] = (
    OUTER, PRIVATE, LANES, COPY, BLOCKING, LOADS, DOUBLE, TEAM, SCHEDULE,
)  # fmt: skip
"""All rewrites: what takes away locks, then what makes fewer requests, then threads."""


@deep_recursion()
def candidates_of(kernel: Kernel, *, reassociate: bool = False) -> list[Candidate]:
    """The candidates of a kernel, those of each rewrite in the order of the text.

    Args:
        kernel: it.
        reassociate: also those that are equal only but for rounding.
    """
    nest = nest_of(kernel)
    return [c for one in REWRITERS for c in one.find(nest, reassociate)]
