"""Source: C with OpenMP, compiled to multithreaded hardware (in the manner of Nymble-MT).

For example:

    program = compile_c("gemm.c", threads=8)
    print(explain(program))
    with Host(program) as host:
        native = host.run(["64"])
        outputs = interpret(program.region, native.inputs, native.scalars)
        differences(program, native.outputs, outputs)   # []
"""

from cyclescope.hls._compile import Program, compile_c, explain
from cyclescope.hls.ir._draft import Draft
from cyclescope.hls.ir._graph import Graph, Node, Op, Region, Schedule
from cyclescope.hls.ir._interpret import interpret
from cyclescope.hls.ir._print import printed
from cyclescope.hls.microarch._machine import Machine
from cyclescope.hls.passes._list import LOWERING, PASSES, Pass
from cyclescope.hls.run._compare import differences, order_matters
from cyclescope.hls.run._host import Host, Native
from cyclescope.hls.run._judges import Judge, Judgement
from cyclescope.hls.run._measure import PERIOD, START_COST, Measurement, machine_of, measure
from cyclescope.hls.run._memory_model import MemoryModel, read_memory_model
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
from cyclescope.hls.trace._core import UnitOptions
from cyclescope.hls.trace._decoder import import_dump, read_dump
from cyclescope.hls.trace._format import OnFull

__all__ = [
    "LOWERING",
    "MOST_ITERATIONS",
    "PAPERS",
    "PASSES",
    "PERIOD",
    "START_COST",
    "TRACE_LINES",
    "Cost",
    "Draft",
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
    "Pass",
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
    "printed",
    "read_dump",
    "read_memory_model",
    "shares",
]
