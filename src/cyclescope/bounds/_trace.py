"""The trace of a kernel's run: what each firing of each process read and wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from cyclescope.bounds._contents import dtype_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cyclescope.bounds._estimate import Bounds
    from cyclescope.bounds._network import Process

__all__ = ["Bits", "ProcessTrace", "Read", "trace_of"]

Bits: TypeAlias = "NDArray[np.uint64]"

_READ_IT = 1 << 63


@dataclass(frozen=True, eq=False, slots=True)
class Read:
    """The values of one operand, an element for each firing.

    Attributes:
        read: whether that firing read it at all.
        producer: number of the process whose token it is; -1 where no process wrote it.
        firing: which of the producer's firings that was, from 0.
        target: which of that firing's results.
        value: its bits.
    """

    read: NDArray[np.bool_]
    producer: NDArray[np.int64]
    firing: NDArray[np.int64]
    target: NDArray[np.int64]
    value: Bits


@dataclass(frozen=True, eq=False, slots=True)
class ProcessTrace:
    """The firings of a process, in their order.

    Attributes:
        process: which.
        count: how many there are.
        reads: of each operand.
        givens: the bits of each value of the control, an element for each firing.
        results: the bits of each value that it wrote.
        offsets: of a source or sink the element's number in its array, else empty.
    """

    process: Process
    count: int
    reads: tuple[Read, ...]
    givens: tuple[Bits, ...]
    results: tuple[Bits, ...]
    offsets: NDArray[np.int64]


def trace_of(bounds: Bounds) -> tuple[ProcessTrace, ...]:
    """The trace of each process that fired.

    Args:
        bounds: made with `detail`, `values` and `trace`.
    """
    records = bounds.records
    fired = [row.process for row in bounds.absolute.firings]
    rows = {p.index: _rows(bounds, p) for p in fired}
    last = max((int(own[-1, 0]) for own in rows.values() if len(own)), default=0)
    writer = np.full(last + 1, -1, np.int64)
    place = np.zeros(last + 1, np.int64)
    for index, own in rows.items():
        numbers = own[:, 0].astype(np.int64)
        writer[numbers] = index
        place[numbers] = np.arange(len(numbers))
    storage = {
        port.process: port.storage for port in (*bounds.network.sources, *bounds.network.sinks)
    }
    traces = []
    for process in fired:
        own = rows[process.index]
        reads = []
        operands = len(process.operands)
        for number in range(operands):
            origin, value = own[:, 1 + 2 * number], own[:, 2 + 2 * number]
            firing = (origin & np.uint64(0xFFFFFFFF)).astype(np.int64)
            target = (origin >> np.uint64(32) & np.uint64(0x7FFFFFFF)).astype(np.int64)
            reads.append(
                Read(
                    origin >= np.uint64(_READ_IT),
                    np.where(firing > 0, writer[firing], -1),
                    place[firing],
                    target,
                    value,
                )
            )
        rest = own[:, 1 + 2 * operands :]
        offsets = np.zeros(0, np.int64)
        givens = tuple(rest[:, : len(process.function.givens)].T)
        results = tuple(rest[:, len(process.function.givens) :].T)
        if process.kind in ("source", "sink"):
            offsets = rest[:, 0].astype(np.int64)
            array = bounds.network.storages[storage[process.index]]
            kept = records.initial if process.kind == "source" else records.final
            values = np.frombuffer(kept[array.index], dtype_of(array.type))
            bits = bits_of(values)[offsets]
            givens = ()
            results = (bits,)
            if process.kind == "sink":
                # An element that nobody wrote, and no source sent, is drained all the same.
                (read,) = reads
                reads = [
                    Read(np.ones_like(read.read), read.producer, read.firing, read.target, bits)
                ]
        traces.append(ProcessTrace(process, len(own), tuple(reads), givens, results, offsets))
    return tuple(traces)


def bits_of(values: NDArray[np.generic]) -> Bits:
    """The bits of numbers, zeros above."""
    unsigned = values.view(f"u{values.dtype.itemsize}")
    return unsigned.astype(np.uint64)


def _rows(bounds: Bounds, process: Process) -> Bits:
    column = bounds.records.trace[process.index]
    own = process.function
    width = 1 + 2 * len(process.operands) + len(own.givens)
    width += {"source": 1, "sink": 1}.get(process.kind, len(process.targets))
    return column.window(0, len(column)).view(np.uint64).reshape(-1, width)
