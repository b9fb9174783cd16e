"""The profiling unit: what it records, in hardware and when read.

In goes a region with its schedules, and how the profiling unit is to be built; out comes a
`ProfiledMachine` with the `TraceLayout` of what it writes, by which `read_dump` makes a profile of
a dump. `Sites` and the causes of waiting are what profiles of a machine speak of, with a profiling
unit or without.
"""

from cyclescope.hls.trace._core import UnitOptions, build_profiled, layout_of
from cyclescope.hls.trace._decoder import import_dump, read_dump
from cyclescope.hls.trace._format import OnFull, TraceLayout
from cyclescope.hls.trace._sites import LoopCounts, Sites, holding, position_of
from cyclescope.hls.trace._states import STATES, state_frame, thread_frame
from cyclescope.hls.trace._waits import (
    CAUSES,
    LOST,
    asks,
    cause_of,
    loses,
    meaning_of,
    place_of,
    stalls,
)

__all__ = [
    "CAUSES",
    "LOST",
    "STATES",
    "LoopCounts",
    "OnFull",
    "Sites",
    "TraceLayout",
    "UnitOptions",
    "asks",
    "build_profiled",
    "cause_of",
    "holding",
    "import_dump",
    "layout_of",
    "loses",
    "meaning_of",
    "place_of",
    "position_of",
    "read_dump",
    "stalls",
    "state_frame",
    "thread_frame",
]
