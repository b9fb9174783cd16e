"""The inputs of the profiling unit: for each counter what happened in this cycle.

Each place in the datapath that counts has a condition, a thread and an amount known when the
hardware is built (paper, IV-B2). What can never happen in a region (a lock where there is none)
has no counter.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from cyclescope.hls.microarch import BANKS, either
from cyclescope.hls.trace._format import COUNTERS, Counter, Scope, Source
from cyclescope.hls.trace._rings import Feed, Term
from cyclescope.hls.trace._sites import Sites
from cyclescope.hls.trace._waits import CAUSES, LOST, asks, cause_of, loses, place_of, stalls
from cyclescope.model import Cause
from cyclescope.rtl import cat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.hls.microarch import Core, Traffic
    from cyclescope.rtl import Expr

__all__ = ["Fed", "feed", "side_by_side"]

_WINDOW = 8  # cycles for which a total's growth is reckoned


@dataclass(frozen=True, eq=False, slots=True)
class Fed:
    """A counter, or several of the design side by side, and what feeds them.

    Attributes:
        sources: of the profiling unit's layout.
        feed: what the profiling unit is built for.
        inputs: for each term the bits, and whom it happens to if it is tagged; None: from outside.
    """

    sources: tuple[Source, ...]
    feed: Feed
    inputs: tuple[tuple[Expr | None, Expr | None], ...]


@dataclass(frozen=True, eq=False, slots=True)
class _Term:
    """Something that happens: a bit a thread, or a bit and a thread; how much it is, how often."""

    bits: Expr
    tid: Expr | None
    amount: int
    apart: int = 1


def feed(core: Core) -> list[Fed]:
    """All counters that a core can have; of the design's, each is alone.

    Called when the core is finished; adds wires to its module.
    """
    places = _places(core)
    found = []
    for counter in COUNTERS:
        if counter.scope is Scope.BANK:
            banks = tuple(Source(counter, bank, 1) for bank in range(BANKS))
            found.append(Fed(banks, Feed(BANKS, (Term(1, tagged=False),), 1), ((None, None),)))
        elif counter.scope is Scope.DESIGN:
            taken = [t.valid for t in core.ports.traffic]
            if taken:
                found.append(_of_design(core, counter, taken, "requests"))
        elif terms := places.get(counter.name):
            found.append(_of_threads(core, counter, terms))
    return found + _by_place(core)


def _places(core: Core) -> dict[str, list[_Term]]:
    """Counter's name → what it adds up."""
    n = core.threads
    found: dict[str, list[_Term]] = {}
    waits: dict[Cause, list[Expr]] = {}
    for pipe in core.pipelines:
        for gate in pipe.gates:
            for operation in gate.operations:
                waits.setdefault(cause_of(operation.node), []).append(operation.busy.bits)
                if asks(operation.node):
                    term = _Term(operation.busy.bits, None, 1)
                    found.setdefault("requests outstanding", []).append(term)
        for work in pipe.op_activities:
            for name, amount in (
                ("integer operations", work.integer),
                ("floating-point operations", work.floating),
            ):
                if amount:
                    term = _Term(work.valid, work.tid, amount, work.apart)
                    found.setdefault(name, []).append(term)
    waits[Cause.ARBITRATION] = list(core.ports.pending)
    left: Expr = core.activity
    for cause in CAUSES:
        if bits := waits.get(cause):
            lost = either(bits, n)
            if cause in LOST:
                # A thread that waits in two places at once loses one cycle.
                lost, left = lost & left, left & ~lost
            found[stalls(cause)] = [_Term(lost, None, 1)]
    for traffic in core.ports.traffic:
        name = "bytes written" if traffic.writes else "bytes read"
        found.setdefault(name, []).append(_of_traffic(traffic))
    for traffic in core.local_traffic:
        found.setdefault("local bytes", []).append(_of_traffic(traffic))
    return found


def _of_traffic(traffic: Traffic) -> _Term:
    return _Term(traffic.valid, traffic.tid, traffic.size, traffic.apart)


def _of_threads(core: Core, counter: Counter, terms: Sequence[_Term]) -> Fed:
    m, n = core.m, core.threads
    name = "".join(c if c.isalnum() else "_" for c in counter.name)
    amounts = [term.amount for term in terms]
    scale = gcd(*amounts)
    largest = sum(amounts)
    inputs = [
        (m.named(term.bits, f"{name}_{i}"), term.tid if n > 1 else None)
        for i, term in enumerate(terms)
    ]
    made = tuple(
        Term(t.amount // scale, tagged=lane is not None, apart=t.apart)
        for t, (_, lane) in zip(terms, inputs, strict=True)
    )
    made_of = Feed(n, made, largest // scale)
    most = made_of.most(_WINDOW) * scale
    return Fed(
        tuple(Source(counter, thread, most, scale, _WINDOW) for thread in range(n)),
        made_of,
        tuple(inputs),
    )


def _of_design(core: Core, counter: Counter, bits: Sequence[Expr], name: str) -> Fed:
    """A counter of how many of these bits are 1."""
    every = core.m.named(cat(*bits), f"{name}_bits")
    total = core.m.wire(name, _ones(every))
    return Fed(
        (Source(counter, 0, every.width),),
        Feed(1, (Term(1, tagged=False),), every.width),
        ((total, None),),
    )


def _by_place(core: Core) -> list[Fed]:
    """Threads that wait at each place where they get nothing done."""
    places: dict[str, list[Expr]] = {}
    causes: dict[str, Cause] = {}
    for pipe in core.pipelines:
        for gate in pipe.gates:
            for operation in gate.operations:
                if loses(operation.node):
                    name = place_of(operation.node)
                    places.setdefault(name, []).append(operation.busy.bits)
                    causes[name] = cause_of(operation.node)
    number = Sites(core.region, core.pipelines).waits
    found = []
    for i, (name, bits) in enumerate(places.items()):
        counter = Counter(
            *(name, "stall", "thread cycles", Scope.DESIGN),
            cause=causes[name].value,
            site=number[name],
        )
        found.append(_of_design(core, counter, bits, f"waiters{i}"))
    return found


def side_by_side(core: Core, design: Sequence[Fed], slots: int, number: int) -> list[Fed]:
    """Counters of the design, so many in a column: each has the time slot of a thread.

    Args:
        core: adds wires to its module.
        design: the counters.
        slots: time slots of a round.
        number: of the first column among all counters, for the wires' names.
    """
    found: list[Fed] = []
    for first in range(0, len(design), slots):
        members = design[first : first + slots]
        totals = [fed.inputs[0][0] for fed in members]
        values = [total for total in totals if total is not None]
        width = max(value.width for value in values)
        inputs: list[tuple[Expr | None, Expr | None]] = []
        for bit in range(width):
            column = [value.zext(width) if value.width < width else value for value in values]
            name = f"design{number + len(found)}"
            named = [core.m.named(value, f"{name}_{i}") for i, value in enumerate(column)]
            plane = cat(*(value[bit] for value in reversed(named)))
            inputs.append((core.m.wire(f"{name}_bit{bit}", plane), None))
        sources = tuple(fed.sources[0] for fed in members)
        terms = tuple(Term(1 << bit, tagged=False) for bit in range(width))
        largest = max(source.largest for source in sources)
        found.append(Fed(sources, Feed(len(members), terms, largest), tuple(inputs)))
    return found


def _ones(bits: Expr) -> Expr:
    """The number of bits that are 1."""
    if bits.width == 1:
        return bits
    half = bits.width // 2
    width = bits.width.bit_length()
    return _ones(bits[bits.width - 1 : half]).zext(width) + _ones(bits[half - 1 : 0]).zext(width)
