"""From region to region, and what is known of one.

In goes the `Draft` of a lowered region; `run_passes` changes it by the passes of one list. Out
comes a region whose effects are ordered, with warnings. `Nest` and `Given` say how a region's
accesses move through memory, for those who read it later.
"""

from cyclescope.hls.passes._list import LOWERING, PASSES, Pass, run_passes
from cyclescope.hls.passes._strides import Given, Nest

__all__ = [
    "LOWERING",
    "PASSES",
    "Given",
    "Nest",
    "Pass",
    "run_passes",
]
