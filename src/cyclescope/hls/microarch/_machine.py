"""A region as hardware: one datapath, N threads, their memories, locks and barriers.

    machine = build_machine(region, schedules)
    machine.sources  # {"hts8.v": …, "gemm_region.v": …}

The host gives the addresses and sizes of external arrays and the scalars, the size of the team
and whether variable-latency stages keep the order of arrival; then it starts thread after thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.errors import LawError
from cyclescope.hls.ir import Op, Place
from cyclescope.hls.microarch._gates import Entry
from cyclescope.hls.microarch._local_memories import LocalArray, local_uses
from cyclescope.hls.microarch._memory import Ports
from cyclescope.hls.microarch._params import ADDRESS
from cyclescope.hls.microarch._parts import (
    Arrival,
    ThreadMask,
    barrier,
    either,
    lock,
    one_hot,
    tid_width,
)
from cyclescope.hls.microarch._pipeline import Pipeline
from cyclescope.model import Part
from cyclescope.rtl import Module, Origin, cat, const, origins, sources

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cyclescope.c import Range
    from cyclescope.hls.ir import Array, Graph, Node, Region, Schedule
    from cyclescope.hls.microarch._memory import Traffic
    from cyclescope.rtl import Expr, Net, Unit

__all__ = ["Access", "Core", "Machine", "Wait", "build_machine", "machine_around"]


@dataclass(frozen=True, eq=False, slots=True)
class Wait:
    """A place where threads wait: bits of `waits`, a bit a thread, from `low` up."""

    node: Node
    graph: Graph
    low: int


@dataclass(frozen=True, eq=False, slots=True)
class Access:
    """An access that is checked: of a copy there are two, to its target and to its source."""

    node: Node
    array: Array


@dataclass(frozen=True, eq=False, slots=True)
class Machine:
    """The hardware that was built.

    Attributes:
        name: of the top module.
        sources: file name → Verilog text.
        origins: of its nets, memories and instances, by their paths below the top module.
        region: what it does.
        accesses: by the number in a fault, the accesses that are checked.
        waits: where threads can wait.
        pipelines: of all graphs, outside in, the root first.
        traffic: requests at the threads' ports.
        local_traffic: loads and stores of local arrays; copies are not among them.
        asking: bits of threads whose requests wait for a bank's arbiter.
    """

    name: str
    sources: Mapping[str, str]
    origins: Mapping[str, Origin]
    region: Region
    accesses: tuple[Access, ...]
    waits: tuple[Wait, ...]
    pipelines: tuple[Pipeline, ...]
    traffic: tuple[Traffic, ...]
    local_traffic: tuple[Traffic, ...]
    asking: tuple[Expr, ...]

    @property
    def core(self) -> str:
        """The path from the bench to the instance with the named nets."""
        return "accelerator"

    @property
    def threads(self) -> int:
        """Contexts in hardware: the largest team."""
        return self.region.threads


class Core:
    """The common state of a region's pipelines while they are built."""

    def __init__(
        self,
        region: Region,
        schedules: Mapping[Graph, Schedule],
        *,
        checks: bool,
        trace: bool = False,
    ) -> None:
        self.region, self.schedules, self.checks = region, schedules, checks
        self._names: dict[str, str] = {}  # of files
        n = self.threads = region.threads
        name = f"{region.name}_region"
        title = f"{self.text(region.where)}: {n} hardware threads"
        self.m = m = Module(name, title, origin=Origin(Part.CONTROL))
        self._width = tid_width(n)
        start = m.input("start", 1)
        start_tid = m.input("start_tid", self._width)
        self.team: Expr = m.input("team", self._width + 1)
        self.team_mask = m.input("team_mask", n)
        self.in_order = m.input("in_order", 1)
        self.scalars = [m.input(f"scalar{i}", w) for i, (_, w) in enumerate(region.scalars)]
        self.base: dict[Array, Expr] = {}
        self.size: dict[Array, Expr] = {}
        self.local: dict[Array, LocalArray] = {}
        uses = local_uses(region.root)
        for number, array in enumerate(region.arrays):
            if array.place is Place.EXTERNAL:
                self.base[array] = m.input(f"base{number}", ADDRESS)
                self.size[array] = m.input(f"size{number}", ADDRESS)
            else:
                with m.part_of(self.origin(Part.MEMORY_PATH, array.where)):
                    self.local[array] = LocalArray(
                        m, array, n, uses.get(array, ()), self.text(array.where)
                    )
        self.ports = Ports(m, n, trace=trace)
        self.releases: list[list[Expr]] = [[] for _ in region.locks]
        self._acquires: list[list[tuple[Expr, Expr, ThreadMask]]] = [[] for _ in region.locks]
        self._barriers: list[list[Arrival]] = [[] for _ in region.barriers]
        self.local_traffic: list[Traffic] = []
        self.accesses: list[Access] = []
        self.pipelines: list[Pipeline] = []
        if checks:
            self.fault = m.register("fault", 1, reset=0, note="an access was out of range")
            self._fault_access = m.register("fault_access", 16)
            self._fault_tid = m.register("fault_tid", self._width)
            self._fault_offset = m.register("fault_offset", 64)
        entry = Entry(start, start_tid, (), (), frozenset())
        root = Pipeline(self, region.root, schedules[region.root], entry)
        self.pipelines.append(root)
        # Inner loops were done before those around them.
        self.pipelines.reverse()
        self._finish(root)

    def text(self, where: Range) -> str:
        """A place in the source."""
        return f"{self._file(where)}:{where.line}"

    def origin(self, part: Part, where: Range) -> Origin:
        """The origin of what a place in the source makes."""
        return Origin(part, self._file(where), where.line)

    def _file(self, where: Range) -> str:
        name = self._names.get(where.file)
        if name is None:
            name = self._names[where.file] = Path(where.file).name
        return name

    # Operations

    def operate(self, unit: Unit, operands: Sequence[Expr], name: str) -> Expr:
        """The output of a functional unit with these operands."""
        inputs = dict(zip(unit.inputs, operands, strict=True))
        return self.m.instance(unit.module, f"{name}_unit", inputs)["q"]

    def begin(
        self,
        node: Node,
        name: str,
        busy: ThreadMask,
        issue: Net,
        tid: Expr,
        operands: Sequence[Expr],
        *,
        apart: int,
        results: frozenset[int],
    ) -> Callable[[int, Expr], Expr]:
        """A variable-latency operation; returns how to read those of its results.

        From the end of a thread's one to the beginning of its next it takes at least `apart`
        cycles.
        """
        if node.op in (Op.LOAD, Op.STORE):
            assert node.array is not None
            self.check(node, issue, tid, operands[0])
            at = self.base[node.array] + operands[0].trunc(ADDRESS)
            if node.op is Op.LOAD:
                loaded = self.ports.load(name, busy, issue, tid, at, node.widths[0], apart=apart)
                return lambda _, t: loaded.at(t)
            self.ports.store(name, busy, issue, tid, at, operands[1], apart=apart)
        elif node.op is Op.LOOP:
            assert node.body is not None
            count = len(node.body.carried)
            entry = Entry(issue, tid, operands[:count], operands[count:], results)
            inner = Pipeline(self, node.body, self.schedules[node.body], entry)
            self.pipelines.append(inner)
            busy.clear(inner.over_mask)
            return inner.result
        elif node.op is Op.COPY:
            assert node.array is not None
            assert node.source is not None
            offset, source, length = operands
            self._check(node, node.array, issue, tid, offset, length)
            self._check(node, node.source, issue, tid, source, length)
            at = self.base[node.source] + source.trunc(ADDRESS)
            self.ports.preloader.copy(
                node, name, busy, issue, tid, self.local[node.array], at, offset, length
            )
        elif node.op is Op.ACQUIRE:
            self._acquires[node.constant].append((issue, tid, busy))
        else:
            assert node.op is Op.BARRIER, node.op
            size = operands[0] if operands else None
            arrival = Arrival(issue, one_hot(issue, tid, self.threads), size, busy)
            self._barriers[node.constant].append(arrival)
        return _nothing

    def check(self, node: Node, valid: Expr, tid: Expr, offset: Expr) -> None:
        """Notes a load or store out of its array, or not aligned to its width."""
        assert node.array is not None
        bits = node.widths[0] if node.op is Op.LOAD else node.operands[1].width
        self._check(node, node.array, valid, tid, offset, const(bits // 8, 64))

    def _check(
        self, node: Node, array: Array, valid: Expr, tid: Expr, offset: Expr, length: Expr
    ) -> None:
        if not self.checks:
            return
        m, number = self.m, len(self.accesses)
        self.accesses.append(Access(node, array))
        offset = m.named(offset, f"offset{number}")
        size: Expr = self.size[array] if array in self.size else const(array.bytes or 0, ADDRESS)
        bad = ~(offset.zext(65) + length.zext(65)).ule(size.zext(65))
        # A copy may begin at any byte.
        width = 1 if node.op is Op.COPY else length.value or 1
        if width > 1 and not width & width - 1:
            bad = bad | offset[(width - 1).bit_length() - 1 : 0].any()
        bad = m.wire(f"bad{number}", valid & bad)
        m.update(self.fault, 1, bad)
        first = m.wire(f"first_bad{number}", bad & ~self.fault)
        m.update(self._fault_access, number, first)
        m.update(self._fault_tid, tid, first)
        m.update(self._fault_offset, offset.zext(64), first)

    # The end

    def _finish(self, root: Pipeline) -> None:
        m, n, region = self.m, self.threads, self.region
        spins: list[Expr] = []
        inside: list[Expr] = []
        for number, name in enumerate(region.locks):
            requests = [(issue, tid) for issue, tid, _ in self._acquires[number]]
            granted, holds = lock(
                m, f"lock{number}", n, requests, self.releases[number], f"critical {name}".strip()
            )
            for _, _, busy in self._acquires[number]:
                busy.clear(granted)
                spins.append(busy.bits)
            inside.append(holds)
        for number, where in enumerate(region.barriers):
            arrivals = self._barriers[number]
            over = barrier(m, f"barrier{number}", n, self.team_mask, arrivals, self.text(where))
            for one in arrivals:
                one.busy.clear(over)
        with m.part_of(Origin(Part.MEMORY_PATH)):
            self.ports.finish()
        for array, local in self.local.items():
            with m.part_of(self.origin(Part.MEMORY_PATH, array.where)):
                local.finish()
        finished = ThreadMask(m, "thread_finished", n)
        finished.set(root.over_mask)
        finished.finish()
        for pipe in self.pipelines:
            pipe.finish()
        m.output("finished", finished.bits)
        # Paraver's states (paper, IV-B1): bit 0 running or spinning, bit 1 critical or spinning.
        spinning = m.wire("spinning", either(spins, n))
        critical = m.wire("critical", either(inside, n) & root.active.bits)
        self.activity: Expr = root.active.bits & ~spinning
        m.output("running", root.active.bits)
        m.output("state_low", (root.active.bits & ~critical) | spinning)
        m.output("state_high", critical | spinning)
        stages = [some for pipe in self.pipelines for some in pipe.moves]
        m.output("moving", either([*stages, self.ports.busy], 1))
        self.waits: list[Wait] = []
        bits: list[Expr] = []
        for pipe in self.pipelines:
            for gate in pipe.gates:
                for operation in gate.operations:
                    self.waits.append(Wait(operation.node, pipe.graph, len(bits) * n))
                    bits.append(operation.busy.bits)
        m.output("waits", cat(*reversed(bits)) if bits else const(0, n))
        if self.checks:
            m.output("faulty", self.fault)
            m.output("faulty_access", self._fault_access)
            m.output("faulty_tid", self._fault_tid)
            m.output("faulty_offset", self._fault_offset)


def _nothing(_index: int, _tid: Expr) -> Expr:
    raise LawError("an operation without a result was asked for it; please report this")


def build_machine(
    region: Region, schedules: Mapping[Graph, Schedule], *, checks: bool = True
) -> Machine:
    """Builds the hardware of a region.

    Args:
        region: what it does.
        schedules: of its root and all its loops.
        checks: hardware that notices accesses out of range; for simulation.

    Raises:
        LawError: a schedule that cannot be built, a fault of the scheduler.
    """
    core = Core(region, schedules, checks=checks)
    return machine_around(core, core.m)


def machine_around(core: Core, top: Module) -> Machine:
    """A machine of a core: `top` is the core's own module, or has it as its instance `core`."""
    return Machine(
        top.name,
        sources(top),
        origins(top),
        core.region,
        tuple(core.accesses),
        tuple(core.waits),
        tuple(core.pipelines),
        tuple(core.ports.traffic),
        tuple(core.local_traffic),
        tuple(core.ports.pending),
    )
