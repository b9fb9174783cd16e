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
from cyclescope.hls.front import openmp_table
from cyclescope.hls.ir import Draft, Graph, Node, Op, Region, Schedule, interpret, printed
from cyclescope.hls.microarch import Machine
from cyclescope.hls.passes import LOWERING, PASSES, Pass
from cyclescope.hls.run import (
    MOST_ITERATIONS,
    PAPERS,
    PERIOD,
    START_COST,
    TIMES,
    TRACE_LINES,
    Cost,
    Host,
    Judge,
    Judgement,
    Measurement,
    MemoryModel,
    Native,
    OverlapError,
    Reach,
    Resumed,
    Share,
    chosen_counters,
    clock_of,
    cost_of,
    differences,
    find_router,
    machine_of,
    measure,
    memory_names,
    order_matters,
    overhead,
    overhead_table,
    read_memory_model,
    shares,
)
from cyclescope.hls.trace import OnFull, UnitOptions, import_dump, read_dump

__all__ = [
    "LOWERING",
    "MOST_ITERATIONS",
    "PAPERS",
    "PASSES",
    "PERIOD",
    "START_COST",
    "TIMES",
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
    "OverlapError",
    "Pass",
    "Program",
    "Reach",
    "Region",
    "Resumed",
    "Schedule",
    "Share",
    "UnitOptions",
    "chosen_counters",
    "clock_of",
    "compile_c",
    "cost_of",
    "differences",
    "explain",
    "find_router",
    "import_dump",
    "interpret",
    "machine_of",
    "measure",
    "memory_names",
    "openmp_table",
    "order_matters",
    "overhead",
    "overhead_table",
    "printed",
    "read_dump",
    "read_memory_model",
    "shares",
]
