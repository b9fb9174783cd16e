"""Counters and activity as a value change dump, for GTKWave, Surfer and their kin.

Every counter is a vector in the scope of its track, every call path a one-bit wire `active`.
Cycle numbers are times: 1 ns a cycle, or the clock's period where it is known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from cyclescope.model import spans

if TYPE_CHECKING:
    from cyclescope.model import Ints, Profile

__all__ = ["write_vcd"]

_CODES = [chr(c) for c in range(33, 127)]
_CHUNK = 1 << 16


class _Variable:
    """A variable of the dump: its scope, name, width, and the times at which it changes."""

    def __init__(
        self, scope: tuple[str, ...], name: str, width: int, time: Ints, value: Ints
    ) -> None:
        self.scope = scope
        self.name = name
        self.width = width
        self.time = time
        self.value = value


def write_vcd(profile: Profile, stream: BinaryIO) -> None:
    """Write a profile's counters and activity as a value change dump.

    Negative counter values are written in two's complement of 64 bits.
    """
    variables = [*_counters(profile), *_activity(profile)]
    variables.sort(key=lambda v: v.scope)
    period = profile.meta.period_ps
    unit, scale = ("1 ns", 1) if period is None else ("1 ps", period)
    title = re.sub(r"[^\x20-\x7e]", "?", profile.meta.title).replace("$", "?")
    head = [f"$comment {title} $end", f"$timescale {unit} $end", *_declared(variables)]
    stream.write(("\n".join(head) + "\n$enddefinitions $end\n").encode("ascii"))
    _changes(variables, scale, profile.cycles, stream)


def _identifier(number: int) -> str:
    text = ""
    while True:
        number, digit = divmod(number, len(_CODES))
        text += _CODES[digit]
        if number == 0:
            return text
        number -= 1


def _safe(name: str) -> str:
    """A name without blanks or anything else that the format reserves."""
    return re.sub(r"[^A-Za-z0-9_$\[\]#]+", "_", name).strip("_") or "_"


def _counters(profile: Profile) -> list[_Variable]:
    found = []
    for series in profile.series:
        # A gap between two intervals reads as zero.
        gap = np.append(series.start[1:] != series.end[:-1], True)[: len(series)]
        time = np.concatenate((series.start, series.end[gap]))
        value = np.concatenate((series.value, np.zeros(int(gap.sum()), dtype=np.int64)))
        order = np.argsort(time, kind="stable")
        time, value = time[order], value[order]
        # A dump begins with all at zero and tells changes only.
        moves = np.diff(value, prepend=0) != 0
        scope = tuple(_safe(part) for part in _scope(profile, series.path, series.track))
        low = int(value.min(initial=0))
        width = 64 if low < 0 else max(int(value.max(initial=0)).bit_length(), 1)
        found.append(_Variable(scope, _safe(series.name), width, time[moves], value[moves]))
    return found


def _scope(profile: Profile, path: int, track: str) -> tuple[str, ...]:
    return profile.stack(path) if path >= 0 else tuple(track.split("."))


def _activity(profile: Profile) -> list[_Variable]:
    found = spans(profile, split_static=False)
    bounds = np.searchsorted(found.path, np.arange(len(profile.call_paths) + 1))
    variables = []
    for path in range(len(profile.call_paths)):
        own = slice(int(bounds[path]), int(bounds[path + 1]))
        start, end = found.start[own], found.end[own]
        time = np.column_stack((start, end)).reshape(-1)
        value = np.tile(np.array([1, 0], dtype=np.int64), len(start))
        scope = tuple(_safe(part) for part in profile.stack(path))
        variables.append(_Variable(scope, "active", 1, time, value))
    return variables


def _declared(variables: list[_Variable]) -> list[str]:
    lines: list[str] = []
    current: tuple[str, ...] = ()
    taken: set[tuple[tuple[str, ...], str]] = set()
    for number, variable in enumerate(variables):
        shared = 0
        while shared < min(len(current), len(variable.scope)) and (
            current[shared] == variable.scope[shared]
        ):
            shared += 1
        lines += ["$upscope $end"] * (len(current) - shared)
        lines += [f"$scope module {part} $end" for part in variable.scope[shared:]]
        current = variable.scope
        name, copy = variable.name, 1
        while (current, name) in taken:
            copy += 1
            name = f"{variable.name}_{copy}"
        taken.add((current, name))
        lines.append(f"$var wire {variable.width} {_identifier(number)} {name} $end")
    return lines + ["$upscope $end"] * len(current)


def _changes(variables: list[_Variable], scale: int, cycles: int, stream: BinaryIO) -> None:
    codes = [_identifier(n) for n in range(len(variables))]
    widths = [v.width for v in variables]
    lines = ["#0", "$dumpvars"]
    lines += [_change(0, w, c) for w, c in zip(widths, codes, strict=True)]
    lines.append("$end")
    counts = [len(v.time) for v in variables]
    owner = np.repeat(np.arange(len(variables)), counts)
    time = np.concatenate([v.time for v in variables]) if variables else np.zeros(0, np.int64)
    value = np.concatenate([v.value for v in variables]) if variables else time
    order = np.lexsort((np.arange(len(time)), owner, time))
    now = 0
    for begin in range(0, len(order), _CHUNK):
        part = order[begin : begin + _CHUNK]
        rows = zip(time[part].tolist(), owner[part].tolist(), value[part].tolist(), strict=True)
        for at, who, number in rows:
            if at != now:
                now = at
                lines.append(f"#{at * scale}")
            lines.append(_change(number, widths[who], codes[who]))
        stream.write(("\n".join(lines) + "\n").encode("ascii"))
        lines = []
    if now != cycles:
        lines.append(f"#{cycles * scale}")
    stream.write(("\n".join(lines) + "\n").encode("ascii") if lines else b"")


def _change(number: int, width: int, code: str) -> str:
    if width == 1:
        return f"{number}{code}"
    return f"b{number & (2**width - 1):b} {code}"
