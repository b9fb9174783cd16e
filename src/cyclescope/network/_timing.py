"""The timing of a network's hardware without its values: for finding its channels' depths.

Depths are found in thousands of runs, each of which would take a simulator of Verilog seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope import _native
from cyclescope.network._process_module import stages_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.model import Ints
    from cyclescope.network._channels import Input, Network

__all__ = ["Timing"]


class Timing:
    """The network without its values, with depths that each run chooses.

    Args:
        network: which.

    Raises:
        InputError: processes that take no time.
    """

    def __init__(self, network: Network) -> None:
        stations = [
            (
                station.count,
                station.process.interval,
                stages_of(network, station),
                [_channels(own) for own in station.inputs],
            )
            for station in network.stations
        ]
        channels = [
            (
                channel.producer,
                channel.consumer,
                channel.is_reordered,
                _integers(channel.reads),
                _integers(np.cumsum(channel.window[:, 1])),
                _integers(channel.sends),
            )
            for channel in network.channels
        ]
        self._native = _native.NetworkTiming(stations, channels)
        self.runs = 0

    def run(self, depths: Sequence[int], limit: int | None = None) -> tuple[int | None, list[int]]:
        """Run it with these depths.

        Returns:
            The cycles, None for a deadlock or a run beyond the limit; the most tokens that each
            channel had.
        """
        self.runs += 1
        return self._native.run(list(depths), limit)


def _channels(own: Input) -> Ints:
    """Of each firing the number of the channel that it reads an operand from; -1: from none."""
    numbers = np.array([*(channel.number for channel in own.channels), -1, -1], np.int64)
    return _integers(numbers[own.choice])


def _integers(values: Ints) -> Ints:
    return np.ascontiguousarray(values, np.int64)
