"""Open a waveform, whatever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.errors import DataError
from cyclescope.traces._vcd import VcdFile, open_compressed
from cyclescope.traces._wave import LIMITS, Limits, Signal, Waveform

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["find_signal", "open_waveform", "unique"]

_FST = (b"\x00", b"\xfe")  # block types: header; a whole file packed by gzip


def open_waveform(path: Path, limits: Limits = LIMITS) -> Waveform:
    """Open a VCD (plain, .gz or .xz) or an FST.

    Raises:
        DataError: it cannot be read, is none of them, or exceeds a limit.
    """
    with open_compressed(path) as stream:
        try:
            first = stream.read(1)
        except (EOFError, OSError, ValueError) as error:
            raise DataError(f"{path}: is damaged: {error}; copy it again") from error
        except Exception as error:
            raise DataError(f"{path}: is damaged: {error}; copy it again") from error
    if first in _FST:
        from cyclescope.traces._fst import FstFile

        return FstFile(path, limits)
    return VcdFile(path, limits)


def find_signal(waveform: Waveform, name: str) -> Signal:
    """The signal of that full name, or the only one whose name ends so.

    Raises:
        DataError: there is none, or several that differ.
    """
    exact = [s for s in waveform.signals if s.full_name == name]
    found = exact or [s for s in waveform.signals if f".{s.full_name}".endswith(f".{name}")]
    if not found:
        raise DataError(f"{waveform.path}: has no signal {name}; its names are dotted: top.unit.s")
    if len({s.key for s in found}) > 1:
        some = ", ".join(s.full_name for s in found[:3])
        raise DataError(f"{waveform.path}: {name} names {len(found)} signals ({some}); say which")
    return found[0]


def unique(signals: Iterable[Signal]) -> list[Signal]:
    """One signal of each key, in order."""
    return list({signal.key: signal for signal in reversed(list(signals))}.values())[::-1]
