"""Threads side by side: equal to what the builder makes, cycle by cycle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclescope.errors import DataError
from cyclescope.model import (
    Kind,
    Meta,
    Profile,
    ProfileBuilder,
    ThreadStates,
    check_laws,
    profile_of_threads,
)
from cyclescope.model import _threads as module
from meaning import Frame

META = Meta("hls", "x")
NAMES = ("idle", "running", "waiting")


def by_builder(columns: list[list[int]], root: Frame | None) -> Profile:
    """The same, a cycle at a time."""
    builder = ProfileBuilder()
    top = builder.path(-1, root) if root else -1
    paths = []
    for number, column in enumerate(columns):
        thread = builder.path(top, Frame(Kind.THREAD, f"t{number}", ""))
        paths.append({s: builder.path(thread, frame(s)) for s in sorted(set(column))})
    trees = [
        builder.tree([paths[t][column[cycle]] for t, column in enumerate(columns)])
        for cycle in range(len(columns[0]))
    ]
    return builder.build(META, [1] * len(trees), trees)


def frame(state: int) -> Frame:
    return Frame(Kind.STATE, NAMES[state], "")


def threads_of(columns: list[list[int]]) -> list[ThreadStates]:
    threads = []
    for number, column in enumerate(columns):
        value = np.array(column, dtype=np.int64)
        start = np.flatnonzero(np.append(True, value[1:] != value[:-1]))
        name = Frame(Kind.THREAD, f"t{number}", "")
        threads.append(ThreadStates(name, [frame(s) for s in range(3)], start, value[start]))
    return threads


@st.composite
def columns(draw: st.DrawFn) -> list[list[int]]:
    cycles = draw(st.integers(1, 12))
    column = st.lists(st.integers(0, 2), min_size=cycles, max_size=cycles)
    return draw(st.lists(column, min_size=1, max_size=4))


@settings(max_examples=80, deadline=None)
@given(columns(), st.booleans(), st.sampled_from([1, 4, 1 << 20]), st.sampled_from([5, 1 << 62]))
def test_equal_to_the_builder(
    columns: list[list[int]], rooted: bool, table: int, wide: int
) -> None:
    root = Frame(Kind.CELL, "region", "") if rooted else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TABLE", table)
        patch.setattr(module, "_WIDE", wide)
        found = profile_of_threads(META, threads_of(columns), len(columns[0]), root=root)
    check_laws(found)
    assert found == by_builder(columns, root)


def test_more_combinations_than_a_number_counts() -> None:
    # Of 70 threads with two states each: a bit for every thread is more than 64.
    columns = [[int(cycle == thread) for cycle in range(72)] for thread in range(70)]
    threads = [replace(one, states=[frame(0), frame(1)]) for one in threads_of(columns)]
    found = profile_of_threads(META, threads, 72)
    check_laws(found)
    assert found == by_builder(columns, None)


def test_combinations_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_ENTRIES", 3)
    with pytest.raises(DataError, match=r"t\.prv: 1 threads show 2"):
        profile_of_threads(META, threads_of([[0, 1]]), 2, where="t.prv")
