"""From the changes that a reader finds to those of the signals that were asked for.

A reader knows numbers and texts. Here texts become labels, and signals that were declared bit by
bit are put together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope.traces.wave._types import MAX_BITS, UNKNOWN, Changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cyclescope.model import Anomaly, Ints
    from cyclescope.traces.wave._types import Signal

__all__ = ["Raw", "ground", "of_signals"]


@dataclass
class Raw:
    """Changes of signals as the file stores them, in its order.

    Attributes:
        times, step: as in `Changes`.
        signal: by place among the keys asked for.
        value: `UNKNOWN`, a number, or -2 for the first text, -3 for the second, and so on.
        texts: values that are no numbers of up to `MAX_BITS` bits.
    """

    times: Ints
    step: NDArray[np.signedinteger[Any]]
    signal: NDArray[np.signedinteger[Any]]
    value: NDArray[np.signedinteger[Any]]
    texts: Sequence[str]


def ground(wanted: Sequence[Signal]) -> dict[bytes, int]:
    """The keys of the stored signals that these are made of, and their bits."""
    found: dict[bytes, int] = {}
    for signal in wanted:
        for key, width in signal.parts or ((signal.key, signal.width),):
            found[key] = max(width, found.get(key, 0))
    return found


def of_signals(
    raw: Raw, wanted: Sequence[Signal], end: int, per_tick: int, anomalies: Sequence[Anomaly]
) -> Changes:
    """The changes of the signals that were asked for.

    Args:
        raw: of the signals that `ground` names, in its order.
        wanted: the signals.
        end: the last time of the file.
        per_tick: the times count so many parts of the file's unit of time.
        anomalies: what the reader met on its way.
    """
    labels: list[tuple[str, ...] | None] = [None] * len(wanted)
    widths = [min(max(1, signal.width), MAX_BITS) for signal in wanted]
    texts = list(raw.texts)
    step, signal, value = raw.step, raw.signal, raw.value
    if any(one.parts for one in wanted):
        step, signal, value = _joined(raw, wanted, texts)
    if len(value) and int(value.min()) < UNKNOWN:
        value = value.astype(np.int64)
        rows = _rows(signal, len(wanted))
        for place in np.unique(signal[value < UNKNOWN]).tolist():
            own = rows[place][value[rows[place]] != UNKNOWN]
            codes, number = np.unique(value[own], return_inverse=True)
            value[own] = number.reshape(-1)
            labels[place] = tuple(texts[-2 - n] if n < 0 else str(n) for n in codes.tolist())
            widths[place] = max(1, (len(codes) - 1).bit_length())
    return Changes(
        times=raw.times,
        step=step,
        signal=signal,
        value=value,
        labels=tuple(labels),
        widths=tuple(widths),
        end=end,
        per_tick=per_tick,
        anomalies=tuple(anomalies),
    )


def _rows(signal: NDArray[np.signedinteger[Any]], count: int) -> list[Ints]:
    """The changes of each of so many signals, in their order."""
    order: Ints = np.argsort(signal, kind="stable")
    return np.split(order, np.cumsum(np.bincount(signal, minlength=count))[:-1]) if count else []


def _joined(raw: Raw, wanted: Sequence[Signal], texts: list[str]) -> tuple[Ints, Ints, Ints]:
    """(step, signal, value) by signals that were asked for, those of parts put together."""
    stored = ground(wanted)
    rows = dict(zip(stored, _rows(raw.signal, len(stored)), strict=True))
    steps: list[Ints] = []
    values: list[Ints] = []
    for one in wanted:
        if one.parts:
            parts = [(rows[key], bits) for key, bits in one.parts]
            step, value = _together(raw, parts, texts)
        else:
            own = rows[one.key]
            step, value = raw.step[own].astype(np.int64), raw.value[own].astype(np.int64)
        steps.append(step)
        values.append(value)
    step = np.concatenate(steps)
    order = np.argsort(step, kind="stable")
    signal = np.repeat(np.arange(len(wanted)), [len(part) for part in steps])
    return step[order], signal[order], np.concatenate(values)[order]


def _together(raw: Raw, parts: Sequence[tuple[Ints, int]], texts: list[str]) -> tuple[Ints, Ints]:
    """The steps in which a part changes, and the value of the whole at the end of each."""
    at = np.unique(np.concatenate([raw.step[own] for own, _ in parts])).astype(np.int64)
    shown = np.full((len(parts), len(at)), UNKNOWN, dtype=np.int64)
    for row, (own, _) in enumerate(parts):
        last = np.full(len(at), UNKNOWN, dtype=np.int64)
        changed = np.full(len(at), -1, dtype=np.int64)
        column = np.searchsorted(at, raw.step[own])
        last[column] = raw.value[own]
        changed[column] = column
        since = np.maximum.accumulate(changed)
        shown[row] = np.where(since < 0, UNKNOWN, last[since])
    if sum(bits for _, bits in parts) <= MAX_BITS:
        value = np.zeros(len(at), dtype=np.int64)
        for row, (_, bits) in enumerate(parts):
            value = value << bits | np.maximum(shown[row], 0)
        return at, np.where((shown == UNKNOWN).any(axis=0), UNKNOWN, value)
    distinct, number = np.unique(shown, axis=1, return_inverse=True)
    widths = [bits for _, bits in parts]
    whole = [_wide(column, widths, texts) for column in distinct.T.tolist()]
    return at, np.array(whole, dtype=np.int64)[number.reshape(-1)]


def _wide(column: Sequence[int], widths: Sequence[int], texts: list[str]) -> int:
    """The value of parts that together are too wide for a number: a new text."""
    if UNKNOWN in column:
        return UNKNOWN
    whole = 0
    for shown, bits in zip(column, widths, strict=True):
        whole = whole << bits | (shown if shown >= 0 else int(texts[-2 - shown], 16))
    texts.append(f"{whole:#x}")
    return -1 - len(texts)
