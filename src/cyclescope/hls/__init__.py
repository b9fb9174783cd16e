"""Source: C with OpenMP, compiled to multithreaded hardware (in the manner of Nymble-MT).

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

__all__ = [
    "Graph",
    "Host",
    "Native",
    "Node",
    "Op",
    "Program",
    "Region",
    "Schedule",
    "compile_c",
    "differences",
    "explain",
    "interpret",
    "order_matters",
]
