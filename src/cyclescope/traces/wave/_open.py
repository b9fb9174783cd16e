"""Open a waveform, whatever it is, and find signals in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cyclescope.errors import DataError
from cyclescope.traces._text import open_compressed
from cyclescope.traces.wave._types import LIMITS, Limits, Signal, Waveform
from cyclescope.traces.wave._vcd import VcdFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["find_signal", "open_waveform", "unique"]

_FST = (b"\x00", b"\xfe")  # block types: header; a whole file packed by gzip
_GHW = b"GHDLwave"
_RANGE = re.compile(r"\s*\[-?\d+:-?\d+\]$")


def open_waveform(path: Path, limits: Limits = LIMITS) -> Waveform:
    """Open a VCD (plain, .gz or .xz), an FST or a GHW.

    Raises:
        DataError: it cannot be read, is none of them, or exceeds a limit.
    """
    with open_compressed(path) as stream:
        try:
            first = stream.read(len(_GHW))
        except (EOFError, OSError, ValueError) as error:
            raise DataError(f"{path}: is damaged: {error}; copy it again") from error
        except Exception as error:
            raise DataError(f"{path}: is damaged: {error}; copy it again") from error
    if first[:1] in _FST:
        from cyclescope.traces.wave._stored import open_fst

        return open_fst(path, limits)
    if first == _GHW:
        from cyclescope.traces.wave._stored import open_ghw

        return open_ghw(path, limits)
    return VcdFile(path, limits)


def find_signal(waveform: Waveform, name: str) -> Signal:
    """The signal of that full name, or the only one whose name ends so.

    Names may have the range of their bits behind them. Of several signals with one full name the
    second is `name#2`.

    Raises:
        DataError: there is none, or several that differ.
    """
    plain, _, number = name.rpartition("#")
    for wanted in dict.fromkeys((name, _RANGE.sub("", name))):
        exact = [s for s in waveform.signals if s.full_name == wanted]
        found = exact or [s for s in waveform.signals if f".{s.full_name}".endswith(f".{wanted}")]
        if found:
            break
    else:
        if plain and number.isdigit():
            same = unique(s for s in waveform.signals if s.full_name == plain)
            if 0 < int(number) <= len(same):
                return same[int(number) - 1]
        raise DataError(
            f"{waveform.path}: has no signal {name}; its names are dotted: top.unit.s; --list "
            "shows them"
        )
    different = unique(found)
    if len(different) > 1:
        names = [s.full_name for s in different]
        some = ", ".join(_numbered(names)[:3])
        raise DataError(f"{waveform.path}: {name} names {len(names)} signals ({some}); say which")
    return found[0]


def _numbered(names: list[str]) -> list[str]:
    """The same names, the second of two equal ones as `name#2`."""
    return [
        name if names[:place].count(name) == 0 else f"{name}#{names[: place + 1].count(name)}"
        for place, name in enumerate(names)
    ]


def unique(signals: Iterable[Signal]) -> list[Signal]:
    """One signal of each key, in order."""
    return list({signal.key: signal for signal in reversed(list(signals))}.values())[::-1]
