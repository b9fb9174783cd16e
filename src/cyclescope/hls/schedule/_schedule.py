"""The stage of each operation, and the interval at which a thread can begin iterations.

Operations of variable latency divide a graph into levels: those that need no other's result are
in the first variable-latency stage, those that need one of the first in the second, and so on.
What lies between is scheduled as soon as possible, chained as far as a cycle allows; what no
variable-latency stage needs and does not fit in front of it goes behind it. Values that an
iteration hands to the next are placed as late as possible (ALAP), since that is what
bounds the interval.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.hls.ir import (
    EFFECTS,
    LEAVES,
    Array,
    Bound,
    Graph,
    Limit,
    Node,
    Op,
    Order,
    Place,
    Schedule,
    Value,
)
from cyclescope.hls.schedule._delays import (
    BUDGET,
    REGISTERED,
    delay,
    latency,
    out,
    setup,
    varies,
)
from cyclescope.hls.schedule._ports import PORTS, local_accesses, port_interval, touched
from cyclescope.hls.schedule._recurrence import reaching, steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["schedule"]


def schedule(root: Graph) -> dict[Graph, Schedule]:
    """Schedule a region's graphs; orders that shared memory ports ask for are added to them.

    Args:
        root: its graph, with dependences.

    Returns:
        A schedule for each graph, outside in.
    """
    found: dict[Graph, Schedule] = {}
    _descend(root, {}, found)
    return found


def _descend(graph: Graph, limits: Mapping[Array, int], found: dict[Graph, Schedule]) -> None:
    work = _Scheduler(graph, limits)
    found[graph] = work.result()
    for loop in graph.nodes:
        if loop.body is not None:
            _descend(loop.body, work.limits_of(loop), found)


@dataclass(frozen=True, slots=True)
class _Time:
    """A moment: so many nanoseconds into a stage."""

    stage: int
    ns: float = 0.0

    @property
    def registered(self) -> int:
        """The first stage in which the value comes straight from a register."""
        return self.stage if self.ns <= REGISTERED else self.stage + 1


class _Scheduler:
    def __init__(self, graph: Graph, limits: Mapping[Array, int]) -> None:
        self.graph = graph
        self.limits = limits
        self.carried = {c.param for c in graph.carried}
        self.nodes = [n for n in graph.nodes if n.op not in LEAVES and n.op is not Op.PARAM]
        self.before = {n: self._before(n) for n in self.nodes}
        self.latency = {n: latency(n) for n in graph.nodes}
        self.touched = {n: touched(n.body) for n in self.nodes if n.body is not None}
        self.level: dict[Node, int] = {}
        self.begin: dict[Node, int] = {}
        self.chain: dict[Node, float] = {}  # nanoseconds before it in its stage
        self.ready: dict[Node, _Time] = {}
        self.used: dict[tuple[Array, Op, int], int] = {}
        self.split = self._split()
        self.waiting: list[int] = []
        self._levels()
        self._place()
        self._late()

    def _before(self, node: Node) -> list[Node]:
        """The nodes that must be complete before an operation begins."""
        found = [v.node for v in node.operands]
        if node.when is not None:
            found.append(node.when.node)
        if node.op in EFFECTS and self.graph.continues is not None:
            found.append(self.graph.continues.node)
        return [n for n in (*found, *node.after) if n.op not in LEAVES and n.op is not Op.PARAM]

    # Levels

    def _levels(self) -> None:
        loops: dict[tuple[Array, int], int] = {}
        for node in self.nodes:
            level = max((self.level[p] + varies(p) for p in self.before[node]), default=0)
            if node.body is not None:
                # Two loops of one variable-latency stage may share a memory: a port each.
                arrays = self.touched[node]
                while any(loops.get((a, level), 0) >= self._limit(a) for a in arrays):
                    level += 1
                for array in arrays:
                    loops[array, level] = loops.get((array, level), 0) + 1
            self.level[node] = level
        self._sharing = loops
        self.last = max(
            (level + varies(n) for n, level in self.level.items()),
            default=0,
        )

    def _limit(self, array: Array) -> int:
        return self.limits.get(array, PORTS)

    def _split(self) -> set[Array]:
        """Memories whose loads get one port and whose stores the other.

        So the next iteration's loads needn't wait for this one's last store.
        """
        return {
            array
            for array, nodes in local_accesses(self.graph).items()
            if self._limit(array) == PORTS < len(nodes) and len({n.op for n in nodes}) > 1
        }

    def _port(self, node: Node, array: Array) -> tuple[Op, int]:
        """The port that an access uses, and the limit of a stage."""
        if array in self.split:
            return node.op, 1
        return Op.LOAD, self._limit(array)

    def limits_of(self, loop: Node) -> dict[Array, int]:
        """The ports that a loop's graph may use of each memory."""
        limits = dict(self.limits)
        for array in self.touched[loop]:
            if self._sharing.get((array, self.level[loop]), 0) > 1:
                limits[array] = 1
        return limits

    # As soon as possible

    def _place(self) -> None:
        start = 0
        plain: list[list[Node]] = [[] for _ in range(self.last + 2)]  # by level
        variable: list[list[Node]] = [[] for _ in range(self.last + 2)]
        for node in self.nodes:
            (variable if varies(node) else plain)[self.level[node]].append(node)
        place = {n: i for i, n in enumerate(self.nodes)}
        late: set[Node] = set()
        for level in range(self.last + 1):
            waiters, own = variable[level], plain[level]
            if late:
                own = sorted((*late, *own), key=place.__getitem__)
            urgent = self._needed(waiters, set(own))
            for node in own:
                if node in urgent:
                    self._soon(node, start)
            late = set()
            if not waiters:
                for node in own:
                    if node not in urgent:
                        self._soon(node, start)
                continue
            # A stage for what is handed to the next iteration, if nothing else makes one.
            stage = start + (level == 0 and bool(own))
            for node in waiters:
                stage = max(stage, *(self.ready[p].registered for p in self.before[node]), stage)
            for node in own:
                if node in urgent:
                    continue
                if not late.isdisjoint(self.before[node]) or not self._fits(node, start, stage):
                    late.add(node)
                    self.level[node] = level + 1
            for node in waiters:
                self.begin[node] = stage
                self.chain[node] = 0.0
                self.ready[node] = _Time(stage + 1, REGISTERED)
            self.waiting.append(stage)
            start = stage + 1

    def _needed(self, waiters: list[Node], own: set[Node]) -> set[Node]:
        found: set[Node] = set()
        stack = [p for n in waiters for p in self.before[n]]
        while stack:
            node = stack.pop()
            if node in own and node not in found:
                found.add(node)
                stack += self.before[node]
        return found

    def _fits(self, node: Node, start: int, stage: int) -> bool:
        """Schedule an operation in front of a variable-latency stage, if it is over by then."""
        self._soon(node, start)
        over = self.ready[node]
        if over.stage < stage or (over.stage == stage and self.latency[node] > 0):
            return True
        self._undo(node)
        return False

    def _undo(self, node: Node) -> None:
        array = _local(node)
        if array is not None:
            self.used[array, self._port(node, array)[0], self.begin[node]] -= 1
        del self.begin[node], self.chain[node], self.ready[node]

    def _soon(self, node: Node, start: int) -> None:
        stage, ns = start, 0.0
        if any(v.node.op is Op.PARAM for v in node.operands):
            ns = REGISTERED
        for earlier in self.before[node]:
            there = self.ready[earlier]
            if there.stage > stage:
                stage, ns = there.stage, there.ns
            elif there.stage == stage:
                ns = max(ns, there.ns)
        self._set(node, stage, ns)

    def _set(self, node: Node, stage: int, ns: float) -> None:
        takes = self.latency[node]
        if ns + (setup(node) if takes else delay(node)) > BUDGET:
            stage, ns = stage + 1, 0.0
        array = _local(node)
        if array is not None:
            kind, limit = self._port(node, array)
            while self.used.get((array, kind, stage), 0) >= limit:
                stage, ns = stage + 1, 0.0
            self.used[array, kind, stage] = self.used.get((array, kind, stage), 0) + 1
        self.begin[node], self.chain[node] = stage, ns
        if takes:
            self.ready[node] = _Time(stage + takes, out(node))
        else:
            self.ready[node] = _Time(stage, ns + delay(node))

    # Recurrences as late as possible

    def _late(self) -> None:
        users: dict[Node, list[Node]] = {}
        for node in self.nodes:
            for earlier in self.before[node]:
                users.setdefault(earlier, []).append(node)
        moving = self._recurrent()
        handed_on = {c.next.node for c in self.graph.carried}
        kept = {self.graph.continues.node} if self.graph.continues is not None else set()
        for node in reversed(self.nodes):
            if node not in moving or node in kept or node in handed_on:
                continue
            if varies(node) or node.op in EFFECTS or node not in users:
                continue
            self._delay(node, users[node])

    def _recurrent(self) -> set[Node]:
        """Operations between a carried value and what becomes of it."""
        params = {c.param: 1 << i for i, c in enumerate(self.graph.carried)}
        if not params:
            return set()
        # Of each operation the carried values, a bit each, that it needs, and that need it.
        needs: dict[Node, int] = {}
        for node in self.nodes:
            bits = 0
            for value in (*node.operands, *((node.when,) if node.when is not None else ())):
                bits |= params.get(value.node, 0)
            for earlier in self.before[node]:
                bits |= needs[earlier]
            needs[node] = bits
        needed = dict.fromkeys(self.nodes, 0)
        for number, carried in enumerate(self.graph.carried):
            if carried.next.node in needed:
                needed[carried.next.node] |= 1 << number
        for node in reversed(self.nodes):
            for earlier in self.before[node]:
                needed[earlier] |= needed[node]
        return {node for node in self.nodes if needs[node] & needed[node]}

    def _delay(self, node: Node, users: list[Node]) -> None:
        takes = self.latency[node]
        region = self._region(self.begin[node])
        if any(self._region(self.begin[u]) != region for u in users):
            return
        first = min(self.begin[u] for u in users)
        there = [u for u in users if self.begin[u] == first]
        if takes:
            behind = out(node)
            chained = all(
                self.chain[u] >= behind or (self.latency[u] and behind <= REGISTERED) for u in there
            )
            begin, ns = first - takes - (not chained), REGISTERED
        elif all(self.chain[u] >= delay(node) + REGISTERED for u in there):
            begin, ns = first, REGISTERED
        else:
            begin, ns = first - 1, REGISTERED
        if begin <= self.begin[node]:
            return
        # `ready` stays: of operations that are moved nobody asks for it any more.
        self.begin[node], self.chain[node] = begin, ns

    # The result

    def _region(self, stage: int) -> int:
        return bisect_left(self.waiting, stage)

    def available(self, value: Value) -> int:
        """The stage from which a value is there."""
        node = value.node
        if node in self.ready:
            return self.ready[node].stage
        return self._params.get(node, 0)

    def result(self) -> Schedule:
        graph = self.graph
        self._read_params()
        self._port_orders()
        bounds = self._bounds()
        stage = {n: self.begin.get(n, self._params.get(n, 0)) for n in graph.nodes}
        ends = [0, *(t.stage for t in self.ready.values())]
        ends += [w + 1 for w in self.waiting]
        return Schedule(
            graph=graph,
            stage=stage,
            latency=self.latency,
            waiting=tuple(self.waiting),
            depth=1 + max(ends),
            interval=max((bound.interval for bound in bounds), default=1),
            bounds=bounds,
        )

    def _read_params(self) -> None:
        """Carried values are read by their first user, but not after they are written."""
        self._params: dict[Node, int] = {}
        first: dict[Node, int] = {}
        for node in self.nodes:
            values = [*node.operands, *((node.when,) if node.when is not None else ())]
            for value in values:
                if value.node in self.carried:
                    known = first.get(value.node, self.begin[node])
                    first[value.node] = min(known, self.begin[node])
        if self.graph.continues is not None and self.graph.continues.node in self.carried:
            first[self.graph.continues.node] = 0
        for carried in self.graph.carried:
            node = carried.next.node
            written = self.ready[node].stage if node in self.ready else 0
            self._params[carried.param] = min(first.get(carried.param, written), written)

    def _bounds(self) -> tuple[Bound, ...]:
        if self.graph.continues is None:
            return ()
        every = (*self._recurrences(), *self._order_bounds(), *self._port_bounds())
        return tuple(bound for bound in every if bound.interval > 1)

    def _recurrences(self) -> Iterator[Bound]:
        """Bounds on the interval by carried values."""
        assert self.graph.continues is not None
        behind = reaching(self.graph)
        for carried in self.graph.carried:
            read = self._params[carried.param]
            decided = self.available(self.graph.continues)
            written = max(self.available(carried.next), read, decided)
            if self._region(written) != self._region(read):
                continue
            name = carried.param.name or "a value"
            way = steps(carried.next.node, carried.param, self.latency, behind)
            where = carried.next.node.where
            yield Bound(Limit.RECURRENCE, written + 1 - read, name, way, where)

    def _order_bounds(self) -> Iterator[Bound]:
        """Bounds on the interval by orders between fixed-latency effects of one static region."""
        fixed = {
            n: (stage, self._region(stage))
            for n, stage in self.begin.items()
            if n.op in EFFECTS and not varies(n)
        }
        most: dict[tuple[str, Op, int, Op, int, int], Bound] = {}
        for order in self.graph.orders:
            before, after, distance = order.before, order.after, order.distance
            if before not in fixed or after not in fixed:
                continue
            (first, region), (second, other) = fixed[before], fixed[after]
            if first + 1 - second <= distance or region != other:
                continue
            interval = -(-(first + 1 - second) // distance)
            name = before.array.name if before.array is not None else before.op.value
            key = (name, before.op, before.where.line, after.op, after.where.line, distance)
            if key not in most or most[key].interval < interval:
                nodes = (before, after)
                most[key] = Bound(Limit.ORDER, interval, name, nodes, before.where, distance)
        yield from most.values()

    def _port_bounds(self) -> Iterator[Bound]:
        """The bounds on the interval by the ports of local memories."""
        for array, nodes in local_accesses(self.graph).items():
            regions: dict[int, list[tuple[int, Node]]] = {}
            for node in nodes:
                stage = self.begin[node]
                regions.setdefault(self._region(stage), []).append((stage, node))
            ports = self._limit(array)
            for own in regions.values():
                needed = port_interval(own, ports)
                if needed > 1:
                    users = tuple(node for _, node in own)
                    yield Bound(Limit.PORTS, needed, array.name, users, users[0].where, ports=ports)

    def _port_orders(self) -> None:
        """Accesses in several regions, and in loops, take turns if the ports aren't enough."""
        graph = self.graph
        if graph.continues is None:
            return
        users = local_accesses(graph)
        inner: set[Array] = set()
        for loop, arrays in self.touched.items():
            inner |= arrays
            for array in arrays:
                users.setdefault(array, []).append(loop)
        known: set[tuple[Node, Node]] | None = None
        for array in sorted(users, key=lambda a: a.name):
            nodes = users[array]
            zones: dict[tuple[int, bool], list[Node]] = {}
            for node in nodes:
                zone = (self._region(self.begin[node]), varies(node))
                zones.setdefault(zone, []).append(node)
            if len(zones) < 2 or (array not in inner and len(nodes) <= self._limit(array)):
                continue
            if known is None:
                known = {(o.before, o.after) for o in graph.orders}
            ordered = sorted(zones)
            for position, earlier in enumerate(ordered):
                for later in ordered[position + 1 :]:
                    last = max(zones[later], key=lambda n: self.begin[n])
                    first = min(zones[earlier], key=lambda n: self.begin[n])
                    if (last, first) not in known:
                        graph.orders.append(Order(last, first))


def _local(node: Node) -> Array | None:
    if node.op in (Op.LOAD, Op.STORE) and node.array is not None:
        return node.array if node.array.place is not Place.EXTERNAL else None
    return None
