"""What tracks' units went to, by path: sums are the account's, and nothing is taken twice."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclescope.analyse import WORK, Use, account, track_units
from cyclescope.model import Activity, Frame, Kind, Meta, Profile, ProfileBuilder, Series

MEMORY, BARRIER = "memory", "barrier"


@st.composite
def waiting_threads(draw: st.DrawFn) -> Profile:
    """Threads in loops, of whose work counters with periods of their own take some."""
    builder = ProfileBuilder()
    count = draw(st.integers(1, 3))
    threads = [
        builder.path(-1, Frame(Kind.THREAD, f"t{n}", "", activity=Activity.IDLE, track=True))
        for n in range(count)
    ]

    def at(thread: int, place: int) -> int:
        if place == 0:
            return threads[thread]
        works = place < 4
        activity = Activity.WORK if works else Activity.WAITING
        state = Frame(Kind.STATE, "run" if works else "spin", "", activity=activity,
                      cause="" if works else "lock")  # fmt: skip
        path = builder.path(threads[thread], state)
        return path if place == 4 else builder.path(path, Frame(Kind.LOOP, f"L{place}", ""))

    row = st.lists(st.integers(0, 4), min_size=count, max_size=count)
    rows = draw(st.lists(row, min_size=1, max_size=8))
    cycles = draw(st.lists(st.integers(1, 30), min_size=len(rows), max_size=len(rows)))
    trees = [builder.tree([at(n, place) for n, place in enumerate(row)]) for row in rows]
    total = sum(cycles)
    places = np.repeat(np.array(rows), cycles, axis=0)  # (cycles, threads)
    chance = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    for thread in range(count):
        free = np.isin(places[:, thread], (1, 2, 3))
        for cause in (BARRIER, MEMORY):
            period = draw(st.integers(1, total + 3))
            lost = free & (chance.random(total) < 0.4)
            free = free & ~lost
            starts = np.arange(0, total, period)
            ends = np.minimum(starts + period, total)
            sums = np.array([int(lost[a:b].sum()) for a, b in zip(starts, ends, strict=True)])
            kept = sums > 0
            builder.counter(
                Series(
                    *(f"t{thread}", f"stalls: {cause}", "stall", "cycles", threads[thread]),
                    *(starts[kept], ends[kept], sums[kept]),
                    activity=Activity.WAITING,
                    cause=cause,
                )
            )
    return builder.build(Meta("invented", "threads"), cycles, trees)


@settings(max_examples=60, deadline=None)
@given(waiting_threads())
def test_units_are_those_of_the_account(profile: Profile) -> None:
    whole, found = account(profile), track_units(profile)
    assert all(one.units > 0 for one in found)
    for number, track in enumerate(whole.tracks):
        for use, units in zip(whole.uses, whole.of_track[number].tolist(), strict=True):
            mine = sum(one.units for one in found if (one.track, one.use) == (track, use))
            assert mine == units
    # A path has no more than the cycles that its track spent there.
    spent: dict[int, int] = {}
    for tree, cycles in zip(
        profile.schedule.tree.tolist(), profile.schedule.cycles.tolist(), strict=True
    ):
        active = set(profile.forest[tree].tolist())
        for path in active - {int(profile.call_paths.parent[p]) for p in active}:
            spent[path] = spent.get(path, 0) + cycles
    by_path: dict[int, int] = {}
    for one in found:
        by_path[one.path] = by_path.get(one.path, 0) + one.units
    assert {path: units for path, units in by_path.items() if path >= 0} == spent


def test_an_interval_in_one_loop_is_that_loops() -> None:
    builder = ProfileBuilder()
    thread = builder.path(-1, Frame(Kind.THREAD, "t", "", activity=Activity.IDLE, track=True))
    run = builder.path(thread, Frame(Kind.STATE, "run", "", activity=Activity.WORK))
    loops = [builder.path(run, Frame(Kind.LOOP, name, "")) for name in ("L1", "L2")]
    ints = (np.array(n) for n in ([0, 100, 200], [100, 200, 300], [7, 40, 30]))
    builder.counter(
        Series(
            *("t", "stalls", "stall", "cycles", thread),
            *ints,
            activity=Activity.WAITING,
            cause=MEMORY,
        )
    )
    trees = [builder.tree([loop]) for loop in loops]
    profile = builder.build(Meta("invented", ""), [100, 150, 50], [trees[0], trees[1], trees[0]])
    found = {(one.path, one.use): one.units for one in track_units(profile)}
    waits = Use(Activity.WAITING, MEMORY)
    assert found == {
        (loops[0], waits): 7 + 15, (loops[1], waits): 40 + 15,
        (loops[0], WORK): 150 - 22, (loops[1], WORK): 150 - 55,
    }  # fmt: skip
