"""The two estimates of a kernel, from what its run recorded."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope.bounds._contents import dtype_of

if TYPE_CHECKING:
    from cyclescope.bounds._calibration import Calibration
    from cyclescope.bounds._detail import Detail
    from cyclescope.bounds._native import Records
    from cyclescope.bounds._network import Network, Process
    from cyclescope.c import Unit
    from cyclescope.model import Ints

__all__ = ["Bounds", "Estimate", "Firings"]

ABSOLUTE, UNBOUNDED = 0, 1


@dataclass(frozen=True, slots=True)
class Firings:
    """What one process did in one estimate.

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
    """One estimate: `absolute` (one resource a statement) or `unbounded`.

    Attributes:
        name: which of the two.
        cycles: until the last write.
        firings: of each process that fired, in the order of the processes.
        resolution: cycles to a bin of the profiles below; 1 unless memory was short.
    """

    name: str
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

    def starts(self, process: Process) -> Ints:
        """R$ shifted to its first cycle: starts in each cycle (shape: bins).

        Only at resolution 1; else the firings cannot be told apart any more.
        """
        assert self.resolution == 1
        found = self._records.starts.get((process.index, self._index))
        result = np.zeros(self.cycles, dtype=np.int64)
        if found is not None:
            result[: len(found)] = found[: self.cycles]
        return result

    def stage(self, process: Process, stage: str) -> Ints:
        """R$, E$ or W$ of a process: firings in its read, execute or write stage in each cycle.

        Definitions of the cprof paper, section 4.5.1. At a coarser resolution only E$ is known:
        cycles of execution in each bin (so divide by `resolution` for a mean).
        """
        if self.resolution > 1:
            assert stage == "E"
            _, row = self._records.work[(process.index, self._index)]
            result = np.zeros(self.bins, dtype=np.int64)
            result[: len(row)] = row[: self.bins]
            return result
        begin, length = {
            "R": (0, self._read),
            "E": (self._read, process.latency),
            "W": (self._read + process.latency, self._write),
        }[stage]
        return _spread(self.starts(process), begin, length)

    def busy(self, process: Process) -> Ints:
        """Firings of a process that are under way in each cycle, from read to write."""
        if self.resolution > 1:
            return self.stage(process, "E")
        return _spread(self.starts(process), 0, self._read + process.latency + self._write)

    @cached_property
    def parallelism(self) -> Ints:
        """G$: executions under way in each cycle (times the resolution, in each bin)."""
        total = np.zeros(self.bins, dtype=np.int64)
        for row in self.firings:
            total += self.stage(row.process, "E")
        return total

    @property
    def work(self) -> int:
        """ΣG$ = Σ firings · Λ_F."""
        return sum(row.count * row.process.latency for row in self.firings)

    @cached_property
    def maximum_parallelism(self) -> Fraction:
        """The largest G$ (Definition 4); at a coarser resolution the largest mean of a bin."""
        return Fraction(int(self.parallelism.max(initial=0)), self.resolution)

    @property
    def average_parallelism(self) -> Fraction:
        """ΣG$ over all cycles."""
        return Fraction(self.work, self.cycles) if self.cycles else Fraction(0)

    @cached_property
    def average_while_active(self) -> Fraction:
        """ΣG$ over the cycles (bins) in which it is not zero."""
        active = int(np.count_nonzero(self.parallelism)) * self.resolution
        return Fraction(self.work, active) if active else Fraction(0)


def _spread(starts: Ints, begin: int, length: int) -> Ints:
    """How many of the intervals [start + begin, start + begin + length) cover each cycle."""
    size = len(starts)
    change = np.zeros(size + begin + length + 1, dtype=np.int64)
    change[begin : begin + size] += starts
    change[begin + length : begin + length + size] -= starts
    return np.cumsum(change)[:size]


class Bounds:
    """A kernel's bounds: `absolute`, `unbounded`, and what they are made of.

    Attributes:
        unit, network, calibration, records: what the estimates come from.
        absolute, unbounded: the two estimates.
        detail: waits, edges and the critical path, if they were asked for.
        reordered: with it, the absolute estimate in which reordering buffers take time.
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
        self.absolute = self._estimate("absolute", ABSOLUTE)
        self.unbounded = self._estimate("unbounded", UNBOUNDED)

    def _estimate(self, name: str, index: int) -> Estimate:
        calibration, rows = self.calibration, self.records.processes
        firings = []
        for process in self.network.processes:
            count, *times = rows[process.index].tolist()
            if count:
                first, last = times[2 * index : 2 * index + 2]
                end = last + calibration.read + process.latency + calibration.write
                firings.append(Firings(process, count, first, last, end))
        shifts = [shift for (_, e), (shift, _) in self.records.work.items() if e == index]
        return Estimate(
            name=name,
            cycles=max((row.end for row in firings), default=0),
            firings=tuple(firings),
            resolution=1 << max(shifts, default=0),
            _records=self.records,
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
    def firings(self) -> int:
        """Firings of the kernel's statements, sources and sinks left out."""
        kinds = ("statement", "constant")
        return sum(r.count for r in self.absolute.firings if r.process.kind in kinds)

    @cached_property
    def values(self) -> dict[str, Any]:
        """What parameters and globals hold after the run, if it was asked to keep them.

        Arrays by name, in their C shape and type.
        """
        return {
            storage.name: np.frombuffer(raw, dtype=dtype_of(storage.type)).reshape(storage.dims)
            for storage in self.network.storages
            if (raw := self.records.final.get(storage.index)) is not None
        }
