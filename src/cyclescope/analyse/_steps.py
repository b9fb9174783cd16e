"""Steps of control registers: which kind of register moves on in which cycle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model import (
    Activity,
    Cause,
    Changes,
    Segments,
    at_changes,
    combined,
    held,
    together,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from cyclescope.model import Bank, Ints, Profile, Series

__all__ = ["Moves", "Steps", "causes_of_bits", "moves", "moves_over_time", "steps"]

_MOST_CAUSES = 8  # that are told apart: bits of what steps in a cycle


@dataclass(frozen=True)
class Steps:
    """Changes over time: trees, and control registers, which take steps.

    Back to 0 is no step: a block clears its registers in the cycle in which the one around it
    moves on, and takes no cycle for it.

    Attributes:
        segments: states over time, from 0 to the run's end.
        tree_of: the tree of each state, shape (states,).
        registers: all control registers, first those in banks.
        values: of each of these in each state, shape (states + 1, in banks); the last row is what
            the run's last cycle led to.
        ends_known: which of these that is known of, shape (in banks,).
        steps: whether each other one takes a step in the last cycle of a run of that state, shape
            (states, others).
        bits: of each register the bit of its cause, shape (registers,).
    """

    segments: Segments
    tree_of: Ints
    registers: tuple[Series, ...]
    values: Ints
    ends_known: NDArray[np.bool_]
    steps: NDArray[np.bool_]
    bits: NDArray[np.uint8]

    def bits_of(
        self, before: Ints, after: Ints, counts: Callable[[str], bool] = lambda _: True
    ) -> NDArray[np.uint8]:
        """The causes whose registers take a step in changes, as bits.

        Args:
            before: the state before each change, shape (changes,).
            after: the one after it.
            counts: whether a register of that track counts.
        """
        old, new = self.values[before], self.values[after]
        stepped = (old != new) & (new != 0)
        stepped[after == self.end] &= self.ends_known
        stepped = np.concatenate((stepped, self.steps[before]), axis=1)
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
    profile = together(profile)
    found = [series for series in profile.series if _is_register(series)]
    found.sort(key=lambda register: register.bank is None)
    bits = np.array([bit.get(register.cause, 0) for register in found], dtype=np.uint8)
    banked = [(r.bank, r.column) for r in found if r.bank is not None]
    runs, alone = profile.schedule, found[len(banked) :]
    segments, of_state = runs.segments, np.arange(len(runs.tree_of))
    stepping = np.zeros((len(of_state), 0), dtype=np.bool_)
    if alone:
        segments, of_state, stepping = _with_steps(segments, alone)
    shown = (np.append(bank.shown[of_state], bank.after) for bank, _ in banked)
    pairs = zip(banked, shown, strict=True)
    values = [bank.values[states, column] for (bank, column), states in pairs]
    nothing = np.empty((len(of_state) + 1, 0), dtype=np.int64)
    return Steps(
        segments,
        runs.tree_of[of_state],
        tuple(found),
        np.stack(values, axis=1) if values else nothing,
        np.array([bank.after >= 0 for bank, _ in banked], dtype=np.bool_),
        stepping,
        bits,
    )


def _with_steps(
    segments: Segments, alone: list[Series]
) -> tuple[Segments, Ints, NDArray[np.bool_]]:
    """A sequence whose states also tell what registers with intervals of their own step.

    Returns:
        The sequence; of each of its states the one of `segments`, and which of the registers take a
        step in the last cycle of a run of it.
    """
    total = segments.total
    steps = [_steps_of(register) for register in alone]
    when = np.unique(np.concatenate(steps))
    taken = np.zeros((len(when) + 1, len(alone)), dtype=np.bool_)
    for column, own in enumerate(steps):
        taken[np.searchsorted(when, own), column] = True
    words = np.packbits(taken, axis=1)
    sets, number = combined([*words.T.astype(np.int64), np.zeros(len(words), dtype=np.int64)])
    lengths, state = segments.runs()
    start = np.cumsum(lengths) - lengths
    begin = np.unique(np.concatenate((when + 1, start)))
    begin = begin[begin < total]
    last = np.append(begin[1:], total) - 1
    place = np.searchsorted(when, last)
    place[np.append(when, -1)[place] != last] = len(when)
    rows, shown = combined([held(start, state, begin), number[place]])
    stepping = np.unpackbits(sets[:, :-1].astype(np.uint8), axis=1, count=len(alone))
    cycles = np.diff(np.append(begin, total))
    return Segments.plain(cycles, shown), rows[:, 0], stepping.astype(np.bool_)[rows[:, 1]]


def _steps_of(register: Series) -> Ints:
    """The cycles in which a register with intervals of its own takes a step."""
    when = _updates(register)
    after = register.value[np.searchsorted(register.start, when, side="right")]
    found: Ints = when[after != 0]
    return found


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
    alone, banks = _by_bank(registers)
    for series in alone:
        when = _updates(series)
        after = np.searchsorted(series.start, when, side="right")
        pairs = np.stack((series.value[after - 1], series.value[after]), axis=1)
        yield _moves(series, when, np.arange(len(pairs)), pairs)
    for bank, members in banks:
        pairs, which = bank.changes
        values = bank.values[:, [series.column for series in members]]
        before, after = (values[state] for state in np.divmod(pairs, len(values)))
        # First the changes of any of these, which are few beside those of the whole bank.
        some = np.flatnonzero((before != after).any(axis=1)[which])
        which, when = which[some], bank.ends[some] - 1
        for series, old, new in zip(members, before.T, after.T, strict=True):
            own = np.flatnonzero((old != new)[which])
            yield _moves(series, when[own], which[own], np.stack((old, new), axis=1))


def moves_over_time(
    registers: Iterable[Series], start: int, end: int
) -> tuple[list[tuple[Series, int, int]], list[Iterator[tuple[Ints, Ints]]]]:
    """Every change of the given registers from cycle `start` to before `end`, part by part.

    Returns:
        The distinct changes of the whole run, as `moves` gives them: (register, value before,
        value after). And streams of (cycle in which it is written, index of the change): in each
        cycles ascend, and of one cycle indices.
    """
    alone, banks = _by_bank(registers)
    names: list[tuple[Series, int, int]] = []
    streams: list[Iterator[tuple[Ints, Ints]]] = []
    for found in moves(alone):
        inside = slice(*np.searchsorted(found.when, (start, end)).tolist())
        streams.append(iter([(found.when[inside], found.which[inside] + len(names))]))
        names += [(found.register, old, new) for old, new in found.pairs]
    for bank, members in banks:
        segments, total = bank.segments, bank.segments.total
        changes = segments.changes
        states = [bank.shown[changes.before], bank.shown[changes.after]]
        if bank.after >= 0 and total:
            final = (bank.shown[segments.last], bank.after)
            states = [np.append(side, state) for side, state in zip(states, final, strict=True)]
        columns = [series.column for series in members]
        before, after = (bank.values[side][:, columns] for side in states)
        differs = before != after
        number = np.zeros(differs.shape, dtype=np.int64)
        for column, series in enumerate(members):
            own = differs[:, column]
            both = np.stack((before[own, column], after[own, column]), axis=1)
            pairs, which = np.unique(both, axis=0, return_inverse=True)
            number[own, column] = which.reshape(-1) + len(names)
            names += [(series, old, new) for old, new in pairs.tolist()]
        offset = np.concatenate(([0], np.cumsum(differs.sum(axis=1))))
        listed = number[differs]
        inner = offset[: len(changes.before) + 1]
        repeated = at_changes(segments, inner, listed[: inner[-1]], shift=-1)
        last = listed[inner[-1] :] if start < total <= end else listed[:0]
        ending = (np.full(len(last), total - 1), last)
        streams.append(chain(repeated.parts(start, end), [ending]))
    return names, streams


def _by_bank(
    registers: Iterable[Series],
) -> tuple[list[Series], Iterable[tuple[Bank, list[Series]]]]:
    """The registers with intervals of their own, and the others by bank."""
    alone: list[Series] = []
    banks: dict[int, tuple[Bank, list[Series]]] = {}
    for series in registers:
        if series.bank is None:
            alone.append(series)
        else:
            banks.setdefault(id(series.bank), (series.bank, []))[1].append(series)
    return alone, banks.values()


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
