"""Runs RTL: Verilator and a C++ compiler found, builds cached, data in, captures out.

    design = Design("main", {"main.sv": text}, capture=(CaptureModule("main", signals),),
                    memories=(Memory("mem", 32, (4,)),))
    built = build(design)
    result = run(built, data=read_data(path), cycle_limit=10**6)
    result.cycles, result.complete, result.memories, result.capture

A capture has, for every cycle, the values of chosen signals in every instance of chosen modules:
the distinct vectors of each module, the distinct combinations of them over all instances, and the
runs of equal combinations.
"""

from cyclescope.sim._build import Built, build
from cyclescope.sim._cache import LIMIT_BYTES as CACHE_BYTES
from cyclescope.sim._cache import cache_folder
from cyclescope.sim._cache import clear as clear_cache
from cyclescope.sim._cache import entries as cache_entries
from cyclescope.sim._capture import Capture, load_capture
from cyclescope.sim._confine import (
    Confine,
    Policy,
    Trust,
    calculation,
    check_confinement,
    current_trust,
    foreign_compiler,
    trusting,
    uncovered,
)
from cyclescope.sim._design import CaptureModule, Design, Harness, Memory, Signal, go_done
from cyclescope.sim._ecp5 import (
    ECP5,
    Ecp5,
    Routed,
    RoutedStep,
    find_nextpnr,
    on_ecp5,
    read_route,
    route_on_ecp5,
)
from cyclescope.sim._memory import (
    Difference,
    MemoryData,
    differences,
    memory_digest,
    read_data,
)
from cyclescope.sim._phases import phase, telling
from cyclescope.sim._probe import Layout, Place
from cyclescope.sim._process import End, Finished, Process, Reason, finish, unstartable
from cyclescope.sim._run import RunResult, StopReason, run
from cyclescope.sim._synthesis import Usage, Xc7, find_yosys, on_xc7, read_usage, synthesise
from cyclescope.sim._toolchain import Compiler, call, end_calls, find_compiler
from cyclescope.sim._vivado import read_vivado

__all__ = [
    "CACHE_BYTES",
    "ECP5",
    "Built",
    "Capture",
    "CaptureModule",
    "Compiler",
    "Confine",
    "Design",
    "Difference",
    "Ecp5",
    "End",
    "Finished",
    "Harness",
    "Layout",
    "Memory",
    "MemoryData",
    "Place",
    "Policy",
    "Process",
    "Reason",
    "Routed",
    "RoutedStep",
    "RunResult",
    "Signal",
    "StopReason",
    "Trust",
    "Usage",
    "Xc7",
    "build",
    "cache_entries",
    "cache_folder",
    "calculation",
    "call",
    "check_confinement",
    "clear_cache",
    "current_trust",
    "differences",
    "end_calls",
    "find_compiler",
    "find_nextpnr",
    "find_yosys",
    "finish",
    "foreign_compiler",
    "go_done",
    "load_capture",
    "memory_digest",
    "on_ecp5",
    "on_xc7",
    "phase",
    "read_data",
    "read_route",
    "read_usage",
    "read_vivado",
    "route_on_ecp5",
    "run",
    "synthesise",
    "telling",
    "trusting",
    "uncovered",
    "unstartable",
]
