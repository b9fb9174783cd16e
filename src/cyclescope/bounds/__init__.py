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
from cyclescope.bounds._levels import Level, Span, levels_of
from cyclescope.bounds._limits import Cause, Limit, LimitKind
from cyclescope.bounds._native import Call
from cyclescope.bounds._native_run import differences
from cyclescope.bounds._profile import profile_of
from cyclescope.bounds._report import report_dict, report_text
from cyclescope.bounds._run import DETAIL_LIMIT, MEMORY, estimate
from cyclescope.bounds._survey import programs_in, survey, survey_dict, survey_text
from cyclescope.bounds._technology import VIRTEX7, Technology

__all__ = [
    "DETAIL_LIMIT",
    "MEMORY",
    "VIRTEX7",
    "Bounds",
    "Calibration",
    "Call",
    "Cause",
    "Detail",
    "Edge",
    "Estimate",
    "Firings",
    "Level",
    "Limit",
    "LimitKind",
    "PathStep",
    "PortRule",
    "Resources",
    "Span",
    "StatementRule",
    "Technology",
    "Wait",
    "differences",
    "estimate",
    "levels_of",
    "profile_of",
    "programs_in",
    "read_calibration",
    "read_schedule_report",
    "report_dict",
    "report_text",
    "survey",
    "survey_dict",
    "survey_text",
]
