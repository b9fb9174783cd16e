"""The schedule of a region as sites of its profile: operations in stages, bounds of intervals.

Operations beside each other, a vector's or an unrolled loop's, are one site.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from cyclescope.errors import LawError
from cyclescope.hls.ir import Op
from cyclescope.hls.schedule import costs, unit_of, varies
from cyclescope.hls.trace import Sites, position_of
from cyclescope.model import Bound, Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.c import Range
    from cyclescope.hls.ir import Graph, Node, Region, Schedule
    from cyclescope.hls.microarch import Machine, Pipeline
    from cyclescope.model import Site

    _Alike: TypeAlias = tuple[Op, Range, int, int, str]

__all__ = ["with_schedule"]

_LONGEST = 120  # characters of an expression


def with_schedule(
    sites: Sequence[Site], machine: Machine, text: Callable[[Range], str]
) -> tuple[Site, ...]:
    """The sites of a profile, and behind them those of its machine's schedule.

    Args:
        sites: of the profile, as `Sites` numbers them.
        machine: that it is of.
        text: the C text at a place.
    """
    known = Sites(machine.region, machine.pipelines)
    if len(sites) != len(known.every):
        raise LawError(f"{len(sites)} sites of {len(known.every)} of a region; please report this")
    found = list(sites)
    for pipe in machine.pipelines:
        found += _Scheduled(machine.region, pipe, known, text).sites(len(found))
    return tuple(found)


class _Scheduled:
    """The schedule of one graph."""

    def __init__(
        self, region: Region, pipe: Pipeline, known: Sites, text: Callable[[Range], str]
    ) -> None:
        self._region, self._known, self._text = region, known, text
        self._graph: Graph = pipe.graph
        self._schedule: Schedule = pipe.schedule
        self._loop = known.loops.get(pipe.graph, -1)
        groups: dict[_Alike, list[Node]] = {}
        for node in pipe.graph.nodes:
            if costs(node, pipe.schedule):
                groups.setdefault(self._alike(node), []).append(node)
        self._groups = list(groups.values())
        self._place = {node: i for i, group in enumerate(self._groups) for node in group}

    def _alike(self, node: Node) -> _Alike:
        schedule = self._schedule
        return node.op, node.where, schedule.stage[node], schedule.latency[node], self._array(node)

    def _array(self, node: Node) -> str:
        if node.op in (Op.ACQUIRE, Op.RELEASE):
            return self._region.locks[node.constant]
        if node.body is not None:
            return node.body.label
        return node.array.name if node.array is not None else ""

    def sites(self, first: int) -> list[Site]:
        """Its operations and bounds, of which the first has a number."""
        found: list[Site] = [self._operation(group, first) for group in self._groups]
        found += dict.fromkeys(
            Bound(
                self._region.name,
                bound.limit.value,
                bound.name,
                bound.interval,
                position_of(bound.where),
                loop=self._loop,
                operations=tuple(
                    dict.fromkeys(first + self._place[n] for n in bound.nodes if n in self._place)
                ),
                distance=bound.distance,
                ports=bound.ports,
            )
            for bound in self._schedule.bounds
        )
        return found

    def _operation(self, group: Sequence[Node], first: int) -> Operation:
        node, schedule = group[0], self._schedule
        after = {place for one in group for place in self._after(one)}
        unit = unit_of(node, schedule.latency[node])
        expression = "" if node.body is not None else self._text(node.where)
        if len(expression) > _LONGEST:
            expression = f"{expression[: _LONGEST - 1]}…"
        stored = node.op is Op.STORE
        return Operation(
            self._region.name,
            node.op.value,
            position_of(node.where),
            text=expression,
            loop=self._loop,
            stage=schedule.stage[node],
            stages=schedule.latency[node],
            waits=varies(node),
            after=tuple(sorted(first + place for place in after)),
            array=self._array(node),
            unit=unit.name if unit is not None else "",
            bits=node.operands[1].width if stored else next(iter(node.widths), None),
            count=len(group),
            of=self._known.number_of(node),
        )

    def _after(self, node: Node) -> set[int]:
        """The operations that an operation gets values from, by way of what costs nothing."""
        found: set[int] = set()
        seen: set[Node] = set()
        waiting = [node]
        while waiting:
            one = waiting.pop()
            values = [*one.operands, *((one.when,) if one.when is not None else ())]
            for before in (value.node for value in values):
                if before in self._place:
                    found.add(self._place[before])
                elif before not in seen:
                    seen.add(before)
                    waiting.append(before)
        return found - {self._place[node]}
