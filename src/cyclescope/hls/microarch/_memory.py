"""The way to the banks of external memory: ports, arbiters, the banks' interfaces.

A load or store in the datapath puts (thread, address) into its own queue. Each thread has one
read port and one write port, shared by all units; an arbiter a bank takes one request a cycle of
the 2N ports, round robin. A bank answers its reads in order; who asked waits in a queue of tags.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.hls.microarch._params import (
    ADDRESS,
    BANK_BITS,
    BANKS,
    FOLD,
    LINE,
    LINE_BITS,
    OFFSET,
    TAGS,
)
from cyclescope.hls.microarch._parts import ThreadMask, either, fifo, one_hot, scheduler, tid_width
from cyclescope.hls.microarch._preloader import Preloader
from cyclescope.rtl import cat, const, mux

if TYPE_CHECKING:
    from cyclescope.hls.ir import Node
    from cyclescope.rtl import Expr, Memory, Module, Net

__all__ = ["Ports", "Traffic", "bank_bits"]


def bank_bits(line: Expr) -> Expr:
    """`bank_of` in hardware."""
    bank: Expr = line[BANK_BITS - 1 : 0]
    for pair in range(1, FOLD):
        bank = bank ^ line[BANK_BITS * (pair + 1) - 1 : BANK_BITS * pair]
    return bank


@dataclass(frozen=True, eq=False, slots=True)
class _Request:
    """The queue of a load or store, as its thread's port sees it."""

    number: int
    node: Node | None  # None: the preloader
    busy: ThreadMask | None
    asks: Expr
    tid: Expr
    address: Expr
    line: Expr  # number of the line in a burst
    accepted: Net
    apart: int
    results: Memory | None = None
    data: Expr | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Traffic:
    """Accesses of one operation.

    Attributes:
        valid, tid: it goes to memory in this cycle, for this thread.
        size: in bytes.
        writes: it is a store.
        apart: cycles from a thread's one access to its next, at least.
    """

    valid: Net
    tid: Expr
    size: int
    writes: bool
    apart: int


class Ports:
    """The threads' ports, the arbiters and the banks' interfaces.

    With `trace`, lines of a profiling unit go to bank 0, before all that asks there. Inputs:
    `trace_write`, one is there; `trace_line`, `trace_bytes` and `trace_data`, where, which bytes
    and what. Outputs: `trace_taken`, and `trace_moving` until it is written.
    """

    def __init__(self, m: Module, threads: int, *, trace: bool = False) -> None:
        self._m = m
        self._trace = trace
        self._threads = threads
        self._tid = tid_width(threads)
        self._reads: list[_Request] = []
        self._writes: list[_Request] = []
        self.traffic: list[Traffic] = []
        self.pending: list[Expr] = []  # threads whose requests wait for a bank's arbiter
        self.preloader = Preloader(m, threads)
        self._arrivals: list[tuple[Expr, Expr, Expr, Expr]] = []
        self._busy: list[Expr] = []
        self.busy: Expr = const(0, 1)

    def load(
        self,
        node: Node,
        name: str,
        busy: ThreadMask,
        valid: Expr,
        tid: Expr,
        at: Expr,
        *,
        apart: int,
    ) -> Memory:
        """A load: `at` is its byte address. Returns the results, one word a thread.

        From its answer to the thread's next one it takes `apart` cycles, or more.
        """
        results = self._m.memory(f"{name}_data", node.widths[0], self._threads)
        asks, (who, where, _), accepted = self._queue(name, valid, tid, at, None)
        number = len(self._reads)
        # It is accepted in the cycle after it began, and over in a later one.
        self._reads.append(
            _Request(
                *(number, node, busy, asks, who, where, const(0, 1), accepted),
                apart=apart + 2,
                results=results,
            )
        )
        return results

    def store(
        self,
        node: Node,
        name: str,
        busy: ThreadMask,
        valid: Expr,
        tid: Expr,
        at: Expr,
        data: Expr,
        *,
        apart: int,
    ) -> None:
        """A store to byte address `at`; `apart` as for a load."""
        asks, (who, where, what), accepted = self._queue(name, valid, tid, at, data)
        number = len(self._writes)
        self._writes.append(
            _Request(
                *(number, node, busy, asks, who, where, const(0, 1), accepted),
                apart=apart + 2,
                data=what,
            )
        )

    def _queue(
        self, name: str, valid: Expr, tid: Expr, at: Expr, data: Expr | None
    ) -> tuple[Net, tuple[Expr, Expr, Expr | None], Net]:
        word = cat(tid, at) if data is None else cat(data, tid, at)
        asks, first, accepted = fifo(self._m, name, self._threads, word, valid)
        top = ADDRESS + self._tid
        rest = first[word.width - 1 : top] if data is not None else None
        return asks, (first[top - 1 : ADDRESS], first[ADDRESS - 1 : 0], rest), accepted

    # The ports

    def finish(self) -> None:
        """All units are known: builds ports, arbiters and the banks' interfaces."""
        m, threads = self._m, self._threads
        if self.preloader:
            line = self.preloader.ask()
            number = len(self._reads)
            self._reads.append(
                _Request(
                    *(number, None, None, line.asks, line.tid, line.address, line.line),
                    line.accepted,
                    apart=1,
                )
            )
        half = 1 << self._tid
        grants = [m.forward_wire(f"bank{b}_grant", 2 * half) for b in range(BANKS)]
        reads = _Side(self, "read", self._reads, [g[threads - 1 : 0] for g in grants])
        writing = [g[half + threads - 1 : half] for g in grants]
        writes = _Side(self, "write", self._writes, writing)
        for b in range(BANKS):
            self._bank(b, grants[b], reads, writes)
        for side in (reads, writes):
            for flags in side.pending:
                flags.finish()
                self.pending.append(flags.bits)
        if self.preloader:
            self.preloader.take(self._arrivals, TAGS)
            self._busy.append(self.preloader.moving)
        self.busy = m.wire("memory_busy", either(self._busy, 1))

    def _bank(self, b: int, grant: Net, reads: _Side, writes: _Side) -> None:
        m, threads = self._m, self._threads
        name = f"bank{b}"
        waitrequest = m.input(f"{name}_waitrequest", 1)
        arrives = m.input(f"{name}_readdatavalid", 1)
        readdata = m.input(f"{name}_readdata", LINE_BITS)
        reading = m.register(f"{name}_reading", 1, reset=0)
        writing = m.register(f"{name}_writing", 1, reset=0)
        free = m.wire(f"{name}_free", ~(reading | writing) | ~waitrequest)
        under_way = m.register(f"{name}_under_way", TAGS.bit_length(), reset=0)
        traced = m.input("trace_write", 1) if self._trace and b == 0 else None
        if traced is not None:
            trace = m.wire("trace_goes", free & traced)
            m.output("trace_taken", trace)
            free = m.wire(f"{name}_open", free & ~traced)
        may_read = free & under_way.ult(TAGS)
        # A writer's number is the thread's behind a 1, a reader's behind a 0.
        half = 1 << self._tid
        want_write = (writes.pending[b].bits & free.repeat(threads)).zext(half)
        want_read = (reads.pending[b].bits & may_read.repeat(threads)).zext(half)
        hts = m.instance(
            scheduler(2 * half, ordered=False),
            f"{name}_arbiter",
            {"eligible": cat(want_write, want_read)},
        )
        m.assign(grant, hts["grant"])
        reader = grant[threads - 1 : 0].any()
        writer = grant[half + threads - 1 : half].any()
        who = m.wire(f"{name}_who", hts["tid"].trunc(self._tid))
        m.update(reading, reader, free)
        m.update(writing, writer, free)
        working: Expr = writing
        if traced is not None:
            tracing = m.register(f"{name}_tracing", 1, reset=0)
            m.update(reading, 0, trace)
            m.update(writing, 1, trace)
            m.update(tracing, 0, free)
            m.update(tracing, 1, trace)
            working = writing & ~tracing
            m.output("trace_moving", writing & tracing)
        at = m.wire(f"{name}_at", mux(writer, writes.address.at(who), reads.address.at(who)))
        line = m.register(f"{name}_line", ADDRESS - OFFSET - BANK_BITS)
        m.update(line, at[ADDRESS - 1 : OFFSET + BANK_BITS], hts["valid"])
        if traced is not None:
            m.update(line, m.input("trace_line", line.width), trace)
        m.output(f"{name}_address", line)
        m.output(f"{name}_read", reading)
        m.output(f"{name}_write", writing)
        self._write_data(name, writes, who, at, writer, None if traced is None else trace)

        self._busy += [reading, working, under_way.any()]

        # Who asked: a queue of tags in the order of the reads.
        parts: tuple[Expr, ...] = (reads.unit.at(who), who, at[OFFSET - 1 : 0])
        if reads.line is not None:
            parts = (reads.line.at(who), *parts)
        tag = m.wire(f"{name}_tag", cat(*parts))
        tags = m.memory(f"{name}_tags", tag.width, TAGS)
        place = TAGS.bit_length() - 1
        tail = m.register(f"{name}_tags_tail", place, reset=0)
        head = m.register(f"{name}_tags_head", place, reset=0)
        tags.write(tail, tag, reader)
        m.update(tail, tail + 1, reader)
        m.update(head, head + 1, arrives)
        count = under_way + reader.zext(under_way.width) - arrives.zext(under_way.width)
        m.update(under_way, count)
        first = m.wire(f"{name}_first_tag", tags.at(head))
        answered = m.delay(arrives, f"{name}_answered", reset=0)
        low = OFFSET + self._tid
        to = m.delay(first[low - 1 : OFFSET], f"{name}_to", when=arrives)
        unit = m.delay(first[low + reads.unit.width - 1 : low], f"{name}_unit", when=arrives)
        widest = max((r.results.width for r in self._reads if r.results), default=8)
        shifted = readdata >> cat(first[OFFSET - 1 : 0], const(0, 3))
        data = m.delay(shifted.trunc(widest), f"{name}_data", when=arrives)
        mask = m.wire(f"{name}_answer", one_hot(answered, to, threads))
        for r in self._reads:
            hit = m.wire(f"{name}_for_{r.number}", answered & unit.eq(r.number))
            if r.results is not None and r.busy is not None:
                r.busy.clear(mask & hit.repeat(threads))
                r.results.write(to, data.trunc(r.results.width), hit)
            elif reads.line is not None:
                lines = first[tag.width - 1 : tag.width - reads.line.width]
                place_ = m.delay(lines, f"{name}_in_job", when=arrives)
                raw = m.delay(readdata, f"{name}_block", when=arrives)
                self._arrivals.append((hit, to, place_, raw))

    def _write_data(
        self, name: str, writes: _Side, who: Expr, at: Expr, writer: Expr, trace: Expr | None
    ) -> None:
        m = self._m
        enables = m.register(f"{name}_enables", LINE)
        data = m.register(f"{name}_lanes", LINE_BITS)
        line: Expr | None = None
        if trace is not None:
            line = m.input("trace_data", LINE_BITS)
        if writes.data is not None and writes.mask is not None:
            # Stores are aligned: the smallest says which bits of their places are 0.
            sizes = [w.data.width // 8 for w in self._writes if w.data is not None]
            least = min(size & -size for size in sizes)
            byte = at[OFFSET - 1 : 0] & const(LINE - least, OFFSET)
            m.update(enables, writes.mask.at(who).zext(LINE) << byte, writer)
            word = writes.data.at(who)
            lanes: Expr = word.zext(LINE_BITS) << cat(byte, const(0, 3))
            if line is not None and all(size & size - 1 == 0 for size in sizes):
                # What enables don't choose may be anything: repeated, it needs no place.
                lanes = word.repeat(LINE_BITS // word.width)
            m.update(data, lanes, writer)
            if line is not None:
                m.update(data, line, trace)
            unit = m.wire(f"{name}_stores", writes.unit.at(who))
            grant = one_hot(writer, who, self._threads)
            for w in self._writes:
                assert w.busy is not None
                w.busy.clear(grant & unit.eq(w.number).repeat(self._threads))
        elif line is not None:
            m.update(data, line, trace)
        if trace is not None:
            m.update(enables, m.input("trace_bytes", LINE), trace)
        m.output(f"{name}_byteenable", enables)
        m.output(f"{name}_writedata", data)


class _Side:
    """All threads' read ports, or all write ports: a request each."""

    def __init__(
        self, ports: Ports, name: str, requests: list[_Request], grants: list[Expr]
    ) -> None:
        m, threads = ports._m, ports._threads
        self.pending = [ThreadMask(m, f"{name}_for_bank{b}", threads) for b in range(BANKS)]
        self.address = m.memory(f"{name}_address", ADDRESS, threads)
        units = max(1, (len(requests) - 1).bit_length())
        self.unit = m.memory(f"{name}_unit", units, threads)
        lines = max((r.line.width for r in requests), default=1)
        self.line = m.memory(f"{name}_line", lines, threads) if lines > 1 else None
        widest = max((r.data.width for r in requests if r.data is not None), default=0)
        self.data = m.memory(f"{name}_data", widest, threads) if widest else None
        self.mask = m.memory(f"{name}_mask", widest // 8, threads) if widest else None
        full = either([f.bits for f in self.pending], threads)
        taken: Expr = m.wire(f"{name}_ports_full", full & ~either(grants, threads))
        for b, grant in enumerate(grants):
            self.pending[b].clear(grant)
        for r in requests:
            mine = m.wire(f"{name}_{r.number}_port", one_hot(r.asks, r.tid, threads))
            m.assign(r.accepted, r.asks & ~(mine & taken).any())
            taken = m.wire(f"{name}_{r.number}_taken", taken | mine)
            going = m.wire(f"{name}_{r.number}_goes", mine & r.accepted.repeat(threads))
            if r.data is not None:
                size = r.data.width // 8
            else:
                size = r.results.width // 8 if r.results is not None else LINE
            ports.traffic.append(Traffic(r.accepted, r.tid, size, r.data is not None, r.apart))
            line = r.address[ADDRESS - 1 : OFFSET]
            bank = m.wire(f"{name}_{r.number}_bank", bank_bits(line))
            for b in range(BANKS):
                self.pending[b].set(going & bank.eq(b).repeat(threads))
            self.address.write(r.tid, r.address, r.accepted)
            self.unit.write(r.tid, const(r.number, units), r.accepted)
            if self.line is not None:
                self.line.write(r.tid, r.line.zext(lines), r.accepted)
            if self.data is not None and self.mask is not None and r.data is not None:
                data = r.data.zext(widest)
                if ports._trace and widest % r.data.width == 0:
                    data = r.data.repeat(widest // r.data.width)
                self.data.write(r.tid, data, r.accepted)
                bits = (1 << r.data.width // 8) - 1
                self.mask.write(r.tid, const(bits, widest // 8), r.accepted)
