"""Source: C with OpenMP, compiled to multithreaded hardware (in the manner of Nymble-MT).

For example:

    program = compile_c("gemm.c", threads=8)
    print(explain(program))
    with Host(program) as host:
        native = host.run(["64"])
        outputs = interpret(program.region, native.inputs, native.scalars)
        differences(program, native.outputs, outputs)   # []
"""

from cyclescope.hls._compare import differences, order_matters
from cyclescope.hls._compile import Program, compile_c
from cyclescope.hls._explain import explain
from cyclescope.hls._host import Host, Native
from cyclescope.hls._interpret import interpret
from cyclescope.hls._ir import Graph, Node, Op, Region, Schedule
from cyclescope.hls._judges import Judge, Judgement
from cyclescope.hls._machine import Machine
from cyclescope.hls._measure import PERIOD, START_COST, Measurement, machine_of, measure
from cyclescope.hls._memory_model import MemoryModel, read_memory_model
from cyclescope.hls._overhead import (
    PAPERS,
    Cost,
    chosen_counters,
    cost_of,
    overhead,
    overhead_table,
)
from cyclescope.hls._run import TRACE_LINES
from cyclescope.hls._stamps import MOST_ITERATIONS, Share, shares
from cyclescope.hls._trace_format import OnFull
from cyclescope.hls._trace_read import import_dump, read_dump
from cyclescope.hls._unit_top import UnitOptions

__all__ = [
    "MOST_ITERATIONS",
    "PAPERS",
    "PERIOD",
    "START_COST",
    "TRACE_LINES",
    "Cost",
    "Graph",
    "Host",
    "Judge",
    "Judgement",
    "Machine",
    "Measurement",
    "MemoryModel",
    "Native",
    "Node",
    "OnFull",
    "Op",
    "Program",
    "Region",
    "Schedule",
    "Share",
    "UnitOptions",
    "chosen_counters",
    "compile_c",
    "cost_of",
    "differences",
    "explain",
    "import_dump",
    "interpret",
    "machine_of",
    "measure",
    "order_matters",
    "overhead",
    "overhead_table",
    "read_dump",
    "read_memory_model",
    "shares",
]
