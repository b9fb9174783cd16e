"""Overheads against a plain walk over every cycle."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclescope.model import Kind, Meta, Profile, ProfileBuilder, Series
from meaning import Frame, design_overhead, instance_overheads

from ..strategies import calyx_profiles, kept_otherwise, register_series


def by_cycle(profile: Profile) -> list[set[int]]:
    return [
        set(profile.forest[t].tolist())
        for t, n in zip(profile.schedule.tree, profile.schedule.cycles, strict=True)
        for _ in range(n)
    ]


def value_at(series: Series, cycle: int) -> int | None:
    for start, end, value in zip(series.start, series.end, series.value, strict=True):
        if start <= cycle < end:
            return int(value)
    return None


def classify(profile: Profile, instance: str | None) -> dict[str, int]:
    counts = dict.fromkeys(("cycles", "useful", "fsm", "par_done", "both", "other"), 0)
    parents = profile.call_paths.parent.tolist()
    for cycle, active in enumerate(by_cycle(profile)):
        if instance is not None:
            roots = {
                p
                for p in active
                if profile.instances[p] == instance and profile.frame_of(p).kind is Kind.CELL
            }
            active = {p for p in active if roots.intersection(profile.lineage(p))}
            if not active:
                continue
        counts["cycles"] += 1
        leaves = active - {parents[p] for p in active}
        if any(profile.frame_of(p).kind in (Kind.GROUP, Kind.PRIMITIVE) for p in leaves):
            counts["useful"] += 1
            continue
        written = {
            s.metric
            for s in profile.series
            if (instance is None or f"{s.track}.".startswith(f"{instance}."))
            and None not in (value_at(s, cycle), value_at(s, cycle + 1))
            and value_at(s, cycle) != value_at(s, cycle + 1)
            and value_at(s, cycle + 1) != 0  # clean-up, no step
        }
        match sorted(written):
            case ["fsm", "par done"]:
                counts["both"] += 1
            case ["fsm"]:
                counts["fsm"] += 1
            case ["par done"]:
                counts["par_done"] += 1
            case _:
                counts["other"] += 1
    return counts


@settings(max_examples=40, deadline=None)
@given(calyx_profiles())
def test_design_overhead_equals_a_walk_over_the_cycles(profile: Profile) -> None:
    found = design_overhead(profile)
    expected = classify(profile, None)
    assert found._asdict() == expected
    assert found.cycles == profile.cycles
    assert found.useful + sum(found[2:]) == found.cycles
    assert found.overhead == sum(found[2:])


@settings(max_examples=40, deadline=None)
@given(calyx_profiles(), st.lists(st.integers(0, 5), max_size=3))
def test_how_runs_are_kept_does_not_show(profile: Profile, anchors: list[int]) -> None:
    whole = (design_overhead(profile), instance_overheads(profile))
    other = kept_otherwise(profile, anchors)
    assert (design_overhead(other), instance_overheads(other)) == whole


@settings(max_examples=40, deadline=None)
@given(calyx_profiles())
def test_instance_overheads_equal_a_walk_over_the_cycles(profile: Profile) -> None:
    for instance, found in instance_overheads(profile).items():
        expected = classify(profile, instance)
        assert found._asdict() == expected
        assert found.useful + sum(found[2:]) == found.cycles


def two_cells() -> Profile:
    """`busy` works in all of its 4 cycles; beside it `idle` waits for its own FSM in 3 of them."""
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    par = builder.path(main, Frame(Kind.CONTROL, "par L3", "main", "par"))
    call_a = builder.path(par, Frame(Kind.GROUP, "a", "main"))
    call_b = builder.path(par, Frame(Kind.GROUP, "b", "main"))
    busy = builder.path(call_a, Frame(Kind.CELL, "busy", "main", "worker"))
    idle = builder.path(call_b, Frame(Kind.CELL, "idle", "main", "worker"))
    work = Frame(Kind.GROUP, "work", "worker")
    doing, done = builder.path(busy, work), builder.path(idle, work)
    trees = [builder.tree([doing, idle]), builder.tree([doing, done]), builder.tree([par])]
    builder.counter(register_series("main.idle", "fsm", "fsm", np.array([0, 2]), 5))
    builder.counter(register_series("main", "pd0", "par done", np.array([4]), 5))
    return builder.build(
        Meta("calyx", "two"), [1, 1, 2, 1], [trees[0], trees[1], trees[0], trees[2]]
    )


def test_a_cell_that_waits_is_overhead_whatever_else_works() -> None:
    overheads = instance_overheads(two_cells())
    assert overheads["main.busy"].useful == 4
    assert overheads["main.busy"].overhead == 0
    idle = overheads["main.idle"]
    assert (idle.cycles, idle.useful, idle.fsm, idle.other) == (4, 1, 2, 1)
    main = overheads["main"]
    assert (main.cycles, main.useful, main.par_done, main.other) == (5, 4, 1, 0)


def test_cells_with_like_names_do_not_share_registers() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    group = builder.path(main, Frame(Kind.GROUP, "g", "main"))
    cell = builder.path(group, Frame(Kind.CELL, "q", "main", "queue"))
    builder.counter(register_series("main.q2", "fsm", "fsm", np.array([0]), 2))
    profile = builder.build(Meta("calyx", "like"), [2], [builder.tree([cell])])
    assert instance_overheads(profile)["main.q"] == (2, 0, 0, 0, 0, 2)


def test_a_profile_without_cycles_has_no_overhead() -> None:
    nothing = ProfileBuilder().build(Meta("calyx", "empty"), [], [])
    assert design_overhead(nothing).cycles == 0
    assert instance_overheads(nothing) == {}
