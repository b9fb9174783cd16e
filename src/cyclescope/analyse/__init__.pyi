# The names of the package, for type checkers and for `__init__.py`, which imports on first use.

from ._account import (
    WORK,
    Account,
    Use,
    UsesOfTracks,
    UsesOverTime,
    account,
    accounts_of_instances,
    decisive_leaves,
    uses_of_paths,
    uses_of_tracks,
    uses_over_time,
)
from ._activation_graph import ActivationGraph, activation_graph
from ._activations import Activations, Key, activations
from ._areas import BLOCK_COST, AreaRow, area_table
from ._check import Finding, Limit, check, parse_limit
from ._contents import SameResults, same_results
from ._critical import critical
from ._critical_path import Critical, CriticalFrame, PhaseWait
from ._critical_time import CriticalTime, critical_over_time
from ._curves import Curve, curves_of
from ._diff import Change, Diff, diff
from ._efficiencies import Efficiencies, efficiencies, ideal_cycles
from ._evidence import exclusive_blocks, fixed_lengths
from ._ladder import (
    NO_BOUNDS,
    NO_STATEMENT_BOUNDS,
    ThreadBounds,
    bounds_ladder,
    calyx_ladder,
    network_ladder,
    statement_bounds,
    thread_ladder,
    thread_time,
)
from ._lines import Line, line_cycles
from ._match import match_paths, plain_name
from ._names import frames_named
from ._places import places
from ._query import QUERY_TABLES, Answer, query, query_parquet
from ._rebuilt import Rebuilt
from ._source_levels import at_level, levels, located
from ._spots import Spot
from ._steps import Moves, moves, moves_over_time
from ._summary import HotPath, Summary, is_hot, summarise
from ._tables import Row, table
from ._team import Member, Roof, Team, Wait, team
from ._track_stacks import TrackUnits, track_units
from ._whatif import (
    Assumption,
    OtherLength,
    Retimed,
    Step,
    TriedLength,
    assumptions,
    best_changes,
    definition_of,
    parse_lengths,
    retimed,
)
from ._whatif_processes import Figure
from ._whatif_threads import LATENCY, START_COST, THREADS, memory_latency
from .rules import RULES, Advice, Place, Rule, advise

__all__ = [
    "BLOCK_COST",
    "LATENCY",
    "NO_BOUNDS",
    "NO_STATEMENT_BOUNDS",
    "QUERY_TABLES",
    "RULES",
    "START_COST",
    "THREADS",
    "WORK",
    "Account",
    "ActivationGraph",
    "Activations",
    "Advice",
    "Answer",
    "AreaRow",
    "Assumption",
    "Change",
    "Critical",
    "CriticalFrame",
    "CriticalTime",
    "Curve",
    "Diff",
    "Efficiencies",
    "Figure",
    "Finding",
    "HotPath",
    "Key",
    "Limit",
    "Line",
    "Member",
    "Moves",
    "OtherLength",
    "PhaseWait",
    "Place",
    "Rebuilt",
    "Retimed",
    "Roof",
    "Row",
    "Rule",
    "SameResults",
    "Spot",
    "Step",
    "Summary",
    "Team",
    "ThreadBounds",
    "TrackUnits",
    "TriedLength",
    "Use",
    "UsesOfTracks",
    "UsesOverTime",
    "Wait",
    "account",
    "accounts_of_instances",
    "activation_graph",
    "activations",
    "advise",
    "area_table",
    "assumptions",
    "at_level",
    "best_changes",
    "bounds_ladder",
    "calyx_ladder",
    "check",
    "critical",
    "critical_over_time",
    "curves_of",
    "decisive_leaves",
    "definition_of",
    "diff",
    "efficiencies",
    "exclusive_blocks",
    "fixed_lengths",
    "frames_named",
    "ideal_cycles",
    "is_hot",
    "levels",
    "line_cycles",
    "located",
    "match_paths",
    "memory_latency",
    "moves",
    "moves_over_time",
    "network_ladder",
    "parse_lengths",
    "parse_limit",
    "places",
    "plain_name",
    "query",
    "query_parquet",
    "retimed",
    "same_results",
    "statement_bounds",
    "summarise",
    "table",
    "team",
    "thread_ladder",
    "thread_time",
    "track_units",
    "uses_of_paths",
    "uses_of_tracks",
    "uses_over_time",
]
