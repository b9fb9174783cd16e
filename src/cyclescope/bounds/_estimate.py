"""The two estimates of a kernel, from what its run recorded."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope.bounds._contents import dtype_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.bounds._calibration import Calibration
    from cyclescope.bounds._detail import Detail
    from cyclescope.bounds._native import Records
    from cyclescope.bounds._network import Network, Process
    from cyclescope.c import Unit
    from cyclescope.model import Ints

__all__ = ["Bounds", "Estimate", "Firings"]

ABSOLUTE, UNBOUNDED = 0, 1

WINDOW = 1 << 18
"""Bins of activity that are worked on at a time."""


@dataclass(frozen=True, slots=True)
class Firings:
    """The firings of one process in one estimate.

    Attributes:
        process: which.
        count: number of firings.
        first: cycle of its first start.
        last: cycle of its last start.
        end: cycle after its last write.
    """

    process: Process
    count: int
    first: int
    last: int
    end: int


@dataclass(frozen=True)
class Estimate:
    """One estimate: with one resource a statement (`absolute`), some, or any number (`unbounded`).

    Attributes:
        name: which.
        resources: of each process; None: any number.
        cycles: until the last write.
        firings: of each process that fired, in the order of the processes.
        resolution: cycles to a bin of the profiles below; 1 unless memory was short.
    """

    name: str
    resources: int | None
    cycles: int
    firings: tuple[Firings, ...]
    resolution: int
    _records: Records
    _read: int
    _write: int

    @property
    def _index(self) -> int:
        return ABSOLUTE if self.name == "absolute" else UNBOUNDED

    @property
    def bins(self) -> int:
        """Number of bins of the profiles: cycles, rounded up to the resolution."""
        return -(-self.cycles // self.resolution)

    def starts(self, process: Process, begin: int = 0, end: int | None = None) -> Ints:
        """R$ shifted to its first cycle: starts in each cycle from `begin` to `end`.

        Only at resolution 1; else the firings cannot be told apart any more.
        """
        assert self.resolution == 1
        found = self._records.starts.get((process.index, self._index))
        end = self.cycles if end is None else end
        return np.zeros(end - begin, np.int64) if found is None else found.window(begin, end)

    def stage(self, process: Process, stage: str, begin: int = 0, end: int | None = None) -> Ints:
        """R$, E$ or W$ of a process: firings in its read, execute or write stage in each cycle.

        Definitions of the cprof paper, section 4.5.1. At a coarser resolution only E$ is known:
        cycles of execution in each bin (so divide by `resolution` for a mean). `begin` and `end`
        count bins.
        """
        end = self.bins if end is None else end
        if self.resolution > 1:
            assert stage == "E"
            _, row = self._records.work[(process.index, self._index)]
            return row.window(begin, end)
        delay, length = {
            "R": (0, self._read),
            "E": (self._read, process.latency),
            "W": (self._read + process.latency, self._write),
        }[stage]
        return self._spread(process, delay, length, begin, end)

    def busy(self, process: Process, begin: int = 0, end: int | None = None) -> Ints:
        """Firings of a process that are under way in each cycle, from read to write."""
        end = self.bins if end is None else end
        if self.resolution > 1:
            return self.stage(process, "E", begin, end)
        length = self._read + process.latency + self._write
        return self._spread(process, 0, length, begin, end)

    def taken(self, process: Process, begin: int = 0, end: int | None = None) -> Ints:
        """Firings of a process in each cycle that keep a resource from the next firing.

        Nothing does without a limit of resources, and at a coarser resolution it is not known: 0.
        """
        end = self.bins if end is None else end
        if self.resources is None or self.resolution > 1:
            return np.zeros(end - begin, np.int64)
        return self._spread(process, 0, process.interval, begin, end)

    def _spread(self, process: Process, delay: int, length: int, begin: int, end: int) -> Ints:
        """Count the intervals [start + delay, start + delay + length) that cover each cycle."""
        # One cycle more in front, from which nothing is taken: the sums count from there.
        sums = np.cumsum(self.starts(process, begin - delay - length, end - delay))
        result: Ints = sums[length:]
        return result - sums[: len(sums) - length]

    @property
    def parallelism(self) -> Ints:
        """G$: executions under way in each cycle (times the resolution, in each bin)."""
        return self.parallelism_in(0, self.bins)

    def parallelism_in(self, begin: int, end: int) -> Ints:
        """G$ from bin `begin` to `end`."""
        total = np.zeros(end - begin, dtype=np.int64)
        for row in self.firings:
            if self._reaches(row, begin, end):
                total += self.stage(row.process, "E", begin, end)
        return total

    def windows(self) -> Iterator[tuple[int, int]]:
        """Pieces of the run in bins: (begin, end). One at a time fits any memory."""
        for begin in range(0, self.bins, WINDOW):
            yield begin, min(begin + WINDOW, self.bins)

    @cached_property
    def _activity(self) -> tuple[int, int, dict[int, int]]:
        """The largest G$, bins in which it is not zero, bins in which each process is busy."""
        most = active = 0
        busy = dict.fromkeys((row.process.index for row in self.firings), 0)
        for begin, end in self.windows():
            total = self.parallelism_in(begin, end)
            most = max(most, int(total.max()))
            active += int(np.count_nonzero(total))
            for row in self.firings:
                if self._reaches(row, begin, end):
                    under_way = self.busy(row.process, begin, end)
                    busy[row.process.index] += int(np.count_nonzero(under_way))
        return most, active, busy

    def _reaches(self, row: Firings, begin: int, end: int) -> bool:
        """Return whether a process does anything in these bins."""
        return row.first < end * self.resolution and row.end > begin * self.resolution

    def busy_cycles(self, process: Process) -> int:
        """Cycles in which a process is busy (at a coarser resolution, bins times their length)."""
        return self._activity[2][process.index] * self.resolution

    @property
    def work(self) -> int:
        """ΣG$ = Σ firings · Λ_F."""
        return sum(row.count * row.process.latency for row in self.firings)

    @property
    def maximum_parallelism(self) -> Fraction:
        """The largest G$ (Definition 4); at a coarser resolution the largest mean of a bin."""
        return Fraction(self._activity[0], self.resolution)

    @property
    def average_parallelism(self) -> Fraction:
        """ΣG$ over all cycles."""
        return Fraction(self.work, self.cycles) if self.cycles else Fraction(0)

    @property
    def average_while_active(self) -> Fraction:
        """ΣG$ over the cycles (bins) in which it is not zero."""
        active = self._activity[1] * self.resolution
        return Fraction(self.work, active) if active else Fraction(0)

    def starts_used(self, row: Firings) -> Fraction | None:
        """The pipeline efficiency of a process: its starts over those for which there were slots.

        Between its first start and its last, each of its resources can start one firing every
        II_F cycles. None where there is a resource for each firing.
        """
        return None if self.resources is None else Fraction(row.count, self._slots(row))

    def _slots(self, row: Firings) -> int:
        assert self.resources is not None
        return self.resources * ((row.last - row.first) // row.process.interval + 1)

    @property
    def pipeline_efficiency(self) -> Fraction | None:
        """The pipeline efficiency of the statements: ΣE$ over what it would be if they never idled.

        Each counts from its first start to its last (see `starts_used`) and weighs Λ_F. None where
        there is a resource for each firing, and without a statement that takes a cycle.
        """
        if self.resources is None:
            return None
        rows = [row for row in self.firings if row.process.kind == "statement"]
        held = sum(row.count * row.process.latency for row in rows)
        slots = sum(self._slots(row) * row.process.latency for row in rows)
        return Fraction(held, slots) if slots else None


class Bounds:
    """A kernel's bounds: `absolute`, `unbounded`, and what they are made of.

    Attributes:
        unit, network, calibration, records: what the estimates come from.
        absolute, unbounded: the two estimates.
        detail: waits, edges and the critical path, if they were asked for.
        reordered: with it, the absolute estimate in which reordering buffers take time.
        curve: estimates with some numbers of resources a statement, in rising order, if they were
            asked for.
    """

    def __init__(
        self, unit: Unit, network: Network, calibration: Calibration, records: Records
    ) -> None:
        self.unit = unit
        self.network = network
        self.calibration = calibration
        self.records = records
        self.detail: Detail | None = None
        self.reordered: Estimate | None = None
        self.curve: tuple[Estimate, ...] = ()
        self.absolute = self._estimate("absolute", records, 1)
        self.unbounded = self._estimate("unbounded", records, None)

    def with_resources(self, resources: int, records: Records) -> Estimate:
        """The estimate of a run with some resources a statement."""
        return self._estimate(f"resources {resources}", records, resources)

    def _estimate(self, name: str, records: Records, resources: int | None) -> Estimate:
        calibration, rows = self.calibration, records.processes
        index = ABSOLUTE if name == "absolute" else UNBOUNDED
        firings = []
        for process in self.network.processes:
            count, *times = rows[process.index].tolist()
            if count:
                first, last = times[2 * index : 2 * index + 2]
                end = last + calibration.read + process.latency + calibration.write
                firings.append(Firings(process, count, first, last, end))
        shifts = [shift for (_, e), (shift, _) in records.work.items() if e == index]
        return Estimate(
            name=name,
            resources=resources,
            cycles=max((row.end for row in firings), default=0),
            firings=tuple(firings),
            resolution=1 << max(shifts, default=0),
            _records=records,
            _read=calibration.read,
            _write=calibration.write,
        )

    @property
    def estimates(self) -> tuple[Estimate, Estimate]:
        """Absolute, unbounded."""
        return self.absolute, self.unbounded

    @property
    def factor(self) -> Fraction:
        """The optimisation factor: absolute over unbounded cycles."""
        unbounded = self.unbounded.cycles
        return Fraction(self.absolute.cycles, unbounded) if unbounded else Fraction(1)

    @property
    def resource_cycles(self) -> int:
        """Of the cycles between the bounds, those in which a resource is waited for.

        They are what the absolute estimate's critical path waits for; without detail, all.
        """
        between = self.absolute.cycles - self.unbounded.cycles
        if self.detail is None:
            return between
        path = self.detail.critical_path[self.absolute.name]
        return min(sum(step.cycles for step in path if step.cause == "resource"), between)

    @property
    def firings(self) -> int:
        """Firings of the kernel's statements, sources and sinks left out."""
        kinds = ("statement", "constant")
        return sum(r.count for r in self.absolute.firings if r.process.kind in kinds)

    @cached_property
    def values(self) -> dict[str, Any]:
        """The values of parameters and globals after the run, if it was asked to keep them.

        Arrays by name, in their C shape and type.
        """
        return {
            storage.name: np.frombuffer(raw, dtype=dtype_of(storage.type)).reshape(storage.dims)
            for storage in self.network.storages
            if (raw := self.records.final.get(storage.index)) is not None
        }
