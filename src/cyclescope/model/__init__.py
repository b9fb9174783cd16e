"""The Profile: one form for everything that measures and everything that shows.

Three research systems record the same thing. Petal has one call tree for every cycle; Nymble
writes down the states of all threads whenever one changes; cprof counts what is active at each
time. So a profile is

- a *catalog* of frames: the static things that can be active;
- *call paths*: who called whom, as a trie over frames;
- a *forest*: the distinct sets of simultaneously active call paths;
- a *schedule*: which tree held for how many cycles, from 0 to the end without a gap;
- *series*: counters over time;
- *meta*: everything else worth knowing.

Spans, flame weights and totals follow from these, each in one function of this package.
"""

from cyclescope.model._activity import Activity, Cause
from cyclescope.model._area import Area
from cyclescope.model._builder import ProfileBuilder
from cyclescope.model._clock import Clock, Part, PathStep, StepKind
from cyclescope.model._columns import TableColumn, TablePart, in_memory, table_parts, text_column
from cyclescope.model._control import CONTROL, WORK, control_register
from cyclescope.model._derive import (
    active_cycles,
    cycles_with,
    distinct,
    first_cycles,
    flat_weights,
    leaves,
    scaled_weights,
    tree_cycles,
)
from cyclescope.model._edges import Edges
from cyclescope.model._file import (
    FORMAT_VERSION,
    load,
    load_stream,
    save,
    save_stream,
    save_together,
)
from cyclescope.model._flow import Flow
from cyclescope.model._frame import Frame, Kind, Position
from cyclescope.model._laws import check_laws
from cyclescope.model._meta import Anomaly, Contents, Gap, Meta, Rung, Severity
from cyclescope.model._profile import CallPaths, Ints, Profile, Runs, Trees
from cyclescope.model._repeated import STREAM, Columns, at_changes, in_windows, lasting, values
from cyclescope.model._segments import (
    SAMPLE,
    Changes,
    Segments,
    check_rows,
    combined,
    find_anchors,
    held,
    sampled,
    segmented,
)
from cyclescope.model._sequence import in_sequence
from cyclescope.model._series import SUMMED, Bank, Series
from cyclescope.model._site import (
    SITES,
    Access,
    Barrier,
    Bound,
    CallSite,
    Cell,
    Condition,
    Edge,
    Group,
    Lock,
    Loop,
    Operation,
    Process,
    Site,
    site_from_json,
    site_to_json,
)
from cyclescope.model._spans import Spans, repeated_spans, spans
from cyclescope.model._threads import (
    ThreadStates,
    by_appearance,
    profile_of_combinations,
    profile_of_threads,
)
from cyclescope.model._together import moved, together
from cyclescope.model._window import around, between, check_window

__all__ = [
    "CONTROL",
    "FORMAT_VERSION",
    "SAMPLE",
    "SITES",
    "STREAM",
    "SUMMED",
    "WORK",
    "Access",
    "Activity",
    "Anomaly",
    "Area",
    "Bank",
    "Barrier",
    "Bound",
    "CallPaths",
    "CallSite",
    "Cause",
    "Cell",
    "Changes",
    "Clock",
    "Columns",
    "Condition",
    "Contents",
    "Edge",
    "Edges",
    "Flow",
    "Frame",
    "Gap",
    "Group",
    "Ints",
    "Kind",
    "Lock",
    "Loop",
    "Meta",
    "Operation",
    "Part",
    "PathStep",
    "Position",
    "Process",
    "Profile",
    "ProfileBuilder",
    "Rung",
    "Runs",
    "Segments",
    "Series",
    "Severity",
    "Site",
    "Spans",
    "StepKind",
    "TableColumn",
    "TablePart",
    "ThreadStates",
    "Trees",
    "active_cycles",
    "around",
    "at_changes",
    "between",
    "by_appearance",
    "check_laws",
    "check_rows",
    "check_window",
    "combined",
    "control_register",
    "cycles_with",
    "distinct",
    "find_anchors",
    "first_cycles",
    "flat_weights",
    "held",
    "in_memory",
    "in_sequence",
    "in_windows",
    "lasting",
    "leaves",
    "load",
    "load_stream",
    "moved",
    "profile_of_combinations",
    "profile_of_threads",
    "repeated_spans",
    "sampled",
    "save",
    "save_stream",
    "save_together",
    "scaled_weights",
    "segmented",
    "site_from_json",
    "site_to_json",
    "spans",
    "table_parts",
    "text_column",
    "together",
    "tree_cycles",
    "values",
]
