"""Small parts of the machine: flags of threads, the thread scheduler, locks and barriers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cyclescope.rtl import Module, cat, const, mux

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.rtl import Expr, Net

__all__ = [
    "Arrival",
    "ThreadMask",
    "barrier",
    "either",
    "encoded",
    "fifo",
    "lock",
    "lowest",
    "one_hot",
    "scheduler",
    "tid_width",
]


def fifo(m: Module, name: str, threads: int, word: Expr, valid: Expr) -> tuple[Net, Net, Net]:
    """A queue with space for a word of each thread; `word` goes in when `valid`.

    Returns:
        Whether it has an entry; the first one; a net to be assigned, when that is taken out.
    """
    width = tid_width(threads)
    queue = m.memory(f"{name}_queue", word.width, 1 << width)
    tail = m.register(f"{name}_tail", width + 1, reset=0)
    head = m.register(f"{name}_head", width + 1, reset=0)
    queue.write(tail.trunc(width), m.named(word, f"{name}_request"), valid)
    m.update(tail, tail + 1, valid)
    asks = m.wire(f"{name}_asks", tail.ne(head))
    first = m.wire(f"{name}_first", queue.at(head.trunc(width)))
    accepted = m.forward_wire(f"{name}_accepted", 1)
    m.update(head, head + 1, accepted)
    return asks, first, accepted


def tid_width(threads: int) -> int:
    """Bits of a thread's number; a lone thread has one bit too."""
    return max(1, (threads - 1).bit_length())


def either(terms: Sequence[Expr], width: int) -> Expr:
    """The terms or-ed; 0 if there are none."""
    result: Expr = const(0, width)
    for number, term in enumerate(terms):
        result = term if number == 0 else result | term
    return result


def one_hot(valid: Expr, tid: Expr, threads: int) -> Expr:
    """The thread's bit if `valid`, else nothing, whatever `tid` is: it may be undefined then."""
    if threads == 1:
        return valid
    return mux(valid, const(1, threads) << tid, const(0, threads))


def lowest(bits: Expr) -> Expr:
    """The lowest set bit alone."""
    return bits if bits.width == 1 else bits & ~behind(bits)


def behind(bits: Expr) -> Expr:
    """The bits above the lowest that is set."""
    below = [bits[i - 1 : 0].any() for i in range(1, bits.width)]
    return cat(*reversed(below), const(0, 1))


def encoded(m: Module, bits: Expr, width: int, name: str) -> Net:
    """The number of the only set bit; 0 if none is set."""
    bits = m.named(bits, f"{name}_bits")
    columns = [
        either([bits[i] for i in range(bits.width) if i >> place & 1], 1) for place in range(width)
    ]
    value = columns[0].zext(width)
    for place, column in enumerate(columns[1:], 1):
        value = value | column.zext(width) << place
    return m.wire(name, value)


class ThreadMask:
    """A register with one bit a thread, set and cleared by masks; to set wins.

    Attributes:
        bits: the register.
    """

    def __init__(
        self, m: Module, name: str, threads: int, *, note: str = "", keep: bool = False
    ) -> None:
        self._m = m
        self._sets: list[Expr] = []
        self._clears: list[Expr] = []
        self.bits = m.register(name, threads, reset=0, note=note, keep=keep)

    def of(self, tid: Expr) -> Expr:
        """A thread's bit."""
        return self.bits if self.bits.width == 1 else (self.bits >> tid)[0]

    def set(self, mask: Expr) -> None:
        """Sets the bits of a mask from the next cycle on."""
        self._sets.append(mask)

    def clear(self, mask: Expr) -> None:
        """Clears the bits of a mask from the next cycle on."""
        self._clears.append(mask)

    def finish(self) -> None:
        """Everything that sets and clears is known."""
        self._m.update(self.bits, self.next())

    def next(self, late: Expr | None = None, *, happens: bool = False) -> Expr:
        """The bits of the next cycle, when everything that sets and clears is known.

        Args:
            late: a mask; not read, but taken as nothing, or as all threads if it `happens`.
            happens: see above.
        """
        width = self.bits.width
        if happens and self._has(self._sets, late):
            return const(-1, width)
        value: Expr = self.bits
        if happens and self._has(self._clears, late):
            value = const(0, width)
        elif clears := [mask for mask in self._clears if mask is not late]:
            value = value & ~either(clears, width)
        for mask in self._sets:
            if mask is not late:
                value = value | mask
        return value

    def follows(self, mask: Expr) -> bool:
        """Return whether a mask sets or clears bits."""
        return self._has(self._sets, mask) or self._has(self._clears, mask)

    @staticmethod
    def _has(masks: Sequence[Expr], mask: Expr | None) -> bool:
        return any(mask is one for one in masks)


def scheduler(threads: int, *, ordered: bool = False, gated: bool = False) -> Module:
    """The hardware thread scheduler: one eligible thread a cycle, round robin.

    Inputs: `eligible`; with `gated` besides `go`: what is chosen in a cycle goes only if this is 1.
    With `ordered` `in_order`, `arrive` and `arrive_tid`: while `in_order` is 1 only the thread that
    arrived first may go. Outputs: `grant`, one bit a thread, of which one at most is set, `valid`
    and, with several threads, `number`: of the one that is chosen, any if there is none.
    """
    return _scheduler(threads, ordered, gated)


@cache
def _scheduler(threads: int, ordered: bool, gated: bool) -> Module:
    m = Module(
        f"hts{threads}{'_ordered' if ordered else ''}{'_gated' if gated else ''}",
        "Hardware thread scheduler: of the eligible threads one a cycle, round robin.",
    )
    eligible: Expr = m.input("eligible", threads)
    goes: Expr = m.input("go", 1) if gated else eligible.any()
    if ordered:
        allowed, goes_on = _oldest(m, threads)
        eligible = m.wire("candidates", eligible & allowed)
        goes = m.wire("some", eligible.any())
        # A cycle late, which is time for the longest path: in order, a thread goes every other.
        m.assign(goes_on, m.delay(goes, "went", reset=0))
    grant: Expr = eligible
    if threads > 1:
        above = m.register("above", threads, reset=0, note="threads behind the last that went")
        # Those behind it come before all.
        sooner = m.wire("sooner", eligible & above)
        some = sooner.any()
        behind_sooner, behind_first = behind(sooner), behind(eligible)
        later: Expr = behind_first
        if gated:
            # `go` enables the register alone; where nobody wants to, all is as it was.
            later = later | above & eligible.none().repeat(threads)
        m.update(above, m.wire("beyond", mux(some, behind_sooner, later)), goes)
        grant = m.wire("chosen", mux(some, sooner & ~behind_sooner, eligible & ~behind_first))
        # Beside the choice, not behind it.
        m.output("number", mux(some, _first(m, sooner), _first(m, eligible)))
    m.output("grant", grant)
    m.output("valid", eligible.any())
    return m


def _first(m: Module, bits: Expr) -> Expr:
    """The number of the lowest set bit, by ever larger parts; any if none is set."""
    some: list[Expr] = [bits[i] for i in range(bits.width)]
    numbers: list[Expr] = []
    while len(some) > 1:
        wholes = range(0, len(some) - 1, 2)
        known = [mux(some[i], numbers[i], numbers[i + 1]) for i in wholes] if numbers else []
        lower = [~some[i] for i in wholes]
        found = [cat(*pair) for pair in zip(lower, known, strict=True)] if known else lower
        there = [some[i] | some[i + 1] for i in wholes]
        if len(some) % 2:
            found.append(const(0, 1) if not numbers else cat(const(0, 1), numbers[-1]))
            there.append(some[-1])
        some = [m.wire("there", bit) for bit in there]
        numbers = [m.wire("first", number) for number in found]
    return numbers[0]


def _oldest(m: Module, threads: int) -> tuple[Expr, Net]:
    """The threads that may go if the order of arrival is kept: all, or the first that arrived.

    Returns:
        Their mask, a register; a net to be assigned, when a thread goes.
    """
    width = tid_width(threads)
    in_order = m.input("in_order", 1)
    arrive, arrive_tid = m.input("arrive", 1), m.input("arrive_tid", width)
    goes = m.forward_wire("goes", 1)
    queue = m.memory("queue", width, 1 << width, note="threads in the order of arrival")
    tail = m.register("tail", width + 1, reset=0)
    head = m.register("head", width + 1, reset=0)
    allowed = m.register("allowed", threads, reset=0, note="the thread that arrived first, or all")
    there = m.register("there", 1, reset=0, note="it is no longer in the queue")
    # A thread that finds no other goes by the queue, so that it may leave in the next cycle.
    empty = m.wire("empty", tail.eq(head))
    moves = m.wire("moves", goes | ~there)
    queue.write(tail.trunc(width), arrive_tid, arrive)
    m.update(tail, tail + 1, arrive & ~(moves & empty))
    m.update(head, head + 1, moves & ~empty)
    some = arrive | ~empty
    m.update(there, some, moves)
    next_ = m.wire("next", mux(empty, arrive_tid, queue.at(head.trunc(width))))
    m.update(allowed, one_hot(some, next_, threads), moves)
    m.update(allowed, const(-1, threads), ~in_order)
    return allowed, goes


def lock(
    m: Module,
    name: str,
    threads: int,
    requests: Sequence[tuple[Expr, Expr]],
    releases: Sequence[Expr],
    note: str,
) -> tuple[Expr, Expr]:
    """A semaphore that serves in the order of the requests.

    Args:
        m: where to build it.
        name: prefix of its nets.
        threads: how many there are.
        requests: (valid, tid) of each place that acquires.
        releases: valid of each place that releases.
        note: the critical sections in the source.

    Returns:
        Masks: the thread that is granted the lock in this cycle, and the one that has it.
    """
    width = tid_width(threads)
    queue = m.memory(f"{name}_queue", width, 1 << width, note=note)
    tail = m.register(f"{name}_tail", width, reset=0)
    head = m.register(f"{name}_head", width, reset=0)
    count = m.register(f"{name}_count", width + 1, reset=0, note="threads that wait")
    held = m.register(f"{name}_held", 1, reset=0, note=note)
    holder = m.register(f"{name}_holder", width, reset=0)
    place: Expr = tail
    arrived: Expr = const(0, width + 1)
    for valid, tid in requests:
        queue.write(m.named(place, f"{name}_place"), tid, valid)
        place = place + valid.zext(width) if width > 1 else place ^ valid
        arrived = arrived + valid.zext(width + 1)
    grant = m.wire(f"{name}_grant", ~held & count.any())
    m.update(tail, place)
    m.update(count, count + arrived - grant.zext(width + 1))
    first = m.wire(f"{name}_first", queue.at(head))
    m.update(head, head + 1, grant)
    m.update(holder, first, grant)
    m.update(held, 0, either(list(releases), 1))
    m.update(held, 1, grant)
    return (
        m.wire(f"{name}_granted", one_hot(grant, first, threads)),
        m.wire(f"{name}_inside", one_hot(held, holder, threads)),
    )


@dataclass(frozen=True, slots=True)
class Arrival:
    """A place where threads come to a barrier.

    Attributes:
        issue: one does.
        mask: it.
        size: so many of the first threads come, 32 bits; None: all.
        busy: the threads that wait there.
    """

    issue: Expr
    mask: Expr
    size: Expr | None
    busy: ThreadMask


def barrier(
    m: Module, name: str, threads: int, team: Expr, arrivals: Sequence[Arrival], note: str
) -> Expr:
    """Waits for the whole team.

    Args:
        m: where to build it.
        name: prefix of its nets.
        threads: how many there are.
        team: mask of the threads of the largest team.
        arrivals: the places where threads come to it.
        note: the barrier in the source.

    Returns:
        Mask of the threads that may go on from this cycle.
    """
    arrived = m.register(f"{name}_arrived", threads, reset=0, note=note)
    if any(one.size is not None for one in arrivals):
        first = m.register(f"{name}_team", threads, reset=0, note="threads that come")
        for one in arrivals:
            mask = team if one.size is None else _below(one.size, threads)
            m.update(first, mask, one.issue)
        team = first
    full = m.wire(f"{name}_full", arrived.eq(team))
    value: Expr = mux(full, const(0, threads), arrived)
    for one in arrivals:
        value = value | one.mask
    m.update(arrived, value)
    return m.wire(f"{name}_over", mux(full, team, const(0, threads)))


def _below(count: Expr, threads: int) -> Expr:
    """The bits of the threads whose numbers are below a count of 32 bits."""
    bits = [const(number, count.width).ult(count) for number in range(threads)]
    return bits[0] if threads == 1 else cat(*reversed(bits))
