"""The data-flow form of a region.

What lowering makes, passes change, and schedule and hardware read: a `Region` of `Graph`s of
`Node`s. A `Builder` makes nodes; a `Draft` is a region on its way through the passes. The form can
be executed (`interpret`), printed and verified.
"""

from cyclescope.hls.ir._builder import Builder, Shared, StaticSchedule, constant_of
from cyclescope.hls.ir._draft import Draft
from cyclescope.hls.ir._graph import (
    APPROXIMATE,
    EFFECTS,
    LEAVES,
    WIRING,
    Array,
    Bound,
    Carried,
    Graph,
    Limit,
    Node,
    Op,
    Order,
    Place,
    Region,
    Schedule,
    Value,
)
from cyclescope.hls.ir._interpret import Interpreter, InterpreterText, interpret
from cyclescope.hls.ir._print import printed
from cyclescope.hls.ir._semantics import bits_of, evaluate, mask, signed
from cyclescope.hls.ir._verify import Law, broken, verify

__all__ = [
    "APPROXIMATE",
    "EFFECTS",
    "LEAVES",
    "WIRING",
    "Array",
    "Bound",
    "Builder",
    "Carried",
    "Draft",
    "Graph",
    "Interpreter",
    "InterpreterText",
    "Law",
    "Limit",
    "Node",
    "Op",
    "Order",
    "Place",
    "Region",
    "Schedule",
    "Shared",
    "StaticSchedule",
    "Value",
    "bits_of",
    "broken",
    "constant_of",
    "evaluate",
    "interpret",
    "mask",
    "printed",
    "signed",
    "verify",
]
