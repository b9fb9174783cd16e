"""The starts of a network's firings, as captured: what each waited for, and the critical path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.network._process_module import State

if TYPE_CHECKING:
    from cyclescope.model import Ints
    from cyclescope.network._channels import Network, Station
    from cyclescope.network._top import Hardware
    from cyclescope.sim import Capture

__all__ = ["Critical", "Starts", "critical_path", "starts_of"]

_NONE = -1


@dataclass(frozen=True, eq=False, slots=True)
class Starts:
    """The firings of a process in a run of the hardware, an element for each.

    Attributes:
        start: the cycle in which it began.
        late: cycles for which it waited for an operand while its resource was free.
        value: the channel whose value it waited for last, -1: it did not wait for one.
        space: the channel that was full in the cycle before it, -1: none was.
        held: of each channel, by number, the cycles for which the process waited since it was full.
    """

    start: Ints
    late: Ints
    value: Ints
    space: Ints
    held: dict[int, int]


@dataclass(frozen=True, slots=True)
class Critical:
    """The critical path of a run: each firing on it answers for the time until the next one begins.

    Attributes:
        processes: cycles of each station's firings; they sum to the run.
        channels: of these, the cycles until a firing that waited for a value of the channel, or
            for space in it.
    """

    processes: tuple[int, ...]
    channels: tuple[int, ...]


def starts_of(network: Network, hardware: Hardware, capture: Capture) -> list[Starts]:
    """The starts of each station's firings.

    Args:
        network: what was simulated.
        hardware: its hardware.
        capture: with the signals of `simulate`.
    """
    column = {module: n for n, (_, module) in enumerate(capture.instances)}
    begins = np.cumsum(capture.run_cycles) - capture.run_cycles
    found = []
    for station, module in zip(network.stations, hardware.modules, strict=True):
        vector = capture.states[:, column[module]][capture.run_state]
        state = capture.values(module, "state").astype(np.int64)[vector]
        whom = capture.values(module, "whom").astype(np.int64)[vector]
        found.append(_starts(station, begins, capture.run_cycles, state, whom))
    return found


def _starts(station: Station, begins: Ints, cycles: Ints, state: Ints, whom: Ints) -> Starts:
    """The starts of a station, from its state in each run of the capture."""
    own = state == State.START
    lengths = cycles[own]
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    start = np.repeat(begins[own], lengths) + np.arange(int(lengths.sum())) - first
    assert len(start) == station.count, (station.process.name, len(start), station.count)
    # From when its resource is free, and the cycles from there for which it was held up.
    free = np.append(0, start[:-1] + station.process.interval)
    held_up = np.append(0, np.cumsum(np.where(state == State.FULL, cycles, 0)))

    def held_until(cycle: Ints) -> Ints:
        run = np.searchsorted(begins, cycle, "right") - 1
        part = np.where(state[run] == State.FULL, cycle - begins[run], 0)
        return np.asarray(held_up[run] + part, np.int64)

    late = np.maximum(start - free - (held_until(start) - held_until(free)), 0)
    before = np.searchsorted(begins, start - 1, "right") - 1
    waited = start > free
    full = waited & (state[before] == State.FULL)
    outputs = [channel.number for channels in station.outputs for channel in channels]
    space = np.full(len(start), _NONE, np.int64)
    if outputs:
        space[full] = np.array(outputs)[whom[before][full]]
    value = np.full(len(start), _NONE, np.int64)
    for place, operand in enumerate(station.inputs):
        numbers = np.array([*(c.number for c in operand.channels), _NONE, _NONE], np.int64)
        chosen = waited & ~full & (whom[before] == place)
        value[chosen] = numbers[operand.choice[chosen]]
    full_now = state == State.FULL
    held = np.bincount(whom[full_now], cycles[full_now], len(outputs)).astype(np.int64)
    return Starts(start, late, value, space, dict(zip(outputs, held.tolist(), strict=True)))


def critical_path(network: Network, starts: list[Starts], cycles: int) -> Critical:
    """The critical path, from the last write back to cycle 0.

    A firing waits for its operand's last value, for its process to be over with the firing before,
    or for space in a channel: until the consumer took something out of it.
    """
    processes = [0] * len(network.stations)
    channels = [0] * len(network.channels)
    walk = _Walk(network, starts)
    at, until = walk.last()
    until = cycles
    through = _NONE
    while at is not None:
        station, firing = at
        first = walk.chain(station, firing)
        start = int(starts[station].start[firing])
        processes[station] += until - int(starts[station].start[first])
        if through >= 0:
            channels[through] += until - start
        until = int(starts[station].start[first])
        at, through = walk.before(station, first)
    assert until == 0, until
    return Critical(tuple(processes), tuple(channels))


class _Walk:
    """Steps from firing to firing, backwards."""

    def __init__(self, network: Network, starts: list[Starts]) -> None:
        self.network, self.starts = network, starts
        self.chains: dict[int, Ints] = {}
        self.writers: dict[int, Ints] = {}

    def last(self) -> tuple[tuple[int, int] | None, int]:
        """The firing that ends last, and when it does; none if nothing fires."""
        network = self.network
        ends = [
            (int(own.start[-1]) + network.read + s.process.latency + network.write, s.number)
            for s, own in zip(network.stations, self.starts, strict=True)
        ]
        if not ends:
            return None, 0
        end, station = max(ends, key=lambda pair: (pair[0], -pair[1]))
        return (station, len(self.starts[station].start) - 1), end

    def chain(self, station: int, firing: int) -> int:
        """The first of the firings up to this one each of which only waited for the one before."""
        if station not in self.chains:
            own = self.starts[station]
            alone = (own.value == _NONE) & (own.space == _NONE)
            alone[:1] = False
            places = np.where(alone, 0, np.arange(len(alone)))
            self.chains[station] = np.maximum.accumulate(places)
        return int(self.chains[station][firing])

    def before(self, station: int, firing: int) -> tuple[tuple[int, int] | None, int]:
        """The firing that one waited for, and the channel between."""
        own = self.starts[station]
        space, value = int(own.space[firing]), int(own.value[firing])
        if space >= 0:
            other = self.network.channels[space].consumer
            found = int(np.searchsorted(self.starts[other].start, own.start[firing])) - 1
            if found >= 0:
                return (other, found), space
            # A read unit made space before any firing: this process's own took the time.
            return (station, firing - 1), _NONE
        if value >= 0:
            channel = self.network.channels[value]
            return (channel.producer, int(self._writers(value)[firing])), value
        return None, _NONE

    def _writers(self, number: int) -> Ints:
        """For each firing of a channel's consumer the producer's firing whose value it takes."""
        if number not in self.writers:
            channel = self.network.channels[number]
            own = self.network.stations[channel.consumer].inputs[channel.operand]
            chosen = own.choice == own.channels.index(channel)
            found = np.zeros(len(chosen), np.int64)
            found[chosen] = channel.sends[channel.reads]
            self.writers[number] = found
        return self.writers[number]
