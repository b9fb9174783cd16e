"""A profile of threads that are each in one state at a time, from when the states change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.errors import DataError
from cyclescope.model._profile import CallPaths, Profile, Runs, Trees

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.model._frame import Frame
    from cyclescope.model._meta import Meta
    from cyclescope.model._profile import Ints
    from cyclescope.model._series import Series

__all__ = ["ThreadStates", "by_appearance", "profile_of_combinations", "profile_of_threads"]

_MOST_ENTRIES = 50_000_000
_WIDE = 1 << 62
_TABLE = 1 << 20  # numbers of combinations up to which a table is quicker than sorting


@dataclass(frozen=True, eq=False, slots=True)
class ThreadStates:
    """The states of a thread over time.

    Attributes:
        thread: its frame.
        states: the frame of each state, by number.
        start: when it enters a state; ascending from 0, shape (changes,).
        state: which, shape (changes,).
    """

    thread: Frame
    states: Sequence[Frame]
    start: Ints
    state: Ints


def profile_of_threads(
    meta: Meta,
    threads: Sequence[ThreadStates],
    cycles: int,
    *,
    root: Frame | None = None,
    series: Callable[[list[int]], Sequence[Series]] = lambda _: (),
    where: str = "",
) -> Profile:
    """Put threads' states side by side: law 6 holds by construction.

    Equal to what `ProfileBuilder` makes of the same runs, for millions of changes at once.

    Args:
        meta: the head.
        threads: each with at least one state, if there are any cycles.
        cycles: the run's length.
        root: a frame above all threads.
        series: given the path of each thread, its counters.
        where: what to name in an error: a file.

    Raises:
        DataError: so many different combinations of states that no tree can be kept of each.
    """
    times, first, shown = _combinations(threads)
    table = np.empty((len(first), len(threads)), dtype=np.int64)
    for number, thread in enumerate(threads):
        at = np.searchsorted(thread.start, times[first], side="right") - 1
        table[:, number] = thread.state[at]
    return profile_of_combinations(
        meta,
        [(thread.thread, thread.states) for thread in threads],
        table,
        (times, shown),
        cycles,
        root=root,
        series=series,
        where=where,
    )


def profile_of_combinations(
    meta: Meta,
    threads: Sequence[tuple[Frame, Sequence[Frame]]],
    table: Ints,
    changes: tuple[Ints, Ints],
    cycles: int,
    *,
    root: Frame | None = None,
    series: Callable[[list[int]], Sequence[Series]] = lambda _: (),
    where: str = "",
) -> Profile:
    """As `profile_of_threads`, where all threads' states are recorded together.

    Args:
        meta: the head.
        threads: each one's frame, and the frame of each state by number.
        table: the state of each thread in each combination, those in order of first appearance;
            shape (combinations, threads).
        changes: when a combination begins, ascending from 0, and which; shape (changes,).
        cycles: the run's length.
        root: a frame above all threads.
        series: given the path of each thread, its counters.
        where: what to name in an error: a file.

    Raises:
        DataError: so many different combinations of states that no tree can be kept of each.
    """
    catalog: dict[Frame, int] = {}
    parent: list[int] = []
    frame: list[int] = []

    def path(above: int, of: Frame) -> int:
        parent.append(above)
        frame.append(catalog.setdefault(of, len(catalog)))
        return len(parent) - 1

    top = path(-1, root) if root is not None else -1
    width = len(threads) * 2 + (root is not None)
    if len(table) * width > _MOST_ENTRIES:
        raise DataError(
            f"{where}: {len(threads):,} threads show {len(table):,} different combinations of "
            "states, more than can be kept; choose fewer threads"
        )
    active = np.zeros((len(table), width), dtype=np.int64)
    own: list[int] = []
    for number, (thread, states) in enumerate(threads):
        own.append(path(top, thread))
        below = np.full(len(states), -1, dtype=np.int64)
        for state in np.flatnonzero(np.bincount(table[:, number])).tolist():
            below[state] = path(own[-1], states[state])
        column = width - 2 * (len(threads) - number)
        active[:, column] = own[number]
        active[:, column + 1] = below[table[:, number]]
    times, shown = changes
    changed = shown[1:] != shown[:-1]
    if not changed.all():
        kept = np.append(np.zeros(1, dtype=np.int64), np.flatnonzero(changed) + 1)
        times, shown = times[kept], shown[kept]
    lengths = np.empty(len(times), dtype=np.int64)
    np.subtract(times[1:], times[:-1], out=lengths[:-1])
    lengths[-1:] = cycles - times[-1:]
    return Profile(
        meta=meta,
        catalog=tuple(catalog),
        call_paths=CallPaths(
            parent=np.array(parent, dtype=np.int64), frame=np.array(frame, dtype=np.int64)
        ),
        forest=Trees(
            offset=np.arange(len(table) + 1, dtype=np.int64) * width, path=active.reshape(-1)
        ),
        schedule=Runs(cycles=lengths, tree=shown),
        series=tuple(series(own)),
    )


def _combinations(threads: Sequence[ThreadStates]) -> tuple[Ints, Ints, Ints]:
    """The times of changes of any thread; the first of each distinct combination; which is when."""
    nothing = np.empty(0, dtype=np.int64)
    times = np.sort(np.concatenate([nothing, *(thread.start for thread in threads)]))
    times = times[np.append(True, times[1:] != times[:-1])[: len(times)]]
    key = np.zeros(len(times), dtype=np.int64)
    bound = 1
    for thread in threads:
        if len(thread.start) == 1:
            continue  # one state all the time tells no combination from another
        if bound * len(thread.states) > _WIDE:
            distinct, key = np.unique(key, return_inverse=True)
            bound = len(distinct)
        length = np.diff(np.append(np.searchsorted(times, thread.start), len(times)))
        key = key * len(thread.states) + np.repeat(thread.state, length)
        bound *= len(thread.states)
    if bound > _TABLE:
        distinct, key = np.unique(key, return_inverse=True)
        key, bound = key.reshape(-1), len(distinct)
    first, shown = by_appearance(key, bound)
    return times, first, shown


def by_appearance(key: Ints, bound: int) -> tuple[Ints, Ints]:
    """The first place of each distinct key below `bound`, and for each key which of them."""
    there = np.zeros(bound, dtype=np.bool_)
    there[key] = True
    wanted = int(np.count_nonzero(there))
    # All have appeared soon, as a rule: look at the beginning first.
    size = min(len(key), 1 << 12)
    while True:
        # Written backwards, the earliest has the last word.
        seen = np.full(bound, size, dtype=np.int64)
        seen[key[:size][::-1]] = np.arange(size - 1, -1, -1)
        first = np.sort(seen[seen < size])
        if len(first) == wanted:
            break
        size = min(len(key), 8 * size)
    rank = np.zeros(bound, dtype=np.int64)
    rank[key[first]] = np.arange(len(first))
    return first, rank[key]
