"""Tests of whether values are those of the native run: bit for bit, where every bit is defined.

Of exp, sin and the like neither C nor IEEE 754 says the last bit; the host's library has one, the
arithmetic unit another. In a network that calls one, floating-point values may differ by 2^-16
(float) or 2^-44 (double) of the largest magnitude beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope.bounds import Apply, inside
from cyclescope.network._function import APPROXIMATE

if TYPE_CHECKING:
    from cyclescope.bounds import Bits
    from cyclescope.c import Scalar
    from cyclescope.network._channels import Network, Station

__all__ = ["differing", "is_approximate"]

_TOLERANCE = {32: 2.0**-16, 64: 2.0**-44}


def is_approximate(network: Network) -> bool:
    """Return whether the network computes a function whose last bit is not defined."""
    return any(
        isinstance(node, Apply) and node.op in APPROXIMATE
        for station in network.stations
        for node in inside(station.process.function.results)
    )


def differing(network: Network, station: Station, result: int, found: Bits) -> Bits:
    """The numbers, from 0, of the firings whose result is another than in the native run."""
    native = station.trace.results[result]
    wrong = found != native
    kind = _kind(network, station, result)
    if wrong.any() and kind.is_float and is_approximate(network):
        form = f"u{kind.bits // 8}", f"f{kind.bits // 8}"
        x, y = (bits.astype(form[0]).view(form[1]) for bits in (native, found))
        finite = np.abs(x[np.isfinite(x)])
        most = float(finite.max()) if finite.size else 0.0
        with np.errstate(invalid="ignore"):
            wrong &= ~(np.abs(x - y) <= _TOLERANCE[kind.bits] * most)
    return np.flatnonzero(wrong).astype(np.uint64)


def _kind(network: Network, station: Station, result: int) -> Scalar:
    process, lowered = station.process, network.bounds.network
    for port in lowered.sinks:
        if port.process == process.index:
            return lowered.storages[port.storage].type
    graph = process.function.results[result]
    assert graph is not None
    return graph.type
