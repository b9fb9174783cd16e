"""The results of every waveform reader: declared signals, and the changes of those asked for."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from cyclescope.model import Anomaly, Ints

__all__ = [
    "LIMITS",
    "MAX_BITS",
    "UNKNOWN",
    "Changes",
    "Limits",
    "Signal",
    "SignalKind",
    "Waveform",
]

UNKNOWN = -1
"""The value of a signal that is x, z, or not yet known."""

MAX_BITS = 62
"""A value of so many bits is an integer of 64 bits, with bits for a sign and for `UNKNOWN`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on what a waveform may ask of its reader; beyond it is an error, not a crash.

    Attributes:
        header_bytes: text before the first value.
        signals: declared variables.
        depth: scopes inside each other.
        width: bits of one variable.
        step_bytes: text of one time step.
        changes: value changes of the signals that are read.
        texts: distinct values that are no integers of up to `MAX_BITS` bits.
        unpacked_bytes: of a file that is packed as a whole.
        seconds, memory_bytes: of the process that runs a foreign reader.
        grace: seconds after which it is killed if it used none of them.
    """

    header_bytes: int = 64 << 20
    signals: int = 1_000_000
    depth: int = 256
    width: int = 1 << 20
    step_bytes: int = 256 << 20
    changes: int = 200_000_000
    texts: int = 1_000_000
    unpacked_bytes: int = 16 << 30
    seconds: int = 120
    memory_bytes: int = 4 << 30
    grace: int = 10


LIMITS = Limits()


class SignalKind(enum.Enum):
    """The kind of a signal's values."""

    BITS = "bits"
    REAL = "real"
    STRING = "string"
    EVENT = "event"
    """It happens and has no value."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A declared variable.

    Attributes:
        scope: the names of the scopes around it, outermost first; "" is one without a name.
        name: without its bit range.
        width: in bits.
        key: equal for variables that are one signal under several names.
        kind: what its values are.
        parts: (key, bits) of the signals it is joined from, most significant first; empty if it
            is one signal.
        states: the names of values, where the file says them.
    """

    scope: tuple[str, ...]
    name: str
    width: int
    key: bytes
    kind: SignalKind = SignalKind.BITS
    parts: tuple[tuple[bytes, int], ...] = ()
    states: Mapping[str, str] | None = field(default=None, compare=False)

    @property
    def full_name(self) -> str:
        """Scopes and name, dotted."""
        return ".".join(part for part in (*self.scope, self.name) if part)


@dataclass(frozen=True)
class Changes:
    """Value changes in the order of the file.

    Attributes:
        times: of each time step, in units of the file (shape: steps).
        step: in which step each change is (shape: changes), ascending.
        signal: of which of the signals asked for, by place in the request.
        value: the new value, `UNKNOWN` for x and z.
        labels: for each signal asked for, what its values mean; None if they are the numbers
            that the signal's bits make.
        widths: bits that the values of each signal need.
        end: the last time of the file.
        per_tick: the times count so many parts of the file's unit of time.
        anomalies: what the reader met on its way.
    """

    times: Ints
    step: NDArray[np.signedinteger[Any]]
    signal: NDArray[np.signedinteger[Any]]
    value: NDArray[np.signedinteger[Any]]
    labels: tuple[tuple[str, ...] | None, ...]
    widths: tuple[int, ...]
    end: int
    per_tick: int
    anomalies: tuple[Anomaly, ...]

    def without(self, signal: int) -> Changes:
        """The same, but for one of the signals."""
        keep = self.signal != signal
        return replace(self, step=self.step[keep], signal=self.signal[keep], value=self.value[keep])


class Waveform(Protocol):
    """An opened waveform.

    Attributes:
        path: where it lies.
        form: `VCD`, `FST` or `GHW`.
        signals: everything declared, in the order of declaration.
        tick_fs: femtoseconds of a unit of time, None if the file does not say.
    """

    path: Path
    form: str
    signals: Sequence[Signal]
    tick_fs: Fraction | None

    def read(self, wanted: Sequence[Signal]) -> Changes:
        """The changes of these signals, whose keys differ.

        Raises:
            DataError: the file is damaged or exceeds a limit.
        """
        ...
