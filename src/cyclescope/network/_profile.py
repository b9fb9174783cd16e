"""A Profile of a network's simulation: what each process did in each cycle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.bounds import call_paths, position_of, process_frame, waiting_frame
from cyclescope.model import Cause, Edge, Meta, Profile, ProfileBuilder
from cyclescope.model import Process as ProcessSite
from cyclescope.network._process_module import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.model import Site
    from cyclescope.network._channels import Network
    from cyclescope.network._top import Hardware
    from cyclescope.sim import Capture

__all__ = ["profile_of"]

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
    sites = _sites(network, hardware, capture, columns, own)
    profile = builder.build(meta, capture.run_cycles, trees[shown], sites=sites)
    names = {position.file for frame in profile.catalog for position in frame.positions}
    texts = {Path(file).name: text for file, text in bounds.unit.sources.items()}
    return replace(profile, sources={file: texts[file] for file in texts if file in names})


def _sites(
    network: Network,
    hardware: Hardware,
    capture: Capture,
    columns: list[int],
    paths: list[int],
) -> list[Site]:
    """The processes, then the operands that they waited for, by who writes them."""
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
            )
        )
    for station, module, column in zip(network.stations, hardware.modules, columns, strict=True):
        seen = capture.states[:, column][capture.run_state]
        state = capture.values(module, "state").astype(np.int64)[seen]
        whom = capture.values(module, "whom").astype(np.int64)[seen]
        for own in station.inputs:
            waiting = (state == State.OPERAND) & (whom == own.operand)
            late = int(capture.run_cycles[waiting].sum())
            if not late:
                continue
            producers = {channel.producer for channel in own.channels}
            sites.append(
                Edge(
                    functions[station.number],
                    producers.pop() if len(producers) == 1 else -1,
                    station.number,
                    station.process.operands[own.operand],
                    late,
                    _times(waiting),
                    position_of(station.process.where),
                )
            )
    return sites


def _times(flags: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    """Number of times that they become true."""
    return int(flags[:1].sum() + (flags[1:] & ~flags[:-1]).sum())
