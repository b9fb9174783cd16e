"""The cost of a network's processes and channels, synthesised with Yosys."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cyclescope.model import Area
from cyclescope.model import Process as ProcessSite
from cyclescope.network._report import kind_of
from cyclescope.rtl import sources
from cyclescope.sim import synthesise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.model import Profile
    from cyclescope.network._measure import Measurement

__all__ = ["with_areas"]


def with_areas(measurement: Measurement) -> Profile:
    """The profile with what each process and each channel costs.

    A process counts with its function, its counters and tables; a channel is used whenever anything
    is in it, which the profile does not show.

    Raises:
        ToolError: there is no Yosys, or it fails.
        OutputError: the cache cannot be written.
    """
    network, profile = measurement.network, measurement.profile
    top = measurement.hardware.top
    usage = synthesise("\n".join(sources(top).values()), top.name)
    found: dict[str, list[int]] = {}
    for one in usage:
        part = one.instance.split(".")[1] if "." in one.instance else ""
        own = found.setdefault(part, [0, 0, 0, 0])
        for place, number in enumerate((one.luts, one.ffs, one.dsps, one.brams)):
            own[place] += number
    paths = [site.path for site in profile.sites if isinstance(site, ProcessSite)]
    areas = [_area(network.kernel, "", found.get("", _NONE))]
    names = [station.process.name for station in network.stations]
    for station, path in zip(network.stations, paths, strict=True):
        cost = found.get(f"process{station.number}", _NONE)
        name = f"{network.kernel}.{names[station.number]}"
        areas.append(_area(name, station.process.kind, cost, path))
    for channel, depth in zip(network.channels, measurement.depths.tokens, strict=True):
        cost = found.get(f"channel{channel.number}", _NONE)
        operand = network.stations[channel.consumer].process.operands[channel.operand]
        name = f"{network.kernel}.{names[channel.producer]} to {names[channel.consumer]} {operand}"
        kind = f"{kind_of(channel)}, {depth} of {channel.width} bits"
        areas.append(_area(name, kind, cost))
    return replace(profile, areas=tuple(areas))


_NONE = (0, 0, 0, 0)


def _area(name: str, kind: str, cost: Sequence[int], path: int | None = None) -> Area:
    luts, ffs, dsps, brams = cost
    paths = () if path is None else (path,)
    return Area(name, kind, luts, ffs, dsps, brams, paths, seen=path is not None)
