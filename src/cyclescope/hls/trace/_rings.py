"""Time-multiplexed counting: the events of all threads, brought to one adder.

Each cycle is the time slot of one thread; with T time slots in a round, a thread's next one comes T
cycles later. The events of a thread between two of its slots wait in a ring of small registers,
which moves on by one place a cycle towards the slot: the place p cycles before it has the events of
that thread in up to T - p cycles, so a register as wide as the most of them cannot overflow. (A
stage that a thread's iterations pass eight cycles apart adds once in a round of eight.) In its slot
the sum goes to a wide total in block RAM, through one adder for all threads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from cyclescope.rtl import cat, choose, const, mux

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.rtl import Expr, Module

__all__ = ["Feed", "Term", "at_place", "counted", "place_of", "rotated", "successor", "total"]

_TABLE = 4  # terms that one look-up table adds
_RING = 8  # terms that one ring takes: more are no matter of one cycle


@dataclass(frozen=True, slots=True)
class Term:
    """A place in the datapath where something is counted.

    Attributes:
        amount: how much, each time.
        tagged: it comes as a bit and the number of whom it happens to; else as a bit each.
        apart: cycles from one time to the next of the same thread, at least.
    """

    amount: int
    tagged: bool
    apart: int = 1


@dataclass(frozen=True, slots=True)
class Feed:
    """Everything that one counter adds up.

    Attributes:
        lanes: threads or banks that have one.
        terms: what is added.
        largest: what can happen to one of them in a cycle at most.
    """

    lanes: int
    terms: tuple[Term, ...]
    largest: int

    def most(self, cycles: int) -> int:
        """The most that can happen to one of them in so many successive cycles."""
        times = sum(term.amount * -(-cycles // term.apart) for term in self.terms)
        return min(self.largest * cycles, times)

    def parts(self) -> list[Feed]:
        """Its terms, so many together as one ring takes."""
        count = -(-len(self.terms) // _RING)
        ends = [number * len(self.terms) // count for number in range(count + 1)]
        parts = [self.terms[begin:end] for begin, end in pairwise(ends)]
        return [
            replace(self, terms=part, largest=min(self.largest, sum(term.amount for term in part)))
            for part in parts
        ]


def successor(value: Expr) -> Expr:
    """The value and 1, modulo its width; without a carry chain, which costs more if short."""
    carry: Expr = const(1, 1)
    bits: list[Expr] = []
    for i in range(value.width):
        bits.append(value[i] ^ carry if i else ~value[i])
        carry = value[i] if i == 0 else carry & value[i]
    return cat(*reversed(bits))


def rotated(m: Module, mask: Expr, slot: Expr, name: str) -> Expr:
    """All threads' bits, rotated: bit p is that of the thread whose slot is p cycles later."""
    value = m.wire(name, mask.zext(1 << slot.width))
    for level in range(slot.width):
        size = 1 << level
        moved = cat(value[size - 1 : 0], value[value.width - 1 : size])
        value = m.wire(f"{name}_by{size}", mux(slot[level], moved, value))
    return value


def place_of(m: Module, lane: Expr, slot: Expr, name: str) -> Expr:
    """The bit of `rotated` that a thread's is: in how many cycles its slot is."""
    lane = m.wire(f"{name}_lane", lane.zext(slot.width) if lane.width < slot.width else lane)
    bits: list[Expr] = []
    borrow: Expr = const(0, 1)
    for i in range(slot.width):
        a, b = lane[i], slot[i]
        bits.append(a ^ b ^ borrow if i else a ^ b)
        borrow = (~a & b) | (~(a ^ b) & borrow) if i else ~a & b
        borrow = m.wire(f"{name}_borrow{i}", borrow)
    return m.wire(f"{name}_place", cat(*reversed(bits)))


def at_place(m: Module, valid: Expr, place: Expr, name: str) -> Expr:
    """The bits of `rotated` where one thread at most has a 1: that of this place, if `valid`."""
    ones = [valid & place.eq(p) for p in range(1 << place.width)]
    return m.wire(f"{name}_rotated", cat(*reversed(ones)))


def total(parts: Sequence[Expr], width: int) -> Expr:
    """The sum of all parts."""
    found = parts[0]
    for part in parts[1:]:
        found = found.zext(width) + part.zext(width)
    return found


def counted(m: Module, feed: Feed, inputs: Sequence[Expr], slot: Expr, name: str) -> Expr:
    """The count of the thread whose slot it is, since its last slot, but for this cycle.

    Args:
        m: where the ring goes.
        feed: of the counter.
        inputs: for each term one bit a thread, as `rotated` gives them.
        slot: the number of the time slot, which is the thread's.
        name: of the counter's nets.
    """
    slots = 1 << slot.width
    steps = [m.wire(f"{name}_in{p}", _step(feed, [i[p] for i in inputs])) for p in range(slots)]
    # What happens to the thread whose slot it is belongs to its next one.
    value: Expr = steps[0]
    for place in range(slots - 1, -1, -1):
        waits = m.register(f"{name}_wait{place}", value.width, reset=0)
        m.update(waits, value)
        if place == 0:
            break
        width = feed.most(slots - place + 1).bit_length()
        value = m.wire(f"{name}_sum{place}", _plus(waits, steps[place], width))
    return waits


def _plus(a: Expr, b: Expr, width: int) -> Expr:
    if b.width > 1 or width > _TABLE:
        return a.zext(width) + b.zext(width)
    bits: list[Expr] = []
    carry: Expr = b
    for i in range(width):
        bits.append(a[i] ^ carry if i < a.width else carry)
        carry = a[i] & carry if i < a.width else const(0, 1)
    return cat(*reversed(bits))


def _step(feed: Feed, bits: Sequence[Expr]) -> Expr:
    """The sum of the terms that happen."""
    width = feed.largest.bit_length()
    amounts = [term.amount for term in feed.terms]
    total: Expr | None = None
    for first in range(0, len(bits), _TABLE):
        some_bits, some_amounts = bits[first : first + _TABLE], amounts[first : first + _TABLE]
        part = _table(some_bits, some_amounts, width)
        total = part if total is None else total + part
    assert total is not None
    return total


def _table(bits: Sequence[Expr], amounts: Sequence[int], width: int) -> Expr:
    if len(bits) == 1:
        return mux(bits[0], const(amounts[0], width), const(0, width))
    sums = [
        const(sum(a for i, a in enumerate(amounts) if which >> i & 1), width)
        for which in range(1 << len(bits))
    ]
    return choose(cat(*reversed(bits)), sums)
