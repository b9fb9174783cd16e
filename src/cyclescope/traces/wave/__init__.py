"""Waveforms of any simulator: VCD, FST and GHW, as signals and their changes.

`open_waveform` gives what is declared, `Waveform.read` the changes of the signals asked for,
`sample` the states that they show. VCD is read here, FST and GHW by the crate wellen in a process
that can be stopped.
"""

from cyclescope.traces.wave._listing import listing
from cyclescope.traces.wave._open import find_signal, open_waveform, unique
from cyclescope.traces.wave._sample import States, rising, sample
from cyclescope.traces.wave._types import (
    LIMITS,
    MAX_BITS,
    UNKNOWN,
    Changes,
    Limits,
    Signal,
    SignalKind,
    Waveform,
)

__all__ = [
    "LIMITS",
    "MAX_BITS",
    "UNKNOWN",
    "Changes",
    "Limits",
    "Signal",
    "SignalKind",
    "States",
    "Waveform",
    "find_signal",
    "listing",
    "open_waveform",
    "rising",
    "sample",
    "unique",
]
