"""From value changes to states: what all signals show in each clock cycle, or at each change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.traces.wave._types import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from cyclescope.model import Ints
    from cyclescope.traces.wave._types import Changes

__all__ = ["States", "rising", "sample"]

_BUCKET_BITS = 20


@dataclass(frozen=True)
class States:
    """The distinct combinations of values, and which is shown when.

    Attributes:
        values: of each signal in each combination (shape: combinations, signals).
        state: which combination each sample shows (shape: samples).
    """

    values: Ints
    state: Ints


def rising(changes: Changes, clock: int) -> Ints:
    """The time steps at whose end the clock is 1 and was 0 at the end of the one before.

    Args:
        changes: of several signals.
        clock: the place of the clock among them.
    """
    own = np.flatnonzero(changes.signal == clock)
    step, value = changes.step[own], changes.value[own]
    last = np.concatenate((step[1:] != step[:-1], [True]))[: len(step)]
    step, value = step[last], value[last]
    edges: Ints = step[1:][(value[1:] == 1) & (value[:-1] == 0)].astype(np.int64)
    return edges


def sample(changes: Changes, at: Ints, widths: Sequence[int], *, unknown: int = UNKNOWN) -> States:
    """The values of all signals at the end of some time steps.

    Args:
        changes: of the signals.
        at: ascending time steps, all different (shape: samples).
        widths: bits of each signal.
        unknown: what stands for an unknown value: `UNKNOWN`, or 0 to save space.
    """
    extra = int(unknown == UNKNOWN)  # codes 0 for unknown, value + 1 for a value
    # Which sample is the first to show what changes in a step: as many as are over before it.
    passed = np.zeros(len(changes.times) + 1, dtype=np.int32)
    passed[at + 1] = 1
    first = np.cumsum(passed, dtype=np.int32)
    order = np.argsort(changes.signal.astype(_narrow(len(widths))), kind="stable")
    bounds = np.zeros(len(widths) + 1, dtype=np.int64)
    bounds[1:] = np.cumsum(np.bincount(changes.signal, minlength=len(widths)))
    fields, words = _fields([width + extra for width in widths])
    packed = np.zeros((words, len(at)), dtype=np.uint64)
    for signal, (word, shift) in enumerate(fields):
        own = order[bounds[signal] : bounds[signal + 1]]
        place = first[changes.step[own]]
        # The last change before a sample is what it shows; after the last sample nothing is.
        last = np.concatenate((place[1:] != place[:-1], [True])) & (place < len(at))
        code = (np.maximum(changes.value[own][last], unknown) + extra).astype(np.uint64)
        code[1:] ^= code[:-1].copy()
        packed[word, place[last]] ^= code << np.uint64(shift)
    for row in packed:
        np.bitwise_xor.accumulate(row, out=row)
    shown, state = _distinct(packed)
    values = np.empty((shown.shape[1], len(widths)), dtype=np.int64)
    for signal, (word, shift) in enumerate(fields):
        mask = np.uint64((1 << widths[signal] + extra) - 1)
        values[:, signal] = ((shown[word] >> np.uint64(shift)) & mask).astype(np.int64) - extra
    return States(values, state)


def _narrow(count: int) -> type[np.uint16] | type[np.uint32]:
    """A type for numbers below `count`: numpy sorts short ones faster."""
    return np.uint16 if count < 1 << 16 else np.uint32


def _fields(widths: Sequence[int]) -> tuple[list[tuple[int, int]], int]:
    """The place of each signal's code: (word, shift), and the number of words."""
    fields: list[tuple[int, int]] = []
    word, used = 0, 0
    for width in widths:
        if used + width > 64:
            word, used = word + 1, 0
        fields.append((word, used))
        used += width
    return fields, word + 1


def _distinct(packed: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], Ints]:
    """The distinct columns, by first appearance, and which of them each column is."""
    samples = packed.shape[1]
    if not samples:
        return packed, np.empty(0, dtype=np.int64)
    begins = np.zeros(samples, dtype=np.bool_)
    begins[0] = True
    for row in packed:
        begins[1:] |= row[1:] != row[:-1]
    run = packed[:, begins]
    number = _numbered(run)
    count = int(number.max()) + 1
    where = np.full(count, run.shape[1])
    np.minimum.at(where, number, np.arange(run.shape[1]))
    rank = np.empty(count, dtype=np.int64)
    by_first = np.argsort(where)
    rank[by_first] = np.arange(count)
    lengths = np.diff(np.append(np.flatnonzero(begins), samples))
    return run[:, where[by_first]], np.repeat(rank[number], lengths)


def _numbered(run: NDArray[np.uint64]) -> Ints:
    """A number for each column, equal for equal columns."""
    digest = np.zeros(run.shape[1], dtype=np.uint64)
    for factor, row in zip(_factors(), run, strict=False):
        digest += (row ^ (row >> np.uint64(29))) * factor
    # A run has few distinct states: mostly a part of the digest tells them apart, nearly always
    # the whole, and the columns themselves in any case.
    for numbered in (_by_part, _by_whole):
        example, number = numbered(digest)
        if all(np.array_equal(row[example][number], row) for row in run):
            return number
    _, number = np.unique(run, axis=1, return_inverse=True)
    return number.reshape(-1)


def _by_part(digest: NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """The place of an example of each number, and the number of each digest by its first bits."""
    bucket = (digest >> np.uint64(64 - _BUCKET_BITS)).astype(np.int64)
    last = np.full(1 << _BUCKET_BITS, -1, dtype=np.int64)
    last[bucket] = np.arange(len(bucket))
    rank = np.cumsum(last >= 0) - 1
    return last[last >= 0], rank[bucket]


def _by_whole(digest: NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """As `_by_part`, by all bits."""
    _, example, number = np.unique(digest, return_index=True, return_inverse=True)
    return example, number.reshape(-1)


def _factors() -> Iterator[np.uint64]:
    factor = 0x9E3779B97F4A7C15
    while True:
        yield np.uint64(factor)
        factor = (factor * 0xD1342543DE82EF95 + 2) % (1 << 64) | 1
