"""A Profile of a network's simulation: what each process did in each cycle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.bounds import call_paths, position_of, process_frame, waiting_frame
from cyclescope.model import Cause, Edge, Flow, Meta, Profile, ProfileBuilder
from cyclescope.model import Process as ProcessSite
from cyclescope.network._process_module import State
from cyclescope.network._starts import critical_path, starts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.model import Site
    from cyclescope.network._channels import Network
    from cyclescope.network._top import Hardware
    from cyclescope.sim import Capture

__all__ = ["flows_of", "profile_of"]

_CAUSES = {
    State.FULL: Cause.CHANNEL,
    State.OPERAND: Cause.OPERAND,
    State.RESOURCE: Cause.RESOURCE,
}


def profile_of(
    network: Network,
    hardware: Hardware,
    capture: Capture,
    *,
    options: Mapping[str, str],
    inputs: Mapping[str, str],
) -> Profile:
    """A captured simulation as a profile.

    A process works while one of its firings is read, executed or written; between, until its last
    firing, it waits: for an operand, for its resource, or for a channel that its result goes to.

    Args:
        network: what was simulated.
        hardware: its hardware.
        capture: with the signals of `simulate`.
        options: that shaped the result.
        inputs: name → SHA-256 of each input.
    """
    bounds = network.bounds
    builder = ProfileBuilder()
    paths, _ = call_paths(bounds, builder)
    own: list[int] = []
    waits: list[dict[int, int]] = []
    for station in network.stations:
        process = station.process
        own.append(builder.path(paths[process.path], process_frame(process, bounds)))
        below = {state: waiting_frame(process, bounds, cause) for state, cause in _CAUSES.items()}
        waits.append({int(s): builder.path(own[-1], frame) for s, frame in below.items()})
    column = {module: n for n, (_, module) in enumerate(capture.instances)}
    columns = [column[module] for module in hardware.modules]
    states = np.stack(
        [
            capture.values(module, "state").astype(np.int64)[capture.states[:, place]]
            for module, place in zip(hardware.modules, columns, strict=True)
        ],
        axis=1,
    )
    # That a firing begins is no other activity.
    states[states == State.START] = State.WORK
    rows, number = np.unique(states, axis=0, return_inverse=True)
    number = number.reshape(-1)
    trees = np.zeros(len(rows), np.int64)
    shown = number[capture.run_state]
    _, first = np.unique(shown, return_index=True)
    for place in np.sort(first).tolist():
        row = int(shown[place])
        active = [
            path if state == State.WORK else below[state]
            for path, below, state in zip(own, waits, rows[row].tolist(), strict=True)
            if state != State.IDLE
        ]
        trees[row] = builder.tree([paths[0], *active])
    meta = Meta(
        source="network",
        title=f"{network.kernel}, as a process network",
        inputs=dict(inputs),
        options=dict(options),
    )
    sites = _sites(network, hardware, capture, own)
    profile = builder.build(meta, capture.run_cycles, trees[shown], sites=sites)
    flows = flows_of(network)
    names = {position.file for frame in profile.catalog for position in frame.positions}
    texts = {Path(file).name: text for file, text in bounds.unit.sources.items()}
    sources = {file: texts[file] for file in texts if file in names}
    return replace(profile, sources=sources, flows=flows)


def flows_of(network: Network) -> tuple[Flow, ...]:
    """The firings at both ends of each channel, whose sites are behind those of the processes."""
    first = len(network.stations)
    flows = []
    for channel in network.channels:
        own = network.stations[channel.consumer].inputs[channel.operand]
        firings = np.flatnonzero(own.choice == own.channels.index(channel))
        flows.append(Flow(first + channel.number, channel.sends, channel.reads, firings))
    return tuple(flows)


def _sites(network: Network, hardware: Hardware, capture: Capture, paths: list[int]) -> list[Site]:
    """The processes, then the channels between them."""
    storages = network.bounds.network.storages
    starts = starts_of(network, hardware, capture)
    critical = critical_path(network, starts, capture.cycles)
    functions = [network.bounds.network.paths[s.process.path].function for s in network.stations]
    sites: list[Site] = []
    for station, function, path in zip(network.stations, functions, paths, strict=True):
        process = station.process
        sites.append(
            ProcessSite(
                function,
                process.name,
                position_of(process.where),
                path=path,
                firings=station.count,
                interval=process.interval,
                latency=network.read + process.latency + network.write,
                port=process.kind in ("source", "sink"),
                critical=critical.processes[station.number],
            )
        )
    for channel, depth in zip(network.channels, hardware.depths, strict=True):
        own = starts[channel.consumer]
        consumer = network.stations[channel.consumer].process
        waited = (own.value == channel.number) & (own.late > 0)
        # Where only the run finds what is read, its writer says what it is.
        array = consumer.operand_storage[channel.operand]
        if array < 0:
            written = network.stations[channel.producer].process.target_storage
            array = written[channel.target] if written else array
        sites.append(
            Edge(
                functions[channel.consumer],
                channel.producer,
                channel.consumer,
                consumer.operands[channel.operand],
                int(own.late[waited].sum()),
                int(waited.sum()),
                position_of(consumer.where),
                array=storages[array].name if array >= 0 else "",
                tokens=channel.tokens,
                reads=len(channel.reads),
                reordered=channel.is_reordered,
                width=channel.width,
                depth=depth,
                held=starts[channel.producer].held[channel.number],
                critical=critical.channels[channel.number],
            )
        )
    return sites
