"""The efficiencies of threads, as users of Paraver know them.

The definitions are those of the Performance Optimisation and Productivity Centre of Excellence
("POP Standard Metrics for Parallel Performance Analysis"). With the cycles of work of each thread,
T the cycles of the run, and T0 those that it would take if the memory brought data at once:

    parallel efficiency      = mean work / T        = load balance * communication
    load balance             = mean work / most work
    communication efficiency = most work / T        = serialisation * transfer
    serialisation efficiency = most work / T0
    transfer efficiency      = T0 / T

POP has T0 from a simulation of the trace with an ideal network; here the run is timed anew
(`_thread_graph`) without the cycles in which threads waited for the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse._critical_threads import ways_of
from cyclescope.analyse._team import team
from cyclescope.analyse._thread_graph import has_exact_waits, thread_graph
from cyclescope.errors import InputError
from cyclescope.model import Activity, Cause

if TYPE_CHECKING:
    from cyclescope.analyse._thread_graph import ThreadGraph
    from cyclescope.model import Ints, Profile

__all__ = ["Efficiencies", "efficiencies", "ideal_cycles"]

_TRANSFER = (Cause.MEMORY.value, Cause.ARBITRATION.value)


@dataclass(frozen=True, slots=True)
class Efficiencies:
    """The efficiencies of a run of threads, exactly.

    Attributes:
        balance: mean work over the most work of a thread.
        communication: the most work over the run.
        serialisation: the most work over the run with a memory that takes no time; None if it is
            not known when threads waited for each other.
        transfer: that run over the run; None likewise.
    """

    balance: Fraction
    communication: Fraction
    serialisation: Fraction | None
    transfer: Fraction | None

    @property
    def parallel(self) -> Fraction:
        """Mean work over the run: the useful share of the account."""
        return self.balance * self.communication


def efficiencies(profile: Profile) -> Efficiencies:
    """The efficiencies of a profile's threads.

    Raises:
        InputError: it has no threads, or no cycle.
    """
    found = team(profile)
    if found is None or not profile.cycles:
        raise InputError(f"{profile.meta.title}: no threads that are each in one state at a time")
    most = max(member.useful for member in found.members)
    communication = Fraction(most, profile.cycles)
    if not has_exact_waits(profile):
        return Efficiencies(found.balance, communication, None, None)
    ideal = max(ideal_cycles(profile), most)
    return Efficiencies(
        found.balance,
        communication,
        Fraction(most, ideal) if ideal else Fraction(1),
        Fraction(ideal, profile.cycles),
    )


def ideal_cycles(profile: Profile) -> int:
    """The cycles of a run whose threads never wait for the memory.

    Raises:
        InputError: it does not say exactly when threads waited for each other.
    """
    graph, ways = thread_graph(profile), ways_of(profile)
    lag = graph.lag - _transfers(profile, graph)
    return int(ways.last(ways.sums(lag)[:, None])[0])


def _transfers(profile: Profile, graph: ThreadGraph) -> Ints:
    """The cycles of each edge in which its thread waits for the memory and nothing else.

    Within a sample of a counter they are spread evenly.
    """
    ends = np.repeat(graph.time, np.diff(graph.offset))
    found = np.zeros(len(graph.lag), dtype=np.float64)
    names = [kind.key[1] for kind in graph.kinds]
    for path in profile.tracks:
        mine = np.array([name == profile.instances[path] for name in names])[graph.kind]
        for series in profile.series:
            if (
                series.path == path
                and series.activity is Activity.WAITING
                and series.cause in _TRANSFER
                and len(series)
            ):
                start, end, value = series.intervals
                at = np.stack((start, end), axis=1).reshape(-1)
                total = np.repeat(np.cumsum(value), 2).astype(np.float64)
                total[0::2] -= value
                upto = np.interp(ends[mine], at, total)
                found[mine] += upto - np.interp(ends[mine] - graph.lag[mine], at, total)
    return np.minimum(np.floor(found).astype(np.int64), graph.lag)
