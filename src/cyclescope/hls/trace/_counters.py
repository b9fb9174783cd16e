"""The profiling unit's counters: totals in block RAM, and their samples.

A sample consists of lines; each is made by itself. It begins with a slot like a record's, with the
time stamp of the sample. The totals are time-multiplexed: in the round of time slots that follows,
each total goes to a second block RAM, in its thread's time slot, and begins anew; then the words
there go to the line's other slots, one in each cycle in which no record is to be written.

Registers lie between the sums of a round and the totals; without them the path from an event
through a ring and an adder into block RAM would be the longest of the design. So the totals' memory
is written a cycle behind the time slot, and nothing else depends on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.microarch import either
from cyclescope.hls.trace._rings import at_place, counted, place_of, rotated, successor, total
from cyclescope.rtl import cat, const, mux

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.hls.trace._format import TraceLayout
    from cyclescope.hls.trace._rings import Feed, Term
    from cyclescope.rtl import Expr, Module, Net

__all__ = ["Counts"]


class Counts:
    """All counters of a profiling unit.

    Attributes:
        active: a sample is being taken.
        start: a line's first slot is to be written now.
        put: one of its other slots is.
        slot: its number.
        word: what goes there at `put`.
        line: the number of the line in the sample; None: there is one only.
        made: its last slot is being written.
    """

    def __init__(
        self,
        m: Module,
        layout: TraceLayout,
        feeds: Sequence[Feed],
        run: Expr,
        going: Expr,
    ) -> None:
        self._m, self._layout, self._going = m, layout, going
        self._bits = (layout.round - 1).bit_length()
        # The cycle before time t is time slot t modulo the round: totals are up to t. Events are
        # seen a cycle before the clock says so, in the cycle of time slot t those of time t.
        self._time_slot = m.register("turn", self._bits, reset=0, note="whose turn it is")
        self._next = m.wire("next_turn", successor(self._time_slot))
        self._coming = m.wire("coming_turn", mux(going, self._next, self._time_slot))
        m.update(self._time_slot, self._coming)
        self._adds = [self._added(j, feed, run) for j, feed in enumerate(feeds)]
        self._asked = m.delay(self._time_slot, "asked", note="whose totals are added to")
        self.active = m.register("sampling", 1, reset=0)

    def _added(self, j: int, feed: Feed, run: Expr) -> Expr:
        """Build the sum that is added to the totals of a feed.

        A total is read, is in a register, and is written: a cycle later than it is asked for.
        """
        m = self._m
        inputs = [
            self._by_slot(feed, f"feed{j}_{k}", term, run) for k, term in enumerate(feed.terms)
        ]
        parts: list[Expr] = []
        first = 0
        for number, part in enumerate(feed.parts()):
            last = first + len(part.terms)
            name = f"counter{j}" if len(inputs) == len(part.terms) else f"counter{j}_part{number}"
            parts.append(counted(m, part, inputs[first:last], self._time_slot, name))
            first = last
        width = feed.most(self._layout.round).bit_length()
        return m.delay(total(parts, width), f"counter{j}_added")

    def _by_slot(self, feed: Feed, name: str, term: Term, run: Expr) -> Expr:
        """The events of a term a cycle late: no path leads from the datapath into the sums."""
        m = self._m
        bits = m.input(name, 1 if term.tagged else feed.lanes)
        seen = m.delay(bits & run.repeat(bits.width), f"{name}_seen", reset=0)
        if not term.tagged:
            return rotated(m, seen, self._time_slot, name)
        lane = m.input(f"{name}_lane", max(1, (feed.lanes - 1).bit_length()))
        ahead = m.delay(place_of(m, lane, self._coming, name), f"{name}_place_seen")
        return at_place(m, seen, ahead, name)

    def begin(self, when: Expr, free: Expr, longer: Sequence[Expr]) -> None:
        """Builds what takes samples.

        Args:
            when: a sample begins; not while `active`.
            free: no record wants to be written.
            longer: for each sampling period but the shortest, whether it is one of this, too.
        """
        m, layout = self._m, self._layout
        span, blocks, lines = layout.span, layout.round // layout.span, layout.sample_lines
        m.update(self.active, 1, when)
        self._longer = [
            m.delay(one, f"sample_of_{period}", when=when)
            for one, (period, _) in zip(longer, layout.levels[1:], strict=True)
        ]
        # 0, or how many cycles ago a line was begun; round by round: totals move, then are cleared.
        since = m.register("since", self._bits + 1, reset=1 << self._bits)
        dumping = m.register("dumping", 1, reset=0)
        self._waits = m.register("sample_waits", 1, reset=0, note="a line is made and not sent")
        idle = m.wire("line_idle", since.none() & ~dumping & ~self._waits)
        self.start = m.wire("start_line", self.active & idle & free)
        m.update(since, successor(since), self._going & (since.any() | self.start))
        second = since[self._bits]
        last = m.wire("round_over", since[self._bits - 1 : 0].all())
        boot = m.register("boot", 1, reset=1, note="totals are not yet cleared")
        m.update(boot, 0, second & last)
        moving = m.wire("moving_totals", self.start | (since.any() & ~second))
        # The total of the next time slot was moved a round ago, less a cycle.
        clear = m.wire("clear_totals", second ^ last)
        m.update(dumping, 1, self.active & second & last & ~boot)

        # A word comes through two registers, that of the block RAM and one behind it.
        fetched = m.register("fetched", 1, reset=0, note="the first word is in the block RAM's")
        there = m.register("word_there", 1, reset=0)
        self.put = m.wire("put_word", there & free)
        moves = m.wire("words_move", self.put | (dumping & ~there))
        at = m.register("dump_at", max(1, (span - 1).bit_length()), reset=0)
        ahead = m.register("fetch_at", at.width, reset=0)
        self.made = m.wire("line_made", self.put & at.eq(span - 1))
        if span > 1:
            m.update(at, successor(at), self.put)
            m.update(ahead, successor(ahead), moves)
            m.update(ahead, 0, self.made)
        m.update(fetched, 1, dumping)
        m.update(there, 1, fetched)
        for stage in (dumping, fetched, there):
            m.update(stage, 0, self.made)
        m.update(self._waits, 1, self.made)
        self.slot = m.wire("sample_slot", self._slot(at))

        self.line: Net | None = None
        self._block: Expr | None = None
        group: Expr | None = None
        if lines > 1:
            self.line = m.register("sample_line", (lines - 1).bit_length(), reset=0)
            block_bits = blocks.bit_length() - 1
            if block_bits:
                width = self.line.width
                line = self.line if width >= block_bits else self.line.zext(block_bits)
                self._block = m.wire("sample_block", line[block_bits - 1 : 0])
                group = self.line[width - 1 : block_bits] if width > block_bits else None
            else:
                group = self.line
        words = self._totals(clear, boot, group)
        now = m.delay(moving, "moving_asked")
        low = ahead if span > 1 else None
        address = cat(*(part for part in (self._block, low) if part is not None))
        # What is read of the groups that are not meant is 0.
        parts: list[Expr] = []
        for number, word in enumerate(words):
            moved = m.memory(f"moved{number}", word.width, layout.round)
            moved.block = True
            moved.write(self._asked, word, now)
            shown = moved.read(address, moves, name=f"moved{number}_word")
            if group is not None:
                m.update(shown, 0, group.ne(number))
            parts.append(shown)
        width = max(part.width for part in parts)
        word = either([part.zext(width) for part in parts], width)
        self.word = m.delay(word, "moved_word", when=moves)

    def _slot(self, at: Expr) -> Expr:
        """The slot's number: 0 for the time stamp, then from 1 on."""
        bits = self._layout.span.bit_length()
        wide = self._m.wire("dump_slot", at.zext(bits) if bits > at.width else at)
        return mux(self.start, const(0, bits), successor(wide) if self._layout.span > 1 else 1)

    def _totals(self, clear: Expr, boot: Expr, group: Expr | None) -> list[Expr]:
        """For each group of counters all totals of the thread whose time slot it is."""
        m, layout = self._m, self._layout
        blocks = layout.round // layout.span
        mine = clear
        if self._block is not None:
            high = self._next[self._bits - 1 : self._bits - blocks.bit_length() + 1]
            mine = mine & high.eq(self._block)
        going = m.delay(self._going, "going_asked")
        found: list[Expr] = []
        for number, members in enumerate(self._groups()):
            now = mine if group is None else mine & group.eq(number)
            width = sum(w for _, w in members)
            memory = m.memory(f"totals{number}", width, layout.round)
            memory.block = True
            held = m.register(f"totals{number}_held", width)
            m.update(held, memory.read(self._coming, name=f"totals{number}_read"))
            m.update(held, 0, m.delay((clear & boot) | now, f"clear{number}"))
            parts: list[Expr] = []
            low = 0
            for feed, bits in members:
                top = low + bits - 1
                wide = max(bits, self._adds[feed].width + 1)
                total = m.wire(
                    f"total{feed}", held[top - 1 : low].zext(wide) + self._adds[feed].zext(wide)
                )
                # The highest bit says that the others have not been enough; it stays.
                parts.append(total[bits - 2 : 0])
                parts.append(held[top] | total[wide - 1 : bits - 1].any())
                low += bits
            word = m.wire(f"totals{number}_now", cat(*reversed(parts)))
            memory.write(self._asked, word, going)
            found.append(word)
        return found

    def _groups(self) -> list[list[tuple[int, int]]]:
        """For each group its counters, low bits first: number and width."""
        layout = self._layout
        blocks = layout.round // layout.span
        found: list[list[tuple[int, int]]] = []
        columns = []
        for place in layout.places:
            column = (place.line // blocks, (place.low - layout.record_low(0)) % layout.pitch)
            if column in columns:
                continue
            columns.append(column)
            if column[0] == len(found):
                found.append([])
            found[-1].append((len(columns) - 1, place.width))
        return found

    def sent(self, when: Expr) -> None:
        """Says when the line that was made is on its way to the memory."""
        m, lines = self._m, self._layout.sample_lines
        m.update(self._waits, 0, when)
        if self.line is None:
            m.update(self.active, 0, when)
            return
        ends: Expr = self.line.eq(lines - 1)
        for (_, count), more in zip(self._layout.levels, self._longer, strict=False):
            ends = ends | (self.line.eq(count - 1) & ~more)
        last = m.wire("last_line", when & ends)
        m.update(self.active, 0, last)
        m.update(self.line, successor(self.line), when)
        m.update(self.line, 0, last)
