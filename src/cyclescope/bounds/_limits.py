"""The limits of an estimate, and their cycles: the critical path's parts by their kind.

Kinds are typed where the path is known link by link (firing of one process, firing of the next):

- recurrence: a result that its own process waits for, directly or through others on the path;
- throughput: a statement's resource was taken up by an earlier firing (its initiation interval);
- latency: a result on its way from one statement to another, which never comes back;
- input, output: a source's elements come, a sink's go, one after the other.

The model has no memories and no control that takes time: they are no kinds here.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cyclescope.bounds._network import Process

__all__ = ["Cause", "Limit", "LimitKind", "Link", "limits_of"]


class Cause(StrEnum):
    """The cause for which the next firing on the critical path waited for this one."""

    END = "end"
    VALUE = "value"
    RESOURCE = "resource"


class LimitKind(StrEnum):
    """Of what a part of the critical path is made."""

    RECURRENCE = "recurrence"
    THROUGHPUT = "throughput"
    LATENCY = "latency"
    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Link:
    """Firings of one process on the critical path whose successor there is of a certain process.

    Attributes:
        process: which.
        after: the successor's process; None for the last firing.
        cause: why the successor waited.
        firings: how many.
        cycles: from their starts to their successors', summed; all links' add up to the total.
    """

    process: Process
    after: Process | None
    cause: Cause
    firings: int
    cycles: int


@dataclass(frozen=True, slots=True)
class Limit:
    """A part of the total, and what it is due to; those of an estimate add up to its cycles.

    Attributes:
        kind: what it is due to.
        processes: whose; of a recurrence those that it passes through, else the longest first.
        firings: of theirs on the critical path.
        cycles: that they account for.
    """

    kind: LimitKind
    processes: tuple[Process, ...]
    firings: int
    cycles: int


def limits_of(links: Iterable[Link]) -> tuple[Limit, ...]:
    """The limits of a critical path, the largest first.

    One for each recurrence, and for each process whose throughput limits; one each for all that is
    latency, input, output.
    """
    links = tuple(links)
    circle = _circles(links)
    parts: dict[tuple[LimitKind, int], list[Link]] = defaultdict(list)
    for link in links:
        own = circle[link.process.index]
        back = link.after is not None and circle[link.after.index] == own
        if link.process.kind == "source":
            parts[LimitKind.INPUT, -1].append(link)
        elif link.process.kind == "sink":
            parts[LimitKind.OUTPUT, -1].append(link)
        elif link.cause is Cause.RESOURCE:
            parts[LimitKind.THROUGHPUT, link.process.index].append(link)
        elif link.cause is Cause.VALUE and back:
            parts[LimitKind.RECURRENCE, own].append(link)
        else:
            parts[LimitKind.LATENCY, -1].append(link)
    limits = [_limit(kind, part) for (kind, _), part in parts.items()]
    return tuple(sorted(limits, key=lambda x: (-x.cycles, x.kind, x.processes[0].index)))


def _limit(kind: LimitKind, part: list[Link]) -> Limit:
    cycles: dict[Process, int] = defaultdict(int)
    for link in part:
        cycles[link.process] += link.cycles
    if kind is LimitKind.RECURRENCE:
        order = sorted(cycles, key=lambda p: p.index)
    else:
        order = sorted(cycles, key=lambda p: (-cycles[p], p.index))
    return Limit(kind, tuple(order), sum(x.firings for x in part), sum(cycles.values()))


def _circles(links: tuple[Link, ...]) -> Mapping[int, int]:
    """The strongly connected component of each process, where results lead from one to another."""
    ahead: dict[int, set[int]] = defaultdict(set)
    behind: dict[int, set[int]] = defaultdict(set)
    nodes = {link.process.index for link in links}
    for link in links:
        if link.cause is Cause.VALUE and link.after is not None:
            ahead[link.process.index].add(link.after.index)
            behind[link.after.index].add(link.process.index)
    # Kosaraju: backwards from the nodes in the opposite order in which a walk ahead leaves them.
    found: dict[int, int] = {}
    for node in reversed(_left(nodes, ahead)):
        for reached in _left([node], behind, found):
            found[reached] = node
    return found


def _left(
    starts: Iterable[int], edges: Mapping[int, set[int]], without: Mapping[int, int] | None = None
) -> list[int]:
    """Nodes in the order in which a walk in depth leaves them."""
    seen, order = set(without or ()), []
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(sorted(edges.get(start, ()))))]
        while stack:
            node, rest = stack[-1]
            following = next((n for n in rest if n not in seen), None)
            if following is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(sorted(edges.get(following, ())))))
    return order
