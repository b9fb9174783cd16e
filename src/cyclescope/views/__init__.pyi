# The names of the package, for type checkers and for `__init__.py`, which imports on first use.

from ._advise import advice_json, advice_markdown, advice_text, place_record
from ._area import area_svg, area_view
from ._check import check_json, check_junit, check_markdown, check_text
from ._clock import clock_text, clock_view
from ._compare import comparison
from ._critical import best_changes_view, critical_view, phase_waits_view, retimed_view
from ._curve import CurvePoint, curve_svg
from ._design_space import DesignSpace, design_space_svg
from ._diff import DIFF_FORMATS, diff_json, diff_markdown, diff_text
from ._diffgraph import diff_flamegraph
from ._diffpage import diff_html
from ._export import EXPORT_FORMATS, EXPORT_TABLES, export_table, write_table
from ._flamegraph import flamegraph
from ._folded import folded
from ._ladder import GAP_CLASSES, ladder_json, ladder_markdown, ladder_svg, ladder_text
from ._lines import lines_view, print_source, source_svg, source_text
from ._network import NetworkEdge, NetworkNode, network_svg
from ._notebook import advice_html, summary_html
from ._paraver import write_paraver
from ._paraver_side import paraver_companions
from ._pareto import ParetoPoint, pareto_svg
from ._query import answer_view
from ._report import EMBED, write_report
from ._speedscope import SPEEDSCOPE_RUNS, speedscope
from ._still import timeline_svg
from ._summary import print_summary, summary_json, summary_text
from ._table import TABLE_FORMATS, table_view
from ._team import efficiencies_view, team_view, waits_view
from ._timeline import write_timeline
from ._vcd import write_vcd

__all__ = [
    "DIFF_FORMATS",
    "EMBED",
    "EXPORT_FORMATS",
    "EXPORT_TABLES",
    "GAP_CLASSES",
    "SPEEDSCOPE_RUNS",
    "TABLE_FORMATS",
    "CurvePoint",
    "DesignSpace",
    "NetworkEdge",
    "NetworkNode",
    "ParetoPoint",
    "advice_html",
    "advice_json",
    "advice_markdown",
    "advice_text",
    "answer_view",
    "area_svg",
    "area_view",
    "best_changes_view",
    "check_json",
    "check_junit",
    "check_markdown",
    "check_text",
    "clock_text",
    "clock_view",
    "comparison",
    "critical_view",
    "curve_svg",
    "design_space_svg",
    "diff_flamegraph",
    "diff_html",
    "diff_json",
    "diff_markdown",
    "diff_text",
    "efficiencies_view",
    "export_table",
    "flamegraph",
    "folded",
    "ladder_json",
    "ladder_markdown",
    "ladder_svg",
    "ladder_text",
    "lines_view",
    "network_svg",
    "paraver_companions",
    "pareto_svg",
    "phase_waits_view",
    "place_record",
    "print_source",
    "print_summary",
    "retimed_view",
    "source_svg",
    "source_text",
    "speedscope",
    "summary_html",
    "summary_json",
    "summary_text",
    "table_view",
    "team_view",
    "timeline_svg",
    "waits_view",
    "write_paraver",
    "write_report",
    "write_table",
    "write_timeline",
    "write_vcd",
]
