"""The profiling unit in hardware (paper, section IV-B): states and counters in, lines out.

    run, state  ─► records ──┐
    feed0 …     ─► totals  ──┴─► lines in block RAM ─► Avalon write port

It only looks on: nothing it does delays the program but the memory cycles that it takes. Where
the memory does not take lines quickly enough, records of states are lost, which the trace says
(`LATE_STATES`, and the line of the end); totals are never lost, their sample is taken later.

Records and words of a sample are written into block RAM as they come, each to its slot of a line;
so there is no register as wide as a line. A slot is as wide as a record; one is written a cycle,
records first. Lines go to the memory in beats of two slots, then the head.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from cyclescope.hls.microarch import ADDRESS
from cyclescope.hls.trace._counters import Counts
from cyclescope.hls.trace._format import (
    CLOCK_BITS,
    HEADER_BITS,
    NUMBER_BITS,
    SEQUENCE_BITS,
    LineKind,
    OnFull,
)
from cyclescope.hls.trace._rings import successor
from cyclescope.rtl import Module, cat, const, mux

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.hls.trace._format import TraceLayout
    from cyclescope.hls.trace._rings import Feed
    from cyclescope.rtl import Expr, Memory, Net

__all__ = ["profiling_unit"]

_MORE_BITS = NUMBER_BITS - SEQUENCE_BITS


def profiling_unit(layout: TraceLayout, feeds: Sequence[Feed], *, depth: int = 16) -> Module:
    """Build the profiling unit for a layout.

    Inputs: `run`, 1 in each cycle that counts, from the first to the last without a break;
    `state`, two bits a thread; for term k of feed j `feed<j>_<k>`, what happened in this cycle: a
    bit a lane, or with `feed<j>_<k>_lane` a bit; `base`, the region's byte address, and `lines`,
    how many it has, at least 2; `waitrequest`. Outputs: `address` of a line, `write`, `byteenable`
    and `writedata` (Avalon: they are stable while `waitrequest` is 1), which is as many bits as two
    slots have, repeated; `done` when the run is over and everything is written, until the next
    reset.

    Args:
        layout: of what it writes; lines of a power of two bits.
        feeds: of the layout's counters, in their order.
        depth: lines of states that wait for the memory, one more than at most; a power of two.

    Raises:
        ValueError: a line or the depth is no power of two.
    """
    if layout.line_bits & layout.line_bits - 1 or depth & depth - 1 or depth < 2:
        raise ValueError(f"lines of {layout.line_bits} bits, {depth} of them: no powers of two")
    return _Unit(layout, feeds, depth).m


class _Unit:
    def __init__(self, layout: TraceLayout, feeds: Sequence[Feed], depth: int) -> None:
        self.layout = layout
        self.m = m = Module(
            "profiling_unit",
            f"Profiling unit: states of {layout.threads} threads, {len(layout.places)} counters.",
        )
        # States are two cycles old, events that are counted one: no path leads from the datapath
        # to lines, and it is known at the cycle's begin whether a state has changed.
        run = m.input("run", 1)
        seen = m.delay(m.input("state", 2 * layout.threads), "state_seen")
        counts_now = m.delay(run, "runs", reset=0)
        self.run = m.delay(counts_now, "run_now", reset=0)
        self.state = m.delay(seen, "state_now")
        self.moved = m.delay(seen.ne(self.state), "state_moved")
        self.base = m.input("base", ADDRESS)
        self.lines = m.input("lines", ADDRESS)
        self.waitrequest = m.input("waitrequest", 1)
        self.clock = m.register("clock", CLOCK_BITS, reset=0, note="cycles of the run")
        m.update(self.clock, self.clock + 1, self.run)
        self.low_time = self.clock.trunc(layout.time_bits)
        self.ran = m.register("ran", 1, reset=0)
        m.update(self.ran, 1, self.run)
        self.over = m.wire("over", self.ran & ~self.run)
        # Lines of states that wait lie from `front` to before `tail`; records go to `tail`.
        place = (depth - 1).bit_length()
        self.tail = m.register("tail", place, reset=0)
        self.front = m.register("front", place, reset=0)
        self.held = m.register("held", layout.records.bit_length(), reset=0, note="records in it")
        self._states()
        self.counts: Counts | None = None
        self.sampled: Expr = self.over
        if feeds:
            going = m.register("going", 1, reset=0, note="the run has begun")
            m.update(going, 1, run)
            self.counts = Counts(m, layout, feeds, run, going)
            self._samples(self.counts)
        self._lines(depth)

    def _states(self) -> None:
        m, layout = self.m, self.layout
        wraps = self.clock[layout.time_bits]
        wrapped = m.register("wrapped", 1, reset=0, note="the time stamp is known to have wrapped")
        m.update(wrapped, wraps, self.run)
        # The first cycle has a record, and each in which the time stamp is 0 again.
        news = self.moved | wraps.ne(wrapped) | ~self.ran
        changed = m.wire("changed", self.run & news)
        late = self.late = m.register("late", 1, reset=0, note="a change found no place")
        can = m.register("can_record", 1, reset=1, note="a line may be begun behind this one")
        self.insert = m.wire("insert", self.run & (changed | late) & can)
        missed = m.wire("missed", changed & ~can)
        m.update(late, 0, self.insert)
        m.update(late, 1, missed)
        # A record after a loss is the first of its line: no line could be begun before it.
        late_line = m.register("late_line", 1, reset=0)
        first = self.held.none()
        self.after_loss = m.wire("after_loss", mux(first, late, late_line))
        m.update(late_line, self.after_loss, self.insert)
        full = m.wire("line_full", self.insert & self.held.eq(layout.records - 1))
        flush = m.wire("flush", self.over & self.held.any() & can)
        m.update(self.held, successor(self.held), self.insert)
        m.update(self.held, 0, full | flush)
        after = m.wire("tail_next", successor(self.tail))
        m.update(self.tail, after, full | flush)
        m.update(can, mux(full | flush, successor(after), after).ne(self.front))
        self.left = m.wire("records_left", self.held.any() | self.insert)

    def _samples(self, counts: Counts) -> None:
        """Take samples: each period, and when the run is over."""
        m, layout = self.m, self.layout
        wanted = m.register("wanted", 1, reset=0, note="a sample is due")
        begin = m.wire("begin_sample", wanted & ~counts.active)
        m.update(wanted, 0, begin)
        final = m.register("final", 1, reset=0, note="the last sample is being taken")
        last = m.wire("begin_final", self.over & ~self.left & ~counts.active & ~wanted & ~final)
        m.update(final, 1, last)
        longer: list[Expr] = []
        if layout.period:
            due: Expr = m.wire("sample_due", self.run & self._tick(layout.period))
            m.update(wanted, 1, due)
            for (before, _), (after, _) in pairwise(layout.levels):
                due, too = self._longer(after, due, after // before, begin)
                longer.append(too | last)
        counts.begin(begin | last, ~self.insert, longer)
        self.sampled = m.wire("sampled", final & ~counts.active)

    def _longer(self, period: int, due: Expr, times: int, begin: Expr) -> tuple[Expr, Expr]:
        """Samples of a longer period: one is due, and the one that begins is of it, too."""
        m = self.m
        count = m.register(f"samples_of_{period}", (times - 1).bit_length(), reset=0)
        full = m.wire(f"due_{period}", due & count.eq(times - 1))
        m.update(count, successor(count), due)
        m.update(count, 0, full)
        wanted = m.register(f"wanted_{period}", 1, reset=0)
        m.update(wanted, 0, begin)
        m.update(wanted, 1, full)
        return full, wanted

    def _tick(self, period: int) -> Expr:
        """1 in the last cycle of each period."""
        m = self.m
        if not period & period - 1:
            return self.clock.trunc(period.bit_length() - 1).all() if period > 1 else const(1, 1)
        phase = m.register("phase", (period - 1).bit_length(), reset=0)
        due = m.wire("due", phase.eq(period - 1))
        m.update(phase, mux(due, const(0, phase.width), phase + 1), self.run)
        return due

    def _lines(self, depth: int) -> None:
        """Slots are written to lines, and these go to the memory, or are dropped if it is full."""
        m, layout, counts = self.m, self.layout, self.counts
        # The end's line has two slots: the clock's low bits, and its others.
        ending = m.register("ending", 1, reset=0, note="the last line is being made")
        second = m.register("end_second", 1, reset=0)
        ended = m.register("end_made", 1, reset=0)
        ready = m.register("ready", 1, reset=0, note="the line of a sample, or the end's")
        used_up = m.register("used_up", 1, reset=0, note="the region is full")
        end_then = m.wire("end_then", ending & second)
        m.update(second, 1, ending)

        # Where a slot goes, and what its line's head says.
        slots = max(2, (layout.records - 1).bit_length())
        slot: Expr = self.held.trunc(slots)
        places = (depth - 1).bit_length()
        kind = cat(const(0, 2), self.after_loss, const(1, 1))
        count = successor(self.held).zext(8)
        record = cat(self.state, self.low_time)
        word: Expr = record.zext(layout.pitch)
        high = min(CLOCK_BITS - layout.time_bits, layout.pitch)
        end_kind = cat(const(LineKind.END >> 2, 2), used_up, self.late)
        other: Expr = mux(second, const(1, slots), const(0, slots))
        if counts is not None:
            other = mux(ending, other, counts.slot.zext(slots))
            number = counts.line.zext(8) if counts.line is not None else const(0, 8)
            kind = mux(self.insert, kind, mux(ending, end_kind, const(LineKind.COUNTERS, 4)))
            count = mux(self.insert, count, mux(ending, const(0, 8), number))
            bits = counts.word.width
            known = m.wire("record", word)
            total = (
                counts.word
                if bits == layout.pitch
                else cat(known[-1 + layout.pitch : bits], counts.word)
            )
            word = mux(counts.put, total, known)
        else:
            kind = mux(self.insert, kind, end_kind)
            count = mux(self.insert, count, const(0, 8))
        slot = m.wire("slot", mux(self.insert, slot, other))
        rest = self.clock[layout.time_bits + high - 1 : layout.time_bits]
        low = m.wire("slot_word", word)
        word = mux(end_then, rest, low[high - 1 : 0])
        if high < layout.pitch:
            word = cat(low[layout.pitch - 1 : high], word)
        word = m.wire("word", word)
        extra = (counts.start | counts.put) if counts is not None else ending
        put = m.wire("put", self.insert | extra | ending)

        # A word is a beat: two slots. Heads have their numbers put in on the way out.
        lines = m.memory("lines", 2 * layout.pitch, 2 * depth << slots - 1)
        heads = m.memory("heads", 12, 2 * depth)
        lines.block = heads.block = True
        # Samples and the end alternate between two places: one is written while the other is read.
        other_place = m.register("sample_place", 1, reset=0)
        turns = m.wire("turns", other_place.zext(places) if places > 1 else other_place)
        place = cat(~self.insert, mux(self.insert, self.tail, turns))
        half = layout.pitch // 8
        enables = cat(slot[0].repeat(half), (~slot[0]).repeat(half))
        lines.write(cat(place, slot[slots - 1 : 1]), word.repeat(2), put, enables)
        heads.write(place, cat(m.wire("line_count", count), kind), put)

        states = m.wire("states_wait", self.tail.ne(self.front))
        made: Expr = end_then
        if counts is not None:
            made = made | counts.made
        at = m.wire("place", cat(ready, mux(ready, turns, self.front)))
        fetch = self._port(lines, heads, at, ready | states, ready & ended, used_up)
        m.update(self.front, successor(self.front), fetch & ~ready)
        m.update(other_place, ~other_place, fetch & ready)
        m.update(ready, 0, fetch)
        m.update(ready, 1, made)
        if counts is not None:
            counts.sent(m.wire("sample_sent", fetch & ready & ~ended))
        begin_end = self.over & self.sampled & ~(self.left | states | ready | ending | ended)
        m.update(ending, 1, begin_end)
        m.update(ending, 0, end_then)
        m.update(ended, 1, end_then)

    def _port(
        self, lines: Memory, heads: Memory, at: Net, waits: Expr, end: Expr, used_up: Net
    ) -> Net:
        """Lines go to the region, whose first line is the end's, beat by beat, the head last.

        Args:
            lines: their beats.
            heads: what their heads say but the number.
            at: the next one's place there; it stays while that line goes.
            waits: there is one.
            end: it is the end's.
            used_up: the register that says that the region is full.

        Returns:
            1 in the cycle in which the next one is fetched.
        """
        m, layout = self.m, self.layout
        size = (layout.line_bits // 8 - 1).bit_length()
        bits = ADDRESS - size
        valid = m.register("valid", 1, reset=0, note="a beat is at the port")
        last = m.register("last", 1, reset=0, note="it is the last one: the head")
        closing = m.register("closing", 1, reset=0, note="its line is the end's")
        taken = m.wire("taken", valid & last & ~self.waitrequest)
        busy = m.wire("busy", valid & ~last)
        step = m.wire("step", busy & ~self.waitrequest)
        fetch = m.wire("fetch", waits & (~valid | taken))
        number = m.register("number", NUMBER_BITS, reset=1, note="of the line at the port")
        following = m.wire("number_next", number + 1)
        slot = m.register("region_slot", NUMBER_BITS, reset=1)
        after = following
        if layout.on_full is OnFull.WRAP:
            after = m.wire("region_slot_next", slot + 1)
        # Known in time: the next line is taken some beats later.
        at_end = m.delay(after.eq(self.lines.trunc(NUMBER_BITS)), "at_end", reset=0)
        full = m.wire("region_full", used_up | (taken & at_end))
        m.update(used_up, full)
        if layout.on_full is OnFull.WRAP:
            m.update(slot, mux(at_end, const(1, NUMBER_BITS), after), taken)
            drop: Expr = const(0, 1)
        else:
            m.update(slot, after, taken)
            drop = m.wire("drop", full & ~end)
        m.update(slot, 0, fetch & end)
        # Lines that are dropped are counted, too.
        dropped = m.register("dropped", 1, reset=0)
        m.update(dropped, fetch & drop)
        m.update(number, following, taken | dropped)
        keep = m.wire("keep", fetch & ~drop)
        coming = m.wire("valid_next", mux(fetch | taken, keep, valid))
        m.update(valid, coming)
        m.update(closing, end, fetch)
        done = m.register("finished", 1, reset=0)
        m.update(done, 1, taken & closing)
        m.output("done", done)

        beats = -(-layout.records // 2)
        beat_bits = lines.address_width - heads.address_width
        beat = m.register("beat", beat_bits, reset=0)
        m.update(last, step & beat.eq(beats - 1), keep | step)
        next_beat = m.wire("next_beat", mux(busy, successor(beat), const(0, beat_bits)))
        m.update(beat, next_beat, keep | step)
        going = m.register("place_going", at.width)
        m.update(going, at, fetch)
        word = m.wire("next_word", cat(mux(busy, going, at), next_beat))
        slots = lines.read(word, keep | step, name="line")
        head = heads.read(at, keep, name="head")

        where = self.base[ADDRESS - 1 : size] + slot.zext(bits)
        m.output("address", cat(where, const(0, size)))
        m.output("write", valid)
        m.output("coming", coming)
        upper = number[NUMBER_BITS - 1 : SEQUENCE_BITS] & closing.repeat(_MORE_BITS)
        known = cat(number[SEQUENCE_BITS - 1 : 0], head[11:8], head[7:4] | upper, head[3:0])
        # Each byte of a line can come from one place of a beat only: no slot has to be moved.
        top = slots.width - HEADER_BITS
        shown = m.wire("shown", cat(slots[top - 1 : 0], slots[slots.width - 1 : top]))
        whole = m.wire("whole", shown.repeat(-(-layout.line_bits // shown.width)))
        m.output("writedata", cat(whole[layout.line_bits - 1 : HEADER_BITS], known))
        at_beat = [m.wire(f"at_beat{b}", busy & beat.eq(b)) for b in range(beats)]
        on = [last.repeat(HEADER_BITS // 8)]
        on += [at_beat[k // 2].repeat(layout.pitch // 8) for k in range(layout.records)]
        m.output("byteenable", cat(*reversed(on)).zext(layout.line_bits // 8))
        return fetch
