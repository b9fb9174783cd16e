"""A schedule for people: stages with the C text of what happens in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import EFFECTS, LEAVES, Graph, Limit, Node, Op, Place
from cyclescope.hls.schedule._delays import delay, varies

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cyclescope.c import Range
    from cyclescope.hls.ir import Bound, Region, Schedule

__all__ = ["costs", "explained", "told"]

_WIDEST = 60


def explained(
    region: Region, schedules: Mapping[Graph, Schedule], text: Callable[[Range], str]
) -> str:
    """The region's memories and, for each loop, its stages, its interval and what bounds it.

    An interval of n means that a thread can begin an iteration every n cycles as long as nothing
    stalls it; a variable-latency stage lasts until its operations are over, and what waits for an
    earlier iteration's operation does so for as long as that takes.

    Args:
        region: what is scheduled.
        schedules: of its root and all its loops, outside in.
        text: the C text at a place.
    """
    lines = [f"{region.name} ({region.where}): {_count(region.threads, 'hardware thread')}"]
    for array in region.arrays:
        size = f"{array.bytes} bytes" if array.bytes is not None else "size from the host"
        where = {
            Place.EXTERNAL: "external memory",
            Place.LOCAL: "block RAM, one a thread",
            Place.SHARED: "block RAM",
        }[array.place]
        lines.append(f"  {array.name}: {where}, {size}, accessed by up to {array.word} bytes")
    for name, width in region.scalars:
        lines.append(f"  {name}: {width} bits from the host")
    lines += [f"  lock {name}" for name in region.locks]
    for graph, schedule in schedules.items():
        lines += ["", *_graph(region, graph, schedule, text)]
    return "\n".join(lines) + "\n"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _graph(
    region: Region, graph: Graph, schedule: Schedule, text: Callable[[Range], str]
) -> list[str]:
    title = "the region" if graph.continues is None else f"loop {graph.label}"
    lines = [f"{title}, line {graph.where.line}: {_count(schedule.depth, 'stage')}"]
    if graph.continues is not None:
        lines[0] += f", interval {schedule.interval}"
    if schedule.waiting:
        lines[0] += f", waits in {', '.join(map(str, schedule.waiting))}"
    most: dict[str, int] = {}
    for bound in schedule.bounds:
        reason = told(bound, schedule)
        most[reason] = max(most.get(reason, 0), bound.interval)
    for reason, interval in sorted(most.items(), key=lambda b: (-b[1], b[0])):
        lines.append(f"  interval at least {interval}: {reason}")
    lines += _turns(region, graph, schedule)
    stages: dict[int, list[str]] = {}
    for node in graph.nodes:
        line = _operation(region, node, schedule, text)
        if line:
            stages.setdefault(schedule.stage[node], []).append(line)
    for stage in sorted(stages):
        waits = " waits for" if stage in schedule.waiting else ""
        lines.append(f"  stage {stage}{waits}")
        lines += [f"    {line}" for line in dict.fromkeys(stages[stage])]
    return lines


def costs(node: Node, schedule: Schedule) -> bool:
    """Return whether an operation costs anything: time, or a place in the order of effects."""
    if node.op is Op.PARAM or node.op in LEAVES:
        return False
    return node.op in EFFECTS or bool(delay(node) or schedule.latency[node])


def told(bound: Bound, schedule: Schedule) -> str:
    """A reason for a loop's interval as text."""
    name, nodes = bound.name, bound.nodes
    match bound.limit:
        case Limit.RECURRENCE:
            takes = [schedule.latency[node] for node in nodes]
            parts = [f"{n.op} {t}" if t else n.op.value for n, t in zip(nodes, takes, strict=True)]
            text = f"{name}, line {bound.where.line}: {' + '.join(parts) or 'a register'}"
            if 0 < sum(takes) < bound.interval:
                text += f", and {bound.interval - sum(takes)} from there to the next iteration"
            return text
        case Limit.ORDER:
            before, after = nodes
            text = f"{name}: {before.op} in line {before.where.line} before {after.op} in line"
            later = f", {bound.distance} iterations on" if bound.distance > 1 else ""
            return f"{text} {after.where.line}{later}"
        case Limit.PORTS:
            return f"{name}: {len(nodes)} accesses, {_count(bound.ports, 'port')}"


def _turns(region: Region, graph: Graph, schedule: Schedule) -> list[str]:
    """The orders that make an iteration wait for an earlier one, whatever the interval is.

    Of several such orders only those that no other one implies.
    """
    stage = schedule.stage
    orders = [
        (o, (o.distance, -stage[o.before], stage[o.after]))
        for o in graph.orders
        if stage[o.after] <= stage[o.before] and (varies(o.before) or varies(o.after))
    ]
    # No order implies one that sorts before it.
    kept: set[tuple[int, int, int]] = set()
    for moment in sorted({m for _, m in orders}):
        _, first, second = moment
        if not any(a <= first and b <= second and (a, b) != (first, second) for _, a, b in kept):
            kept.add(moment)
    found: dict[str, None] = {}
    for order, moment in orders:
        if moment not in kept:
            continue
        before, after = (_named(region, n) for n in (order.before, order.after))
        ago = "before" if order.distance == 1 else f"{order.distance} before"
        found.setdefault(f"  {after} waits for {before} of the iteration {ago}")
    return list(found)


def _named(region: Region, node: Node) -> str:
    what = node.op.value
    if node.body is not None:
        return f"loop {node.body.label}"
    if node.array is not None:
        what = f"{what} {node.array.name}"
    if node.op in (Op.ACQUIRE, Op.RELEASE):
        what = f"{what} {region.locks[node.constant]}"
    return f"{what} (line {node.where.line})"


def _operation(region: Region, node: Node, schedule: Schedule, text: Callable[[Range], str]) -> str:
    """One line for an operation; empty for what costs nothing."""
    if not costs(node, schedule):
        return ""
    shown = text(node.where)
    if len(shown) > _WIDEST:
        shown = f"{shown[: _WIDEST - 1]}…"
    name = node.op.value
    if node.op is Op.LOOP and node.body is not None:
        return f"line {node.where.line}: loop {node.body.label}"
    if node.array is not None:
        name = f"{name} {node.array.name}"
    if node.op in (Op.ACQUIRE, Op.RELEASE):
        return f"line {node.where.line}: {name} {region.locks[node.constant]}"
    takes = schedule.latency[node]
    if takes > 1 and not varies(node):
        name = f"{name}, {takes} stages"
    return f"line {node.where.line}: {name}: {shown}"
