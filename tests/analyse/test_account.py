"""The account: every unit has one activity, and what a source declares is what is counted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclescope.analyse import Use, account
from cyclescope.errors import DataError
from cyclescope.model import (
    CONTROL,
    WORK,
    Activity,
    Bank,
    Cause,
    Frame,
    Kind,
    Meta,
    Profile,
    ProfileBuilder,
    Series,
    check_laws,
    control_register,
    load,
    save,
)
from meaning import design_overhead

WORKING, IDLE = Use(Activity.WORK), Use(Activity.IDLE)


def threads(rows: list[tuple[int, list[Frame]]], *counters: Series) -> Profile:
    """A profile of threads: how long each combination of states holds."""
    builder = ProfileBuilder()
    count = len(rows[0][1])
    own = [
        builder.path(-1, Frame(Kind.THREAD, f"t{n}", "", activity=Activity.IDLE, track=True))
        for n in range(count)
    ]
    trees = [
        builder.tree(builder.path(own[n], state) for n, state in enumerate(states))
        for _, states in rows
    ]
    for counter in counters:
        builder.counter(counter)
    return builder.build(Meta("invented", "threads"), [cycles for cycles, _ in rows], trees)


def state(name: str, activity: Activity, cause: str = "") -> Frame:
    return Frame(Kind.STATE, name, "", activity=activity, cause=cause)


RUN, OFF = state("run", Activity.WORK), state("off", Activity.IDLE)
STARVED = state("starved", Activity.WAITING, "coffee")


def interval(path: int, start: int, end: int, value: int, cause: str) -> Series:
    ints = (np.array([n], dtype=np.int64) for n in (start, end, value))
    return Series(
        "t", "stalls", "stall", "cycles", path, *ints, activity=Activity.WAITING, cause=cause
    )


def test_tracks_are_accounted_side_by_side() -> None:
    found = account(threads([(60, [RUN, OFF]), (40, [STARVED, RUN])]))
    assert (found.unit, found.total, found.useful) == ("thread-cycles", 200, 100)
    assert found.lost == {Use(Activity.WAITING, "coffee"): 40, IDLE: 60}
    assert found.useful + sum(found.lost.values()) == found.total
    assert found.share(found.useful) == Fraction(1, 2)
    assert [use.label for use in found.uses] == ["work", "waiting: coffee", "idle"]
    assert found.of_track.tolist() == [[60, 40, 0], [40, 0, 60]]


def test_counters_of_waiting_are_taken_off_work() -> None:
    run = threads([(100, [RUN, RUN])], interval(1, 0, 50, 20, Cause.MEMORY))
    found = account(run)
    assert found.lost == {Use(Activity.WAITING, "memory"): 20}
    assert (found.useful, found.total) == (180, 200)
    assert found.of_track.sum(axis=1).tolist() == [100, 100]


def test_waiting_beyond_the_work_was_in_cycles_of_unknown_state() -> None:
    lost = state("lost", Activity.UNKNOWN)
    counters = [interval(0, 0, 100, n, cause) for n, cause in ((25, "memory"), (45, "lock"))]
    found = account(threads([(30, [RUN]), (70, [lost])], *counters))
    assert found.useful == 0
    assert sum(found.lost.values()) == found.total == 100
    # A cycle is waited in once, whatever counts it.
    with pytest.raises(DataError, match="more waiting than there is work"):
        account(threads([(30, [RUN]), (39, [lost])], *counters))


def tree_of_control(steps: dict[str, list[int]], cycles: int = 10) -> Profile:
    """A cell that works in its first three cycles; registers step at the end of given cycles."""
    builder = ProfileBuilder()
    cell = builder.path(-1, Frame(Kind.CELL, "main", "main", **CONTROL))
    group = builder.path(cell, Frame(Kind.GROUP, "add", "main", **WORK))
    moments = [0, *sorted({at + 1 for when in steps.values() for at in when}), cycles]
    lengths = np.diff(moments)
    values = np.array(
        [[sum(at + 1 <= begin for at in when) for when in steps.values()] for begin in moments[:-1]]
    )
    bank = Bank(lengths.astype(np.int64), np.arange(len(lengths)), values.astype(np.int64))
    for column, metric in enumerate(steps):
        builder.counter(control_register("main", metric, metric, bank, column))
    trees = [builder.tree([group]), builder.tree([cell])]
    return builder.build(Meta("calyx", "control"), [3, cycles - 3], trees)


def test_registers_that_step_name_the_cause_of_control() -> None:
    run = tree_of_control({"fsm": [2, 4, 6], "par done": [6, 8]})
    check_laws(run)
    found = account(run)
    assert found.unit == "cycles"
    assert {use.cause: n for use, n in found.lost.items()} == {
        "fsm": 1, "both": 1, "par done": 1, "other": 4,
    }  # fmt: skip
    split = design_overhead(run)
    assert (split.useful, split.fsm, split.both, split.par_done, split.other) == (3, 1, 1, 1, 4)


def test_a_frame_that_says_nothing_is_as_its_caller() -> None:
    builder = ProfileBuilder()
    thread = builder.path(-1, Frame(Kind.THREAD, "t", "", activity=Activity.IDLE, track=True))
    loop = builder.path(builder.path(thread, STARVED), Frame(Kind.LOOP, "for", ""))
    lone = builder.path(-1, Frame("ghost", "nobody said", ""))
    run = builder.build(Meta("invented", ""), [5], [builder.tree([loop, lone])])
    # What is outside all tracks is no part of the account.
    assert account(run).parts == {WORKING: 0, Use(Activity.WAITING, "coffee"): 5}


def test_side_by_side_work_counts_first() -> None:
    builder = ProfileBuilder()
    root = builder.path(-1, Frame(Kind.CELL, "main", "main", **CONTROL))
    arms = [
        builder.path(root, Frame("arm", name, "", activity=activity, cause=cause))
        for name, activity, cause in (
            ("a", Activity.WORK, ""),
            ("b", Activity.WAITING, "tea"),
            ("c", Activity.CONTROL, "habit"),
        )
    ]
    trees = [builder.tree(arms), builder.tree(arms[1:]), builder.tree(arms[2:])]
    run = builder.build(Meta("invented", ""), [1, 2, 4], trees)
    assert {use.label: n for use, n in account(run).parts.items()} == {
        "work": 1, "waiting: tea": 2, "control: habit": 4,
    }  # fmt: skip


activities = st.sampled_from(
    [RUN, OFF, STARVED, state("fetch", Activity.WAITING, "memory"), state("?", Activity.UNKNOWN)]
)


@settings(max_examples=60)
@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(
            st.tuples(st.integers(1, 9), st.lists(activities, min_size=n, max_size=n)), min_size=1
        )
    ),
    st.data(),
)
def test_the_account_is_what_counting_cycle_by_cycle_gives(
    rows: list[tuple[int, list[Frame]]], data: st.DataObject
) -> None:
    run = threads(rows)
    found = account(run)
    assert found.total == run.cycles * len(rows[0][1])
    assert sum(found.parts.values()) == found.total
    slow: dict[Use, int] = {}
    for cycles, states in rows:
        for frame in states:
            assert frame.activity is not None
            use = Use(frame.activity, frame.cause)
            slow[use] = slow.get(use, 0) + cycles
    assert {use: n for use, n in found.parts.items() if n} == slow


def test_meaning_outlives_a_file(tmp_path: object) -> None:
    from pathlib import Path

    run = threads([(9, [RUN, STARVED])], interval(0, 0, 9, 4, "socks"))
    path = Path(str(tmp_path)) / "run.cyc"
    save(run, path)
    again = load(path)
    assert again.catalog == run.catalog
    assert again.series == run.series
    assert account(again).parts == account(run).parts
