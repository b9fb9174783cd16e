"""The report of a run: the bounds, the processes, the critical path, the edges, the levels."""

from __future__ import annotations

from fractions import Fraction
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from cyclescope.bounds._detail import waits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.bounds._detail import PathStep
    from cyclescope.bounds._estimate import Bounds, Estimate
    from cyclescope.bounds._levels import Level
    from cyclescope.bounds._limits import Limit

__all__ = [
    "float_or_none",
    "limit_text",
    "limits_rows",
    "limits_text",
    "report_dict",
    "report_text",
    "table_text",
]

_SHOWN = 20  # calls in the summary
_LIMITS, _NAMES = 2, 3  # parts of what bounds an estimate there, and names of a part


def report_dict(bounds: Bounds, levels: Sequence[Level] = ()) -> dict[str, Any]:
    """Everything as plain data for JSON; `absolute` and `unbounded` are cycles."""
    network = bounds.network
    result: dict[str, Any] = {
        "kernel": network.kernel,
        "absolute": bounds.absolute.cycles,
        "unbounded": bounds.unbounded.cycles,
        "reordered": bounds.reordered.cycles if bounds.reordered else None,
        "factor": float(bounds.factor),
        "firings": bounds.firings,
        "skipped": bounds.records.skipped,
        "affine": network.is_affine,
        "tests": [
            {"line": t.where.line, "file": t.where.file, "text": t.text, "reason": t.reason}
            | {"count": bounds.records.tests[n]}
            for n, t in enumerate(network.tests)
        ],
        "tweak": bounds.calibration.reason or None,
        "made_up": network.made_up,
        "beyond_extent": sorted(network.loose),
        "call": bounds.records.call or None,
        "calls": [
            {"call": c.number, "absolute": c.absolute, "unbounded": c.unbounded}
            | {"firings": c.firings}
            for c in bounds.records.calls
        ],
    }
    for estimate in bounds.estimates:
        result[f"{estimate.name}_estimate"] = {
            "cycles": estimate.cycles,
            "work": estimate.work,
            "maximum_parallelism": float(estimate.maximum_parallelism),
            "average_parallelism": float(estimate.average_parallelism),
            "average_while_active": float(estimate.average_while_active),
            "pipeline_efficiency": float_or_none(estimate.pipeline_efficiency),
            "resolution": estimate.resolution,
            "processes": _processes(bounds, estimate),
            "critical_path": bounds.detail
            and [
                {"process": s.process.name, "cause": s.cause, "firings": s.firings}
                | {"cycles": s.cycles}
                for s in _path(bounds, estimate)
            ],
            "limits": limits_rows(bounds, estimate),
        }
    result["resources"] = [
        {
            "resources": point.resources,
            "cycles": point.cycles,
            "maximum_parallelism": float(point.maximum_parallelism),
            "average_parallelism": float(point.average_parallelism),
            "pipeline_efficiency": float_or_none(point.pipeline_efficiency),
        }
        for point in bounds.curve
    ]
    result["edges"] = None
    if bounds.detail is not None:
        result["edges"] = [
            {
                "producer": e.producer.name,
                "consumer": e.consumer.name,
                "operand": e.consumer.operands[e.operand],
                "reads": e.reads,
                "tokens": e.tokens,
                "order": e.order,
                "reordering_buffer": e.reordered,
            }
            for e in bounds.detail.edges
        ]
    result["levels"] = [
        {
            "function": level.path.function,
            "line": level.path.where.line,
            "depth": level.depth,
            "absolute": [level.absolute.start, level.absolute.end],
            "unbounded": [level.unbounded.start, level.unbounded.end],
            "work": level.work,
            "alone": level.alone,
        }
        for level in levels
    ]
    return result


def _path(bounds: Bounds, estimate: Estimate) -> tuple[PathStep, ...]:
    return bounds.detail.critical_path[estimate.name] if bounds.detail is not None else ()


def _processes(bounds: Bounds, estimate: Estimate) -> list[dict[str, Any]]:
    rows = []
    for row, wait in zip(estimate.firings, waits_of(bounds, estimate), strict=True):
        process = row.process
        entry: dict[str, Any] = {
            "process": process.name,
            "kind": process.kind,
            "function": bounds.network.paths[process.path].function,
            "line": process.where.line,
            "latency": process.latency,
            "interval": process.interval,
            "firings": row.count,
            "first": row.first,
            "last": row.last,
            "end": row.end,
            "busy": estimate.busy_cycles(process),
            "pipeline_efficiency": float_or_none(estimate.starts_used(row)),
        }
        producer = wait.critical_producer
        entry["waits_for_resource"] = wait.resource
        entry["waits_for_operands"] = [
            {"operand": text, "cycles": cycles, "firings": firings}
            for text, (cycles, firings) in zip(process.operands, wait.operands, strict=True)
        ]
        entry["critical_producer"] = producer.name if producer is not None else None
        rows.append(entry)
    return rows


def report_text(bounds: Bounds, levels: Sequence[Level] = ()) -> str:
    """The same for people, in plain text."""
    absolute, unbounded = bounds.estimates
    network = bounds.network
    lines = [f"{network.kernel}: cycle bounds ({bounds.calibration.technology.name})", ""]
    head = ["", "absolute", "unbounded"]
    table = [
        ["cycles", f"{absolute.cycles:,}", f"{unbounded.cycles:,}"],
        ["parallelism, maximum", *(_decimal(e.maximum_parallelism) for e in bounds.estimates)],
        ["parallelism, average", *(_decimal(e.average_parallelism) for e in bounds.estimates)],
        ["  while active", *(_decimal(e.average_while_active) for e in bounds.estimates)],
        ["pipeline efficiency", _share(absolute.pipeline_efficiency), ""],
    ]
    lines += table_text(head, table)
    lines.append("")
    lines += [f"{e.name + ' bounded by':22}{limits_text(bounds, e)}" for e in bounds.estimates]
    lines.append(f"optimisation factor   {_decimal(bounds.factor)}")
    lines.append(f"firings of statements {bounds.firings:,}")
    if bounds.records.skipped:
        lines.append(
            f"  not executed        {bounds.records.skipped:,}: their time stamps repeat, as proved"
        )
    if bounds.reordered is not None and bounds.reordered.cycles != absolute.cycles:
        lines.append(
            f"with reordering       {bounds.reordered.cycles:,} cycles absolute (reading through "
            f"a reordering buffer takes {bounds.calibration.reorder} cycles)"
        )
    lines += _calls(bounds)
    if bounds.calibration.reason:
        lines.append(f"tweak                 {bounds.calibration.reason}")
    if not network.is_affine:
        lines += ["", "Not a static affine nested loop program (SANLP); executed as it came:"]
        for number, test in enumerate(network.tests):
            count = bounds.records.tests[number]
            times = f", {count:,} times" if count else ""
            lines.append(f"  {test.where}: {test.reason}{times}: {test.text}")
    if absolute.resolution > 1 or unbounded.resolution > 1:
        coarse = " and ".join(
            f"{e.name} {e.resolution:,}" for e in bounds.estimates if e.resolution > 1
        )
        lines += ["", f"Activity is kept in steps of cycles ({coarse}): raise --memory for more;"]
        lines.append("the maximum of parallelism is that of a step's mean. Cycles are exact.")
    lines += _sections(bounds, levels)
    return "\n".join(lines) + "\n"


def limits_rows(bounds: Bounds, estimate: Estimate) -> list[dict[str, Any]] | None:
    """The limits of an estimate, the largest part first, for JSON; None without details."""
    if bounds.detail is None:
        return None
    return [
        {"kind": x.kind, "processes": [p.name for p in x.processes]}
        | {"firings": x.firings, "cycles": x.cycles}
        for x in bounds.detail.limits[estimate.name]
    ]


def limits_text(bounds: Bounds, estimate: Estimate) -> str:
    """The limits of an estimate, with their part of its cycles: the two largest parts."""
    if not estimate.firings:
        return "nothing: no firing"
    if bounds.detail is not None:
        limits = bounds.detail.limits[estimate.name][:_LIMITS]
        return "; ".join(
            f"{_of_what(limit)}, {limit.cycles:,} cycles ({_part(limit.cycles, estimate)})"
            for limit in limits
        )
    if estimate.resources is None:
        return "--detail tells, up to 4 million firings"
    row = max(estimate.firings, key=lambda row: row.count * row.process.interval)
    least = (row.count - 1) * row.process.interval
    return (
        f"throughput of {row.process.name}, at least {least:,} cycles "
        f"({_part(least, estimate)}); --detail tells the rest"
    )


def limit_text(bounds: Bounds, estimate: Estimate) -> str:
    """The largest part of what bounds an estimate, in a few words; empty without details."""
    limits = bounds.detail.limits[estimate.name] if bounds.detail is not None else ()
    return f"{_part(limits[0].cycles, estimate)} {_of_what(limits[0])}" if limits else ""


def _part(cycles: int, estimate: Estimate) -> str:
    return _share(Fraction(cycles, max(estimate.cycles, 1)))


def _of_what(limit: Limit) -> str:
    names = [process.name for process in limit.processes]
    shown = ", ".join(names[:_NAMES])
    if len(names) > _NAMES:
        shown += f" and {len(names) - _NAMES} more"
    return f"{limit.kind} of {shown}"


def _calls(bounds: Bounds) -> list[str]:
    """Describe which call of the program this is, and the others' results; or what was made up."""
    records, kernel = bounds.records, bounds.network.kernel
    lines: list[str] = []
    if bounds.network.made_up:
        lines += ["", "Made up, since no program calls it here:"]
        lines += [f"  {what}" for what in bounds.network.made_up]
    if bounds.network.loose:
        names = ", ".join(sorted(bounds.network.loose))
        lines.append(
            f"beyond its extent      {names}: the program goes on there, in its own memory"
        )
    calls = records.calls
    if len(calls) == 1:
        lines.append(f"profiled              call {records.call} of {kernel} by main")
    elif calls:
        total = [sum(c.absolute for c in calls), sum(c.unbounded for c in calls)]
        lines += [
            f"profiled              {len(calls):,} calls of {kernel} by main: {total[0]:,} cycles "
            f"absolute, {total[1]:,} unbounded in all; this is call {records.call}, the longest",
            "",
            f"Calls of {kernel} (--call N profiles another one):",
        ]
        shown = calls if len(calls) <= _SHOWN else calls[: _SHOWN - 1]
        rows = [
            [f"  {c.number}", f"{c.absolute:,}", f"{c.unbounded:,}", f"{c.firings:,}"]
            for c in shown
        ]
        lines += table_text(["  call", "absolute", "unbounded", "firings"], rows)
        if len(shown) < len(calls):
            lines.append(f"  … and {len(calls) - len(shown):,} more (all in --format json)")
    return lines


def _curve(bounds: Bounds) -> list[str]:
    """Cycles against resources a statement, between the two bounds."""
    if not bounds.curve:
        return []
    head = ["  resources", "cycles", "speed-up", "parallelism, maximum", "average"]
    head.append("pipeline efficiency")
    rows = [
        [
            f"  {point.resources:,}",
            f"{point.cycles:,}",
            _decimal(Fraction(bounds.absolute.cycles, max(point.cycles, 1))),
            _decimal(point.maximum_parallelism),
            _decimal(point.average_parallelism),
            _share(point.pipeline_efficiency),
        ]
        for point in bounds.curve
    ]
    table = table_text(head, rows)
    return ["", "Resources a statement, from absolute (1) to unbounded:", *table]


def _sections(bounds: Bounds, levels: Sequence[Level]) -> list[str]:
    lines = _curve(bounds)
    if len(levels) > 1:
        lines += ["", "Levels (within the program; alone):"]
        head = ["  function", "absolute", "unbounded", "work", "alone: absolute", "unbounded"]
        rows = [
            [
                "  " * (level.depth + 1) + level.path.function,
                f"{level.absolute.start:,} to {level.absolute.end:,}",
                f"{level.unbounded.start:,} to {level.unbounded.end:,}",
                f"{level.work:,}",
                *(f"{n:,}" for n in level.alone or ()),
            ]
            for level in levels
        ]
        lines += table_text(head, [row + [""] * (6 - len(row)) for row in rows])
    for estimate in bounds.estimates:
        lines += ["", f"Processes, {estimate.name}:"]
        lines += _process_table(bounds, estimate)
    if bounds.detail is None:
        lines += [
            "",
            "No critical path, edges and whom was waited for: --detail keeps them, up to "
            "4 million firings.",
        ]
        return lines
    for estimate in bounds.estimates:
        lines += ["", f"Critical path, {estimate.name}:"]
        why = {"value": "its result is awaited", "resource": "it is taken up", "end": "it ends"}
        lines += table_text(
            ["  process", "because", "firings", "cycles"],
            [
                [f"  {s.process.name}", why[s.cause], f"{s.firings:,}", f"{s.cycles:,}"]
                for s in _path(bounds, estimate)
            ],
            left=2,
        )
    lines += ["", "Edges (* needs a reordering buffer):"]
    lines += table_text(
        ["  from", "to", "value", "class", "tokens", "reads"],
        [
            [
                f"  {e.producer.name}",
                e.consumer.name,
                e.consumer.operands[e.operand],
                e.order + (" *" if e.reordered else ""),
                f"{e.tokens:,}",
                f"{e.reads:,}",
            ]
            for e in bounds.detail.edges
        ],
        left=4,
    )
    return lines


def _process_table(bounds: Bounds, estimate: Estimate) -> list[str]:
    head = ["  process", "line", "depth", "firings", "first", "last", "busy"]
    bounded = estimate.resources is not None
    if bounded:
        head.append("starts used")
    head += ["waits: resource", "for operand"]
    if bounds.detail is not None:
        head.append("most on")
    rows = []
    for entry in _processes(bounds, estimate):
        row = [f"  {entry['process']}", str(entry["line"]), str(entry["latency"])]
        row += [f"{entry[k]:,}" for k in ("firings", "first", "last", "busy")]
        if bounded:
            row.append(f"{100 * entry['pipeline_efficiency']:.1f} %")
        row.append(f"{entry['waits_for_resource']:,}")
        longest = max(entry["waits_for_operands"], key=itemgetter("cycles"), default=None)
        waited = f"{longest['operand']} {longest['cycles']:,}" if longest is not None else ""
        row.append(waited if longest is not None and longest["cycles"] else "")
        if bounds.detail is not None:
            row.append(entry["critical_producer"] or "")
        rows.append(row)
    return table_text(head, rows)


def float_or_none(value: Fraction | None) -> float | None:
    """A number for JSON."""
    return None if value is None else float(value)


def _share(value: Fraction | None) -> str:
    return "" if value is None else f"{float(100 * value):.1f} %"


def _decimal(value: Fraction) -> str:
    return f"{float(value):,.0f}" if value.denominator == 1 else f"{float(value):,.2f}"


def table_text(
    head: list[str], rows: list[list[str]], left: int = 1, *, last: bool = False
) -> list[str]:
    """Columns in line; the first `left` (and the last) to the left, the others to the right."""
    widths = [max(len(row[c]) for row in [head, *rows]) for c in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if c < left or (last and c == len(head) - 1) else cell.rjust(width)
            for c, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [head, *rows]
    ]
