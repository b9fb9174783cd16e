"""The preloader: copies blocks of external memory into local arrays, a line a cycle.

Each copy of the program has a queue of jobs. The preloader takes one job at a time and asks for
its lines through the thread's read port; meanwhile the lines of earlier jobs come back, from all
banks and in any order, and one a cycle is turned to its place and written, in two cycles if it
falls into two lines of the array.

A line of 64 bytes is turned by as many bytes as all of its job, and only its first and last line
are not whole. So nothing about a line is computed when it comes back: what its job's lines share is
written down when the job begins, and what is the line's own goes with the request.
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
        low = source[OFFSET - 1 : 0]
        end = m.wire("preload_end", length + low.zext(ADDRESS) + (LINE - 1))
        lines = end[count + OFFSET - 1 : OFFSET] & length.any().repeat(count)
        lines = m.wire("preload_lines", lines)
        m.update(left, lines, begins)
        m.update(left, left - 1, accepted)

        # By copy and thread. A line's byte 0 goes to byte `turn` of a line of the array.
        slot = self._slot(number, tid)
        depth = 1 << slot.width
        begin = m.wire("preload_begin", offset - low.zext(ADDRESS))
        turn = begin[OFFSET - 1 : 0]
        # The bits of `end` are those of the last byte: 64 - 1 has been added for 0 - 1.
        final = end[OFFSET - 1 : 0]
        facts = cat(low, final, turn, begin[count + OFFSET - 1 : OFFSET])
        self._facts = m.memory("preload_facts", facts.width, depth, note="of a job")
        self._facts.write(slot, m.named(facts, "preload_job"), begins)
        self._missing = m.memory("preload_missing", count, depth, note="lines to be written")
        self._missing.write(slot, lines, begins)
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
        # Whether the line falls into two lines of the array: by its last byte.
        turned = m.delay(turn, "preload_turned_by", when=begins)
        ending = m.delay(final, "preload_ends_at", when=begins)
        is_last = m.wire("preload_is_last", left.eq(1))
        highest = mux(is_last, ending, const(LINE - 1, OFFSET))
        reach = m.wire("preload_reach", turned.zext(OFFSET + 1) + highest.zext(OFFSET + 1))
        self._count = count
        self.moving = self.moving | waiting.any() | left.any()
        line = cat(is_last, reach[OFFSET], place, owner)
        return Asking(left.any(), who, cat(at, const(0, OFFSET)), line, accepted)

    def _slot(self, number: Expr, tid: Expr) -> Expr:
        """The place of a copy's job of a thread."""
        return cat(number, tid) if self._threads > 1 else number

    def take(self, arrivals: list[tuple[Expr, Expr, Expr, Expr]], depth: int) -> None:
        """Writes what comes back.

        Args:
            arrivals: of each bank (valid, tid, line of the request, data).
            depth: lines that may be under way in a bank.
        """
        m, n, count = self._m, self._threads, self._count
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
            first = m.wire(f"preload_bank{b}_out", queue.at(head.trunc(place)))
            facts = self._facts.at(self._slot(*self._whose(first)))
            words.append(m.wire(f"preload_bank{b}_first", cat(facts, first)))
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
        owner, tid = self._whose(now)
        slot = m.wire("preload_slot", self._slot(owner, tid))
        missing = m.wire("preload_still", self._missing.at(slot))
        data, _, line, split, last, base, turn, final, low = _fields(
            now, LINE_BITS, self._tid + self._which, count, 1, 1, count, OFFSET, OFFSET, OFFSET
        )
        m.assign(splits, split)

        all_ = const(-1, LINE)
        start = mux(line.none(), all_ << low, all_)
        stop = mux(last, all_ >> ~final, all_)
        wide = m.wire("preload_mask", (start & stop).zext(2 * LINE) << turn)
        pair = m.wire("preload_pair", data.zext(2 * LINE_BITS) << cat(turn, const(0, 3)))
        turned = m.wire(
            "preload_turned", pair[2 * LINE_BITS - 1 : LINE_BITS] | pair[LINE_BITS - 1 : 0]
        )
        halves = wide[2 * LINE - 1 : LINE], wide[LINE - 1 : 0]
        mask = m.wire("preload_enables", mux(second, *halves))
        index = m.wire("preload_index", base + line + second.zext(count))
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

    def _whose(self, word: Expr) -> tuple[Expr, Expr]:
        """The copy and the thread of a line that came back."""
        top = LINE_BITS + self._tid
        return word[top + self._which - 1 : top], word[top - 1 : LINE_BITS]


def _fields(word: Expr, *widths: int) -> list[Expr]:
    """A word's parts from the low end on."""
    parts: list[Expr] = []
    low = 0
    for width in widths:
        parts.append(word[low + width - 1 : low])
        low += width
    return parts
