"""The way to the banks of external memory: requests, arbiters, the banks' interfaces.

A load or store in the datapath notes its address, and that its thread wants a bank. A bank has an
arbiter for loads and one for stores; each takes a request a cycle, of the threads in turn, of a
thread's operations the first in the program, and the bank takes from both alternately. In the next
cycle the request's address and data are looked up, and in the one after that the bank sees them. A
bank answers its reads in order; who asked waits in a queue of tags.
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
from cyclescope.hls.microarch._parts import ThreadMask, either, one_hot, scheduler, tid_width
from cyclescope.hls.microarch._preloader import Preloader
from cyclescope.rtl import cat, choose, const, mux

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.hls.microarch._preloader import Asking
    from cyclescope.rtl import Expr, Memory, Module, Net

__all__ = ["Ports", "Results", "Traffic", "bank_bits"]


def bank_bits(line: Expr) -> Expr:
    """`bank_of` in hardware."""
    bank: Expr = line[BANK_BITS - 1 : 0]
    for pair in range(1, FOLD):
        bank = bank ^ line[BANK_BITS * (pair + 1) - 1 : BANK_BITS * pair]
    return bank


class Results:
    """The results of a load: of each thread the word that came last.

    The banks may answer several threads in one cycle, so each bank writes a memory of its own; the
    bank that a thread asked says which of them has its word.
    """

    def __init__(self, m: Module, name: str, width: int, threads: int) -> None:
        self._m, self._name = m, name
        self._words = [m.memory(f"{name}_from_bank{b}", width, threads) for b in range(BANKS)]
        self._bank = m.memory(f"{name}_asked", BANK_BITS, threads)

    def asks(self, valid: Expr, tid: Expr, bank: Expr) -> None:
        """The thread asks this bank.

        The bank is known at the end of the cycle, and looked for when it has answered: it is noted
        in the cycle after.
        """
        m, name = self._m, self._name
        asks = m.delay(valid, f"{name}_asks", reset=0)
        self._bank.write(m.delay(tid, f"{name}_asking"), m.delay(bank, f"{name}_asked_bank"), asks)

    def write(self, bank: int, tid: Expr, word: Expr, valid: Expr) -> None:
        """The bank answers."""
        self._words[bank].write(tid, word, valid)

    def at(self, tid: Expr) -> Expr:
        """The thread's word."""
        return choose(self._bank.at(tid), [memory.at(tid) for memory in self._words])


@dataclass(frozen=True, eq=False, slots=True)
class _Access:
    """A load or store of the datapath.

    Attributes:
        number: among the loads, or among the stores.
        busy: the threads for which it is not over.
        wants: by bank, the threads whose request the arbiter has not taken.
        address: each thread's byte address.
        size: in bytes.
        results: of a load.
        data: of a store, each thread's.
    """

    number: int
    busy: ThreadMask
    wants: tuple[ThreadMask, ...]
    address: Memory
    size: int
    results: Results | None = None
    data: Memory | None = None


@dataclass(frozen=True, eq=False, slots=True)
class _Slot:
    """The preloader's request for a line of one bank.

    Attributes:
        full: there is one.
        tid, address, line: whose it is, and of what; the line's number in its copy.
    """

    full: Net
    tid: Expr
    address: Expr
    line: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Traffic:
    """Accesses of one operation.

    Attributes:
        valid, tid: it begins in this cycle, for this thread.
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
    """The requests, the arbiters and the banks' interfaces.

    With `trace`, lines of a profiling unit go to bank 0, before all that asks there. Inputs:
    `trace_write`, one is there, `trace_coming`, one is there in the next cycle; `trace_line`,
    `trace_bytes` and `trace_data`, where, which bytes and what. Outputs: `trace_taken`, and
    `trace_moving` until it is written.
    """

    def __init__(self, m: Module, threads: int, *, trace: bool = False) -> None:
        self._m = m
        self._trace = trace
        self._threads = threads
        self._tid = tid_width(threads)
        self._loads: list[_Access] = []
        self._stores: list[_Access] = []
        self._slots: list[_Slot] = []
        self.traffic: list[Traffic] = []
        self.pending: list[Expr] = []  # threads whose requests wait for a bank's arbiter
        self.preloader = Preloader(m, threads)
        self._arrivals: list[tuple[Expr, Expr, Expr, Expr]] = []
        self._busy: list[Expr] = []
        self.busy: Expr = const(0, 1)

    def load(
        self,
        name: str,
        busy: ThreadMask,
        valid: Net,
        tid: Expr,
        at: Expr,
        width: int,
        *,
        apart: int,
    ) -> Results:
        """A load of `width` bits from byte address `at`. Returns what it gets, one word a thread.

        From its answer to the thread's next one it takes `apart` cycles, or more.
        """
        results = Results(self._m, f"{name}_data", width, self._threads)
        size = width // 8
        wants, address, bank = self._begin(name, valid, tid, at)
        results.asks(valid, tid, bank)
        number = len(self._loads)
        self._loads.append(_Access(number, busy, wants, address, size, results=results))
        # It is taken in the cycle after it began, at the earliest, and over in a later one.
        self.traffic.append(Traffic(valid, tid, size, writes=False, apart=apart + 2))
        return results

    def store(
        self,
        name: str,
        busy: ThreadMask,
        valid: Net,
        tid: Expr,
        at: Expr,
        data: Expr,
        *,
        apart: int,
    ) -> None:
        """A store to byte address `at`; `apart` as for a load."""
        wants, address, _ = self._begin(name, valid, tid, at)
        words = self._m.memory(f"{name}_what", data.width, self._threads)
        words.write(tid, data, valid)
        size = data.width // 8
        number = len(self._stores)
        self._stores.append(_Access(number, busy, wants, address, size, data=words))
        self.traffic.append(Traffic(valid, tid, size, writes=True, apart=apart + 2))

    def _begin(
        self, name: str, valid: Expr, tid: Expr, at: Expr
    ) -> tuple[tuple[ThreadMask, ...], Memory, Net]:
        m, threads = self._m, self._threads
        at = m.named(at, f"{name}_at")
        address = m.memory(f"{name}_where", ADDRESS, threads)
        address.write(tid, at, valid)
        bank = m.wire(f"{name}_bank", bank_bits(at[ADDRESS - 1 : OFFSET]))
        wants = tuple(ThreadMask(m, f"{name}_wants_bank{b}", threads) for b in range(BANKS))
        # The bank is known last.
        who = m.wire(f"{name}_begins", one_hot(valid, tid, threads))
        for b, mask in enumerate(wants):
            mask.set(who & bank.eq(b).repeat(threads))
        return wants, address, bank

    # The banks

    def finish(self) -> None:
        """All accesses are known: builds the arbiters and the banks' interfaces."""
        m = self._m
        if self.preloader:
            self._preload(self.preloader.ask())
        for b in range(BANKS):
            self._bank(b)
        for access in (*self._loads, *self._stores):
            for wants in access.wants:
                wants.finish()
        if self.preloader:
            self.preloader.take(self._arrivals, TAGS)
            self._busy.append(self.preloader.moving)
        self.busy = m.wire("memory_busy", either(self._busy, 1))

    def _preload(self, line: Asking) -> None:
        """Makes a place in front of each bank for the preloader's next line there."""
        m = self._m
        bank = m.wire("preload_bank", bank_bits(line.address[ADDRESS - 1 : OFFSET]))
        for b in range(BANKS):
            mine = m.wire(f"preload_for_bank{b}", line.accepted & bank.eq(b))
            full = m.register(f"preload_waits_for_bank{b}", 1, reset=0)
            m.update(full, 1, mine)
            tid = m.delay(line.tid, f"preload_tid_for_bank{b}", when=mine)
            at = m.delay(line.address, f"preload_address_for_bank{b}", when=mine)
            number = m.delay(line.line, f"preload_line_for_bank{b}", when=mine)
            self._slots.append(_Slot(full, tid, at, number))
            waits = one_hot(full, tid, self._threads)
            self.pending.append(m.wire(f"preload_waiting_for_bank{b}", waits, keep=True))
        free = choose(bank, [~slot.full for slot in self._slots])
        m.assign(line.accepted, line.asks & free)
        self.traffic.append(Traffic(line.accepted, line.tid, LINE, writes=False, apart=1))

    def _bank(self, b: int) -> None:
        m, name = self._m, f"bank{b}"
        waitrequest = m.input(f"{name}_waitrequest", 1)
        arrives = m.input(f"{name}_readdatavalid", 1)
        readdata = m.input(f"{name}_readdata", LINE_BITS)
        reading = m.register(f"{name}_reading", 1, reset=0)
        writing = m.register(f"{name}_writing", 1, reset=0)
        # With it the interface's wide registers are loaded, whether there is a request or not: who
        # has one comes later. That it reads or writes is a register, as much depends on it.
        sending = m.register(f"{name}_sending", 1, reset=0, note="it reads or writes")
        free = m.wire(f"{name}_free", ~sending | ~waitrequest)
        trace: Net | None = None
        traces: Net | None = None
        no_trace: Expr = const(1, 1)
        if self._trace and b == 0:
            # The profiling unit hears of it a cycle later, and then has another line or none. A
            # load may go meanwhile; no store, so that what chooses 512 bits of data is a register.
            # Its wires are long, so two more registers say the same to the arbiters.
            coming = m.input("trace_coming", 1)
            traces = m.input("trace_write", 1)
            no_trace = m.register("trace_is_none", 1, reset=1)
            m.update(no_trace, ~coming)
            taken = m.register("trace_was_taken", 1, reset=0)
            trace = m.register("trace_goes", 1, reset=0)
            moves = m.wire("trace_moves", free & trace)
            m.update(trace, coming & ~moves)
            m.update(taken, moves)
            m.output("trace_taken", taken)

        space = m.register(f"{name}_space", 1, reset=1, note="for the tag of one more read")
        slot = self._slots[b] if self._slots else None
        loads = _Side(m, f"{name}_load", b, self._threads, self._loads, slot)
        stores = _Side(m, f"{name}_store", b, self._threads, self._stores, None)
        # Alternately, if both want. That a side may go does not ask whether it has something: the
        # side itself knows, and its wires are long.
        turn = m.register(f"{name}_turn_of_stores", 1, reset=0)
        may_ask: Expr = space & ~(turn & stores.valid)
        may_put: Expr = turn | ~(loads.valid & space)
        if trace is not None:
            may_ask, may_put = may_ask & ~trace, may_put & no_trace
        asks = m.wire(f"{name}_asks", loads.valid & may_ask)
        puts = m.wire(f"{name}_puts", stores.valid & may_put)
        asked = m.wire(f"{name}_asked", free & asks)
        stored = m.wire(f"{name}_stored", free & puts)
        m.update(turn, 0, stored)
        m.update(turn, 1, asked)
        self.pending += [*loads.pending, *stores.pending]
        loads.move(free & may_ask)
        stores.move(free & may_put)
        m.update(reading, asks, free)
        written = puts if trace is None else puts | trace
        m.update(writing, written, free)
        m.update(sending, asks | written, free)
        working: Expr = writing
        line = m.register(f"{name}_line", ADDRESS - OFFSET - BANK_BITS)
        next_line = mux(puts, _line(stores.address), _line(loads.address))
        if trace is not None:
            tracing = m.register(f"{name}_tracing", 1, reset=0)
            m.update(tracing, trace, free)
            working = writing & ~tracing
            m.output("trace_moving", writing & tracing)
            next_line = mux(trace, m.input("trace_line", line.width), next_line)
        m.update(line, next_line, free)
        m.output(f"{name}_address", line)
        m.output(f"{name}_read", reading)
        m.output(f"{name}_write", writing)
        # Data and enables count while it writes: their many registers wait for that alone, and who
        # is free is known sooner.
        loose = m.wire(f"{name}_loose", ~writing | ~waitrequest)
        self._write_data(name, stores, loose, traces)
        # The thread may begin its next store: what was noted of this one is in the interface.
        mask = one_hot(stored, stores.tid, self._threads)
        for store in self._stores:
            store.busy.clear(mask & stores.is_of(store).repeat(self._threads))

        under_way = m.register(f"{name}_under_way", TAGS.bit_length(), reset=0)
        m.update(under_way, under_way + 1, asked & ~arrives)
        m.update(under_way, under_way - 1, ~asked & arrives)
        last = under_way.eq(TAGS - 1) & asked
        m.update(space, arrives | ~(last | under_way.eq(TAGS)))
        self._busy += [reading, working, under_way.any(), loads.valid, stores.valid]
        self._answer(b, readdata, self._tags(name, loads, asked, arrives), arrives)

    def _tags(self, name: str, loads: _Side, asked: Expr, arrives: Expr) -> _Tag:
        """A queue of who asked, in the order of the reads; the first is in a register."""
        m = self._m
        parts = [loads.unit, loads.tid, loads.address[OFFSET - 1 : 0]]
        if loads.line is not None:
            parts.insert(0, loads.line)
        tag = m.wire(f"{name}_tag", cat(*parts))
        tags = m.memory(f"{name}_tags", tag.width, TAGS)
        place = TAGS.bit_length() - 1
        tail = m.register(f"{name}_tags_tail", place + 1, reset=0)
        head = m.register(f"{name}_tags_head", place + 1, reset=0)
        tags.write(tail.trunc(place), tag, asked)
        m.update(tail, tail + 1, asked)
        there = m.register(f"{name}_first_there", 1, reset=0)
        next_ = m.wire(f"{name}_next", head.ne(tail) & (arrives | ~there))
        m.update(there, 0, arrives)
        m.update(there, 1, next_)
        m.update(head, head + 1, next_)
        first = m.delay(tags.at(head.trunc(place)), f"{name}_first", when=next_)
        low = OFFSET + self._tid
        high = low + loads.unit.width
        line = first[tag.width - 1 : high] if loads.line is not None else None
        return _Tag(first[high - 1 : low], first[low - 1 : OFFSET], first[OFFSET - 1 : 0], line)

    def _answer(self, b: int, readdata: Expr, first: _Tag, arrives: Expr) -> None:
        """Hands the bank's answer to who asked.

        The thread may go on from the next cycle on; its word is there in the one after that.
        """
        m, name = self._m, f"bank{b}"
        answered = m.wire(f"{name}_answer", one_hot(arrives, first.tid, self._threads))
        to = m.delay(first.tid, f"{name}_to", when=arrives)
        data: Expr | None = None
        if self._loads:
            word = self._aligned(readdata, first.offset)
            data = m.delay(word, f"{name}_data", when=arrives)
        for load in self._loads:
            assert load.results is not None
            assert data is not None
            mine = m.wire(f"{name}_for_{load.number}", first.unit.eq(load.number))
            load.busy.clear(answered & mine.repeat(self._threads))
            hit = m.delay(arrives & mine, f"{name}_hit_{load.number}", reset=0)
            load.results.write(b, to, data.trunc(8 * load.size), hit)
        if first.line is not None:
            preloads = first.unit.eq(len(self._loads))
            hit = m.delay(arrives & preloads, f"{name}_hit_preload", reset=0)
            line = m.delay(first.line, f"{name}_in_copy", when=arrives)
            raw = m.delay(readdata, f"{name}_block", when=arrives)
            self._arrivals.append((hit, to, line, raw))

    def _aligned(self, readdata: Expr, offset: Expr) -> Expr:
        """The bytes from the offset on, as many as the widest load has.

        Loads are aligned: the further a byte is from the first, the fewer are the places that it
        may come from, since only wide loads ask for it.
        """
        parts: list[Expr] = []
        sizes = sorted({load.size for load in self._loads})
        for low, high in zip([0, *sizes], sizes, strict=False):
            least = min(size & -size for size in sizes if size >= high)
            byte = offset & const(LINE - min(least, LINE), OFFSET)
            shifted = readdata >> cat(byte, const(0, 3))
            parts.append(shifted[8 * high - 1 : 8 * low])
        return cat(*reversed(parts))

    def _write_data(self, name: str, stores: _Side, loose: Expr, trace: Expr | None) -> None:
        m = self._m
        enables = m.register(f"{name}_enables", LINE)
        data = m.register(f"{name}_lanes", LINE_BITS)
        # What enables don't choose may be anything.
        bytes_: Expr = const(0, LINE)
        lanes: Expr = const(0, LINE_BITS)
        if self._stores:
            # Stores are aligned: the smallest says which bits of their places are 0.
            sizes = [store.size for store in self._stores]
            least = min(size & -size for size in sizes)
            byte = stores.address[OFFSET - 1 : 0] & const(LINE - min(least, LINE), OFFSET)
            masks = [const((1 << size) - 1, max(sizes)) for size in sizes]
            bytes_ = stores.of(masks, max(sizes)).zext(LINE) << byte
            word = m.wire(f"{name}_word", stores.word)
            lanes = word.zext(LINE_BITS) << cat(byte, const(0, 3))
            if all(size & size - 1 == 0 for size in sizes):
                lanes = word.repeat(LINE_BITS // word.width)  # repeated, it needs no place
        if trace is not None:
            bytes_ = mux(trace, m.input("trace_bytes", LINE), bytes_)
            lanes = mux(trace, m.input("trace_data", LINE_BITS), lanes)
        m.update(enables, bytes_, loose)
        m.update(data, lanes, loose)
        m.output(f"{name}_byteenable", enables)
        m.output(f"{name}_writedata", data)


@dataclass(frozen=True, eq=False, slots=True)
class _Tag:
    """The read that a bank answers: which operation, thread, byte; line of a copy."""

    unit: Expr
    tid: Expr
    offset: Expr
    line: Expr | None


# Of so many operations' threads it is named whether one waits: each operation behind asks that, and
# would repeat them all.
_AHEAD = 8


class _Side:
    """The loads, or the stores, of a bank: an arbiter, and places for two requests that it took.

    Attributes:
        valid: the first place is full; of its request are `tid` and what follows it here.
        pending: for each operation the threads that wait for the arbiter.
        tid, address, unit, line, word: whose it is, its byte address, its operation's number, the
            line's number in a copy, the data of a store.
    """

    def __init__(
        self,
        m: Module,
        name: str,
        bank: int,
        threads: int,
        accesses: Sequence[_Access],
        slot: _Slot | None,
    ) -> None:
        self._m, self._threads, self._accesses = m, threads, accesses
        self.pending: list[Expr] = []
        width = tid_width(threads)
        # Of a thread's operations the first in the program.
        own = [access.wants[bank] for access in accesses]
        bits = [wants.bits for wants in own]
        firsts: list[Expr] = []
        ahead: list[Net] = []
        for i, one in enumerate(bits):
            firsts.append(one & ~either(ahead, threads) if ahead else one)
            ahead.append(one)
            if len(ahead) > _AHEAD:
                ahead = [m.wire(f"{name}_ahead_{i}", either(ahead, threads))]
        self.valid = m.register(f"{name}_chosen", 1, reset=0)
        self._may = m.forward_wire(f"{name}_may", 1)
        # Whether the first place's request moves is known late. So there is a second place, which
        # notes all that is taken and is full if the first could not have it: that, a register, is
        # all that the arbiter asks for.
        second = m.register(f"{name}_second", 1, reset=0, note="one was taken behind the first")
        takes = m.wire(f"{name}_takes", ~second)
        advances = m.wire(f"{name}_advances", self._may | ~self.valid)
        # What was taken a cycle ago is taken back now, and its thread is passed over.
        taken = m.register(f"{name}_taken", threads)
        fresh = m.delay(takes, f"{name}_fresh", reset=0)
        gone = m.wire(f"{name}_gone", taken & fresh.repeat(threads))
        ready: Expr = either(bits, threads) & ~gone
        preload = m.register(f"{name}_preload", 1)
        preload_next = m.register(f"{name}_preload_next", 1)
        if slot is not None:
            # Until it is in the interface it keeps its slot. In the second place it needs no look:
            # nothing is taken then. If the first place is empty, nothing was granted, so `preload`
            # is 0 there.
            ready = cat(slot.full & ~preload, ready)
            m.update(slot.full, 0, self._may & preload)
        ready = m.wire(f"{name}_ready", ready)
        some = second | ready.any()
        m.update(self.valid, some, advances)
        m.update(second, some & ~advances)
        hts = m.instance(
            scheduler(ready.width, gated=True),
            f"{name}_arbiter",
            {"eligible": ready, "go": takes},
        )

        def kept(value: Expr, what: str) -> tuple[Expr, Expr]:
            """A value of the request in the second place, and of the one in the first."""
            behind = m.delay(value, f"{name}_{what}_next", when=takes)
            return behind, m.delay(mux(second, behind, value), f"{name}_{what}", when=advances)

        grant = hts["grant"][threads - 1 : 0]
        m.update(taken, grant, takes)
        granted = m.delay(mux(second, taken, grant), f"{name}_granted", when=advances)
        who: Expr = const(0, width)
        if threads > 1:
            _, who = kept(hts["number"].trunc(width), "who")
        # Which operation it is, is looked up when the thread is known.
        self._ops: list[Expr] = []
        for i, (wants, first) in enumerate(zip(own, firsts, strict=True)):
            cleared, number = gone, const(1, 1)
            if len(own) > 1:
                behind, late = kept(first, f"first_{i}")
                cleared = m.wire(f"{name}_gone_{i}", gone & behind)
                number = m.wire(f"{name}_is_{i}", (late & granted).any())
            wants.clear(cleared)
            waits = m.wire(f"{name}_waits_{i}", wants.bits & ~cleared, keep=True)
            self.pending.append(waits)
            self._ops.append(number)
        addresses = [access.address.at(who) for access in accesses]
        self.tid: Expr = who
        numbers = max(1, (len(accesses) + (slot is not None) - 1).bit_length())
        units = [const(i, numbers) for i in range(len(accesses))]
        self.unit: Expr = self.of(units, numbers)
        self.address: Expr = self.of(addresses, ADDRESS)
        self.line: Expr | None = None
        if slot is not None:
            m.update(preload_next, hts["grant"][threads], takes)
            m.update(preload, mux(second, preload_next, hts["grant"][threads]), advances)
            self.tid = mux(preload, slot.tid, who)
            self.address = mux(preload, slot.address, self.address)
            self.unit = mux(preload, const(len(accesses), numbers), self.unit)
            self.line = slot.line
        words = [a.data.at(who) for a in accesses if a.data is not None]
        widest = max((8 * a.size for a in accesses if a.data is not None), default=8)
        self.word: Expr = const(0, widest)
        if words:
            self.word = self.of([_widened(word, widest) for word in words], widest)

    def of(self, values: Sequence[Expr], width: int) -> Expr:
        """The chosen access' one of these values, each of this width."""
        if len(values) == 1:
            return values[0]
        pairs = zip(values, self._ops, strict=True)
        return either([value & op.repeat(width) for value, op in pairs], width)

    def is_of(self, access: _Access) -> Expr:
        """The chosen one is of this load or store."""
        return self._ops[access.number]

    def move(self, may: Expr) -> None:
        """The interface takes the first place's request, if there is one, while this is 1."""
        self._m.assign(self._may, may)


def _line(address: Expr) -> Expr:
    """The number of a line in its bank."""
    return address[ADDRESS - 1 : OFFSET + BANK_BITS]


def _widened(word: Expr, width: int) -> Expr:
    """The word at each of its places, where it has whole ones."""
    return word.zext(width) if width % word.width else word.repeat(width // word.width)
