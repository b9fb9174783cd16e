"""What each firing waited for: waits, the critical path, and the edges of the network.

Everything here follows from one record a firing: when it started in each estimate, and which
firing wrote each value that it read.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cyclescope.bounds._estimate import Bounds
    from cyclescope.bounds._network import Process

__all__ = ["Detail", "Edge", "EdgeClass", "PathStep", "Wait", "detail_of"]

IN_ORDER = "in-order"
IN_ORDER_REPEATED = "in-order with multiplicity"
OUT_OF_ORDER = "out-of-order"
OUT_OF_ORDER_REPEATED = "out-of-order with multiplicity"

EdgeClass = str


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
    """What a process waited for, in one estimate.

    Attributes:
        process: which.
        resource: cycles, summed over firings, for which operands lay ready while the process
            was still taken up by its previous firing (absolute only).
        operands: for each operand (cycles that the free process waited for it, summed; how many
            firings it delayed).
        producers: the same cycles by the process that wrote what it waited for.
    """

    process: Process
    resource: int
    operands: tuple[tuple[int, int], ...]
    producers: tuple[tuple[Process, int], ...]

    @property
    def critical_producer(self) -> Process | None:
        """Whom it waited for longest."""
        return max(self.producers, key=lambda pair: pair[1])[0] if self.producers else None


@dataclass(frozen=True, slots=True)
class PathStep:
    """A part of the critical path: one process, and why the next firing had to wait for it.

    Attributes:
        process: which.
        cause: `value` (its result was awaited), `resource` (it was taken up), `end`.
        firings: how many of its firings lie on the path.
        cycles: how much of the total they account for; the parts add up to it.
    """

    process: Process
    cause: str
    firings: int
    cycles: int


@dataclass(frozen=True)
class Detail:
    """Edges of the network, and for each estimate the waits and the critical path."""

    edges: tuple[Edge, ...]
    waits: dict[str, tuple[Wait, ...]]
    critical_path: dict[str, tuple[PathStep, ...]]


class _Firings:
    """All firings by number, from 1; number 0 stands for no firing."""

    def __init__(self, bounds: Bounds) -> None:
        records = bounds.records.detail
        used = {row.process.index for row in bounds.absolute.firings}
        total = 1 + max((int(own[0][-1]) for own in records.values() if len(own[0])), default=0)
        count = len(bounds.network.processes)
        self.process = np.full(total, count, dtype=np.int32)
        self.start = [np.zeros(total, dtype=np.int64) for _ in range(2)]
        self.numbers: dict[int, NDArray[Any]] = {}
        self.writers: dict[int, NDArray[Any]] = {}
        calibration = bounds.calibration
        cost = [calibration.read + p.latency + calibration.write for p in bounds.network.processes]
        self.cost = np.array([*cost, 0], dtype=np.int64)
        for process in bounds.network.processes:
            own = records.get(process.index)
            if own is None or process.index not in used:
                continue
            number, absolute, unbounded, writers = own
            self.numbers[process.index] = number
            self.process[number] = process.index
            self.start[0][number] = absolute
            self.start[1][number] = unbounded
            operands = len(process.operands)
            self.writers[process.index] = writers.reshape(len(number), operands)

    def ready(self, estimate: int, numbers: NDArray[Any]) -> NDArray[np.int64]:
        """When the results of these firings can be read; 0 for no firing."""
        ready = self.start[estimate][numbers] + self.cost[self.process[numbers]]
        return np.where(self.process[numbers] < len(self.cost) - 1, ready, 0)


def detail_of(bounds: Bounds) -> Detail:
    """Analyse a run that kept its firings (`detail_limit` of `estimate`)."""
    firings = _Firings(bounds)
    processes = bounds.network.processes
    waits: dict[str, tuple[Wait, ...]] = {}
    paths: dict[str, tuple[PathStep, ...]] = {}
    for index, estimate in enumerate(bounds.estimates):
        before = np.zeros(len(firings.process), dtype=np.int64)
        by_value = np.zeros(len(firings.process), dtype=bool)
        waits[estimate.name] = tuple(
            _wait(firings, processes, processes[number], index, before, by_value)
            for number in firings.numbers
        )
        paths[estimate.name] = _critical_path(
            firings, processes, index, estimate.cycles, before, by_value
        )
    return Detail(tuple(_edges(firings, processes)), waits, paths)


def _wait(
    firings: _Firings,
    processes: list[Process],
    process: Process,
    estimate: int,
    before: NDArray[np.int64],
    by_value: NDArray[np.bool_],
) -> Wait:
    """A process's waits; notes in `before` and `by_value` whom each firing waited for last."""
    numbers, writers = firings.numbers[process.index], firings.writers[process.index]
    start = firings.start[estimate][numbers]
    count, operands = writers.shape
    if operands:
        ready = firings.ready(estimate, writers)
        last = ready.argmax(axis=1)
        data = ready[np.arange(count), last]
        writer = writers[np.arange(count), last]
    else:
        last = np.zeros(count, dtype=np.int64)
        data = np.zeros(count, dtype=np.int64)
        writer = np.zeros(count, dtype=np.uint32)
    free = np.zeros(count, dtype=np.int64)
    previous = np.zeros(count, dtype=np.int64)
    if estimate == 0:
        free[1:] = start[:-1] + process.interval
        previous[1:] = numbers[:-1]
    held = start > data
    before[numbers] = np.where(held, previous, writer)
    by_value[numbers] = ~held
    late = np.where(held, 0, data - free).clip(min=0)
    by_operand = tuple(
        (int(late[last == o].sum()), int(np.count_nonzero(late[last == o])))
        for o in range(operands)
    )
    by_producer = np.zeros(len(processes) + 1, dtype=np.int64)
    np.add.at(by_producer, firings.process[writer], late)
    return Wait(
        process=process,
        resource=int((start - data)[held].sum()) if estimate == 0 else 0,
        operands=by_operand,
        producers=tuple(
            (processes[p], int(by_producer[p])) for p in np.flatnonzero(by_producer[:-1]).tolist()
        ),
    )


def _critical_path(
    firings: _Firings,
    processes: list[Process],
    estimate: int,
    cycles: int,
    before: NDArray[np.int64],
    by_value: NDArray[np.bool_],
) -> tuple[PathStep, ...]:
    """From the last write back to cycle 0; each firing answers for the time up to the next."""
    start = firings.start[estimate]
    end = np.where(firings.process < len(processes), start + firings.cost[firings.process], -1)
    if not len(end) or cycles == 0:
        return ()
    at = int(end.argmax())
    until = cycles
    cause = "end"
    parts: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0])
    while at:
        part = parts[(int(firings.process[at]), cause)]
        part[0] += 1
        part[1] += until - int(start[at])
        until = int(start[at])
        cause = "value" if by_value[at] else "resource"
        at = int(before[at])
    steps = [PathStep(processes[p], why, n, c) for (p, why), (n, c) in parts.items()]
    return tuple(sorted(steps, key=lambda s: (-s.cycles, s.process.index, s.cause)))


def _edges(firings: _Firings, processes: list[Process]) -> list[Edge]:
    edges = []
    for index, writers in firings.writers.items():
        consumer = processes[index]
        for operand in range(writers.shape[1]):
            column = writers[:, operand]
            producers = firings.process[column]
            for producer in np.unique(producers).tolist():
                if producer == len(processes):
                    continue
                tokens = column[producers == producer].astype(np.int64)
                edges.append(_edge(processes[producer], consumer, operand, tokens))
    return edges


def _edge(producer: Process, consumer: Process, operand: int, tokens: NDArray[np.int64]) -> Edge:
    in_order = bool((np.diff(tokens) >= 0).all())
    _, first = np.unique(tokens, return_index=True)
    distinct = len(first)
    repeated = distinct < len(tokens)
    # `first` stands in the order of writing; where it falls, a later value was needed earlier.
    reordered = bool((np.diff(first) < 0).any())
    if in_order:
        order = IN_ORDER_REPEATED if repeated else IN_ORDER
    else:
        order = OUT_OF_ORDER_REPEATED if repeated else OUT_OF_ORDER
    return Edge(producer, consumer, operand, len(tokens), distinct, order, reordered)
