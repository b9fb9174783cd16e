"""The preloader: copies blocks of external memory into local arrays, a line a cycle.

Each copy of the program has a queue of jobs. The preloader takes one job at a time and asks for
its lines through the thread's read port; meanwhile the lines of earlier jobs come back, from all
banks and in any order, and one a cycle is turned to its place and written, in two cycles if it
falls into two lines of the array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.hls.microarch._params import ADDRESS, BANK_BITS, LINE, LINE_BITS, OFFSET
from cyclescope.hls.microarch._parts import (
    either,
    encoded,
    fifo,
    lowest,
    one_hot,
    scheduler,
    tid_width,
)
from cyclescope.rtl import cat, const, mux

if TYPE_CHECKING:
    from cyclescope.hls.ir import Node
    from cyclescope.hls.microarch._local_memories import LocalArray
    from cyclescope.hls.microarch._parts import ThreadMask
    from cyclescope.rtl import Expr, Module, Net

__all__ = ["Asking", "Preloader"]


@dataclass(frozen=True, eq=False, slots=True)
class _Jobs:
    """A copy of the program, with its queue."""

    node: Node
    busy: ThreadMask
    target: LocalArray
    waits: Net
    tid: Expr
    source: Expr
    offset: Expr
    length: Expr
    taken: Net


@dataclass(frozen=True, eq=False, slots=True)
class Asking:
    """The preloader's request for a line, as the thread's port sees it."""

    asks: Expr
    tid: Expr
    address: Expr
    line: Expr
    accepted: Net


class Preloader:
    """All copies of a region."""

    def __init__(self, m: Module, threads: int) -> None:
        self._m, self._threads, self._tid = m, threads, tid_width(threads)
        self._jobs: list[_Jobs] = []
        self.moving: Expr = const(0, 1)

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def copy(
        self,
        node: Node,
        name: str,
        busy: ThreadMask,
        valid: Expr,
        tid: Expr,
        target: LocalArray,
        source: Expr,
        offset: Expr,
        length: Expr,
    ) -> None:
        """A copy: from byte address `source` to byte `offset` of the target, `length` bytes."""
        word = cat(tid, source, offset.trunc(ADDRESS), length.trunc(ADDRESS))
        waits, first, taken = fifo(self._m, name, self._threads, word, valid)
        self._jobs.append(
            _Jobs(
                node,
                busy,
                target,
                waits,
                first[word.width - 1 : 3 * ADDRESS],
                first[3 * ADDRESS - 1 : 2 * ADDRESS],
                first[2 * ADDRESS - 1 : ADDRESS],
                first[ADDRESS - 1 : 0],
                taken,
            )
        )

    def ask(self) -> Asking:
        """All copies are known: takes jobs and asks for their lines."""
        m, jobs, n = self._m, self._jobs, self._threads
        which = self._which = max(1, (len(jobs) - 1).bit_length())
        count = max(j.target.lines for j in jobs).bit_length() + 1
        left = m.register("preload_left", count, reset=0, note="lines to be asked for")
        accepted = m.forward_wire("preload_accepted", 1)
        waiting = m.wire("preload_jobs", cat(*(j.waits for j in reversed(jobs))))
        free = m.wire("preload_free", left.none())
        chosen = m.wire("preload_chosen", lowest(waiting) & free.repeat(len(jobs)))
        for i, job in enumerate(jobs):
            m.assign(job.taken, chosen[i])
        begins = m.wire("preload_begins", chosen.any())
        number = encoded(m, chosen, which, "preload_number")

        def of(attribute: str, width: int) -> Net:
            parts = [getattr(j, attribute) & chosen[i].repeat(width) for i, j in enumerate(jobs)]
            return m.wire(f"preload_{attribute}", either(parts, width))

        tid, source = of("tid", self._tid), of("source", ADDRESS)
        offset, length = of("offset", ADDRESS), of("length", ADDRESS)
        last = m.wire("preload_last", source + length - 1)
        lines = last[ADDRESS - 1 : OFFSET] - source[ADDRESS - 1 : OFFSET] + 1
        lines = m.wire("preload_lines", mux(length.none(), const(0, lines.width), lines))
        m.update(left, lines.trunc(count), begins)
        m.update(left, left - 1, accepted)

        # What the lines that come back need to know, by copy and thread.
        slot = cat(number, tid) if n > 1 else number
        depth = 1 << slot.width
        begin = "where the source begins in its line"
        self._low = m.memory("preload_low", OFFSET, depth, note=begin)
        self._low.write(slot, source[OFFSET - 1 : 0], begins)
        self._offset = m.memory("preload_offset_of", ADDRESS, depth)
        self._offset.write(slot, offset, begins)
        self._length = m.memory("preload_length_of", ADDRESS, depth)
        self._length.write(slot, length, begins)
        self._missing = m.memory("preload_missing", count, depth, note="lines to be written")
        self._missing.write(slot, lines.trunc(count), begins)
        for i, job in enumerate(jobs):
            empty = chosen[i] & length.none()
            job.busy.clear(one_hot(empty, job.tid, n))

        at = m.register("preload_line", ADDRESS - OFFSET)
        m.update(at, source[ADDRESS - 1 : OFFSET], begins)
        m.update(at, at + 1, accepted)
        place = m.register("preload_place", count, note="number of the line in its job")
        m.update(place, 0, begins)
        m.update(place, place + 1, accepted)
        owner = m.delay(number, "preload_owner", when=begins)
        who = m.delay(tid, "preload_who", when=begins) if n > 1 else const(0, 1)
        self._count = count
        self.moving = self.moving | waiting.any() | left.any()
        return Asking(left.any(), who, cat(at, const(0, OFFSET)), cat(place, owner), accepted)

    def take(self, arrivals: list[tuple[Expr, Expr, Expr, Expr]], depth: int) -> None:
        """Writes what comes back.

        Args:
            arrivals: of each bank (valid, tid, line of the request, data).
            depth: lines that may be under way in a bank.
        """
        m, n = self._m, self._threads
        place = depth.bit_length() - 1
        words: list[Net] = []
        filled: list[Expr] = []
        heads: list[Net] = []
        for b, (valid, tid, line, data) in enumerate(arrivals):
            word = cat(line, tid, data)
            queue = m.memory(f"preload_bank{b}", word.width, depth, note="lines that came back")
            tail = m.register(f"preload_bank{b}_tail", place + 1, reset=0)
            head = m.register(f"preload_bank{b}_head", place + 1, reset=0)
            queue.write(tail.trunc(place), m.named(word, f"preload_bank{b}_in"), valid)
            m.update(tail, tail + 1, valid)
            words.append(m.wire(f"preload_bank{b}_out", queue.at(head.trunc(place))))
            filled.append(m.wire(f"preload_bank{b}_filled", tail.ne(head)))
            heads.append(head)
        second = m.register("preload_second", 1, reset=0, note="the line's other part is written")
        some = m.wire("preload_some", cat(*reversed(filled)))
        splits = m.forward_wire("preload_splits", 1)
        writing = m.register("preload_writing", 1, reset=0)
        busy = m.wire("preload_busy", writing & splits & ~second)
        hts = m.instance(
            scheduler(len(words)),
            "preload_arbiter",
            {"eligible": some & (~busy).repeat(len(words))},
        )
        for b, head in enumerate(heads):
            m.update(head, head + 1, hts["grant"][b])
        bank = encoded(m, hts["grant"], BANK_BITS, "preload_from")
        # A tree of choices by the number's two bits.
        word = m.wire(
            "preload_word",
            mux(bank[1], mux(bank[0], words[3], words[2]), mux(bank[0], words[1], words[0])),
        )
        m.update(writing, hts["valid"] | busy)
        m.update(second, busy)
        now = m.register("preload_now", word.width)
        m.update(now, word, hts["valid"])
        data = now[LINE_BITS - 1 : 0]
        top = LINE_BITS + self._tid
        tid = now[top - 1 : LINE_BITS]
        owner = now[top + self._which - 1 : top]
        line = now[word.width - 1 : top + self._which]
        slot = m.wire("preload_slot", cat(owner, tid) if n > 1 else owner)
        low, offset = self._low.at(slot), self._offset.at(slot)
        length, missing = self._length.at(slot), m.wire("preload_still", self._missing.at(slot))

        # Byte j of the line goes to byte begin + j of the array, if 0 <= first + j < length.
        first = cat(line.zext(ADDRESS - OFFSET), const(0, OFFSET)) - low.zext(ADDRESS)
        first = m.wire("preload_first_byte", first)
        begin = m.wire("preload_to", offset + first)
        turn = begin[OFFSET - 1 : 0]
        behind = m.wire("preload_behind", length - first)
        all_ = const(-1, LINE)
        start = mux(line.none(), all_ << low, all_)
        short = behind[ADDRESS - 1 : OFFSET].none()
        stop = mux(short, ~(all_ << behind[OFFSET - 1 : 0]), all_)
        wide = m.wire("preload_mask", (start & stop).zext(2 * LINE) << turn)
        high = wide[2 * LINE - 1 : LINE]
        m.assign(splits, high.any())
        pair = m.wire("preload_pair", data.zext(2 * LINE_BITS) << cat(turn, const(0, 3)))
        turned = m.wire(
            "preload_turned", pair[2 * LINE_BITS - 1 : LINE_BITS] | pair[LINE_BITS - 1 : 0]
        )
        mask = m.wire("preload_enables", mux(second, high, wide[LINE - 1 : 0]))
        index = m.wire("preload_index", begin[ADDRESS - 1 : OFFSET] + second.zext(ADDRESS - OFFSET))
        ends = m.wire("preload_ends", writing & ~busy)
        self._missing.write(slot, missing - 1, ends)
        over = m.wire("preload_over", ends & missing.eq(1))
        for number, job in enumerate(self._jobs):
            mine = owner.eq(number)
            job.busy.clear(one_hot(over & mine, tid, n))
        targets = {id(j.target): j.target for j in self._jobs}
        for key, target in targets.items():
            mine = either([owner.eq(i) for i, j in enumerate(self._jobs) if id(j.target) == key], 1)
            target.store_line(writing & mine, tid, index, turned, mask)
        self.moving = m.wire("preload_moving", self.moving | some.any() | writing)
