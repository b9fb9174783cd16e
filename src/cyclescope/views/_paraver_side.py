"""The files beside a .prv: names and colours (.pcf), rows (.row), and ready views (.cfg)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope import _prv
from cyclescope.views._paraver_plan import ACTIVITY, EventType, Plan, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.model import Profile

__all__ = ["paraver_companions"]

# Paper, figure 2: idle black, running green, critical blue, spinning red; then what is left.
_COLOURS = (
    (0, 0, 0),
    (0, 255, 0),
    (0, 0, 255),
    (255, 0, 0),
    (255, 145, 0),
    (255, 255, 0),
    (235, 0, 235),
    (0, 255, 255),
    (179, 179, 179),
    (172, 101, 29),
    (131, 223, 255),
    (255, 178, 178),
)
_MOST_WINDOWS = 8  # in one .cfg: Paraver opens all of them at once
_GIGA = {"B": "GB/s", "FLOP": "GFLOP/s"}  # one in a nanosecond
_RATE = "Avg Next Evt Val"  # a value divided by the time since the event before
_LEVEL = "Last Evt Val"


def paraver_companions(profile: Profile, *, period_ps: int | None = None) -> dict[str, str]:
    """The text files that belong beside a .prv, by the ending that takes the place of `.prv`.

    Args:
        profile: what is shown.
        period_ps: as for the .prv; says what rates are in.

    Returns:
        `.pcf`, `.row`; `.states.cfg` and `.histogram.cfg`; `.activity.cfg` where parts of rows
        are known; and for each metric one more, with its level or rate by row and in total (the
        first few counters of a metric only).
    """
    shown = plan(profile)
    files = {".pcf": _pcf(shown), ".row": _row(shown)}
    states = _window(1, "States", "State As Is", ())
    files[".states.cfg"] = _cfg([states])
    files[".histogram.cfg"] = _cfg([states], histogram=_histogram(len(shown.states)))
    if shown.activity.any():
        files[".activity.cfg"] = _cfg([_window(1, "Active part", _LEVEL, (ACTIVITY,), coded=True)])
    by_metric: dict[str, list[EventType]] = {}
    for kind in shown.types[1:]:
        by_metric.setdefault(kind.metric, []).append(kind)
    for metric, kinds in by_metric.items():
        name = "".join(c if c.isascii() and c.isalnum() else "_" for c in metric) or "counters"
        ending = f".{name}.cfg"
        while ending in files:
            ending = f".{name}_{len(files)}.cfg"
        files[ending] = _cfg(_metric_windows(kinds, period_ps))
    return files


def _metric_windows(kinds: Sequence[EventType], period_ps: int | None) -> list[str]:
    """Each counter of a metric by row, and what is summed over the whole design too."""
    windows: list[str] = []
    for kind in kinds:
        if not kind.summed:
            number, coded = len(windows) + 1, bool(kind.values)
            windows.append(_window(number, kind.label, _LEVEL, (kind.number,), coded=coded))
            continue
        per = "cycle" if period_ps is None else "ns"
        name = f"{kind.label} per {per}"
        if kind.unit in _GIGA and period_ps is not None:
            name = f"{kind.label.removesuffix(f' ({kind.unit})')}, {_GIGA[kind.unit]}"
        windows.append(_window(len(windows) + 1, name, _RATE, (kind.number,)))
        total = _window(len(windows) + 1, f"{name}, total", _RATE, (kind.number,), "workload")
        windows.append(total)
    return windows[:_MOST_WINDOWS]


def _pcf(shown: Plan) -> str:
    lines = [
        "DEFAULT_OPTIONS",
        "",
        *("LEVEL               THREAD", "UNITS               NANOSEC", "LOOK_BACK           100"),
        *("SPEED               1", "FLAG_ICONS          ENABLED"),
        f"NUM_OF_STATE_COLORS {len(shown.states)}",
        "YMAX_SCALE          37",
        "",
        "DEFAULT_SEMANTIC",
        "",
        "THREAD_FUNC         State As Is",
        "",
        *_prv.states(shown.states, map(_colour, range(len(shown.states)))),
    ]
    for kind in shown.types:
        own = _prv.Kind(kind.name, kind.metric, kind.unit)
        lines += ["", *_prv.event_type(kind.number, kind.label, own, kind.values)]
    return "\n".join(lines) + "\n"


def _colour(state: int) -> tuple[int, int, int]:
    """A state's colour: beyond those listed the same again, ever darker, and never idle's black."""
    again, place = divmod(state - 1, len(_COLOURS) - 1)
    if state == 0:
        return _COLOURS[0]
    red, green, blue = _COLOURS[place + 1]
    part = 2 + again % 6
    return (red * 2 // part, green * 2 // part, blue * 2 // part)


def _row(shown: Plan) -> str:
    labels = [*shown.rows, *shown.tracks]
    tasks = ["design"] * bool(shown.rows) + ["counters"] * bool(shown.tracks)
    levels = (("CPU", labels), ("NODE", ["accelerator"]), ("THREAD", labels), ("TASK", tasks),
              ("APPL", ["accelerator"]))  # fmt: skip
    return "\n".join(_prv.rows(name, labels) for name, labels in levels)


def _cfg(windows: Sequence[str], histogram: str = "") -> str:
    head = f"#ParaverCFG\nConfigFile.Version: 3.4\nConfigFile.NumWindows: {len(windows)}\n"
    return "\n\n".join((head, *windows, *([histogram] if histogram else []))) + "\n"


def _window(
    number: int,
    name: str,
    function: str,
    types: Sequence[int],
    level: str = "thread",
    *,
    coded: bool = False,
) -> str:
    """A timeline. Rates are drawn over the time to which they belong, whatever the zoom.

    Quantities have a colour gradient; states, and values that are `coded`, a colour each.
    """
    state = not types
    functions = {
        "cpu": "Active Thd", "appl": "Adding", "task": "Adding", "thread": function,
        "node": "Adding", "system": "Adding", "workload": "Adding", "from_obj": "All",
        "to_obj": "All", "tag_msg": "All", "size_msg": "All", "bw_msg": "All",
        "evt_type": "All" if state else "=", "evt_value": "All",
    }  # fmt: skip
    composed = ("compose_cpu", "compose_appl", "compose_task", "compose_thread", "compose_node",
                "compose_system", "compose_workload", "topcompose1", "topcompose2")  # fmt: skip
    chosen = ", ".join(f"{{{key}, {value}}}" for key, value in functions.items())
    unchanged = ", ".join(f"{{{key}, As Is}}" for key in composed)
    gradient = not state and not coded
    lines = [
        "################################################################################",
        f"< NEW DISPLAYING WINDOW {name} >",
        "################################################################################",
        f"window_name {name}",
        "window_type single",
        f"window_id {number}",
        f"window_position_x {80 + 20 * number}",
        f"window_position_y {80 + 140 * ((number - 1) % 5)}",
        "window_width 800",
        "window_height 160",
        "window_comm_lines_enabled false",
        "window_flags_enabled false",
        f"window_noncolor_mode {'false' if gradient else 'true'}",
        *(["window_color_mode window_in_gradient_mode"] if gradient else []),
        "window_logical_filtered true",
        "window_physical_filtered false",
        "window_comm_fromto true",
        "window_comm_tagsize true",
        "window_comm_typeval true",
        "window_units Nanoseconds",
        "window_maximum_y 1.000000000000",
        "window_minimum_y 0.000000000000",
        "window_compute_y_max true",
        f"window_level {level}",
        "window_scale_relative 1.000000000000",
        "window_end_time_relative 1.000000000000",
        "window_object appl { 1, { All } }",
        "window_begin_time_relative 0.000000000000",
        "window_open true",
        f"window_drawmode {'draw_maximum' if gradient else 'draw_randnotzero'}",
        f"window_drawmode_rows {'draw_maximum' if gradient else 'draw_randnotzero'}",
        "window_pixel_size 1",
        "window_labels_to_draw 1",
        f"window_selected_functions {{ 14, {{ {chosen} }} }}",
        f"window_compose_functions {{ 9, {{ {unchanged} }} }}",
    ]
    if types:
        numbers = " ".join(map(str, types))
        lines.append(f"window_filter_module evt_type {len(types)} {numbers}")
    return "\n".join(lines)


def _histogram(states: int) -> str:
    """Share of time in each state, by row."""
    return "\n".join(
        [
            "< NEW ANALYZER2D >",
            "Analyzer2D.Name: Share of time in each state",
            "Analyzer2D.X: 120",
            "Analyzer2D.Y: 320",
            "Analyzer2D.Width: 800",
            "Analyzer2D.Height: 300",
            "Analyzer2D.ControlWindow: 1",
            "Analyzer2D.DataWindow: 1",
            "Analyzer2D.Accumulator: Semantic",
            "Analyzer2D.Statistic: % Time",
            "Analyzer2D.CalculateAll: True",
            "Analyzer2D.HideCols: True",
            "Analyzer2D.HorizVert: Horizontal",
            "Analyzer2D.Color: True",
            "Analyzer2D.SemanticColor: True",
            "Analyzer2D.Zoom: Disabled",
            "Analyzer2D.SortCols: False",
            "Analyzer2D.SortCriteria: Average",
            "Analyzer2D.AnalysisLimits: Alltrace",
            "Analyzer2D.ComputeYScale: False",
            "Analyzer2D.Minimum: 0.000000000000",
            f"Analyzer2D.Maximum: {states:.12f}",
            "Analyzer2D.Delta: 1.000000000000",
            "Analyzer2D.ComputeGradient: True",
            "Analyzer2D.MinimumGradient: 0.000000000000",
            "Analyzer2D.MaximumGradient: 100.000000000000",
            "Analyzer2D.PixelSize: 1",
            "Analyzer2D.CodeColor: True",
            "Analyzer2D.ShowOnlyTotals: False",
            "Analyzer2D.ShortHeaderLabels: False",
        ]
    )
