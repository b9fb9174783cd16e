"""From a kernel's bounds to its process network in hardware, measured in simulation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._files import write_folder
from cyclescope.errors import VerifyError
from cyclescope.network._bench import bench, wrapper
from cyclescope.network._channels import network_of
from cyclescope.network._depths import Depths, least_depths
from cyclescope.network._judge import differing
from cyclescope.network._profile import profile_of
from cyclescope.network._simulate import Simulation, simulate
from cyclescope.network._timing import Timing
from cyclescope.network._top import hardware_of
from cyclescope.rtl import sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.bounds import Bounds
    from cyclescope.model import Profile
    from cyclescope.network._channels import Network
    from cyclescope.network._top import Hardware

__all__ = ["Measurement", "files_of", "measure", "write_files"]


@dataclass(frozen=True, eq=False, slots=True)
class Measurement:
    """A kernel's process network in hardware.

    Attributes:
        network: its processes and channels.
        depths: the least depths of the channels.
        hardware: with these.
        simulation: of that.
        timing: its timing, for more depths.
        profile: what each process did in each cycle.
    """

    network: Network
    depths: Depths
    hardware: Hardware
    simulation: Simulation
    timing: Timing
    profile: Profile

    @property
    def cycles(self) -> int:
        """Cycles of the hardware."""
        return self.simulation.cycles


def measure(
    bounds: Bounds, *, progress: Callable[[int, float], object] | None = None
) -> Measurement:
    """Build a kernel's process network as hardware and simulate it.

    Args:
        bounds: made with `detail`, `values` and `trace`.
        progress: called a few times a second with (cycles, seconds) of the simulation.

    Raises:
        SourceError: an operation without an arithmetic unit.
        InputError: processes that take no time.
        VerifyError: the hardware computes something else than the native run.
        RunError: a simulation failed.
        ToolError: a compiler is missing or fails.
        OutputError: no space for the simulation's files.
    """
    network = network_of(bounds)
    timing = Timing(network)
    depths = least_depths(network, timing)
    hardware = hardware_of(network, dict(enumerate(depths.tokens)))
    simulation = simulate(network, hardware, capture=True, progress=progress)
    assert simulation.cycles == depths.cycles, (simulation.cycles, depths.cycles)
    assert simulation.capture is not None
    for station in network.stations:
        if station.process.kind == "sink":
            wrong = differing(network, station, 0, simulation.collected[station.number])
            if wrong.size:
                raise VerifyError(
                    f"{network.kernel}: {wrong.size} elements of {station.process.targets} "
                    "differ from the native run; please report this kernel"
                )
    texts = bounds.unit.sources.items()
    profile = profile_of(
        network,
        hardware,
        simulation.capture,
        options={
            "kernel": network.kernel,
            "technology": bounds.calibration.technology.name,
            "absolute": str(bounds.absolute.cycles),
            "unbounded": str(bounds.unbounded.cycles),
            "channels": str(len(network.channels)),
            "bits of channels": str(depths.bits),
        },
        inputs={
            Path(name).name: hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
            for name, text in texts
        },
    )
    return Measurement(network, depths, hardware, simulation, timing, profile)


def write_files(measurement: Measurement, folder: Path, *, force: bool) -> None:
    """Write the hardware, its testbench and what its sources send into a folder.

    In that folder `iverilog -g2005 -o sim *.v && vvp sim` runs it.

    Raises:
        OutputError: it cannot be written, or files are there and `force` is not set.
    """
    files = files_of(measurement)
    write_folder(folder, files, force=force)


def files_of(measurement: Measurement) -> dict[str, str]:
    """File name → text: a module a file, the bench, a clock, and what the sources send."""
    network, hardware = measurement.network, measurement.hardware
    files = dict(sources(hardware.top))
    files["bench.v"] = bench(network, hardware)
    files["testbench.v"] = wrapper()
    for station in network.stations:
        if station.process.kind == "source":
            words = station.trace.results[0].tolist()
            files[f"source{station.number}.hex"] = "".join(f"{word:x}\n" for word in words)
    return files
