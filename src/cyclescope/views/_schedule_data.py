"""The schedules of a profile's loops as the report's page draws them: operations in stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclescope.model import Bound, Loop, Operation
from cyclescope.views._page_text import page_label, page_position

if TYPE_CHECKING:
    from cyclescope.model import Position, Profile

__all__ = ["schedule_data"]


def schedule_data(profile: Profile) -> list[dict[str, Any]]:
    """Each graph with a schedule, outer ones first: operations, stages, what bounds the interval.

    A graph is a loop's iteration, or what is in none. Operations name each other by their places in
    the graph, loops inside by those in the list, counters by those in `Profile.series`.
    """
    graphs: dict[int, list[int]] = {}
    for number, site in enumerate(profile.sites):
        if isinstance(site, Operation):
            graphs.setdefault(site.loop, []).append(number)
    place = {loop: index for index, loop in enumerate(graphs)}
    counters: dict[int, list[int]] = {}
    for number, series in enumerate(profile.series):
        if series.site >= 0:
            counters.setdefault(series.site, []).append(number)
    return [_graph(profile, loop, own, place, counters) for loop, own in graphs.items()]


def _graph(
    profile: Profile,
    loop: int,
    own: list[int],
    place: dict[int, int],
    counters: dict[int, list[int]],
) -> dict[str, Any]:
    operations = [site for n in own if isinstance(site := profile.sites[n], Operation)]
    within = {number: index for index, number in enumerate(own)}
    around = profile.sites[loop] if loop >= 0 else None
    found = around if isinstance(around, Loop) else Loop(operations[0].function)
    ends = [one.stage + max(one.stages, 1) for one in operations]
    bounds = [b for b in profile.sites if isinstance(b, Bound) and b.loop == loop]
    # Neighbours of one place wait together, and are counted once.
    counted: set[int] = set()
    rows = []
    for one in operations:
        series = [] if one.of in counted else counters.get(one.of, [])
        counted.add(one.of)
        rows.append(_operation(one, within, place, series))
    return {
        "frame": found.frame,
        "function": page_label(found.function),
        "position": _place(found.position),
        "stages": found.depth or max(ends),
        "interval": found.interval,
        "apart": found.apart,
        "serial": list(found.serial),
        "parent": place.get(found.parent, -1) if loop >= 0 else -1,
        "operations": rows,
        "bounds": [
            {
                "limit": bound.limit,
                "name": page_label(bound.name),
                "interval": bound.interval,
                "position": _place(bound.position),
                "operations": [within[n] for n in bound.operations if n in within],
                "distance": bound.distance,
                "ports": bound.ports,
            }
            for bound in sorted(bounds, key=lambda b: -b.interval)
        ],
    }


def _operation(
    one: Operation, within: dict[int, int], place: dict[int, int], series: list[int]
) -> dict[str, Any]:
    return {
        "name": page_label(one.name),
        "text": page_label(one.text),
        "position": _place(one.position),
        "stage": one.stage,
        "stages": one.stages,
        "waits": int(one.waits),
        "after": [within[n] for n in one.after if n in within],
        "array": page_label(one.array),
        "unit": page_label(one.unit),
        "bits": one.bits,
        "count": one.count,
        "graph": place.get(one.of, -1) if one.of >= 0 else -1,
        "series": series,
    }


def _place(position: Position | None) -> list[Any] | None:
    return None if position is None else page_position(position)
