"""Steps of control registers: which kind of register moves on in which cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model import Activity, Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from cyclescope.model import Bank, Ints, Profile, Series

__all__ = ["Moves", "Steps", "bits_at", "causes_of_bits", "moves", "steps", "trees_at", "windows"]

_MOST_CAUSES = 8  # that are told apart: bits of what moves in a cycle
_WINDOW = 1 << 22  # cycles looked at together: bounds the memory, whatever the run's length


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps of registers that are kept together.

    Back to 0 is no step: a block clears its registers in the cycle in which the one around it
    moves on, and takes no cycle for it.

    Attributes:
        when: cycles in which any of them may take one, ascending, shape (n,).
        which: the change that happens then, an index into `stepped`, shape (n,).
        stepped: which registers take a step in a change, shape (changes, registers).
        registers: the registers.
        bits: of each register the bit of its cause, in what `bits_at` tells, shape (registers,).
    """

    when: Ints
    which: Ints
    stepped: NDArray[np.bool_]
    registers: tuple[Series, ...]
    bits: NDArray[np.uint8]


def _causes(profile: Profile) -> list[str]:
    """The causes that control registers stand for: Calyx's two, then others by name."""
    calyx = [Cause.FSM.value, Cause.PAR_DONE.value]
    found = {s.cause for s in profile.series if _is_register(s)}
    return [*calyx, *sorted(found.difference(calyx))][:_MOST_CAUSES]


def _is_register(series: Series) -> bool:
    return series.activity is Activity.CONTROL and not series.summed


def causes_of_bits(profile: Profile) -> list[str]:
    """The cause of a cycle of control for each value that `bits_at` may tell; empty for 0."""
    causes = _causes(profile)
    result = []
    for bits in range(1 << len(causes)):
        moved = [cause for number, cause in enumerate(causes) if bits >> number & 1]
        both = moved == [Cause.FSM, Cause.PAR_DONE]
        result.append(Cause.BOTH.value if both else " and ".join(moved))
    return result


def steps(profile: Profile) -> list[Steps]:
    """The steps of all control registers; registers of one bank share an entry."""
    bit = {cause: 1 << number for number, cause in enumerate(_causes(profile))}
    banks: dict[int, tuple[Bank, list[Series]]] = {}
    result = []
    for series in profile.series:
        if not _is_register(series):
            continue
        if series.bank is None:
            when = _updates(series)
            after = series.value[np.searchsorted(series.start, when, side="right")]
            when = when[after != 0]
            one = np.ones((1, 1), dtype=np.bool_)
            which = np.zeros(len(when), dtype=np.int64)
            result.append(Steps(when, which, one, (series,), _bits(bit, [series])))
        else:
            banks.setdefault(id(series.bank), (series.bank, []))[1].append(series)
    return [*result, *(_of_bank(bank, members, bit) for bank, members in banks.values())]


def _bits(bit: Mapping[str, int], registers: Sequence[Series]) -> NDArray[np.uint8]:
    return np.array([bit.get(register.cause, 0) for register in registers], dtype=np.uint8)


def _of_bank(bank: Bank, registers: Sequence[Series], bit: Mapping[str, int]) -> Steps:
    values = bank.values[:, [register.column for register in registers]]
    pairs, which = bank.changes
    before, after = np.divmod(pairs, len(values))
    stepped = (values[before] != values[after]) & (values[after] != 0)
    return Steps(bank.ends[:-1] - 1, which, stepped, tuple(registers), _bits(bit, registers))


@dataclass(frozen=True, slots=True)
class Moves:
    """All changes of one register.

    Attributes:
        register: the register.
        when: the cycle in which it is written, ascending, shape (n,): its value differs after it.
        which: an index into `pairs`, shape (n,).
        pairs: the distinct (value before, value after).
    """

    register: Series
    when: Ints
    which: Ints
    pairs: list[tuple[int, int]]


def moves(registers: Iterable[Series]) -> Iterator[Moves]:
    """Every change of the given registers, a register at a time, those of a bank together."""
    banks: dict[int, tuple[Bank, list[Series]]] = {}
    for series in registers:
        if series.bank is None:
            when = _updates(series)
            after = np.searchsorted(series.start, when, side="right")
            pairs = np.stack((series.value[after - 1], series.value[after]), axis=1)
            yield _moves(series, when, np.arange(len(pairs)), pairs)
        else:
            banks.setdefault(id(series.bank), (series.bank, []))[1].append(series)
    for bank, members in banks.values():
        pairs, which = bank.changes
        values = bank.values[:, [series.column for series in members]]
        before, after = (values[state] for state in np.divmod(pairs, len(values)))
        # First the changes of any of these, which are few beside those of the whole bank.
        some = np.flatnonzero((before != after).any(axis=1)[which])
        which, when = which[some], bank.ends[some] - 1
        for series, old, new in zip(members, before.T, after.T, strict=True):
            own = np.flatnonzero((old != new)[which])
            yield _moves(series, when[own], which[own], np.stack((old, new), axis=1))


def _moves(register: Series, when: Ints, which: Ints, pairs: Ints) -> Moves:
    """Number the distinct pairs; of those given only some may occur."""
    occurs = np.zeros(len(pairs), dtype=np.bool_)
    occurs[which] = True
    distinct, number = np.unique(pairs[occurs], axis=0, return_inverse=True)
    rank = np.zeros(len(pairs), dtype=np.int64)
    rank[occurs] = number.reshape(-1)
    return Moves(register, when, rank[which], [(old, new) for old, new in distinct.tolist()])


def _updates(series: Series) -> Ints:
    """The cycles in which a register with intervals of its own is written."""
    start, end, value = series.intervals
    last: Ints = end[:-1][(end[:-1] == start[1:]) & (value[:-1] != value[1:])] - 1
    return last


def windows(profile: Profile) -> Iterator[tuple[int, int]]:
    """The run in pieces: (first cycle, cycle after the last)."""
    for first in range(0, profile.cycles, _WINDOW):
        yield first, min(first + _WINDOW, profile.cycles)


def bits_at(
    found: Iterable[Steps], counts: Callable[[str], bool], first: int, last: int
) -> NDArray[np.uint8]:
    """Which causes' registers take a step in each cycle of a window, as bits.

    Args:
        found: the steps.
        counts: whether a register of that track counts.
        first: the window's first cycle.
        last: the cycle after its last.
    """
    result = np.zeros(last - first, dtype=np.uint8)
    for moves in found:
        counted = np.array([counts(r.track) for r in moves.registers], dtype=np.uint8)
        of_change = np.bitwise_or.reduce(moves.stepped * (moves.bits * counted), axis=1)
        begin, end = np.searchsorted(moves.when, (first, last)).tolist()
        result[moves.when[begin:end] - first] |= of_change[moves.which[begin:end]]
    return result


def trees_at(profile: Profile, first: int, last: int) -> Ints:
    """The tree of each cycle of a window."""
    runs = profile.schedule
    start = runs.start
    begin = int(np.searchsorted(start, first, side="right")) - 1
    until = int(np.searchsorted(start, last, side="left"))
    low = np.maximum(start[begin:until], first)
    high = np.minimum(start[begin:until] + runs.cycles[begin:until], last)
    small = runs.tree[begin:until].astype(np.int32)
    return np.repeat(small, high - low)
