"""A profile's process network as the report's page draws it: where what is, and its figures."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from cyclescope.model import Edge, Process
from cyclescope.views._network_plan import network_plan
from cyclescope.views._page_text import page_label
from cyclescope.views._text import visible

if TYPE_CHECKING:
    from cyclescope.model import Profile

__all__ = ["network_data"]

_NAME = 24  # of it in a picture
_SHOWN = 3  # channels of the critical path between two processes that are written at their line
_LETTER, _ROW = 6.6, 12  # pixels of a label's letter, of a row


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
    words = {pair: _words(own) for pair, own in channels.items()}
    sizes = {
        pair: (_LETTER * max(len(text) for text, _ in rows), _ROW * len(rows))
        for pair, rows in words.items()
    }
    plan = network_plan(len(processes), sizes)
    return {
        "width": plan.width,
        "height": plan.height,
        "node": plan.node,
        "processes": [
            {
                "name": page_label(site.name),
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
                "words": words[line.producer, line.consumer],
                "channels": [_channel(e) for e in channels[line.producer, line.consumer]],
            }
            for line in plan.lines
        ],
    }


def _words(channels: list[Edge]) -> list[tuple[str, bool]]:
    """The rows of a line's label, and whether they are of a channel on the critical path.

    Each array with its channel's depth, and the cycles that were waited: of those on the critical
    path, or else of the first; the table has all.
    """
    critical = [edge for edge in channels if edge.critical]
    shown = sorted(critical, key=lambda edge: -(edge.critical or 0))[:_SHOWN] or channels[:1]
    rows = [(_of_channel(edge), bool(edge.critical)) for edge in shown]
    if len(channels) > len(shown):
        text, warm = rows[-1]
        rows[-1] = f"{text}, and {len(channels) - len(shown)} more", warm
    return rows


def _of_channel(edge: Edge) -> str:
    name = visible(edge.array or edge.operand)
    text = name if len(name) <= _NAME else name[: _NAME - 1] + "…"
    if edge.depth is not None:
        text += f" [{edge.depth:,}]"
    if edge.critical:
        return f"{text}, {edge.critical:,} critical"
    return f"{text}, waits {edge.late:,}" if edge.late else text


def _channel(edge: Edge) -> dict[str, Any]:
    return {
        "operand": page_label(edge.operand),
        "array": page_label(edge.array or edge.operand),
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
