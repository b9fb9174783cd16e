"""The builder makes lawful, canonical profiles; the laws catch what is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.errors import LawError
from cyclescope.model import (
    Activity,
    CallPaths,
    Kind,
    Meta,
    Position,
    Profile,
    ProfileBuilder,
    Runs,
    Series,
    check_laws,
)
from meaning import Frame
from strategies import calyx_profiles

MAIN = Frame(Kind.CELL, "main", "main")
ONE = Frame(Kind.GROUP, "one", "main")
TWO = Frame(Kind.GROUP, "two", "main")
META = Meta("calyx", "test")


def simple() -> Profile:
    builder = ProfileBuilder()
    main = builder.path(-1, MAIN)
    trees = [builder.tree([builder.path(main, group)]) for group in (ONE, TWO)]
    return builder.build(META, [2, 3, 1], [trees[0], trees[1], trees[0]])


def test_equal_adjacent_runs_are_joined_and_empty_ones_dropped() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, MAIN)
    one, two = (builder.tree([builder.path(main, group)]) for group in (ONE, TWO))
    profile = builder.build(META, [2, 0, 3, 4, 1], [two, one, two, one, one])
    assert profile.schedule.cycles.tolist() == [5, 5]
    # Trees are numbered by first appearance, whatever order they were interned in.
    assert profile.schedule.tree.tolist() == [0, 1]
    assert profile.forest[0].tolist() == [0, 2]


def test_a_tree_contains_the_parents_of_its_paths() -> None:
    profile = simple()
    assert [profile.forest[t].tolist() for t in range(2)] == [[0, 1], [0, 2]]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=30))
def test_any_runs_give_the_cycles_that_were_said(runs: list[tuple[int, int]]) -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, MAIN)
    groups = [Frame(Kind.GROUP, f"g{n}", "main") for n in range(4)]
    trees = [builder.tree([builder.path(main, group)]) for group in groups]
    profile = builder.build(META, [c for _, c in runs], [trees[t] for t, _ in runs])
    check_laws(profile)
    expected = [t for t, cycles in runs for _ in range(cycles)]
    shown = np.repeat(profile.schedule.tree, profile.schedule.cycles)
    names = [profile.frame_of(int(profile.forest[t][1])).name for t in shown.tolist()]
    assert names == [f"g{t}" for t in expected]


@given(calyx_profiles())
def test_what_the_builder_makes_is_lawful(profile: Profile) -> None:
    check_laws(profile)


def broken() -> dict[str, Profile]:
    good = simple()
    runs, paths = good.schedule, good.call_paths
    late = Series("main", "fsm", "fsm", "", -1, *(np.array([n]) for n in (5, 9, 0)))
    twice = Series(
        "main", "fsm", "fsm", "", -1, np.array([0, 1]), np.array([2, 3]), np.array([0, 1])
    )
    much = Series(
        "main", "stalls", "stall", "cycles", 0, *(np.array([n]) for n in (0, 2, -(1 << 63))),
        activity=Activity.WAITING,
    )  # fmt: skip
    far = replace(MAIN, positions=(Position("c", "a.c", 1 << 31),))
    return {
        "at least one cycle": replace(good, schedule=Runs(runs.cycles - 1, runs.tree)),
        "neighbouring runs": replace(good, schedule=Runs(runs.cycles, runs.tree * 0)),
        "known tree": replace(good, schedule=Runs(runs.cycles, runs.tree + 1)),
        "parents precede": replace(good, call_paths=CallPaths(np.array([-1, 2, 0]), paths.frame)),
        "known frame": replace(good, call_paths=CallPaths(paths.parent, paths.frame + 1)),
        "may not be called": replace(good, catalog=(MAIN, MAIN, TWO)),
        "only root": replace(good, call_paths=CallPaths(np.array([-1, -1, 0]), paths.frame)),
        "lines and columns": replace(good, catalog=(far, *good.catalog[1:])),
        "inside the run": replace(good, series=(late,)),
        "do not overlap": replace(good, series=(twice,)),
        "waits for a number of cycles": replace(good, series=(much,)),
    }


@pytest.mark.parametrize("law", broken())
def test_each_law_is_checked(law: str) -> None:
    check_laws(simple())
    with pytest.raises(LawError, match=law):
        check_laws(broken()[law])


def test_a_primitive_calls_nobody() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, MAIN)
    group = builder.path(main, ONE)
    primitive = builder.path(group, Frame(Kind.PRIMITIVE, "add", "main"))
    below = builder.path(primitive, TWO)
    with pytest.raises(LawError, match="may not be called by a primitive"):
        check_laws(builder.build(META, [1], [builder.tree([below])]))


def test_a_thread_is_in_one_state() -> None:
    builder = ProfileBuilder()
    thread = builder.path(-1, Frame(Kind.THREAD, "thread 0", "main"))
    states = [builder.path(thread, Frame(Kind.STATE, name, "main")) for name in ("run", "spin")]
    meta = Meta("hls", "test")
    check_laws(builder.build(meta, [1, 1], [builder.tree([s]) for s in states]))
    for wrong in ([thread], states):
        with pytest.raises(LawError, match="exactly one state"):
            check_laws(builder.build(meta, [1], [builder.tree(wrong)]))


def test_instances_are_named_along_the_cells() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, MAIN)
    group = builder.path(main, ONE)
    cell = builder.path(group, Frame(Kind.CELL, "queue", "main", "fifo"))
    inner = builder.path(cell, Frame(Kind.GROUP, "push", "fifo"))
    profile = builder.build(META, [1], [builder.tree([inner])])
    assert profile.instances == ("main", "main", "main.queue", "main.queue")
    assert profile.stack(inner) == ("main", "one", "queue [fifo]", "push")
