"""The places of a region that its cycles are spent on, as the profile's sites."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cyclescope.hls.ir import Op
from cyclescope.hls.passes import Given, Nest
from cyclescope.hls.trace._waits import loses, place_of
from cyclescope.model import Access, Barrier, Lock, Loop, Position

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cyclescope.c import Range
    from cyclescope.hls.ir import Graph, Node, Region, Value
    from cyclescope.hls.microarch import Pipeline
    from cyclescope.model import Site

__all__ = ["LoopCounts", "Sites", "holding", "position_of"]


class LoopCounts(NamedTuple):
    """The counts of a loop in a run.

    Attributes:
        entries: how often it was entered.
        iterations: of all these together.
        waits: stage of variable latency → how often an iteration waited there, for how many
            cycles.
    """

    entries: int
    iterations: int
    waits: Mapping[int, tuple[int, int]]

    def and_of(self, other: LoopCounts) -> LoopCounts:
        """The counts of two runs together."""
        waits = {
            stage: (times + other.waits[stage][0], cycles + other.waits[stage][1])
            for stage, (times, cycles) in self.waits.items()
        }
        return LoopCounts(self.entries + other.entries, self.iterations + other.iterations, waits)


def position_of(where: Range) -> Position:
    """A place in the file's own name: equal programs give equal profiles wherever they lie."""
    return Position("c", Path(where.file).name, where.line, where.column)


def holding(sites: Sequence[Site], frame: int) -> tuple[Site, ...]:
    """The sites of a profile in which a frame is the state of a thread that has a lock."""
    return tuple(replace(s, held=frame) if isinstance(s, Lock) else s for s in sites)


class Sites:
    """The sites of a region, numbered: its loops, then the places where threads wait.

    Attributes:
        every: all sites.
        loops: the numbers of the loops.
        waits: for each name of a place where threads wait (`place_of`) its site's number.
    """

    def __init__(
        self,
        region: Region,
        pipelines: Sequence[Pipeline],
        counted: Mapping[Graph, LoopCounts] | None = None,
        given: Given | None = None,
    ) -> None:
        """Find them.

        Args:
            region: whose.
            pipelines: its graphs as hardware, outer ones first.
            counted: of loops, where a run counted them.
            given: what is known of a run that did not count them.
        """
        self._region = region
        self._nest, self._given = Nest(region.root), given
        self.every: list[Site] = []
        self.waits: dict[str, int] = {}
        self.loops: dict[Graph, int] = {}
        self._of_node: dict[Node, int] = {}
        self._first: dict[int, tuple[Graph, Node]] = {}
        self._held: dict[Graph, dict[Node, Node]] = {}
        self._least: dict[Graph, dict[Node, int]] = {}
        pipes = {pipe.graph: pipe for pipe in pipelines}
        for pipe in pipelines:
            if not pipe.root:
                self._loop(pipe, pipes, (counted or {}).get(pipe.graph))
        for pipe in pipelines:
            for gate in pipe.gates:
                for operation in gate.operations:
                    if loses(operation.node):
                        self._wait(operation.node, pipe, gate.stage)
        for graph, number in self.loops.items():
            site, lock = (
                self.every[number],
                self._lock(self._nest.outer(graph), self._nest.node(graph)),
            )
            assert isinstance(site, Loop)
            if lock < 0 and site.parent >= 0:
                around = self.every[site.parent]
                assert isinstance(around, Loop)
                lock = around.lock
            reads = self._reads(pipes[graph])
            self.every[number] = replace(site, needs=self._needs(graph), lock=lock, reads=reads)
        for number, (graph, node) in self._first.items():
            access, lock = self.every[number], self._lock(graph, node)
            if isinstance(access, Access):
                loop = self.every[access.loop] if access.loop >= 0 else None
                inherited = loop.lock if isinstance(loop, Loop) else -1
                self.every[number] = replace(access, lock=lock if lock >= 0 else inherited)

    def number_of(self, node: Node) -> int:
        """The number of the site that an operation is, or is one of several at; -1 for none."""
        return self._of_node.get(node, -1)

    def _loop(
        self, pipe: Pipeline, pipes: Mapping[Graph, Pipeline], counted: LoopCounts | None
    ) -> None:
        graph = pipe.graph
        outer = self._nest.outer(graph)
        number = self.loops[graph] = len(self.every)
        self._of_node[self._nest.node(graph)] = number
        executions, trips = None, self._nest.trips(graph, self._given)
        shared, cyclic = self._divided(graph)
        iterations, stages = None, tuple(pipe.plan.waiting)
        waits: list[tuple[int, int]] = []
        if counted is not None:
            executions, iterations, of_stages = counted
            waits = [of_stages[stage] for stage in stages]
            trips = iterations // executions if executions else 0
        self.every.append(
            Loop(
                self._region.name,
                position_of(graph.where),
                trips=trips,
                interval=pipe.schedule.interval,
                counter=self._nest.counter(graph),
                parent=self.loops.get(outer, -1) if outer is not None else -1,
                executions=executions,
                iterations=iterations,
                stage=pipes[outer].schedule.stage[self._nest.node(graph)] if outer else -1,
                apart=max(gate.apart for gate in pipe.gates),
                shared=shared,
                cyclic=cyclic,
                depth=pipe.schedule.depth,
                stages=stages,
                times=tuple(times for times, _ in waits),
                waited=tuple(cycles for _, cycles in waits),
                serial=_serial(pipe),
            )
        )

    def _needs(self, graph: Graph) -> tuple[int, ...]:
        """The loops and copies beside a loop that must be over first."""
        found: set[int] = set()
        seen: set[Node] = set()
        waiting = [self._nest.node(graph)]
        while waiting:
            node = waiting.pop()
            before = [*node.after, *(value.node for value in node.operands)]
            if node.when is not None:
                before.append(node.when.node)
            for other in before:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
                    if other.op in (Op.LOOP, Op.COPY) and other in self._of_node:
                        found.add(self._of_node[other])
        return tuple(sorted(found))

    def _divided(self, graph: Graph) -> tuple[bool, bool]:
        """Return whether the thread's number decides when a loop is over, and whether it is cyclic.

        It is cyclic if only where the loop begins follows from the thread, and not where it ends.
        """
        assert graph.continues is not None
        begins = {carried.param for carried in graph.carried}
        shared, ends = False, False
        waiting = [(graph, graph.continues.node, False)]
        seen: set[tuple[Node, bool]] = set()
        while waiting:
            where, node, first = waiting.pop()
            if (node, first) in seen:
                continue
            seen.add((node, first))
            if node.op in (Op.THREAD, Op.THREADS):
                shared = True
                ends = ends or (not first and node.op is Op.THREAD)
            operands = (value.node for value in node.operands if node.op is not Op.LOOP)
            waiting += [(where, operand, first) for operand in operands]
            outer = self._nest.outer(where)
            if node.op is Op.PARAM and outer is not None:
                params = [*(carried.param for carried in where.carried), *where.invariants]
                given = self._nest.node(where).operands[params.index(node)]
                waiting.append((outer, given.node, first or node in begins))
        return shared, shared and not ends

    def _reads(self, pipe: Pipeline) -> tuple[int, ...]:
        """The stages in which a loop reads the memory while it has no lock of its own."""
        return tuple(
            gate.stage
            for gate in pipe.gates
            if any(
                operation.node.op in (Op.LOAD, Op.COPY)
                and self._lock(pipe.graph, operation.node) < 0
                for operation in gate.operations
            )
        )

    def _dependence(self, graph: Graph, node: Node) -> int | None:
        if graph not in self._least:
            self._least[graph] = _dependences(graph)
        return self._least[graph].get(node)

    def _lock(self, graph: Graph | None, node: Node) -> int:
        """The lock that a thread got in this graph and has when it comes to an effect."""
        assert graph is not None
        if graph not in self._held:
            self._held[graph] = _held(graph)
        acquired = self._held[graph].get(node)
        return self.number_of(acquired) if acquired is not None else -1

    def _wait(self, node: Node, pipe: Pipeline, stage: int) -> None:
        graph, name, function = pipe.graph, place_of(node), self._region.name
        if name in self.waits:
            number = self._of_node[node] = self.waits[name]
            self._one_more(number, node, graph)
            return
        number = self.waits[name] = self._of_node[node] = len(self.every)
        self._first[number] = graph, node
        where, loop = position_of(node.where), self.loops.get(graph, -1)
        if node.op is Op.ACQUIRE:
            counts = _section(node, pipe)
            lines = tuple(sorted(counts))
            stages = tuple(counts[line] for line in lines)
            self.every.append(Lock(function, position=where, loop=loop, lines=lines, stages=stages))
        elif node.op is Op.BARRIER:
            self.every.append(Barrier(function, where, loop))
        else:
            assert node.array is not None
            offset = _address(node)
            self.every.append(
                Access(
                    function,
                    node.array.name,
                    where,
                    writes=node.op is not Op.LOAD,
                    width=_width(node),
                    stride=self._nest.stride(graph, offset),
                    dependence=self._dependence(graph, node),
                    loop=loop,
                    stage=stage,
                    repeats=tuple(
                        self.loops[loop]
                        for loop in self._nest.repeats(graph, offset)
                        if loop in self.loops
                    ),
                    copies=node.op is Op.COPY,
                )
            )

    def _one_more(self, number: int, node: Node, graph: Graph) -> None:
        """An operation at a place that is known: of an unrolled loop, or of the same line.

        What differs from one to the other is not known of the place.
        """
        site = self.every[number]
        home, first = self._first[number]
        if not isinstance(site, Access) or site.width is None or home is not graph:
            return
        offset = _address(node)
        again = {self.loops[loop] for loop in self._nest.repeats(graph, offset)}
        if self._nest.stride(graph, offset) != site.stride or _width(node) != site.width:
            site = replace(site, stride=None)
        kept = tuple(loop for loop in site.repeats if loop in again)
        site = self.every[number] = replace(site, repeats=kept)
        apart = self._nest.apart(_address(first), _address(node))
        # Neighbours, each of which continues where the one before ends, are one wide access.
        if site.width and apart == site.operations * site.width:
            self.every[number] = replace(site, operations=site.operations + 1)


def _serial(pipe: Pipeline) -> tuple[int, ...]:
    """The stages of variable latency that an iteration has left when the next one may begin.

    Of several things that gates wait for, those of the one behind the most such stages.
    """
    plan = pipe.plan
    ways = (
        tuple(stage for stage in plan.waiting[gate:] if stage < event)
        for gate, event in plan.events.items()
    )
    return max(ways, key=len, default=())


def _section(acquire: Node, pipe: Pipeline) -> Counter[int]:
    """In how many stages, from a lock's acquisition to its release, an iteration is at which line.

    It is at the line of the operation that began last of those that the section's text has.
    """
    stage_of, text = pipe.schedule.stage, acquire.where
    first = stage_of[acquire] + 1
    ends = [
        stage_of[node] for node in pipe.graph.nodes
        if node.op is Op.RELEASE and node.constant == acquire.constant and stage_of[node] >= first
    ]  # fmt: skip
    begun = {
        stage_of[node]: node.where.line
        for node in pipe.graph.nodes
        if node in stage_of
        and node.op not in (Op.CONST, Op.PARAM, Op.ACQUIRE, Op.RELEASE)
        and node.where.file == text.file
        and text.line <= node.where.line <= text.end_line
    }
    line, found = begun.get(first, text.line), Counter[int]()
    for stage in range(first, max(min(ends, default=first), first + 1)):
        line = begun.get(stage, line)
        found[line] += 1
    return found


def _address(node: Node) -> Value:
    """The offset that an access moves through memory: a copy's in the external array."""
    return node.operands[1] if node.op is Op.COPY else node.operands[0]


def _width(node: Node) -> int | None:
    if node.op is Op.COPY:
        return None
    return (node.widths[0] if node.op is Op.LOAD else node.operands[1].width) // 8


def _held(graph: Graph) -> dict[Node, Node]:
    """For each effect under a lock what acquired it; no effect moves over a lock's operations."""
    found: dict[Node, Node] = {}
    held: dict[int, Node] = {}
    for node in graph.nodes:
        if held:
            found[node] = next(reversed(held.values()))
        if node.op is Op.ACQUIRE:
            held[node.constant] = node
        elif node.op is Op.RELEASE:
            held.pop(node.constant, None)
    return found


def _dependences(graph: Graph) -> dict[Node, int]:
    """In how many iterations at least another access of its array waits for an access."""
    found: dict[Node, int] = {}
    for order in graph.orders:
        before, distance = order.before, order.distance
        if order.after.array is before.array and distance < found.get(before, distance + 1):
            found[before] = distance
    return found
