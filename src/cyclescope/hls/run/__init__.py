"""A program and its hardware, run: host, testbench, judges, profile.

In goes a compiled program with arguments; out comes a `Measurement`: the hardware's run, what it
differs in from native ones, and its profile.
"""

from cyclescope.hls.run._clock import clock_of, find_router, placed
from cyclescope.hls.run._compare import differences, order_matters
from cyclescope.hls.run._host import Host, Native, OverlapError, Reach, Resumed
from cyclescope.hls.run._judges import Judge, Judgement
from cyclescope.hls.run._measure import (
    PERIOD,
    START_COST,
    TIMES,
    Measurement,
    machine_of,
    measure,
)
from cyclescope.hls.run._memory_model import MemoryModel, memory_names, read_memory_model
from cyclescope.hls.run._overhead import (
    PAPERS,
    Cost,
    chosen_counters,
    cost_of,
    overhead,
    overhead_table,
)
from cyclescope.hls.run._prediction import MOST_ITERATIONS, Share, shares
from cyclescope.hls.run._simulation import TRACE_LINES

__all__ = [
    "MOST_ITERATIONS",
    "PAPERS",
    "PERIOD",
    "START_COST",
    "TIMES",
    "TRACE_LINES",
    "Cost",
    "Host",
    "Judge",
    "Judgement",
    "Measurement",
    "MemoryModel",
    "Native",
    "OverlapError",
    "Reach",
    "Resumed",
    "Share",
    "chosen_counters",
    "clock_of",
    "cost_of",
    "differences",
    "find_router",
    "machine_of",
    "measure",
    "memory_names",
    "order_matters",
    "overhead",
    "overhead_table",
    "placed",
    "read_memory_model",
    "shares",
]
