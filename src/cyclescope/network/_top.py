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
        depths: of each channel the tokens that it keeps.
    """

    top: Module
    modules: tuple[str, ...]
    depths: tuple[int, ...]


def hardware_of(
    network: Network,
    depths: Mapping[int, int],
    *,
    name: str = "network",
) -> Hardware:
    """Build the hardware of a network.

    Args:
        network: which.
        depths: of each channel, by its number, the tokens that it keeps.
        name: of the top module.

    Raises:
        SourceError: an operation without an arithmetic unit.
        InputError: see `process_module`.
    """
    kernel = network.kernel
    m = Module(name, f"The process network of {kernel}.")
    full = {c.number: m.forward_wire(f"full{c.number}", 1) for c in network.channels}
    valid = {c.number: m.forward_wire(f"valid{c.number}", 1) for c in network.channels}
    data = {c.number: m.forward_wire(f"data{c.number}", c.width) for c in network.channels}
    instances: list[Instance] = []
    modules: list[str] = []
    done: Expr = const(1, 1)
    moving: Expr = const(0, 1)
    for station in network.stations:
        module = process_module(network, station, f"{name}_process{station.number}")
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
            (full, valid, data),
            name,
        )
    for station, instance in zip(network.stations, instances, strict=True):
        if station.process.kind == "source":
            m.output(f"next_{station.number}", instance["next"])
        if station.process.kind == "sink":
            m.output(f"written_{station.number}", instance["written"])
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
    nets: tuple[Mapping[int, Net], Mapping[int, Net], Mapping[int, Net]],
    name: str,
) -> None:
    number = channel.number
    full, valid, data = nets
    producer, consumer = instances[channel.producer], instances[channel.consumer]
    module = channel_module(channel, f"{name}_channel{number}", depth)
    inputs: dict[str, Expr] = {
        "push": producer[f"push{number}"],
        "in": producer[f"result{channel.target}"],
        "pop": consumer[f"pop{number}"],
    }
    ends = (network.stations[channel.producer], network.stations[channel.consumer])
    note = " to ".join(station.process.name for station in ends)
    instance = m.instance(module, f"channel{number}", inputs, note=note)
    m.assign(full[number], instance["full"])
    m.assign(valid[number], instance["valid"])
    m.assign(data[number], instance["out"])
