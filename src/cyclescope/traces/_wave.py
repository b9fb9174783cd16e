"""What every waveform reader gives: declared signals, and the changes of those asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from cyclescope.model import Anomaly, Ints

__all__ = ["LIMITS", "MAX_BITS", "UNKNOWN", "Changes", "Limits", "Signal", "Waveform"]

UNKNOWN = -1
"""The value of a signal that is x, z, or not yet known."""

MAX_BITS = 62
"""A value is an integer of 64 bits, with room for a sign and for `UNKNOWN`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a waveform may ask of its reader; beyond it is an error, not a crash.

    Attributes:
        header_bytes: text before the first value.
        signals: declared variables.
        depth: scopes inside each other.
        width: bits of one variable.
        step_bytes: text of one time step.
        changes: value changes of the signals that are read.
        seconds, memory_bytes: of the process that runs a foreign reader.
        grace: seconds after which it is killed if it used none of them.
    """

    header_bytes: int = 64 << 20
    signals: int = 1_000_000
    depth: int = 256
    width: int = 1 << 20
    step_bytes: int = 256 << 20
    changes: int = 200_000_000
    seconds: int = 120
    memory_bytes: int = 4 << 30
    grace: int = 10


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Signal:
    """A declared variable.

    Attributes:
        scope: the names of the scopes around it, outermost first.
        name: without its bit range.
        width: in bits.
        key: equal for variables that are one signal under several names.
    """

    scope: tuple[str, ...]
    name: str
    width: int
    key: bytes

    @property
    def full_name(self) -> str:
        """Scopes and name, dotted."""
        return ".".join((*self.scope, self.name))


@dataclass(frozen=True)
class Changes:
    """Value changes in the order of the file.

    Attributes:
        times: of each time step, in units of the file (shape: steps).
        step: in which step each change is (shape: changes), ascending.
        signal: of which of the signals asked for, by place in the request.
        value: the new value, `UNKNOWN` for x and z.
        end: the last time of the file.
        anomalies: what the reader met on its way.
    """

    times: Ints
    step: NDArray[np.int32]
    signal: NDArray[np.int32]
    value: NDArray[np.signedinteger[Any]]
    end: int
    anomalies: tuple[Anomaly, ...]

    def without(self, signal: int) -> Changes:
        """The same, but for one of the signals."""
        keep = self.signal != signal
        return replace(self, step=self.step[keep], signal=self.signal[keep], value=self.value[keep])


class Waveform(Protocol):
    """An opened waveform.

    Attributes:
        path: where it lies.
        form: `VCD` or `FST`.
        signals: everything declared, in the order of declaration.
        tick_fs: femtoseconds of a unit of time, None if the file does not say.
    """

    path: Path
    form: str
    signals: Sequence[Signal]
    tick_fs: int | None

    def read(self, wanted: Sequence[Signal]) -> Changes:
        """The changes of these signals, whose keys differ.

        Raises:
            DataError: the file is damaged or exceeds a limit.
        """
        ...
