"""The use of track-cycles, by path: sums are the account's, and nothing is counted twice."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclescope.analyse import WORK, Use, account, levels, line_cycles, track_units
from cyclescope.model import (
    Access,
    Activity,
    Barrier,
    Frame,
    Kind,
    Lock,
    Loop,
    Meta,
    Position,
    Profile,
    ProfileBuilder,
    Series,
    Site,
)

MEMORY, BARRIER = "memory", "barrier"


@st.composite
def waiting_threads(draw: st.DrawFn) -> Profile:
    """Threads in loops, of whose work counters with periods of their own take some.

    Of some loops is known what they are, and counters of places in them say where was waited.
    """
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
    known = draw(st.lists(st.integers(1, 3), unique=True, max_size=3))
    sites: list[Site] = [
        Loop("", frame=builder.frame(Frame(Kind.LOOP, f"L{n}", ""))) for n in known
    ]
    for number in range(draw(st.integers(0, 4))):
        loop = draw(st.integers(-1, len(known) - 1))
        cause = draw(st.sampled_from([MEMORY, "lock"]))
        at = Position("c", "k.c", 20 + number)
        sites.append(
            Access("", "a", at, loop=loop) if cause == MEMORY else Lock("", "", at, loop=loop)
        )
        builder.counter(
            Series(
                *("k", f"waiting {number}", "stall", "thread cycles", -1),
                *(np.array([0]), np.array([total]), np.array([draw(st.integers(0, 50))])),
                cause=cause,
                site=len(sites) - 1,
            )
        )
    return builder.build(Meta("invented", "threads"), cycles, trees, sites=sites)


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
    for one in found:
        if one.site >= 0:
            site = profile.sites[one.site]
            assert one.at == site.position
            assert one.use.cause == (MEMORY if isinstance(site, Access) else "lock")


@settings(max_examples=40, deadline=None)
@given(waiting_threads())
def test_own_cycles_of_lines_are_the_runs(profile: Profile) -> None:
    lines = line_cycles(profile, "c") if "c" in levels(profile) else line_cycles(profile)
    assert sum(line.own for line in lines) == profile.cycles


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


def _section(*, loops: bool) -> Profile:
    """A thread in a loop with two sections, the second one with a loop in it.

    300 cycles: 100 of running (40 at a load), 90 of spinning, 110 with a lock, 60 of them in the
    inner loop; of its 110 it waits in 30 for memory.
    """
    builder = ProfileBuilder()
    thread = builder.path(-1, Frame(Kind.THREAD, "t", "", activity=Activity.IDLE, track=True))
    meanings = {
        "running": (Activity.WORK, ""),
        "spinning": (Activity.WAITING, "lock"),
        "critical": (Activity.WORK, ""),
    }
    states = {
        name: builder.path(thread, Frame(Kind.STATE, name, "", activity=what, cause=cause))
        for name, (what, cause) in meanings.items()
    }
    outer, inner = (Frame(Kind.LOOP, f"L{n}", "") for n in (1, 9))
    ends = dict(states)
    if loops:
        ends = {name: builder.path(path, outer) for name, path in states.items()}
    deep = builder.path(ends["critical"], inner) if loops else ends["critical"]

    def at(line: int) -> Position:
        return Position("c", "k.c", line)

    held = builder.frame(Frame(Kind.STATE, "critical", "", activity=Activity.WORK))
    frames = [builder.frame(frame) if loops else -1 for frame in (outer, inner)]
    sites: list[Site] = [
        Loop("", at(1), frame=frames[0]),
        Loop("", at(9), frame=frames[1], parent=0, lock=3),
        Lock("", "", at(4), loop=0, held=held, lines=(4, 5), stages=(1, 3)),
        Lock("", "", at(8), loop=0, held=held, lines=(8,), stages=(2,)),
        Access("", "a", at(2), loop=0),
        Access("", "a", at(5), loop=0, lock=2),
        Access("", "b", at(10), loop=1, lock=3),
        Barrier("", at(12)),
    ]
    counts = {2: ("lock", 60), 3: ("lock", 30), 4: (MEMORY, 44), 5: (MEMORY, 20), 6: (MEMORY, 20)}
    span = np.array([0]), np.array([300])
    for site, (cause, count) in counts.items():
        builder.counter(
            Series(
                *("k", f"waiting {site}", "stall", "", -1, *span, np.array([count])),
                cause=cause,
                site=site,
            )
        )
    for begin, end, count in ((0, 100, 40), (190, 240, 10), (240, 300, 20)):
        interval = np.array([begin]), np.array([end]), np.array([count])
        builder.counter(
            Series(
                *("t", f"stalls {begin}", "stall", "cycles", thread, *interval),
                activity=Activity.WAITING,
                cause=MEMORY,
            )
        )
    spent = [(100, ends["running"]), (90, ends["spinning"]), (50, ends["critical"]), (60, deep)]
    runs: dict[int, int] = {}
    trees, cycles = [], []
    for length, path in spent:
        tree = runs.setdefault(path, builder.tree([path]))
        if trees and trees[-1] == tree:
            cycles[-1] += length
            continue
        trees.append(tree)
        cycles.append(length)
    return builder.build(Meta("invented", ""), cycles, trees, sites=sites)


def _by_line(profile: Profile) -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    for one in track_units(profile):
        key = one.use.label, one.at.line if one.at is not None else 0
        found[key] = found.get(key, 0) + one.units
    return found


def test_a_section_s_cycles_are_on_its_lines() -> None:
    assert _by_line(_section(loops=True)) == {
        ("work", 0): 60 + 40,  # outside of the sections, and in the inner loop, which has a line
        ("waiting: memory", 2): 40,
        ("waiting: lock", 4): 60,
        ("waiting: lock", 8): 30,
        # 40 cycles of work by stages, 1 and 3 of one section, 2 of the other.
        ("work", 4): 7,
        ("work", 5): 20,
        ("work", 8): 13,
        ("waiting: memory", 5): 10,
        ("waiting: memory", 10): 20,
    }


def test_without_loops_a_section_s_cycles_are_on_its_lines_too() -> None:
    assert _by_line(_section(loops=False)) == {
        ("work", 0): 60,
        ("waiting: memory", 2): 40,
        ("waiting: lock", 4): 60,
        ("waiting: lock", 8): 30,
        ("work", 4): 13,
        ("work", 5): 40,
        ("work", 8): 27,
        ("waiting: memory", 5): 15,
        ("waiting: memory", 10): 15,
    }


def test_a_loop_that_runs_on_beside_a_section_is_not_in_it() -> None:
    """The next iteration's inner loop is active while the thread has the lock of the one before."""
    builder = ProfileBuilder()
    thread = builder.path(-1, Frame(Kind.THREAD, "t", "", activity=Activity.IDLE, track=True))
    state = Frame(Kind.STATE, "critical", "", activity=Activity.WORK)
    outer, inner = (Frame(Kind.LOOP, f"L{n}", "") for n in (1, 2))
    path = builder.path(builder.path(builder.path(thread, state), outer), inner)

    def at(line: int) -> Position:
        return Position("c", "k.c", line)

    sites: list[Site] = [
        Loop("", at(1), frame=builder.frame(outer)),
        Loop("", at(2), frame=builder.frame(inner), parent=0),
        Lock("", "", at(4), loop=0, held=builder.frame(state), lines=(5,), stages=(2,)),
        Access("", "a", at(3), loop=1),
        Access("", "c", at(5), loop=0, lock=2),
    ]
    span = np.array([0]), np.array([50])
    for site, count in ((3, 90), (4, 20)):
        builder.counter(
            Series(*("k", f"{site}", "stall", "", -1, *span, np.array([count])),
                   cause=MEMORY, site=site)
        )  # fmt: skip
    builder.counter(
        Series(*("t", "stalls", "stall", "cycles", thread, *span, np.array([30])),
               activity=Activity.WAITING, cause=MEMORY)
    )  # fmt: skip
    profile = builder.build(Meta("invented", ""), [50], [builder.tree([path])], sites=sites)
    assert _by_line(profile) == {("waiting: memory", 5): 30, ("work", 5): 20}
