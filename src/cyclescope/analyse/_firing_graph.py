"""A process network's run as a graph of firings, which other latencies and depths time anew.

A firing begins when its process's interval since the one before is over and all its operands are
there: a value is in its channel when the producer's firing has taken its latency. A process whose
result goes to a full channel stops, with all its firings under way, until the consumer has read
what makes space. Which firing reads which one's value (`Flow`) depends on no time, so a run with
other figures follows from it, cycle for cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope._native import NetworkTiming
from cyclescope.errors import InputError
from cyclescope.model import Edge, Process

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.model import Flow, Ints, Profile

__all__ = ["LEAST_LATENCY", "FiringGraph", "firing_graph"]

LEAST_LATENCY = 2
"""Cycles after which a firing's result can be read at the earliest: it passes one register."""

_MOST = 1 << 25  # firings, and reads: what fits in memory


class FiringGraph:
    """The firings of a run, and who read whose values.

    Args:
        profile: the run, with `flows`.

    Attributes:
        processes, channels: the sites of each, by their numbers.
        cycles: of the run.
    """

    def __init__(self, profile: Profile) -> None:
        sites = profile.sites
        self.processes = {n: site for n, site in enumerate(sites) if isinstance(site, Process)}
        self.channels: dict[int, Edge] = {}
        inputs: dict[int, list[Ints]] = {number: [] for number in self.processes}
        self._flows: list[tuple[int, int, bool, Ints, Ints, Ints]] = []
        place = {number: n for n, number in enumerate(self.processes)}
        for flow in profile.flows:
            edge = sites[flow.edge]
            assert isinstance(edge, Edge)
            firings = self.processes[edge.consumer].firings
            _choose(inputs[edge.consumer], flow, len(self.channels), firings)
            self.channels[flow.edge] = edge
            ends = place[edge.producer], place[edge.consumer]
            self._flows.append((*ends, edge.reordered, flow.reads, flow.given, flow.sends))
        self._inputs = list(inputs.values())
        self.cycles = profile.cycles

    def run(
        self,
        latencies: Mapping[int, int] | None = None,
        intervals: Mapping[int, int] | None = None,
        depths: Mapping[int, int] | None = None,
        limit: int | None = None,
    ) -> int | None:
        """Time the run with other figures.

        Args:
            latencies: of some processes, by site, the cycles until a firing's result can be read.
            intervals: of some processes the cycles from one firing to the next.
            depths: of some channels the values that each keeps.
            limit: cycles after which it is given up.

        Returns:
            The cycles; None for a deadlock, or a run beyond the limit.
        """
        latencies, intervals, depths = latencies or {}, intervals or {}, depths or {}
        stations = [
            (
                site.firings,
                intervals.get(number, site.interval),
                latencies.get(number, site.latency) - 1,  # the cycle of the write counts, too
                inputs,
            )
            for (number, site), inputs in zip(self.processes.items(), self._inputs, strict=True)
        ]
        kept = [depths.get(number, site.depth or 0) for number, site in self.channels.items()]
        return NetworkTiming(stations, self._flows).run(kept, limit)[0]


def _choose(inputs: list[Ints], flow: Flow, channel: int, firings: int) -> None:
    """Enter a channel where firings read from it; those of one operand share an array."""
    for chosen in inputs:
        if (chosen[flow.firings] < 0).all():
            break
    else:
        chosen = np.full(firings, -1, dtype=np.int64)
        inputs.append(chosen)
    chosen[flow.firings] = channel


def firing_graph(profile: Profile) -> FiringGraph:
    """The graph of a run's firings.

    Raises:
        InputError: its order of firings is not known, or there are too many.
    """
    title = profile.meta.title
    if not profile.flows:
        raise InputError(
            f"{title}: it does not say which firings read which values; measure the hardware anew:"
            " cyclescope bounds --rtl DIR -o OUT.cyc, then OUT.rtl.cyc"
        )
    firings = sum(site.firings for site in profile.sites if isinstance(site, Process))
    if firings > _MOST:
        raise InputError(f"{title}: {firings:,} firings; at most {_MOST:,} are timed anew")
    return profile.once(_checked)


def _checked(profile: Profile) -> FiringGraph:
    graph = FiringGraph(profile)
    found = graph.run()
    if found != profile.cycles:
        raise InputError(
            f"{profile.meta.title}: its firings take {'forever' if found is None else f'{found:,}'}"
            f" and not {profile.cycles:,} cycles; measure it anew"
        )
    return graph
