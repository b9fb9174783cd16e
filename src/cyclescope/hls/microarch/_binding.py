"""The decisions before a graph becomes a pipeline: where each value is made, kept and needed."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from cyclescope.errors import LawError, SourceError
from cyclescope.hls.ir import EFFECTS, LEAVES, Op
from cyclescope.hls.schedule import unit_of, varies

if TYPE_CHECKING:
    from cyclescope.hls.ir import Carried, Graph, Node, Schedule, Value

__all__ = ["Plan"]

_MOST_REGISTERS = 100_000


class Plan:
    """The plan of one graph's pipeline.

    Attributes:
        waiting: the variable-latency stages.
        in_waiting: the operations of variable latency, which are in them.
        by_stage: the operations that begin in a stage.
        need: for each value the last stage that needs it.
        passing: the values that come into a stage: from the one before, or from a waiting one.
        commit_stage: the stage in which it is known whether the iteration happens.
        writes: for each carried value the stage at whose end it is written.
        written: the carried values that are written at the end of a stage.
        events: gates that wait for something of the previous iteration → the stage in which that
            is over.
        overruns: iterations may follow the last one of a thread, whose end is seen too late.
        end: the last stage.

    Raises:
        LawError: the schedule cannot be built, a fault of the scheduler.
        SourceError: there would be more registers than can be built.
    """

    def __init__(self, graph: Graph, schedule: Schedule, note: str) -> None:
        self._graph, self._schedule, self._note = graph, schedule, note
        self._carried = {c.param for c in graph.carried}
        self.waiting = tuple(sorted(schedule.waiting))
        stages = set(self.waiting)
        self.in_waiting = {n for n in graph.nodes if varies(n) and schedule.stage[n] in stages}
        self.by_stage: dict[int, list[Node]] = {}
        self.need: dict[Value, int] = {}
        self.passing: dict[int, list[Value]] = {}
        self.commit_stage = 0
        self.writes: dict[Carried, int] = {}
        self.written: dict[int, list[Carried]] = {}
        self.events: dict[int, int] = {}
        self.overruns = False
        self._place()
        self._ends()
        self._wait()
        self._check_size()
        self._pass()

    def _check_size(self) -> None:
        """A value has a register in each stage that it passes: long pipelines are mostly these."""
        count = sum(max(0, last - max(self.available(v), 0)) for v, last in self.need.items())
        if count > _MOST_REGISTERS:
            raise SourceError(
                f"{self._graph.nodes[0].where}: a pipeline of {self._schedule.depth:,} stages and"
                f" {count:,} registers between them, more than can be built; shorten its longest"
                " chain: a table for conditions, loops for what is repeated"
            )

    def _pass(self) -> None:
        for value, last in self.need.items():
            there = self.available(value)
            for stage in range(there + (value.node not in self.in_waiting), last + 1):
                self.passing.setdefault(stage, []).append(value)

    def available(self, value: Value) -> int:
        """The first stage in which a value is there; -1 if it is there in all."""
        node, schedule = value.node, self._schedule
        if node.op in LEAVES or (node.op is Op.PARAM and node not in self._carried):
            return -1
        stage = schedule.stage[node]
        if node.op is Op.PARAM:
            return stage
        if node in self.in_waiting:
            return stage + 1
        return stage + self._latency(node)

    def region_of(self, stage: int) -> int:
        """The number of the gate in front of a stage: 0 for the head."""
        return bisect_left(self.waiting, stage)

    def _latency(self, node: Node) -> int:
        """Cycles that the hardware takes; the schedule may allow more."""
        if node.op is Op.LOAD:
            return 1
        unit = unit_of(node, self._schedule.latency.get(node, 0))
        return unit.latency if unit else 0

    def _place(self) -> None:
        graph, schedule = self._graph, self._schedule
        for node in graph.nodes:
            if varies(node) and node not in self.in_waiting:
                raise LawError(f"{self._note}: {node.op} is not in a variable-latency stage")
            if node.op is Op.PARAM or node.op in LEAVES:
                continue
            self.by_stage.setdefault(schedule.stage[node], []).append(node)
            for operand in (*node.operands, *((node.when,) if node.when else ())):
                self._needs(operand, schedule.stage[node])
        if graph.continues is not None:
            self.commit_stage = max(self.available(graph.continues), 0)
            self._needs(graph.continues, self.commit_stage)
        for carried in graph.carried:
            stages = (self.available(carried.next), schedule.stage[carried.param])
            stage = self.writes[carried] = max(*stages, self.commit_stage)
            self.written.setdefault(stage, []).append(carried)
            self._needs(carried.next, stage)

    def _needs(self, value: Value, stage: int) -> None:
        if (there := self.available(value)) > stage:
            raise LawError(
                f"{self._note}: {value.node.op} is needed in stage {stage}, there in {there}"
            )
        if there >= 0:
            self.need[value] = max(self.need.get(value, 0), stage)

    def _ends(self) -> None:
        graph, schedule = self._graph, self._schedule
        last = [schedule.depth - 1, *self.writes.values(), *self.need.values()]
        last += [schedule.stage[n] for n in graph.nodes if n.op in EFFECTS]
        last += [self.waiting[-1] + 1] if self.waiting else []
        self.end = max(0, *last)
        for node in graph.nodes:
            begin = schedule.stage.get(node, 0)
            ready = begin + self._latency(node)
            held = self.region_of(begin) < self.region_of(ready)
            if node not in self.in_waiting and held:
                raise LawError(f"{self._note}: {node.op} crosses variable-latency stage {begin}")

    def _wait(self) -> None:
        """Find the gates that wait for the previous iteration, and for what.

        An operation of variable-latency stage w is over when the iteration leaves w: stage w + 1.
        """
        schedule = self._schedule
        over = {n: schedule.stage[n] + (n in self.in_waiting) for n in self._graph.nodes}
        gates = {n: self.region_of(stage) for n, stage in schedule.stage.items()}
        behind = {n: self.region_of(stage) for n, stage in over.items()}
        for carried, stage in self.writes.items():
            gate = gates[carried.param]
            if self.region_of(stage) > gate:
                self.events[gate] = max(self.events.get(gate, 0), stage)
        for order in self._graph.orders:
            gate, stage = gates[order.after], over[order.before]
            if behind[order.before] > gate and stage > self.events.get(gate, 0):
                self.events[gate] = stage
        if self._graph.continues is not None and not self.waiting:
            # Nothing else keeps the head from iterations after the last.
            if self.commit_stage > 0:
                self.events[0] = max(self.events.get(0, 0), self.commit_stage)
            else:
                self.overruns = True
