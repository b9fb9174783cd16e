"""The frames of a process network's profile: functions as cells, processes below them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.model import Activity, Cause, Frame, Kind, Position, ProfileBuilder

if TYPE_CHECKING:
    from cyclescope.bounds._estimate import Bounds
    from cyclescope.bounds._network import Process
    from cyclescope.c import Range

__all__ = ["call_paths", "position_of", "process_frame", "waiting_frame"]


def call_paths(bounds: Bounds, builder: ProfileBuilder) -> tuple[list[int], list[str]]:
    """For each of the network's call paths the profile's path and its track's name."""
    paths: list[int] = []
    tracks: list[str] = []
    names: dict[tuple[int, str], int] = {}
    for call in bounds.network.paths:
        number = names[(call.parent, call.function)] = (
            names.get((call.parent, call.function), 0) + 1
        )
        name = call.function if number == 1 else f"{call.function} #{number}"
        above = paths[call.parent] if call.parent >= 0 else -1
        component = call.function if call.parent < 0 else bounds.network.paths[call.parent].function
        frame = Frame(
            kind=Kind.CELL,
            name=name,
            component=component,
            detail=call.function,
            positions=(position_of(call.where),),
            activity=Activity.IDLE,
        )
        paths.append(builder.path(above, frame))
        tracks.append(f"{tracks[call.parent]}.{name}" if call.parent >= 0 else name)
    return paths, tracks


def position_of(where: Range) -> Position:
    """A place in the text."""
    # The file's own name: equal kernels give equal profiles in whatever folder they lie.
    return Position("c", Path(where.file).name, where.line, where.column)


def process_frame(process: Process, bounds: Bounds) -> Frame:
    """The frame of a process: it works."""
    return Frame(
        kind=Kind.PROCESS,
        name=process.name,
        component=bounds.network.paths[process.path].function,
        detail=process.kind,
        positions=(position_of(process.where),),
        generated=process.kind in ("source", "sink"),
        activity=Activity.WORK,
        track=True,
    )


def waiting_frame(process: Process, bounds: Bounds, cause: Cause) -> Frame:
    """The frame below it while it waits."""
    return Frame(
        kind=Kind.STATE,
        name=f"waiting: {cause.value}",
        component=bounds.network.paths[process.path].function,
        positions=(position_of(process.where),),
        activity=Activity.WAITING,
        cause=cause.value,
    )
