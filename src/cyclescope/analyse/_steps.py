"""Steps of control registers: which kind of register moves on in which cycle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model import Activity, Cause, Changes, Segments, combined, held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from cyclescope.model import Bank, Ints, Profile, Series

__all__ = ["Moves", "Steps", "causes_of_bits", "moves", "steps"]

_MOST_CAUSES = 8  # that are told apart: bits of what steps in a cycle


@dataclass(frozen=True)
class Steps:
    """What changes over time: trees, and control registers, which take steps.

    Back to 0 is no step: a block clears its registers in the cycle in which the one around it
    moves on, and takes no cycle for it.

    Attributes:
        segments: states over time, from 0 to the run's end.
        tree_of: the tree of each state, shape (states,).
        registers: all control registers.
        values: of each register in each state, shape (states + 1, registers); the last row is what
            the run's last cycle led to, as far as that is known.
        known: whether there is a value, of the same shape.
        bits: of each register the bit of its cause, shape (registers,).
    """

    segments: Segments
    tree_of: Ints
    registers: tuple[Series, ...]
    values: Ints
    known: NDArray[np.bool_]
    bits: NDArray[np.uint8]

    def bits_of(
        self, before: Ints, after: Ints, counts: Callable[[str], bool] = lambda _: True
    ) -> NDArray[np.uint8]:
        """Which causes' registers take a step in changes, as bits.

        Args:
            before: the state before each change, shape (changes,).
            after: the one after it.
            counts: whether a register of that track counts.
        """
        old, new = self.values[before], self.values[after]
        stepped = (old != new) & (new != 0) & self.known[before] & self.known[after]
        counted = np.array([counts(r.track) for r in self.registers], dtype=np.uint8)
        found: NDArray[np.uint8] = np.bitwise_or.reduce(stepped * (self.bits * counted), axis=1)
        return found

    @property
    def end(self) -> int:
        """The number that stands for what the last cycle led to."""
        return len(self.tree_of)

    @cached_property
    def changes(self) -> Changes:
        """The distinct changes with what the last cycle led to."""
        found = self.segments.changes
        if not len(self.segments.order):
            return found
        more = zip(found, (self.segments.last, self.end, 1), strict=True)
        return Changes(*(np.append(column, value) for column, value in more))


def _causes(profile: Profile) -> list[str]:
    """The causes that control registers stand for: Calyx's two, then others by name."""
    calyx = [Cause.FSM.value, Cause.PAR_DONE.value]
    found = {s.cause for s in profile.series if _is_register(s)}
    return [*calyx, *sorted(found.difference(calyx))][:_MOST_CAUSES]


def _is_register(series: Series) -> bool:
    return series.activity is Activity.CONTROL and not series.summed


def causes_of_bits(profile: Profile) -> list[str]:
    """The cause of a cycle of control for each value that `Steps.bits_of` may tell; empty for 0."""
    causes = _causes(profile)
    result = []
    for bits in range(1 << len(causes)):
        moved = [cause for number, cause in enumerate(causes) if bits >> number & 1]
        both = moved == [Cause.FSM, Cause.PAR_DONE]
        result.append(Cause.BOTH.value if both else " and ".join(moved))
    return result


def steps(profile: Profile) -> Steps:
    """Trees and control registers over time."""
    bit = {cause: 1 << number for number, cause in enumerate(_causes(profile))}
    registers = tuple(series for series in profile.series if _is_register(series))
    bits = np.array([bit.get(r.cause, 0) for r in registers], dtype=np.uint8)
    runs = profile.schedule
    if all(r.bank is not None and r.bank.segments is runs.segments for r in registers):
        values = np.zeros((len(runs.tree_of) + 1, len(registers)), dtype=np.int64)
        for column, register in enumerate(registers):
            assert register.bank is not None
            own = register.bank.values[:, register.column]
            values[:-1, column] = own[register.bank.shown]
            values[-1, column] = own[register.bank.after]
        known = np.ones(values.shape, dtype=np.bool_)
        known[-1] = [r.bank is not None and r.bank.after >= 0 for r in registers]
        return Steps(runs.segments, runs.tree_of, registers, values, known, bits)
    return _merged(profile, registers, bits)


def _merged(profile: Profile, registers: tuple[Series, ...], bits: NDArray[np.uint8]) -> Steps:
    """Trees and registers that were recorded apart from each other."""
    runs, total = profile.schedule, profile.cycles
    banks = {id(r.bank): r.bank for r in registers if r.bank is not None}
    alone = [r for r in registers if r.bank is None]
    # Start of each run, and what it shows, of everything that changes.
    found = [(np.cumsum(runs.cycles) - runs.cycles, runs.tree)]
    found += [(bank.ends - bank.cycles, bank.state) for bank in banks.values()]
    for register in alone:
        start, end, value = register.intervals
        gap = np.append(start[1:], -1) != end
        when = np.concatenate((start, end[gap]))
        order = np.argsort(when, kind="stable")
        which = np.concatenate((np.arange(len(value)), np.full(int(gap.sum()), -1)))
        found.append((when[order], which[order]))
    edges = np.unique(np.concatenate([[0], *(when for when, _ in found)]))
    begin = edges[edges < total]
    at = np.append(begin, total)
    shown = [held(when, which, at) for when, which in found]
    distinct, state = combined([column[:-1] for column in shown])
    rows = np.vstack([distinct, [[column[-1] for column in shown]]])
    place = {key: column for column, key in enumerate([*banks, *map(id, alone)], 1)}
    values, known = [], []
    for register in registers:
        # A bank goes on past the run if what the last cycle led to is known.
        number = rows[:, place[id(register.bank or register)]].copy()
        if register.bank is None:
            of = register.value
        else:
            of = register.bank.values[:, register.column]
            number[-1] = number[-1] if register.bank.total > total else -1
        values.append(np.append(of, 0)[number])
        known.append(number >= 0)
    cycles = np.diff(at)
    return Steps(
        Segments.plain(cycles, state),
        distinct[:, 0],
        registers,
        np.stack(values, axis=1),
        np.stack(known, axis=1),
        bits,
    )


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
