"""The external memory's timing, in cycles of the accelerator: models by name, or of a file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._files import parse_toml, read_text
from cyclescope.errors import DataError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["MemoryModel", "memory_names", "read_memory_model"]


@dataclass(frozen=True, slots=True)
class MemoryModel:
    """Latencies in cycles of the accelerator's clock.

    The defaults are those of a DDR4-2400 of speed grade 17-17-17 (CL, tRCD and tRP 14.16 ns;
    tREFI 7.8 us, tRFC 350 ns for 8 Gbit) in cycles of 7.14 ns, rounded up: those of Huthmann et
    al.'s accelerators. A slower clock would wait for fewer. A 64-byte line is a burst of 8 on a
    64-bit channel, 3.3 ns: less than a cycle. The controller's latency stands for the
    controller's queues and clock crossings, in both directions.

    Attributes:
        controller: cycles between a line's transfer and its arrival.
        cas: from the column command to the transfer.
        rcd: from the activation of a row to its first column command.
        rp: to close a row.
        ras: a row stays open at least so long.
        wr: from the end of a write's transfer until its row may be closed.
        ccd: from a column command to the next one in the same group of DRAM banks.
        faw: a fifth activation comes so long after the first.
        line: the data bus is taken by a line.
        turnaround: of the bus between reads and writes.
        shared: 1: all memory banks have one data bus; 0: each has its own.
        window: requests among which a bank's controller chooses; 0: it issues them as they come.
        refresh_interval: cycles from one refresh to the next; 0: none.
        refresh: how long one takes.
        seed: of random stalls; 0: none.
        stall: largest random addition to a read's latency.
        stall_one_in: of so many reads one, on average, has that addition.
    """

    controller: int = 24
    cas: int = 2
    rcd: int = 2
    rp: int = 2
    ras: int = 0
    wr: int = 0
    ccd: int = 0
    faw: int = 0
    line: int = 1
    turnaround: int = 1
    shared: int = 0
    window: int = 0
    refresh_interval: int = 1092
    refresh: int = 49
    seed: int = 0
    stall: int = 0
    stall_one_in: int = 1

    def values(self) -> dict[str, int]:
        """Its attributes by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not int or not 0 <= value < 1 << 20:
                raise DataError(
                    f"memory model: {field.name} = {value!r}: must be a whole number from 0 to"
                    f" {(1 << 20) - 1}"
                )
        for name, least, most in (("line", 1, 1 << 10), ("shared", 0, 1), ("window", 0, 16)):
            if not least <= getattr(self, name) <= most:
                raise DataError(
                    f"memory model: {name} = {getattr(self, name)}: must be from {least} to {most}"
                )
        if not self.stall_one_in:
            raise DataError("memory model: stall_one_in = 0: must be at least 1")
        if self.refresh_interval and self.refresh >= self.refresh_interval:
            raise DataError(
                f"memory model: a refresh of {self.refresh} cycles does not fit in its interval"
                f" of {self.refresh_interval}"
            )


def memory_names() -> list[str]:
    """The names of the models that come with the package."""
    return sorted(f.name.removesuffix(".toml") for f in _folder().iterdir())


def _folder() -> Traversable:
    return resources.files("cyclescope.hls.run") / "memories"


def read_memory_model(named: str | Path) -> MemoryModel:
    """Reads a model: a TOML file with any of the attributes of `MemoryModel`.

    Args:
        named: a file, or the name of one of ours (`memory_names`).

    Raises:
        DataError: it cannot be read, is not TOML, or has a name or value that is not known.
    """
    if str(named) in memory_names():
        return _model(f"{named}.toml", (_folder() / f"{named}.toml").read_text("utf-8"))
    path = Path(named)
    try:
        text = read_text(path)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        names = f"; ours are {', '.join(memory_names())}" if len(path.parts) == 1 else ""
        raise DataError(f"{path}: cannot read the memory model: {reason}{names}") from error
    return _model(str(path), text)


def _model(path: str, text: str) -> MemoryModel:
    try:
        values = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path}: not TOML: {error}") from error
    known = [field.name for field in fields(MemoryModel)]
    for name in values:
        if name not in known:
            raise DataError(f"{path}: {name}: not known; there are {', '.join(known)}")
    try:
        return MemoryModel(**values)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
