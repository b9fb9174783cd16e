"""The pipeline of one graph: static regions between a head and variable-latency stages.

Time: the scheduler at the head (or behind a variable-latency stage w) grants a thread in some
cycle; the next cycle is the thread's stage 0 (or w + 1). In its cycle in stage w an iteration
arrives in w: its live values go into the contexts and the operations of w begin.
"""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from cyclescope.errors import LawError
from cyclescope.hls.ir import EFFECTS, Op
from cyclescope.hls.microarch._binding import Plan
from cyclescope.hls.microarch._gates import Entry, Gate, OpActivity, Operation
from cyclescope.hls.microarch._given import Given
from cyclescope.hls.microarch._memory import Traffic
from cyclescope.hls.microarch._operations import FLOATING, INTEGER, combinational
from cyclescope.hls.microarch._parts import ThreadMask, either, one_hot, scheduler
from cyclescope.hls.schedule import unit_of
from cyclescope.model import Part
from cyclescope.rtl import const

if TYPE_CHECKING:
    from cyclescope.hls.ir import Graph, Node, Schedule, Value
    from cyclescope.hls.microarch._machine import Core
    from cyclescope.rtl import Expr

__all__ = ["Pipeline"]

_TOGETHER = 8  # stages of which one register says whether an iteration is in them


class Pipeline:
    """A graph as hardware.

    Attributes:
        name: prefix of its nets.
        plan: what happens in which stage.
        gates: the head, then the variable-latency stages.
        over: a thread ends here in this cycle, and its number.
        active: the threads that are in this graph.
        entered: the threads that enter it in this cycle.
        tested, stops: of a loop: an iteration's condition is known in this cycle, and is false.
        stages: for each static stage its activation and thread.
        moves: an iteration is in one of so many stages, for all stages together.
    """

    def __init__(self, core: Core, graph: Graph, schedule: Schedule, entry: Entry) -> None:
        self.core, self.graph, self.schedule = core, graph, schedule
        self.name = graph.label
        self.note = core.text(graph.where)
        self.root = graph.continues is None
        self.stages: dict[int, tuple[Expr, Expr]] = {}
        self.moves: list[Expr] = []
        self.tested: Expr
        self.stops: Expr
        self.plan = Plan(graph, schedule, self.note)
        self.op_activities: list[OpActivity] = []
        self._given: dict[Node, Given] = {}
        # Carried values that nobody reads after the loop.
        numbered = enumerate(graph.carried)
        self._inner = {c.param for number, c in numbered if number not in entry.results}
        self._values: dict[tuple[Value, int], Expr] = {}
        self._go: dict[int, Expr] = {}
        self._whose: dict[int, Expr] = {}
        self._coming: dict[int, tuple[Expr, Expr, Expr | None]] = {}
        self._origin = core.origin(Part.CONTROL, graph.where)
        with core.m.part_of(self._origin):
            self._state(entry)
            self._walk()
            self._leave()

    # State

    def _state(self, entry: Entry) -> None:
        core, m, n = self.core, self.core.m, self.core.threads
        self.gates = [Gate(m, self.name, n, s, self.note) for s in (-1, *self.plan.waiting)]
        inside = f"{self.note}: threads inside"
        self.active = ThreadMask(m, f"{self.name}_active", n, note=inside, keep=True)
        self.last_seen = ThreadMask(m, f"{self.name}_last", n)
        self.entered = m.wire(f"{self.name}_entered", one_hot(entry.valid, entry.tid, n), keep=True)
        self.tested = self.stops = const(0, 1)
        carried = [c.param for c in self.graph.carried]
        params = (*carried, *self.graph.invariants)
        values = (*entry.initial, *entry.invariants)
        for number, (param, value) in enumerate(zip(params, values, strict=True)):
            name = f"{self.name}_{param.name or f'given{number}'}"
            with m.part_of(core.origin(Part.OPERATION, param.where)):
                note = core.text(param.where)
                given = self._given[param] = Given(
                    m, name, value.width, n, carried=number < len(carried), note=note
                )
            given.enter(entry.valid, entry.tid, value)
        self._waits()

    def _waits(self) -> None:
        """Add the conditions that gates wait for besides the threads."""
        plan, interval = self.plan, self.schedule.interval
        lengths = [b - a for a, b in zip((-1, *plan.waiting), plan.waiting, strict=False)]
        for number, here in enumerate(self.gates):
            here.waits_token = number in plan.events
            # One iteration in a region and the context behind it keeps them so far apart anyway,
            # in the region before as in the region behind.
            apart = max([1, *lengths[max(number - 1, 0) : number + 1]])
            here.waits_interval = not self.root and interval > apart
            if here.waits_token:
                apart = max(apart, plan.events[number] - here.stage)
            if here.waits_interval:
                apart = max(apart, interval)
            # A thread goes through the root once.
            here.apart = max(apart, plan.end + 1) if self.root else apart

    # Building

    def _walk(self) -> None:
        for number, gate in enumerate(self.gates):
            self._scheduler(number, gate)
            last = self.gates[number + 1].stage if number + 1 < len(self.gates) else self.plan.end
            for stage in range(gate.stage + 1, last + 1):
                self._begin(stage, gate)
                for node in self.plan.by_stage.get(stage, ()):
                    self._node(node, stage, gate)
                self._carry(stage)
                self._op_activity(stage, gate)
            for first in range(gate.stage + 1, last + 1, _TOGETHER):
                stages = range(first, min(first + _TOGETHER, last + 1))
                some = either([self._coming[s][0] for s in stages], 1)
                self.moves.append(self.core.m.delay(some, f"{self.name}_s{first}_moves", reset=0))
            if number + 1 < len(self.gates):
                self._arrive(gate, self.gates[number + 1])

    def _scheduler(self, number: int, gate: Gate) -> None:
        core, m, n = self.core, self.core.m, self.core.threads
        eligible: Expr = gate.may_go
        for operation in gate.operations:
            # The end of an inner loop is known late in a cycle: its condition may be.
            if operation.node.op is Op.LOOP:
                eligible = eligible & ~operation.busy.bits
            else:
                gate.wait_for(operation.busy, clear=True)
        if gate.stage < 0 and not self.root:
            # Iterations more may be on their way when the last is seen: each ends once more, in the
            # next cycles, and nothing else.
            eligible = eligible & ~self.last_seen.bits
        if number + 1 < len(self.gates):
            gate.wait_for(self.gates[number + 1].reserved, clear=True)
        if gate.waits_interval:
            gate.wait_for(gate.blocked, clear=True)
        if gate.waits_token:
            gate.wait_for(gate.token)
        inputs: dict[str, Expr] = {"eligible": m.wire(f"{gate.name}_ready", eligible)}
        if gate.stage >= 0:
            valid, tid = self.stages[gate.stage]
            inputs |= {"in_order": core.in_order, "arrive": valid, "arrive_tid": tid}
        hts = m.instance(scheduler(n, ordered=gate.stage >= 0), f"{gate.name}_hts", inputs)
        gate.grant = hts["grant"]
        gate.valid = m.delay(hts["valid"], f"{gate.name}_goes", reset=0)
        gate.tid = const(0, 1)
        if n > 1:
            gate.tid = m.delay(hts["number"], f"{gate.name}_tid", when=hts["valid"])
        if gate.stage >= 0:
            gate.present.clear(gate.grant)
            gate.reserved.clear(gate.grant)
        elif self.root:
            gate.present.clear(gate.grant)
            gate.present.set(self.entered)
        else:
            gate.present.set(self.entered)
        if number + 1 < len(self.gates):
            self.gates[number + 1].reserved.set(gate.grant)
        if gate.waits_interval:
            gate.blocked.set(gate.grant)
            after = self.schedule.interval - 1
            name = f"{gate.name}_{after}_ago"
            gate.blocked.clear(m.delay(gate.grant, name, after, reset=0))
        if gate.waits_token:
            gate.token.clear(gate.grant)
            gate.token.set(self.entered)

    def _begin(self, stage: int, gate: Gate) -> None:
        """The registers of a stage: who is there, with which values."""
        core, m = self.core, self.core.m
        first = stage == gate.stage + 1
        before = (gate.valid, gate.tid) if first else self.stages[stage - 1]
        prefix = f"{self.name}_s{stage}"
        valid = m.register(f"{prefix}_valid", 1, reset=0, note=f"{self.note}, stage {stage}")
        m.update(valid, before[0])
        if core.threads > 1:
            tid: Expr = m.delay(before[1], f"{prefix}_tid", when=before[0])
        else:
            tid = const(0, 1)
        self.stages[stage] = (valid, tid)
        operations = {o.node: o for o in gate.operations} if first else {}
        for value in self.plan.passing.get(stage, ()):
            operation = operations.get(value.node)
            with m.part_of(core.origin(Part.OPERATION, value.node.where)):
                if operation is None:
                    self._values[value, stage] = self._pass(
                        value, stage, gate if first else None, before[0]
                    )
                    continue
                name = f"{prefix}_{value.node.name or value.node.op}"
                result = operation.result(value.index, gate.tid)
                note = core.text(value.node.where)
                self._values[value, stage] = m.delay(result, name, when=gate.valid, note=note)
        went: Expr | None = None
        if not self.root and stage > self.plan.commit_stage:
            went = self._go[stage - 1]
            if first and gate.stage >= 0:
                context = m.memory(f"{gate.name}_go", 1, core.threads)
                context.write(self.stages[gate.stage][1], went, self.stages[gate.stage][0])
                went = context.at(gate.tid)
            self._go[stage] = m.delay(went, f"{prefix}_go", when=before[0])
        self._coming[stage] = (*before, went)

    def _pass(self, value: Value, stage: int, gate: Gate | None, valid: Expr) -> Expr:
        m, core, node = self.core.m, self.core, value.node
        label = node.name or node.op
        source = self.at(value, stage - 1)
        if gate is not None and gate.stage >= 0:
            context = m.memory(f"{gate.name}_{label}", value.width, core.threads)
            context.write(self.stages[gate.stage][1], source, self.stages[gate.stage][0])
            source = context.at(gate.tid)
        note = core.text(node.where)
        return m.delay(source, f"{self.name}_s{stage}_{label}", when=valid, note=note)

    def at(self, value: Value, stage: int) -> Expr:
        """A value in a stage."""
        found = self._values.get((value, stage))
        if found is None:
            found = self._values[value, stage] = self._leaf(value, stage)
        return found

    def _leaf(self, value: Value, stage: int) -> Expr:
        node, core, tid = value.node, self.core, self.stages[stage][1]
        if node.op is Op.CONST:
            return const(node.constant % (1 << value.width), value.width)
        if node.op is Op.SCALAR:
            return core.scalars[node.constant]
        if node.op is Op.THREAD:
            return tid.zext(value.width)
        if node.op is Op.THREADS:
            return core.team.zext(value.width)
        assert node.op is Op.PARAM, node.op
        name = f"{self.name}_s{stage}_{node.name or 'given'}"
        coming, who, _ = self._coming[stage]
        return self._given[node].read(coming, who, name, forwarded=self._forwarded(node, stage))

    def _forwarded(self, param: Node, stage: int) -> bool:
        """An iteration may write a carried value when the next one is about to come in to read it.

        Where the next one waits for a gate behind that, it comes two cycles later at the earliest.
        """
        plan = self.plan
        written = [s for carried, s in plan.writes.items() if carried.param is param]
        gate = plan.region_of(stage)
        apart = self.gates[gate].apart
        return any(plan.region_of(s) == gate and apart <= s + 1 - stage for s in written)

    def _commit_at(self, stage: int) -> Expr:
        """The stage commit enable: 1 in the cycles in which the effects of this stage happen."""
        valid, _ = self.stages[stage]
        go = self._go_at(stage)
        return valid if go is None else valid & go

    def _go_at(self, stage: int) -> Expr | None:
        """The loop's condition, of the iteration in this stage; None: there is no condition."""
        if self.root:
            return None
        if stage < self.plan.commit_stage:
            raise LawError(f"{self.note}: an effect in stage {stage} before it is known to be")
        if stage == self.plan.commit_stage and stage not in self._go:
            assert self.graph.continues is not None
            go = self.at(self.graph.continues, stage)
            if self._inner and self.plan.overruns:
                # The values of iterations behind the last are others by now.
                seen = self.last_seen.of(self.stages[stage][1])
                go = self.core.m.wire(f"{self.name}_goes_on", go & ~seen)
            self._go[stage] = go
        return self._go[stage]

    def _who(self, stage: int, *late: Expr | None) -> Expr:
        """The bit of the thread in this stage, if all conditions are 1.

        They are known late, and who it is early: so they come last.
        """
        core = self.core
        if stage not in self._whose:
            mask = one_hot(*self.stages[stage], core.threads)
            self._whose[stage] = core.m.wire(f"{self.name}_s{stage}_who", mask)
        mask = self._whose[stage]
        conditions = [one for one in late if one is not None]
        return mask & reduce(and_, conditions).repeat(core.threads) if conditions else mask

    def _node(self, node: Node, stage: int, gate: Gate) -> None:
        core, m = self.core, self.core.m
        note = core.text(node.where)
        if node in self.plan.in_waiting:
            return
        with m.source(note), m.part_of(core.origin(Part.OPERATION, node.where)):
            if node.op in EFFECTS:
                self._static_effect(node, stage, gate)
                return
            operands = [self.at(v, stage) for v in node.operands]
            name = f"{self.name}_s{stage}_{node.name or node.op}"
            unit = unit_of(node, self.schedule.latency[node])
            if unit is not None:
                result = core.operate(unit, operands, name)
                self._values[node.result, stage + unit.latency] = result
            else:
                result = m.wire(name, combinational(node, operands))
                self._values[node.result, stage] = result

    def _static_effect(self, node: Node, stage: int, gate: Gate) -> None:
        """A local access, or a release."""
        core, m = self.core, self.core.m
        go, tid = self._commit_at(stage), self.stages[stage][1]
        if node.when is not None:
            go = go & self.at(node.when, stage)
        name = f"{self.name}_s{stage}_{node.name or node.op}"
        go = m.wire(f"{name}_now", go)
        if node.op is Op.RELEASE:
            core.releases[node.constant].append(go)
            return
        assert node.array is not None
        offset = self.at(node.operands[0], stage)
        core.check(node, go, tid, offset)
        stores = node.op is Op.STORE
        bits = node.operands[1].width if stores else node.widths[0]
        core.local_traffic.append(Traffic(go, tid, bits // 8, stores, gate.apart))
        memory = core.local[node.array]
        if stores:
            memory.store(name, go, tid, offset, self.at(node.operands[1], stage))
        else:
            valid = self.stages[stage][0]
            self._values[node.result, stage + 1] = memory.load(
                name, valid, go, tid, offset, node.widths[0]
            )

    def _carry(self, stage: int) -> None:
        """Write the registers at the end of a stage's cycle."""
        m = self.core.m
        valid, tid = self.stages[stage]
        if not self.root and stage == self.plan.commit_stage:
            go = self._go_at(stage)
            assert go is not None
            self.stops = m.wire(f"{self.name}_stops", valid & ~go, keep=True)
            self.tested = valid
            self.last_seen.set(self._who(stage, ~go))
            self.last_seen.clear(self.entered)
        for carried in self.plan.written.get(stage, ()):
            value = self.at(carried.next, stage)
            written, who = valid, self._who(stage)
            if carried.param not in self._inner:
                written, who = self._commit_at(stage), self._who(stage, self._go_at(stage))
            self._given[carried.param].write(written, who, tid, value)
        for gate, event in self.plan.events.items():
            if event == stage:
                self.gates[gate].token.set(self._soon(stage))

    def _soon(self, stage: int) -> Expr:
        """The thread of which an iteration comes into a stage in the next cycle, if it happens.

        A thread that this lets go comes into its next stage two cycles later. Where it is known no
        sooner whether the iteration happens: it is in the stage in this cycle.
        """
        valid, tid, went = self._coming[stage]
        if self.root or stage < self.plan.commit_stage:
            return one_hot(valid, tid, self.core.threads)
        if went is not None:
            return one_hot(valid & went, tid, self.core.threads)
        return self._who(stage, self._go_at(stage))

    def _op_activity(self, stage: int, gate: Gate) -> None:
        """Declare a named wire that says in which cycles the stage's operations are active."""
        nodes = self.plan.by_stage.get(stage, ())
        integer = sum(n.op in INTEGER for n in nodes)
        floating = sum(n.op in FLOATING for n in nodes)
        if integer or floating:
            valid, tid = self.stages[stage]
            active = valid if stage < self.plan.commit_stage else self._commit_at(stage)
            wire = self.core.m.wire(f"{self.name}_s{stage}_works", active, keep=True)
            self.op_activities.append(OpActivity(wire, tid, integer, floating, gate.apart))

    def _arrive(self, before: Gate, gate: Gate) -> None:
        # A thread's next one leaves the gate before when this one has left here.
        apart = gate.stage - before.stage
        core, m = self.core, self.core.m
        valid, tid = self.stages[gate.stage]
        gate.present.set(self._who(gate.stage))
        go = self._go_at(gate.stage)
        for node in self.plan.by_stage.get(gate.stage, ()):
            if node not in self.plan.in_waiting:
                continue
            part = Part.MEMORY_PATH if node.array is not None else Part.CONTROL
            with m.source(core.text(node.where)), m.part_of(core.origin(part, node.where)):
                name = f"{self.name}_w{gate.stage}_{node.name or node.op}"
                when = None if node.when is None else self.at(node.when, gate.stage)
                conditions = [one for one in (go, when) if one is not None]
                issue = m.wire(f"{name}_issue", reduce(and_, conditions, valid))
                busy = ThreadMask(m, f"{name}_busy", core.threads)
                busy.set(self._who(gate.stage, go, when))
                gate.flags.append(busy)
                operands = [self.at(v, gate.stage) for v in node.operands]
                behind = self.plan.passing.get(gate.stage + 1, ())
                read = frozenset(value.index for value in behind if value.node is node)
                result = core.begin(
                    node, name, busy, issue, tid, operands, apart=apart, results=read
                )
            gate.operations.append(Operation(node, busy, issue, result))

    def _leave(self) -> None:
        m, n = self.core.m, self.core.threads
        valid, tid, went = self._coming[self.plan.end]
        if self.root or went is None:
            valid, tid = self.stages[self.plan.end]
            went = None if self.root else self._go[self.plan.end]
        ends = valid if went is None else valid & ~went
        self.over = (m.wire(f"{self.name}_over", ends), tid)
        self.over_mask = m.wire(f"{self.name}_over_mask", one_hot(self.over[0], tid, n))
        self.active.set(self.entered)
        self.active.clear(self.over_mask)
        if not self.root:
            self.gates[0].present.clear(self.over_mask)

    def result(self, index: int, tid: Expr) -> Expr:
        """A carried value of a thread whose loop is over."""
        return self._given[self.graph.carried[index].param].at(tid)

    def finish(self) -> None:
        """Everything that sets or clears a flag is known."""
        with self.core.m.part_of(self._origin):
            self.active.finish()
            self.last_seen.finish()
            for given in self._given.values():
                given.finish()
            for flags in {id(f): f for g in self.gates for f in g.flags}.values():
                flags.finish()
            for gate in self.gates:
                gate.finish()
