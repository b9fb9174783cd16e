"""Process networks stepped cycle by cycle, from the rules of docs/network.md: a judge of timings.

Everything happens in every cycle, one process and one channel after another; nothing is shared with
the timing by events that finds depths and answers what-if questions. Networks are drawn at random:
what flows where is any sequence, not only what loops make.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model import (
    Activity,
    Edge,
    Flow,
    Frame,
    Kind,
    Meta,
    Process,
    Profile,
    ProfileBuilder,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping


@dataclass
class _Stage:
    """A process: the firings under way by stage, None where there is a gap."""

    site: Process
    slots: list[int | None]
    begun: int = 0
    free: int = 0


@dataclass
class _Buffer:
    """A channel: how many values came and were read, and what a reordering buffer holds ready."""

    edge: Edge
    sends: list[int]
    reads: list[int]
    firings: set[int]
    came: int = 0
    read: int = 0
    ready: bool = False
    pushed: bool = False
    popped: bool = False
    needed: list[int] = field(init=False)

    def __post_init__(self) -> None:
        rest = [*self.reads, len(self.sends)]
        self.needed = [min(rest[place:]) for place in range(len(rest))]

    @property
    def is_full(self) -> bool:
        assert self.edge.depth is not None
        return self.came - self.needed[self.read] >= self.edge.depth

    @property
    def has_next(self) -> bool:
        if self.edge.reordered:
            return self.ready
        return self.read < len(self.reads) and self.reads[self.read] < self.came

    def end_of_cycle(self) -> None:
        self.came += self.pushed
        if not self.edge.reordered:
            self.read += self.popped
        elif not self.ready or self.popped:
            # The read unit takes the next value in the cycle in which it comes.
            self.ready = self.read < len(self.reads) and self.reads[self.read] < self.came
            self.read += self.ready
        self.pushed = self.popped = False


def stepped(profile: Profile, others: Mapping[int, Process | Edge] | None = None) -> int | None:
    """The cycles of a network with some other sites; None for a deadlock."""
    sites = {**dict(enumerate(profile.sites)), **(others or {})}
    stages = {
        number: _Stage(site, [None] * (site.latency - 1))
        for number, site in sites.items()
        if isinstance(site, Process)
    }
    buffers = []
    for flow in profile.flows:
        edge = sites[flow.edge]
        assert isinstance(edge, Edge)
        ends = flow.sends.tolist(), flow.reads.tolist(), set(flow.firings.tolist())
        buffers.append(_Buffer(edge, *ends))
    left = sum(stage.site.firings for stage in stages.values())
    now = idle = 0
    longest = max(max(stage.site.interval, stage.site.latency) for stage in stages.values())
    while left:
        moved = False
        for number, stage in stages.items():
            last = stage.slots[-1]
            to = [b for b in buffers if b.edge.producer == number and last in set(b.sends)]
            if last is not None and any(buffer.is_full for buffer in to):
                continue
            if last is not None:
                left -= 1
                moved = True
                for buffer in to:
                    buffer.pushed = True
            own = [b for b in buffers if b.edge.consumer == number and stage.begun in b.firings]
            begins = (
                stage.begun < stage.site.firings
                and now >= stage.free
                and all(buffer.has_next for buffer in own)
            )
            stage.slots = [stage.begun if begins else None, *stage.slots[:-1]]
            if begins:
                for buffer in own:
                    buffer.popped = True
                stage.begun += 1
                stage.free = now + stage.site.interval
                moved = True
        for buffer in buffers:
            buffer.end_of_cycle()
        now += 1
        idle = 0 if moved else idle + 1
        if idle > longest + 2:
            return None
    return now


def random_network(chosen: random.Random) -> Profile:
    """A network that ends; each process reads from those before it and from itself."""
    while True:
        sites, flows = _drawn(chosen)
        profile = _profile(sites, flows, 1 << 20)
        cycles = stepped(profile)
        if cycles is not None:
            return _profile(sites, flows, cycles)


def _drawn(chosen: random.Random) -> tuple[list[Process | Edge], list[Flow]]:
    processes = [
        Process(
            "kernel",
            f"p{number}",
            path=number + 1,
            firings=chosen.randint(1, 24),
            interval=chosen.choice([1, 1, 1, 2, 3]),
            latency=chosen.randint(2, 12),
        )
        for number in range(chosen.randint(2, 5))
    ]
    sites: list[Process | Edge] = list(processes)
    flows: list[Flow] = []
    for consumer, process in enumerate(processes):
        for operand in range(chosen.randint(consumer > 0, min(consumer, 2))):
            producer = chosen.randrange(consumer)
            values = chosen.randint(1, min(processes[producer].firings, process.firings))
            sends = sorted(chosen.sample(range(processes[producer].firings), values))
            reads = _reads(chosen, values, process.firings)
            firings = sorted(chosen.sample(range(process.firings), len(reads)))
            _add(chosen, sites, flows, Edge("kernel", producer, consumer, f"x{operand}"),
                 (sends, reads, firings))  # fmt: skip
        if process.firings > 1 and chosen.random() < 0.4:
            apart = chosen.randint(1, process.firings - 1)
            values = process.firings - apart
            first, every = list(range(values)), list(range(apart, process.firings))
            _add(chosen, sites, flows, Edge("kernel", consumer, consumer, "own"),
                 (first, first, every))  # fmt: skip
    return sites, flows


def _reads(chosen: random.Random, values: int, most: int) -> list[int]:
    """Each value at least once: in order, in order with some read again, or in any."""
    order = list(range(values))
    kind = chosen.random()
    if kind < 0.4:
        return order
    if kind < 0.7:
        chosen.shuffle(order)
    for _ in range(chosen.randint(0, most - values)):
        place = chosen.randrange(len(order))
        again = chosen.randint(0, place)
        order.insert(place + 1, order[again])
    return order


def _add(
    chosen: random.Random,
    sites: list[Process | Edge],
    flows: list[Flow],
    edge: Edge,
    ends: tuple[list[int], list[int], list[int]],
) -> None:
    sends, reads, firings = ends
    seen = list(dict.fromkeys(reads))
    flows.append(Flow(len(sites), np.array(sends), np.array(reads), np.array(firings)))
    depth = chosen.randint(1, len(sends))
    sites.append(
        replace(
            edge, tokens=len(sends), reads=len(reads), reordered=seen != sorted(seen), depth=depth
        )
    )


def _profile(sites: list[Process | Edge], flows: list[Flow], cycles: int) -> Profile:
    builder = ProfileBuilder()
    idle, work = Activity.IDLE, Activity.WORK
    cell = Frame(Kind.CELL, "kernel", "kernel", activity=idle)
    top = builder.path(-1, cell)
    processes = [site for site in sites if isinstance(site, Process)]
    paths = [
        builder.path(top, Frame(Kind.PROCESS, p.name, "kernel", activity=work, track=True))
        for p in processes
    ]
    # Which of them answer for the run is not what is asked here.
    sites = [replace(s, critical=0) if isinstance(s, Process) else s for s in sites]
    tree = builder.tree([top, *paths])
    profile = builder.build(Meta("network", "kernel"), [cycles], [tree], sites=sites)
    return replace(profile, flows=tuple(flows))
