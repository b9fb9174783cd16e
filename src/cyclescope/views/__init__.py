"""Views: one format or picture, one module. They read a Profile and know nothing of its source.

Each function takes a profile and returns text or bytes, or writes to a stream. Nothing here
opens a file, and nothing varies between two calls.
"""

from cyclescope.views._check import check_json, check_junit, check_markdown, check_text
from cyclescope.views._compare import comparison
from cyclescope.views._diff import DIFF_FORMATS, diff_json, diff_markdown, diff_text
from cyclescope.views._diffgraph import diff_flamegraph
from cyclescope.views._diffpage import diff_html
from cyclescope.views._export import EXPORT_FORMATS, EXPORT_TABLES, export_table
from cyclescope.views._flamegraph import flamegraph
from cyclescope.views._folded import Folded, folded
from cyclescope.views._lines import lines_view, print_source, source_svg, source_text
from cyclescope.views._network import NetworkEdge, NetworkNode, network_svg
from cyclescope.views._paraver import write_paraver
from cyclescope.views._paraver_side import paraver_companions
from cyclescope.views._report import EMBED, write_report
from cyclescope.views._speedscope import SPEEDSCOPE_RUNS, speedscope
from cyclescope.views._still import timeline_svg
from cyclescope.views._summary import print_summary, summary_json, summary_text
from cyclescope.views._table import TABLE_FORMATS, table_view
from cyclescope.views._timeline import write_timeline
from cyclescope.views._vcd import write_vcd

__all__ = [
    "DIFF_FORMATS",
    "EMBED",
    "EXPORT_FORMATS",
    "EXPORT_TABLES",
    "SPEEDSCOPE_RUNS",
    "TABLE_FORMATS",
    "Folded",
    "NetworkEdge",
    "NetworkNode",
    "check_json",
    "check_junit",
    "check_markdown",
    "check_text",
    "comparison",
    "diff_flamegraph",
    "diff_html",
    "diff_json",
    "diff_markdown",
    "diff_text",
    "export_table",
    "flamegraph",
    "folded",
    "lines_view",
    "network_svg",
    "paraver_companions",
    "print_source",
    "print_summary",
    "source_svg",
    "source_text",
    "speedscope",
    "summary_json",
    "summary_text",
    "table_view",
    "timeline_svg",
    "write_paraver",
    "write_report",
    "write_timeline",
    "write_vcd",
]
