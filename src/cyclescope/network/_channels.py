"""The typed process network of a run: processes, the channels between them, what goes through."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.bounds import Operand, inside, trace_of
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cyclescope.bounds import Bits, Bounds, Process, ProcessTrace, Read
    from cyclescope.model import Ints

__all__ = ["Channel", "Input", "Network", "Station", "network_of", "with_figures"]


@dataclass(eq=False, slots=True)
class Channel:
    """The values that one process sends to one operand of another.

    Attributes:
        number: of the channel, from 0.
        producer, consumer: numbers of stations.
        target: which of the producer's results.
        operand: which of the consumer's.
        width: bits of a token.
        tokens: how many are sent.
        reads: which token each read takes, in the consumer's order.
        sends: which of the producer's firings send one, in order.
    """

    number: int
    producer: int
    target: int
    consumer: int
    operand: int
    width: int
    tokens: int
    reads: Ints
    sends: Ints

    @property
    def is_plain(self) -> bool:
        """Return whether each token is read once, in the order of writing."""
        return len(self.reads) == self.tokens and bool((np.diff(self.reads) == 1).all())

    @property
    def is_reordered(self) -> bool:
        """Return whether tokens are first read in another order than they are written in."""
        _, first = np.unique(self.reads, return_index=True)
        return bool((np.diff(first) < 0).any())

    @property
    def window(self) -> Ints:
        """The reads as places behind the oldest token that is still to be read; shape (reads, 2).

        Beside each one's place is how many tokens need not be kept behind it.
        """
        after = np.append(self.reads[1:], self.tokens)
        oldest = np.minimum.accumulate(after[::-1])[::-1]
        before = np.append(0, oldest[:-1])
        return np.stack([self.reads - before, oldest - before], axis=1)


@dataclass(eq=False, slots=True)
class Input:
    """An operand of a process: where its value comes from in each firing.

    Attributes:
        operand: its number.
        width: bits; 0 if nothing is made of it, and it is only waited for.
        channels: those that bring it.
        choice: of each firing the place of its channel in `channels`; as many as there are if it
            is a value that no process wrote, -1 if it is not read.
        table: values that no process wrote, by firing; of other firings the nearest before.
    """

    operand: int
    width: int
    channels: list[Channel]
    choice: Ints
    table: Bits


@dataclass(eq=False, slots=True)
class Station:
    """A process as hardware needs it.

    Attributes:
        number: from 0.
        trace: the process and what its firings read and wrote.
        inputs: its operands.
        outputs: of each result the channels that it goes to.
        widths: bits of each result.
    """

    number: int
    trace: ProcessTrace
    inputs: list[Input]
    outputs: list[list[Channel]]
    widths: list[int]

    @property
    def process(self) -> Process:
        """The process of the bounds' network."""
        return self.trace.process

    @property
    def count(self) -> int:
        """Its firings."""
        return self.trace.count


@dataclass(eq=False)
class Network:
    """The process network of one run.

    Attributes:
        kernel: the kernel's name.
        stations: its processes, sources and sinks among them.
        channels: what goes between them.
        read, write: cycles of a process's read and write stages.
        bounds: what it was made from.
    """

    kernel: str
    stations: list[Station]
    channels: list[Channel]
    read: int
    write: int
    bounds: Bounds = field(repr=False)


def network_of(bounds: Bounds) -> Network:
    """The process network of a kernel's run.

    Args:
        bounds: made with `detail`, `values` and `trace`.

    Raises:
        SourceError: nothing fires, a process whose results are no expressions, or a value that is
            read in another width than it was written in.
    """
    traces = trace_of(bounds)
    if not traces:
        raise SourceError(
            f"{bounds.network.kernel}: no process fires in this run: there is no hardware to build"
        )
    number_of = {trace.process.index: n for n, trace in enumerate(traces)}
    stations = [
        Station(n, trace, [], [[] for _ in trace.results], _widths(bounds, trace))
        for n, trace in enumerate(traces)
    ]
    channels: list[Channel] = []
    for station in stations:
        for operand, read in enumerate(station.trace.reads):
            own = _input(station, operand, read, stations, number_of, channels)
            station.inputs.append(own)
            for channel in own.channels:
                stations[channel.producer].outputs[channel.target].append(channel)
    calibration = bounds.calibration
    return Network(
        bounds.network.kernel, stations, channels, calibration.read, calibration.write, bounds
    )


def with_figures(network: Network, figures: Sequence[tuple[int, int]]) -> Network:
    """The same network with other latencies and intervals.

    Args:
        network: which.
        figures: of each station the cycles from the begin of a firing until its results can be
            read, at least 2, and those from a firing to the next.
    """
    stations = []
    for station, (latency, interval) in zip(network.stations, figures, strict=True):
        process = replace(station.process, latency=latency - 2, interval=interval)
        stations.append(replace(station, trace=replace(station.trace, process=process)))
    # Reading and writing take a cycle each, all others are the function's.
    return replace(network, stations=stations, read=1, write=1)


def _widths(bounds: Bounds, trace: ProcessTrace) -> list[int]:
    process, storages = trace.process, bounds.network.storages
    if process.kind == "sink":
        return [storages[process.operand_storage[0]].type.bits]
    if process.kind == "source":
        (port,) = [p for p in bounds.network.sources if p.process == process.index]
        return [storages[port.storage].type.bits]
    found = [node.type.bits for node in process.function.results if node is not None]
    if not found or len(found) < len(process.targets):
        raise SourceError(
            f"{process.where}: what {process.name} computes is not an expression of values here; "
            "assign numbers, one at a time"
        )
    return found


def _input(
    station: Station,
    operand: int,
    read: Read,
    stations: list[Station],
    number_of: dict[int, int],
    channels: list[Channel],
) -> Input:
    """An operand, with a channel for each result that it gets values of."""
    width = _operand_width(station, operand)
    choice = np.where(read.read, -2, -1)
    own: list[Channel] = []
    pairs = np.unique(
        np.stack([read.producer, read.target], axis=1)[read.read & (read.producer >= 0)], axis=0
    )
    for index, target in pairs.tolist():
        chosen = read.read & (read.producer == index) & (read.target == target)
        producer = stations[number_of[index]]
        sends, reads = np.unique(read.firing[chosen], return_inverse=True)
        sent = producer.trace.results[target][read.firing[chosen]]
        if width and (producer.widths[target] != width or (sent != read.value[chosen]).any()):
            process = station.process
            raise SourceError(
                f"{process.where}: {process.operands[operand]} is read as another type than it is "
                "written; hardware has one type for each array"
            )
        channel = Channel(
            len(channels), producer.number, target, station.number, operand,
            producer.widths[target],
            len(sends), reads.reshape(-1).astype(np.int64), sends,
        )  # fmt: skip
        channels.append(channel)
        choice[chosen] = len(own)
        own.append(channel)
    choice[choice == -2] = len(own)
    return Input(operand, width, own, choice, _filled(read.value, choice == len(own)))


def _operand_width(station: Station, operand: int) -> int:
    if station.process.kind == "sink":
        return station.widths[0]
    for node in inside(station.process.function.results):
        if isinstance(node, Operand) and node.number == operand:
            return node.type.bits
    return 0


def _filled(values: Bits, there: NDArray[np.bool_]) -> Bits:
    """The values that are there, each until the next that is."""
    place = np.where(there, np.arange(len(values)), -1)
    place = np.maximum.accumulate(place)
    first = int(np.argmax(there)) if there.any() else 0
    found: Bits = values[np.where(place < 0, first, place)]
    return found if there.any() else np.zeros_like(values)
