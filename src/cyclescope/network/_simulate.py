"""Runs a network's hardware in simulation: cycles, what the sinks collected, what was captured."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope._files import scratch, unwritable
from cyclescope.errors import DeadlockError, RunError, VerifyError
from cyclescope.network._bench import harness
from cyclescope.network._judge import differing, is_approximate
from cyclescope.network._process_module import STATE_BITS, WHOM_BITS
from cyclescope.rtl import sources
from cyclescope.sim import CaptureModule, Design, Signal, build, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from cyclescope.bounds import Bits
    from cyclescope.network._channels import Network
    from cyclescope.network._top import Hardware
    from cyclescope.sim import Capture

__all__ = ["Simulation", "simulate", "write_inputs", "write_results"]


@dataclass(frozen=True, eq=False, slots=True)
class Simulation:
    """The result of a simulation.

    Attributes:
        cycles: from the first in which a source may send to the last in which anything is written.
        collected: of each sink, by its station, the bits of what it wrote, in order.
        capture: the state of each process over time, if it was asked for.
        seconds: wall time.
    """

    cycles: int
    collected: Mapping[int, Bits]
    capture: Capture | None
    seconds: float


def simulate(
    network: Network,
    hardware: Hardware,
    *,
    capture: bool = False,
    judge: bool = True,
    limit: int | None = None,
    progress: Callable[[int, float], object] | None = None,
) -> Simulation:
    """Simulate a network.

    Args:
        network: that the hardware was made from.
        hardware: with values.
        capture: record what each process does.
        judge: compare every result of every firing with the native run's.
        limit: cycles after which it is given up.
        progress: called a few times a second with (cycles, seconds) so far.

    Raises:
        VerifyError: a result is another than in the native run.
        DeadlockError: nothing moves any more.
        RunError: it did not come to its end.
        ToolError: a compiler is missing or fails.
        OutputError: no space for the simulation's files.
    """
    signals = (Signal("state", STATE_BITS), Signal("whom", WHOM_BITS))
    captured = tuple(CaptureModule(name, signals) for name in hardware.modules) if capture else ()
    keep = judge and is_approximate(network)
    exact = judge and not keep
    built = build(_design(network, hardware, captured, judge=exact, keep=keep))
    try:
        with scratch("network") as folder:
            write_inputs(network, folder)
            if exact:
                write_results(network, folder)
            result = run(
                built,
                cycle_limit=limit,
                progress=progress,
                arguments=(f"+RUN={folder}",),
                files=folder,
            )
            wrong = re.search(r"^CYC wrong (\d+) (\d+) (\d+)$", result.output, re.MULTILINE)
            if wrong is not None:
                raise VerifyError(_wrong(network, *map(int, wrong.groups())))
            if "CYC deadlock" in result.output:
                raise DeadlockError(
                    f"{network.kernel}: the network deadlocks after {result.cycles:,} "
                    "cycles: a channel is too small; please report this"
                )
            if not result.complete:
                reason = result.message or result.stop_reason
                raise RunError(f"{network.kernel}: the network's simulation did not end: {reason}")
            if keep:
                _compare(network, folder)
            collected = {
                s.number: _read(folder / f"sink{s.number}.out")
                for s in network.stations
                if s.process.kind == "sink"
            }
    except OSError as error:
        raise unwritable(tempfile.gettempdir(), error) from error
    return Simulation(result.cycles, collected, result.capture, result.seconds)


def _design(
    network: Network,
    hardware: Hardware,
    captured: tuple[CaptureModule, ...],
    *,
    judge: bool = False,
    keep: bool = False,
) -> Design:
    own = harness(network, hardware, judge=judge, keep=keep)
    return Design("bench", sources(hardware.top), capture=captured, harness=own)


def write_inputs(network: Network, folder: Path) -> None:
    """Write what the bench reads: each source's elements."""
    for station in network.stations:
        if station.process.kind == "source":
            lines = (f"{value:x}\n" for value in station.trace.results[0].tolist())
            (folder / f"source{station.number}.hex").write_text("".join(lines), "ascii")


def write_results(network: Network, folder: Path) -> None:
    """Write what the bench compares with: the results of each statement's firings."""
    for station in network.stations:
        if station.process.kind in ("source", "sink"):
            continue
        for result, bits in enumerate(station.trace.results):
            lines = (f"{value:x}\n" for value in bits.tolist())
            (folder / f"result{station.number}_{result}.hex").write_text("".join(lines), "ascii")


def _compare(network: Network, folder: Path) -> None:
    """Compare what the bench kept of each statement's firings.

    Raises:
        VerifyError: one differs.
    """
    for station in network.stations:
        if station.process.kind in ("source", "sink"):
            continue
        for result in range(len(station.trace.results)):
            found = _read(folder / f"result{station.number}_{result}.out")
            wrong = differing(network, station, result, found)
            if wrong.size:
                raise VerifyError(_wrong(network, station.number, result, int(wrong[0])))


def _wrong(network: Network, station: int, result: int, firing: int) -> str:
    process = network.stations[station].process
    return (
        f"{process.where}: firing {firing + 1} of {process.name} gives another "
        f"{process.targets[result]} than the native run; please report this kernel"
    )


def _read(file: Path) -> Bits:
    """The words of a file that `$writememh` wrote; bits that are not known count as none."""
    lines = file.read_text("ascii").splitlines()
    words = " ".join(line for line in lines if not line.startswith(("//", "@"))).split()
    return np.array([int(w, 16) if "x" not in w else 0 for w in words], np.uint64)
