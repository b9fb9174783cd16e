"""The network in hardware: processes and channels put together, and what drives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.network._channel_module import channel_module
from cyclescope.network._process_module import process_module
from cyclescope.rtl import Module, const

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.network._channels import Channel, Network, Station
    from cyclescope.rtl import Expr, Instance, Net

__all__ = ["Hardware", "hardware_of"]


@dataclass(frozen=True, eq=False, slots=True)
class Hardware:
    """The network in hardware.

    Attributes:
        top: its module. For each source `next_<station>` says that its next element is taken,
            which is at the input `element_<station>`; for each sink `written_<station>` says that
            the next one is at `result_<station>`; `done` that all is written.
        modules: of each station the name of its module.
        probes: whether each channel n has the input `limit<n>` and the output `most<n>`.
    """

    top: Module
    modules: tuple[str, ...]
    depths: tuple[int, ...]


def hardware_of(
    network: Network,
    depths: Mapping[int, int],
    *,
    name: str = "network",
    values: bool = True,
    probe: bool = False,
) -> Hardware:
    """Build the hardware of a network.

    Args:
        network: which.
        depths: of each channel, by its number, the tokens that it keeps.
        name: of the top module.
        values: if not, only its timing.
        probe: channels have a limit below their depth, and say how many tokens they had.

    Raises:
        SourceError: an operation without an arithmetic unit.
        InputError: see `process_module`.
    """
    kernel = network.kernel
    m = Module(name, f"The process network of {kernel}.")
    full = {c.number: m.forward_wire(f"full{c.number}", 1) for c in network.channels}
    valid = {c.number: m.forward_wire(f"valid{c.number}", 1) for c in network.channels}
    width = {c.number: c.width if values else 1 for c in network.channels}
    data = {c.number: m.forward_wire(f"data{c.number}", width[c.number]) for c in network.channels}
    instances: list[Instance] = []
    modules: list[str] = []
    done: Expr = const(1, 1)
    moving: Expr = const(0, 1)
    for station in network.stations:
        module = process_module(network, station, f"{name}_process{station.number}", values=values)
        modules.append(module.name)
        inputs: dict[str, Expr] = {}
        for port in module.ports():
            if port.direction == "input":
                inputs[port.name] = _pin(m, station, port.name, port.width, full, valid, data)
        instance = m.instance(module, f"process{station.number}", inputs, note=_note(station))
        instances.append(instance)
        done = instance["done"] if done.value is not None else done & instance["done"]
        moving = moving | instance["moving"]
    for channel in network.channels:
        _channel(
            m,
            network,
            channel,
            instances,
            depths[channel.number],
            width[channel.number],
            (full, valid, data),
            name,
            values=values,
            probe=probe,
        )
    for station, instance in zip(network.stations, instances, strict=True):
        if station.process.kind == "source":
            m.output(f"next_{station.number}", instance["next"])
        if station.process.kind == "sink":
            m.output(f"written_{station.number}", instance["written"])
            if values:
                m.output(f"result_{station.number}", instance["result0"])
    m.output("done", done)
    m.output("moving", moving)
    return Hardware(m, tuple(modules), tuple(depths[c.number] for c in network.channels))


def _note(station: Station) -> str:
    return f"{station.process.name}, line {station.process.where.line}"


def _pin(
    m: Module,
    station: Station,
    port: str,
    width: int,
    full: Mapping[int, Net],
    valid: Mapping[int, Net],
    data: Mapping[int, Net],
) -> Expr:
    """The net that an input of a process is connected to."""
    if port == "element":
        return m.input(f"element_{station.number}", width)
    for kind, nets in (("full", full), ("valid", valid), ("data", data)):
        if port.startswith(kind):
            return nets[int(port.removeprefix(kind))]
    raise AssertionError(port)


def _channel(
    m: Module,
    network: Network,
    channel: Channel,
    instances: list[Instance],
    depth: int,
    width: int,
    nets: tuple[Mapping[int, Net], Mapping[int, Net], Mapping[int, Net]],
    name: str,
    *,
    values: bool,
    probe: bool,
) -> None:
    number = channel.number
    full, valid, data = nets
    producer, consumer = instances[channel.producer], instances[channel.consumer]
    module = channel_module(channel, f"{name}_channel{number}", depth, width, probe=probe)
    inputs: dict[str, Expr] = {
        "push": producer[f"push{number}"],
        "in": producer[f"result{channel.target}"] if values else const(0, 1),
        "pop": consumer[f"pop{number}"],
    }
    if probe:
        (limit,) = (port for port in module.ports() if port.name == "limit")
        inputs["limit"] = m.input(f"limit{number}", limit.width)
    ends = (network.stations[channel.producer], network.stations[channel.consumer])
    note = " to ".join(station.process.name for station in ends)
    instance = m.instance(module, f"channel{number}", inputs, note=note)
    m.assign(full[number], instance["full"])
    m.assign(valid[number], instance["valid"])
    m.assign(data[number], instance["out"])
    if probe:
        m.output(f"most{number}", instance["most"])
