"""The critical path of a process network in hardware: the source of the profile has found it.

Each firing on the path answers for the time until the next one on it begins, so the cycles of all
processes sum to the run (`Process.critical`). What a firing waited for is its channel's: a value
that the producer had not sent (`Edge.late`), or space that the consumer had not made (`Edge.held`).
Slack and leverage need the times of all firings, which a profile does not keep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.analyse._critical_path import Critical, CriticalFrame, PhaseWait
from cyclescope.errors import InputError
from cyclescope.model import Cause, Edge, Kind, Process

if TYPE_CHECKING:
    from cyclescope.analyse._activations import Key
    from cyclescope.model import Profile

__all__ = ["critical_processes", "has_processes"]


def has_processes(profile: Profile) -> bool:
    """Return whether a profile's tracks are processes."""
    return any(profile.frame_of(path).kind is Kind.PROCESS for path in profile.tracks)


def critical_processes(profile: Profile) -> Critical:
    """The critical path of a network's processes, and what they waited for.

    Raises:
        InputError: it is of bounds, which have no path of their own.
    """
    processes = {n: site for n, site in enumerate(profile.sites) if isinstance(site, Process)}
    keys: dict[int, Key] = {
        number: (int(profile.call_paths.frame[site.path]), profile.instances[site.path])
        for number, site in processes.items()
        if site.path >= 0
    }
    frames = [
        CriticalFrame(
            keys[number], site.firings, site.firings * site.interval, site.critical, None, None
        )
        for number, site in processes.items()
        if number in keys and site.critical is not None
    ]
    if not frames:
        raise InputError(
            f"{profile.meta.title}: bounds have no critical path but what bounds them, which"
            " cyclescope bounds prints; that of the hardware: cyclescope bounds --rtl DIR"
        )
    waits: list[PhaseWait] = []
    for edge in profile.sites:
        if isinstance(edge, Edge) and edge.producer in keys and edge.consumer in keys:
            ends = keys[edge.producer], keys[edge.consumer]
            top = int(profile.call_paths.parent[processes[edge.consumer].path])
            caller = int(profile.call_paths.frame[top]), profile.instances[top]
            if edge.late:
                waits.append(
                    PhaseWait(caller, *ends[::-1], edge.delayed, edge.late, Cause.OPERAND.value)
                )
            if edge.held:
                waits.append(PhaseWait(caller, *ends, None, edge.held, Cause.CHANNEL.value))
    frames.sort(key=lambda frame: (-frame.critical, -frame.total))
    waits.sort(key=lambda wait: -wait.cycles)
    return Critical(tuple(frames), tuple(waits), profile.cycles)
