"""The waits of each firing: waits, the critical path, and the edges of the network.

The program notes it while it runs (`_runtime.h`): always, for which operand each process waited;
with details, of each firing when it started and whom it waited for last, and of each edge how its
values came.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.bounds._limits import Cause, Limit, Link, limits_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from cyclescope.bounds._estimate import Bounds, Estimate
    from cyclescope.bounds._native import EdgeRecord
    from cyclescope.bounds._network import Process

__all__ = ["Detail", "Edge", "EdgeClass", "PathStep", "Wait", "delays_of", "detail_of", "waits_of"]

IN_ORDER = "in-order"
IN_ORDER_REPEATED = "in-order with multiplicity"
OUT_OF_ORDER = "out-of-order"
OUT_OF_ORDER_REPEATED = "out-of-order with multiplicity"

EdgeClass = str

CAUSES = (Cause.END, Cause.VALUE, Cause.RESOURCE)  # as the program numbers them


@dataclass(frozen=True, slots=True)
class Edge:
    """Values that flow from one process to one operand of another.

    Attributes:
        producer, consumer: the processes.
        operand: number of the consumer's operand.
        reads: how often a value was read through it.
        tokens: how many different values.
        order: the class, after Turjan, Kienhuis and Deprettere (2007): whether values are read
            in the order in which they are written, and whether some are read more than once
            (multiplicity).
        reordered: whether already the first reads of the values are out of order. If not, a
            value that is needed again can be handed on from use to use, and FIFOs suffice.
    """

    producer: Process
    consumer: Process
    operand: int
    reads: int
    tokens: int
    order: EdgeClass
    reordered: bool


@dataclass(frozen=True, slots=True)
class Wait:
    """The waits of a process, in one estimate.

    Attributes:
        process: which.
        resource: cycles, summed over firings, for which operands lay ready while the process
            was still taken up by its previous firing (absolute only).
        operands: for each operand (cycles that the free process waited for it, summed; how many
            firings it delayed).
        producers: the same cycles by the process that wrote what it waited for; none without
            a record of each firing.
    """

    process: Process
    resource: int
    operands: tuple[tuple[int, int], ...]
    producers: tuple[tuple[Process, int], ...]

    @property
    def critical_producer(self) -> Process | None:
        """The process that it waited for longest."""
        return max(self.producers, key=lambda pair: pair[1])[0] if self.producers else None


@dataclass(frozen=True, slots=True)
class PathStep:
    """A part of the critical path: one process, and why the next firing had to wait for it.

    Attributes:
        process: which.
        cause: why; its result was awaited, or it was taken up.
        firings: how many of its firings lie on the path.
        cycles: how much of the total they account for; the parts add up to it.
    """

    process: Process
    cause: Cause
    firings: int
    cycles: int


@dataclass(frozen=True)
class Detail:
    """Edges of the network, and for each estimate the critical path, and what bounds it."""

    edges: tuple[Edge, ...]
    critical_path: dict[str, tuple[PathStep, ...]]
    limits: dict[str, tuple[Limit, ...]]


def detail_of(bounds: Bounds) -> Detail:
    """The details of firings that a run with `detail_limit` found out."""
    kept = bounds.records.detail
    assert kept is not None
    processes = bounds.network.processes
    used = [row.process for row in bounds.absolute.firings]
    links = {
        estimate.name: _links(processes, kept.paths[index])
        for index, estimate in enumerate(bounds.estimates)
    }
    paths = {name: _path(own) for name, own in links.items()}
    for estimate in bounds.estimates:
        explained = sum(step.cycles for step in paths[estimate.name])
        assert explained == estimate.cycles, (explained, estimate.cycles)
    return Detail(
        edges=tuple(
            _edge(processes[producer], process, row)
            for process in used
            for row in kept.edges.get(process.index, [])
            if row.reads
            for producer in [row.producer]
        ),
        critical_path=paths,
        limits={name: limits_of(own) for name, own in links.items()},
    )


def _edge(producer: Process, consumer: Process, row: EdgeRecord) -> Edge:
    repeated = row.tokens < row.reads
    if row.falls:
        order = OUT_OF_ORDER_REPEATED if repeated else OUT_OF_ORDER
    else:
        order = IN_ORDER_REPEATED if repeated else IN_ORDER
    return Edge(
        producer, consumer, row.operand, row.reads, row.tokens, order, reordered=row.first_falls > 0
    )


def waits_of(bounds: Bounds, estimate: Estimate) -> tuple[Wait, ...]:
    """The waits of each process that fired."""
    index = bounds.estimates.index(estimate)
    return tuple(_wait(bounds, row.process, index) for row in estimate.firings)


def delays_of(
    bounds: Bounds, estimate: Estimate
) -> Iterator[tuple[Process | None, Process, int, int, int]]:
    """The waits for operands, one at a time.

    Yields:
        Who wrote it (None without a record of each firing), who waited, for which operand, for
        how many cycles while its resource was free, and how many firings did.
    """
    index = bounds.estimates.index(estimate)
    records, processes = bounds.records, bounds.network.processes
    for firings in estimate.firings:
        process = firings.process
        if records.detail is None:
            for operand, row in enumerate(records.waits[process.index].tolist()):
                late, delayed = row[2 * index : 2 * index + 2]
                if late:
                    yield None, process, operand, late, delayed
            continue
        for edge in records.detail.edges.get(process.index, []):
            if edge.late[index]:
                producer = processes[edge.producer]
                yield producer, process, edge.operand, edge.late[index], edge.delayed[index]


def _wait(bounds: Bounds, process: Process, estimate: int) -> Wait:
    records, processes = bounds.records, bounds.network.processes
    operands = [[0, 0] for _ in process.operands]
    producers: dict[int, int] = defaultdict(int)
    if records.detail is None:
        operands = records.waits[process.index][:, 2 * estimate : 2 * estimate + 2].tolist()
    else:
        for row in records.detail.edges.get(process.index, []):
            operands[row.operand][0] += row.late[estimate]
            operands[row.operand][1] += row.delayed[estimate]
            producers[row.producer] += row.late[estimate]
    return Wait(
        process=process,
        resource=records.taken[process.index] if estimate == 0 else 0,
        operands=tuple((cycles, firings) for cycles, firings in operands),
        producers=tuple((processes[p], n) for p, n in sorted(producers.items()) if n),
    )


def _links(processes: list[Process], rows: NDArray[np.int64]) -> tuple[Link, ...]:
    ends = [*processes, None]
    return tuple(
        Link(processes[process], ends[after], CAUSES[cause], firings, cycles)
        for process, after, cause, firings, cycles in rows.tolist()
    )


def _path(links: tuple[Link, ...]) -> tuple[PathStep, ...]:
    parts: dict[tuple[Process, Cause], list[int]] = defaultdict(lambda: [0, 0])
    for link in links:
        own = parts[link.process, link.cause]
        own[0] += link.firings
        own[1] += link.cycles
    steps = [PathStep(process, cause, *own) for (process, cause), own in parts.items()]
    return tuple(sorted(steps, key=lambda s: (-s.cycles, s.process.index, s.cause)))
