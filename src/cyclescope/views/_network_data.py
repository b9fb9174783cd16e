"""A profile's process network as the report's page draws it: where what is, and its figures."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from cyclescope.model import Edge, Process
from cyclescope.views._network import network_plan
from cyclescope.views._text import visible

if TYPE_CHECKING:
    from cyclescope.model import Profile

__all__ = ["network_data"]

_LABEL = 300  # characters of a name


def network_data(profile: Profile) -> dict[str, Any] | None:
    """Processes, the channels between them, and a place for each; None if they are not known.

    Only a profile that says of each edge what goes through it has them all.
    """
    place = {
        number: n
        for n, number in enumerate(
            number for number, site in enumerate(profile.sites) if isinstance(site, Process)
        )
    }
    processes = [site for site in profile.sites if isinstance(site, Process)]
    edges = [site for site in profile.sites if isinstance(site, Edge) and site.tokens is not None]
    if not edges or any(e.producer not in place or e.consumer not in place for e in edges):
        return None
    channels: dict[tuple[int, int], list[Edge]] = defaultdict(list)
    for edge in edges:
        channels[place[edge.producer], place[edge.consumer]].append(edge)
    plan = network_plan(len(processes), channels)
    return {
        "width": plan.width,
        "height": plan.height,
        "node": plan.node,
        "processes": [
            {
                "name": visible(site.name)[:_LABEL],
                "path": site.path,
                "port": site.port,
                "firings": site.firings,
                "interval": site.interval,
                "latency": site.latency,
                "critical": site.critical,
                "at": at,
            }
            for site, at in zip(processes, plan.nodes, strict=True)
        ],
        "lines": [
            {
                "from": line.producer,
                "to": line.consumer,
                "path": line.path,
                "label": line.label,
                "channels": [_channel(e) for e in channels[line.producer, line.consumer]],
            }
            for line in plan.lines
        ],
    }


def _channel(edge: Edge) -> dict[str, Any]:
    return {
        "operand": visible(edge.operand)[:_LABEL],
        "array": visible(edge.array or edge.operand)[:_LABEL],
        "tokens": edge.tokens,
        "reads": edge.reads,
        "reordered": edge.reordered,
        "width": edge.width,
        "depth": edge.depth,
        "late": edge.late,
        "delayed": edge.delayed,
        "held": edge.held,
        "critical": edge.critical,
    }
