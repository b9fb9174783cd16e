"""Cycle bounds of a C kernel: absolute and unbounded, without any hardware."""

from cyclescope.bounds._calibration import (
    Calibration,
    PortRule,
    StatementRule,
    read_calibration,
    read_schedule_report,
)
from cyclescope.bounds._estimate import Bounds, Estimate, Firings
from cyclescope.bounds._run import MEMORY, estimate, prepare
from cyclescope.bounds._technology import VIRTEX7, Technology

__all__ = [
    "MEMORY",
    "VIRTEX7",
    "Bounds",
    "Calibration",
    "Estimate",
    "Firings",
    "PortRule",
    "StatementRule",
    "Technology",
    "estimate",
    "prepare",
    "read_calibration",
    "read_schedule_report",
]
