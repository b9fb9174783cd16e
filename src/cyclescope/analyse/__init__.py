"""What a profile means: overheads, tables of activations, the summary. One place for each."""

from cyclescope.analyse._activations import Activations, Key, activations
from cyclescope.analyse._check import Finding, Limit, check, parse_limit
from cyclescope.analyse._classes import CycleClasses, cycle_classes
from cyclescope.analyse._diff import Change, Diff, Spot, diff
from cyclescope.analyse._lines import Line, line_cycles
from cyclescope.analyse._match import match_paths, plain_name
from cyclescope.analyse._overheads import (
    OVERHEADS,
    WORK,
    Overhead,
    design_overhead,
    instance_overheads,
)
from cyclescope.analyse._places import places
from cyclescope.analyse._source_levels import at_level, levels
from cyclescope.analyse._steps import updates
from cyclescope.analyse._summary import HotPath, Summary, summarise
from cyclescope.analyse._tables import Row, table

__all__ = [
    "OVERHEADS",
    "WORK",
    "Activations",
    "Change",
    "CycleClasses",
    "Diff",
    "Finding",
    "HotPath",
    "Key",
    "Limit",
    "Line",
    "Overhead",
    "Row",
    "Spot",
    "Summary",
    "activations",
    "at_level",
    "check",
    "cycle_classes",
    "design_overhead",
    "diff",
    "instance_overheads",
    "levels",
    "line_cycles",
    "match_paths",
    "parse_limit",
    "places",
    "plain_name",
    "summarise",
    "table",
    "updates",
]
