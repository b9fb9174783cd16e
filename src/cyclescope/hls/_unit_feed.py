"""What the profiling unit is fed with: for each counter what happened in this cycle.

Each place in the datapath that counts has a condition, a thread and an amount known when the
hardware is built (paper, IV-B2); a thread's amounts are added up. What can never happen in a
region (a lock where there is none) has no counter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls._machine_parts import either, one_hot
from cyclescope.hls._trace_format import COUNTERS, Counter, Scope, Source
from cyclescope.hls._unit import add_bits
from cyclescope.hls._waits import cause_of, loses, place_of
from cyclescope.rtl import cat, const

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.hls._machine import Core
    from cyclescope.rtl import Expr

__all__ = ["feed"]


def feed(core: Core) -> list[tuple[Source, Expr | None]]:
    """All counters that a core can have, and what to add in this cycle.

    None stands for what comes from outside: the row misses of a bank. Called when the core is
    finished; adds wires to its module.
    """
    found: list[tuple[Source, Expr | None]] = []
    places = _places(core)
    for counter in COUNTERS:
        if counter.scope is Scope.BANK:
            found += [(Source(counter, bank, 1), None) for bank in range(4)]
        elif counter.scope is Scope.DESIGN:
            found += _requests(core, counter)
        elif terms := places.get(counter.name):
            found += _by_thread(core, counter, terms)
    return found + _by_place(core)


def _places(core: Core) -> dict[str, list[tuple[Expr, int]]]:
    """Counter's name → (a bit for each thread to which it happens, how much)."""
    n = core.threads
    found: dict[str, list[tuple[Expr, int]]] = {}
    stalls: dict[str, list[Expr]] = {}
    for pipe in core.pipelines:
        for gate in pipe.gates:
            for operation in gate.operations:
                stalls.setdefault(f"stalls: {cause_of(operation.node)}", []).append(
                    operation.busy.bits
                )
        for work in pipe.works:
            who = one_hot(work.valid, work.tid, n)
            if work.integer:
                found.setdefault("integer operations", []).append((who, work.integer))
            if work.floating:
                found.setdefault("floating-point operations", []).append((who, work.floating))
    stalls["stalls: arbitration"] = list(core.ports.pending)
    for name, bits in stalls.items():
        if bits:
            # A thread that waits in two places at once loses one cycle.
            found[name] = [(either(bits, n), 1)]
    for traffic in core.ports.traffic:
        name = "bytes written" if traffic.writes else "bytes read"
        found.setdefault(name, []).append((one_hot(traffic.valid, traffic.tid, n), traffic.size))
    return found


def _requests(core: Core, counter: Counter) -> list[tuple[Source, Expr | None]]:
    """Requests that the threads' ports take."""
    traffic = core.ports.traffic
    if not traffic:
        return []
    taken = core.m.named(cat(*(t.valid for t in traffic)), "requests_taken")
    return [(Source(counter, 0, len(traffic)), core.m.wire("requests", _ones(taken)))]


def _by_place(core: Core) -> list[tuple[Source, Expr | None]]:
    """Threads that wait at each place where they get nothing done."""
    places: dict[str, list[Expr]] = {}
    for pipe in core.pipelines:
        for gate in pipe.gates:
            for operation in gate.operations:
                if loses(operation.node):
                    name = place_of(operation.node)
                    places.setdefault(name, []).append(operation.busy.bits)
    found: list[tuple[Source, Expr | None]] = []
    for number, (name, bits) in enumerate(places.items()):
        counter = Counter(name, "stall", "thread cycles", Scope.DESIGN)
        waiting = core.m.named(cat(*bits), f"waiting{number}")
        most = core.threads * len(bits)
        found.append((Source(counter, 0, most), core.m.wire(f"waiters{number}", _ones(waiting))))
    return found


def _ones(bits: Expr) -> Expr:
    """How many bits are 1."""
    width = add_bits(bits.width)
    total: Expr = bits[0].zext(width)
    for index in range(1, bits.width):
        total = total + bits[index].zext(width)
    return total


def _by_thread(
    core: Core, counter: Counter, terms: Sequence[tuple[Expr, int]]
) -> list[tuple[Source, Expr | None]]:
    m = core.m
    largest = sum(amount for _, amount in terms)
    bits = add_bits(largest)
    name = "".join(c if c.isalnum() else "_" for c in counter.name)
    masks = [m.named(mask, f"{name}_by_{i}") for i, (mask, _) in enumerate(terms)]
    found: list[tuple[Source, Expr | None]] = []
    for thread in range(core.threads):
        total: Expr | None = None
        for mask, (_, amount) in zip(masks, terms, strict=True):
            part = const(amount, bits) & mask[thread].repeat(bits)
            total = part if total is None else total + part
        assert total is not None
        found.append((Source(counter, thread, largest), m.wire(f"{name}{thread}", total)))
    return found
