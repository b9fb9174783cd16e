"""Cycle bounds of a C kernel, before there is any hardware.

A kernel is taken for a polyhedral process network (van Teijlingen, van Leuken, Galuzzi, Kienhuis:
Determining Performance Boundaries on High-Level System Specifications, SCOPES 2016): every
statement a process, every value a token. It runs natively, each value with the cycle from which
it can be read; that gives the cycles with one resource a statement (absolute) and with as many
as there are firings (unbounded).

    bounds = estimate("atax.c", kernel="kernel_atax")
    bounds.absolute.cycles, bounds.unbounded.cycles
    profile = profile_of(bounds, bounds.absolute)
"""

from cyclescope.bounds._calibration import (
    Calibration,
    PortRule,
    StatementRule,
    read_calibration,
    read_schedule_report,
)
from cyclescope.bounds._curve import Resources
from cyclescope.bounds._detail import Detail, Edge, PathStep, Wait
from cyclescope.bounds._estimate import Bounds, Estimate, Firings
from cyclescope.bounds._frames import call_paths, position_of, process_frame, waiting_frame
from cyclescope.bounds._function import Apply, Function, Given, Node, Number, Operand, inside
from cyclescope.bounds._levels import Level, Span, levels_of
from cyclescope.bounds._limits import Cause, Limit, LimitKind
from cyclescope.bounds._native import Call
from cyclescope.bounds._native_run import differences
from cyclescope.bounds._network import Process
from cyclescope.bounds._profile import profile_of
from cyclescope.bounds._report import report_dict, report_text, table_text
from cyclescope.bounds._run import DETAIL_LIMIT, MEMORY, estimate
from cyclescope.bounds._survey import programs_in, survey, survey_dict, survey_text
from cyclescope.bounds._technology import VIRTEX7, Technology
from cyclescope.bounds._trace import Bits, ProcessTrace, Read, trace_of

__all__ = [
    "DETAIL_LIMIT",
    "MEMORY",
    "VIRTEX7",
    "Apply",
    "Bits",
    "Bounds",
    "Calibration",
    "Call",
    "Cause",
    "Detail",
    "Edge",
    "Estimate",
    "Firings",
    "Function",
    "Given",
    "Level",
    "Limit",
    "LimitKind",
    "Node",
    "Number",
    "Operand",
    "PathStep",
    "PortRule",
    "Process",
    "ProcessTrace",
    "Read",
    "Resources",
    "Span",
    "StatementRule",
    "Technology",
    "Wait",
    "call_paths",
    "differences",
    "estimate",
    "inside",
    "levels_of",
    "position_of",
    "process_frame",
    "profile_of",
    "programs_in",
    "read_calibration",
    "read_schedule_report",
    "report_dict",
    "report_text",
    "survey",
    "survey_dict",
    "survey_text",
    "table_text",
    "trace_of",
    "waiting_frame",
]
