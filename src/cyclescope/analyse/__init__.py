"""What a profile means: overheads, tables of activations, the summary. One place for each."""

from cyclescope.analyse._activations import Activations, Key, activations
from cyclescope.analyse._overheads import (
    OVERHEADS,
    WORK,
    Overhead,
    design_overhead,
    instance_overheads,
    steps,
    updates,
)
from cyclescope.analyse._places import places
from cyclescope.analyse._summary import HotPath, Summary, summarise
from cyclescope.analyse._tables import Row, table

__all__ = [
    "OVERHEADS",
    "WORK",
    "Activations",
    "HotPath",
    "Key",
    "Overhead",
    "Row",
    "Summary",
    "activations",
    "design_overhead",
    "instance_overheads",
    "places",
    "steps",
    "summarise",
    "table",
    "updates",
]
