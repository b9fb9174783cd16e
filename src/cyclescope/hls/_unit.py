"""The profiling unit in hardware (paper, section IV-B): states and counters in, lines out.

    run, state, add0 … ─►  records  ─►  queue of lines ─►  Avalon write port
                           totals

It only looks on: nothing it does holds the program up but the memory cycles that it takes. Where
the memory does not take lines quickly enough, records of states are lost, which the trace says
(`LATE_STATES`, and a count in its end); totals are never lost, their sample is taken later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls._trace_format import HEADER_BITS, SEQUENCE_BITS, LineKind, OnFull
from cyclescope.rtl import Module, cat, choose, const, mux

if TYPE_CHECKING:
    from cyclescope.hls._trace_format import TraceLayout
    from cyclescope.rtl import Expr, Net

__all__ = ["ADDRESS_BITS", "add_bits", "profiling_unit"]

ADDRESS_BITS = 32


def add_bits(largest: int) -> int:
    """Bits of an input that brings up to `largest` in a cycle."""
    return max(1, largest.bit_length())


def profiling_unit(layout: TraceLayout, *, depth: int = 16) -> Module:
    """Build the unit for a layout.

    Inputs: `run`, 1 in each cycle that counts, from the first to the last without a break;
    `state`, two bits a thread; `add0` … for the layout's places, what happened in this cycle;
    `base`, the region's byte address, and `lines`, how many it has, at least 2; `waitrequest`.
    Outputs: `address`, `write` and `writedata` (Avalon: they hold while `waitrequest` is 1);
    `done` when the run is over and everything is written, until the next reset.

    Args:
        layout: of what it writes; lines of a power of two bits.
        depth: lines that wait for the memory at most, a power of two.

    Raises:
        ValueError: a line or the depth is no power of two.
    """
    if layout.line_bits & layout.line_bits - 1 or depth & depth - 1 or depth < 2:
        raise ValueError(f"lines of {layout.line_bits} bits, {depth} of them: no powers of two")
    return _Unit(layout, depth).m


class _Unit:
    def __init__(self, layout: TraceLayout, depth: int) -> None:
        self.layout = layout
        self.m = m = Module(
            "profiling_unit",
            f"Profiling unit: states of {layout.threads} threads, {len(layout.places)} counters.",
        )
        self.run = m.input("run", 1)
        self.state = m.input("state", 2 * layout.threads)
        self.adds = [
            m.input(f"add{n}", add_bits(place.source.largest))
            for n, place in enumerate(layout.places)
        ]
        self.base = m.input("base", ADDRESS_BITS)
        self.lines = m.input("lines", ADDRESS_BITS)
        self.waitrequest = m.input("waitrequest", 1)
        self.clock = m.register("clock", 64, reset=0, note="cycles of the run")
        m.update(self.clock, self.clock + 1, self.run)
        self.stamp = self.clock.trunc(layout.stamp_bits)
        self.ran = m.register("ran", 1, reset=0)
        m.update(self.ran, 1, self.run)
        self.over = m.wire("over", self.ran & ~self.run)
        self.waiting = m.register("waiting", depth.bit_length(), reset=0, note="lines in the queue")
        self.room = m.wire("room", self.waiting.ne(depth))
        self._states()
        self._samples()
        self._queue(depth)

    def _states(self) -> None:
        """Records fill a shift register from its upper end; a full one goes to the queue."""
        m, layout = self.m, self.layout
        most = layout.records
        before = m.register("state_before", 2 * layout.threads)
        m.update(before, self.state, self.run)
        # The stamp is 0 in the first cycle, and whenever the reader must learn that it wrapped.
        changed = m.wire("changed", self.run & (self.state.ne(before) | self.stamp.none()))
        records = m.register("records", most * layout.record_bits)
        held = m.register("held", most.bit_length(), reset=0, note="records that are not written")
        full = m.wire("full", held.eq(most))
        late = self.late = m.register("late", 1, reset=0, note="a change found no place")
        self.losses = m.register("losses", 32, reset=0)
        self.take = m.wire("take_records", self.room & (full | (self.over & held.any())))
        can = m.wire("can_record", ~full | self.take)
        insert = m.wire("insert", self.run & (changed | late) & can)
        missed = m.wire("missed", changed & ~can)
        record = cat(self.state, self.stamp)
        if most == 1:
            m.update(records, record, insert)
        else:
            m.update(records, cat(record, records[records.width - 1 : layout.record_bits]), insert)
        kept = mux(self.take, const(0, held.width), held)
        m.update(held, kept + insert.zext(held.width))
        m.update(late, 0, insert)
        m.update(late, 1, missed)
        m.update(self.losses, self.losses + 1, missed)
        # A record after a loss is the first of its line: before it the register was full.
        late_line = m.register("late_line", 1, reset=0)
        m.update(late_line, 0, self.take)
        m.update(late_line, 1, insert & late)
        kind = mux(late_line, const(LineKind.LATE_STATES, 4), const(LineKind.STATES, 4))
        self.left = m.wire("records_left", held.any() | insert)
        space = layout.line_bits - HEADER_BITS - records.width
        body: Expr = cat(records, const(0, space)) if space else records
        self.state_line = (body, cat(held.zext(8), kind))

    def _samples(self) -> None:
        """Totals, and the pointer to the line of a sample that goes to the queue next."""
        m, layout = self.m, self.layout
        count = layout.sample_lines
        self.sampled: Expr = self.over
        if not count:
            self.sample_line: tuple[Expr, Expr] | None = None
            self.put_sample: Expr = const(0, 1)
            return
        sampling = m.register("sampling", 1, reset=0)
        width = max(1, (count - 1).bit_length())
        index = m.register("sample_index", width, reset=0)
        self.put_sample = m.wire("put_sample", sampling & self.room & ~self.take)
        last = m.wire("last_of_sample", self.put_sample & index.eq(count - 1))
        m.update(index, mux(last, const(0, width), index + 1), self.put_sample)
        m.update(sampling, 0, last)
        if layout.period:
            tick = m.wire("tick", self.run & self._phase(layout.period))
            m.update(sampling, 1, tick)
        final = m.register("final", 1, reset=0, note="the last sample is being taken")
        begin = m.wire("begin_final", self.over & ~self.left & ~sampling & ~final)
        m.update(sampling, 1, begin)
        m.update(final, 1, begin)
        self.sampled = m.wire("sampled", final & ~sampling)
        lines = []
        for line in range(count):
            taken = m.wire(f"take{line}", self.put_sample & index.eq(line))
            lines.append(self._sample(line, taken))
        body = choose(index, lines) if count > 1 else lines[0]
        head = cat(index.zext(8), const(LineKind.COUNTERS, 4))
        self.sample_line = (m.wire("sample", body), head)

    def _phase(self, period: int) -> Expr:
        """1 in the cycle before a sample is due."""
        m = self.m
        if period == 1:
            return const(1, 1)
        phase = m.register("phase", (period - 1).bit_length(), reset=0)
        due = m.wire("due", phase.eq(period - 1))
        m.update(phase, mux(due, const(0, phase.width), phase + 1), self.run)
        return due

    def _sample(self, line: int, taken: Net) -> Expr:
        """The totals of a line; they begin anew when it is taken."""
        m, layout = self.m, self.layout
        parts: list[Expr] = [self.stamp]
        at = HEADER_BITS + layout.stamp_bits
        for number, place in enumerate(layout.places):
            if place.line != line:
                continue
            counter = place.source.counter
            total = m.register(
                f"total{number}", place.width, reset=0, note=f"{counter.name} {place.source.index}"
            )
            wide = max(place.width, self.adds[number].width) + 1
            kept = mux(taken, const(0, place.width), total)
            more = self.adds[number] & self.run.repeat(self.adds[number].width)
            total_next = m.wire(f"total{number}_next", kept.zext(wide) + more.zext(wide))
            beyond = total_next[wide - 1 : place.width].any()
            m.update(total, total_next.trunc(place.width) | beyond.repeat(place.width))
            if place.low > at:
                parts.append(const(0, place.low - at))
            parts.append(total)
            at = place.low + place.width
        if at < layout.line_bits:
            parts.append(const(0, layout.line_bits - at))
        return cat(*reversed(parts))

    def _queue(self, depth: int) -> None:
        """Lines wait for the memory; then they go to it, or are dropped where it is full."""
        m, layout = self.m, self.layout
        size = layout.line_bits // 8
        push = m.wire("push", self.take | self.put_sample)
        number = m.register("line_number", SEQUENCE_BITS, reset=0)
        m.update(number, number + 1, push)
        body, head = self.state_line
        if self.sample_line is not None:
            body = mux(self.take, body, self.sample_line[0])
            head = mux(self.take, head, self.sample_line[1])
        queue = m.memory("queue", layout.line_bits, depth)
        place = (depth - 1).bit_length()
        tail = m.register("tail", place, reset=0)
        front = m.register("front", place, reset=0)
        queue.write(tail, cat(body, number, head), push)
        m.update(tail, tail + 1, push)
        # Read in the cycle in which it is needed: a register for it would be as wide as the memory.
        line = m.wire("line", queue.at(front))
        valid = m.wire("valid", self.waiting.any())
        accepted = m.ahead("accepted", 1)
        m.update(front, front + 1, accepted)
        bits = self.waiting.width
        m.update(self.waiting, self.waiting + push.zext(bits) - accepted.zext(bits))

        # The first line of the region is the end's.
        slot = m.register("slot", ADDRESS_BITS, reset=1)
        written = m.register("written", 32, reset=0)
        dropped = m.register("dropped", 32, reset=0)
        at_end = m.wire("at_end", (slot + 1).eq(self.lines))
        used_up = m.register("used_up", 1, reset=0, note="the region is full")
        stops = layout.on_full is OnFull.STOP
        drop = used_up if stops else const(0, 1)
        m.assign(accepted, valid & (drop | ~self.waitrequest))
        stored = m.wire("stored", accepted & ~drop)
        m.update(slot, mux(at_end, const(1, ADDRESS_BITS), slot + 1), stored)
        m.update(used_up, 1, stored & at_end)
        m.update(written, written + 1, stored)
        m.update(dropped, dropped + 1, accepted & drop)

        done = m.register("finished", 1, reset=0)
        closing = m.wire("closing", self.over & self.sampled & ~valid & ~self.left & ~done)
        m.update(done, 1, closing & ~self.waitrequest)
        numbers = cat(self.losses, dropped, written, self.clock)
        head = cat(const(0, HEADER_BITS - 5), self.late, const(LineKind.END, 4))
        end = cat(numbers, head).zext(layout.line_bits)
        offset = mux(closing, const(0, ADDRESS_BITS), slot << (size - 1).bit_length())
        m.output("address", m.wire("address_next", self.base + offset))
        m.output("write", closing | (valid & ~drop))
        m.output("writedata", mux(closing, end, line))
        m.output("done", done)
