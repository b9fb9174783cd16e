"""Threads beside each other: states sum, balance, waits; and how the summary shows them."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.analyse import WORK, Use, account, summarise, team
from cyclescope.errors import InputError
from cyclescope.model import (
    Access,
    Activity,
    Cause,
    Kind,
    Meta,
    Position,
    Profile,
    ProfileBuilder,
    Series,
)
from cyclescope.views import TABLE_FORMATS, summary_json, summary_text, team_view, waits_view
from meaning import Frame

STATES = ("idle", "running", "critical", "spinning")


def threaded(rows: list[list[int]], cycles: list[int], *, loops: bool = True) -> Profile:
    """Run i shows thread t in `STATES[rows[i][t]]`, which has a loop if it is running."""
    builder = ProfileBuilder()
    root = builder.path(-1, Frame(Kind.CELL, "region", "region"))
    threads = [
        builder.path(root, Frame(Kind.THREAD, f"thread {t}", "region"))
        for t in range(len(rows[0]) if rows else 0)
    ]
    trees = []
    for row in rows:
        active = []
        for thread, state in zip(threads, row, strict=True):
            path = builder.path(thread, Frame(Kind.STATE, STATES[state], "region"))
            if loops and state:
                path = builder.path(path, Frame(Kind.LOOP, "L7", "region"))
            active.append(path)
        trees.append(builder.tree(active))
    for thread, path in enumerate(threads):
        span = (np.array([0]), np.array([1]))
        one = (f"thread {thread}", "stalls: memory", "stall", "cycles", path)
        builder.counter(Series(*one, *span, np.array([10 + thread])))
    lost = ("region", "waiting: load of a", "stall", "thread cycles", root)
    builder.counter(Series(*lost, np.array([0]), np.array([1]), np.array([21])))
    return builder.build(Meta("hls", "k.c"), cycles, trees)


@given(st.data())
def test_states_sum_and_equal_a_walk_over_the_runs(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 3), min_size=count, max_size=count)
    rows = data.draw(st.lists(row, min_size=1, max_size=8))
    cycles = data.draw(st.lists(st.integers(1, 50), min_size=len(rows), max_size=len(rows)))
    profile = threaded(rows, cycles)
    found = team(profile)
    assert found is not None
    assert sum(found.states.values()) == count * sum(cycles)
    for thread, member in enumerate(found.members):
        assert sum(member.states.values()) == sum(cycles)
        for number, state in enumerate(STATES):
            own = sum(n for n, row in zip(cycles, rows, strict=True) if row[thread] == number)
            assert member.states.get(state, 0) == own
    assert 0 <= found.efficiency <= 1
    assert 0 < found.balance <= 1
    # A thread's cycle is useful if it gets something done, whatever loop it is in.
    works = {STATES.index(state) for state in ("running", "critical")}
    useful = sum(
        n * len([s for s in row if s in works]) for n, row in zip(cycles, rows, strict=True)
    )
    assert sum(member.useful for member in found.members) == useful == account(profile).useful
    assert found.efficiency == Fraction(useful, count * sum(cycles))


def test_balance_and_efficiency_of_a_lopsided_team() -> None:
    found = team(threaded([[1, 1], [1, 0], [2, 3]], [10, 20, 10]))
    assert found is not None
    assert [member.useful for member in found.members] == [40, 10]
    assert [sum(member.uses.values()) for member in found.members] == [40, 40]
    assert found.balance == Fraction(25, 40)
    assert found.efficiency == Fraction(50, 80)
    assert found.members[1].counts == {("stall", "stalls: memory"): 11}
    assert [(wait.name, wait.cycles) for wait in found.waits] == [("waiting: load of a", 21)]


def test_what_a_counter_of_waiting_counts_is_no_work() -> None:
    profile = threaded([[1, 1]], [40])
    span = (np.array([0]), np.array([40]), np.array([30]))
    meaning = {"activity": Activity.WAITING, "cause": Cause.MEMORY.value}
    stalls = Series("thread 1", "stalls: memory", "stall", "cycles", 2, *span, **meaning)
    found = team(replace(profile, series=(stalls,)))
    assert found is not None
    assert [member.uses for member in found.members] == [
        {WORK: 40, Use(Activity.WAITING, "memory"): 0},
        {WORK: 10, Use(Activity.WAITING, "memory"): 30},
    ]
    assert (found.balance, found.efficiency) == (Fraction(50, 80), Fraction(50, 80))


def test_what_is_not_known_is_no_work() -> None:
    profile = threaded([[1, 1], [2, 2]], [30, 10])
    catalog = tuple(
        replace(frame, name="unknown", activity=Activity.UNKNOWN)
        if frame.name == "critical"
        else frame
        for frame in profile.catalog
    )
    found = team(replace(profile, catalog=catalog))
    assert found is not None
    assert found.states == {"running": 60, "unknown": 20}
    assert found.efficiency == Fraction(3, 4)


def counting(peaks: dict[str, int], period_ps: int | None = None) -> Profile:
    """Two threads that count in 40 cycles."""
    profile = threaded([[1, 1]], [40])
    span = (np.array([0]), np.array([40]))
    more = [
        Series(f"thread {t}", name, metric, "", path, *span, np.array([amount + t]))
        for t, path in enumerate((1, 2))
        for name, metric, amount in (
            ("bytes read", "bytes", 640),
            ("bytes written", "bytes", 39),
            ("local bytes", "bytes", 7),
            ("floating-point operations", "operations", 20),
        )
    ]
    line = Series("region", "at b", "stall", "", 0, *span, np.array([33]), site=0)
    root = replace(profile.catalog[0], positions=(Position("c", "k.c", 1, 1),))
    return replace(
        profile,
        catalog=(root, *profile.catalog[1:]),
        series=(*profile.series, line, *more),
        sources={"k.c": "void f() {\n  s += b[i];\n}\n"},
        sites=(Access("region", "b", Position("c", "k.c", 2)),),
    ).with_meta(peaks=peaks, period_ps=period_ps)


PEAKS = {"bytes read, bytes written": 256, "floating-point operations": 2, "other": 5}


def test_roofs_are_of_all_threads_together() -> None:
    profile = counting(PEAKS)
    assert [profile.frame_of(p).kind for p in (1, 2)] == [Kind.THREAD] * 2
    found = team(profile)
    assert found is not None
    assert [(r.names, r.rate, r.share) for r in found.roofs] == [
        (("bytes read", "bytes written"), Fraction(1360, 40), Fraction(1360, 40 * 256)),
        (("floating-point operations",), Fraction(41, 40), Fraction(41, 80)),
    ]
    head = json.loads(summary_json(profile))["threads"]
    assert head["roofs"][1] == {
        "names": ["floating-point operations"],
        "a_cycle": 1.025,
        "peak": 2,
        "share": 0.5125,
    }
    without = team(counting({}))
    assert without is not None
    assert without.roofs == ()


def test_the_summary_shows_roofs_and_lines() -> None:
    text = summary_text(counting(PEAKS, 5000))
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "1.02 2 51.3 % 0.205 GFLOP/s floating-point operations" in rows
    assert "34 256 13.3 % 6.8 GB/s bytes read + bytes written" in rows
    assert "0.375 0.075 GB/s local bytes" in rows
    assert "33 41.3 % 2 load of b s += b[i];" in rows
    assert "21 26.3 % waiting: load of a" in rows
    assert "roof" not in summary_text(threaded([[1, 3]], [30]))


def test_tables_of_threads_and_of_where_they_wait() -> None:
    profile = counting(PEAKS)
    members = json.loads(team_view(profile, "json"))
    assert [row["thread"] for row in members] == ["thread 0", "thread 1"]
    assert [row["bytes read"] for row in members] == [640, 641]
    assert [(row["running"], row["work"]) for row in members] == [(40, 40)] * 2
    text = team_view(profile).decode().splitlines()
    assert text[0].split()[:4] == ["thread", "useful", "running", "stalls:"]
    waits = json.loads(waits_view(profile, "json"))
    assert [tuple(row.values()) for row in waits] == [
        (33, 33 / 80, 2, "load of b", "s += b[i];"),
        (21, 21 / 80, None, "waiting: load of a", ""),
    ]
    for fmt in TABLE_FORMATS:
        assert team_view(profile, fmt)
        assert waits_view(profile, fmt)
    builder = ProfileBuilder()
    path = builder.path(-1, Frame(Kind.CELL, "main", "main"))
    other = builder.build(Meta("calyx", "p"), [3], [builder.tree([path])])
    for view in (team_view, waits_view):
        with pytest.raises(InputError, match="p: no threads"):
            view(other)


def test_the_hottest_paths_are_those_of_all_threads_together() -> None:
    hottest = summarise(threaded([[1, 1], [1, 0]], [10, 20])).hottest
    assert [(h.stack, h.cycles, h.share) for h in hottest] == [
        (("running", "L7"), 40, Fraction(40, 60)),
        (("idle",), 20, Fraction(20, 60)),
    ]


def test_the_summary_shows_threads_instead_of_control() -> None:
    profile = threaded([[1, 3], [0, 2]], [30, 10])
    text = summary_text(profile)
    assert "2 threads" in text
    assert "control" not in text
    assert "load of a" in text
    head = json.loads(summary_json(profile))
    assert head["threads"]["states"] == {"running": 30, "idle": 10, "spinning": 30, "critical": 10}
    assert head["cycles"] == 40
    assert head["account"] == {"unit": "thread-cycles", "total": 80}
    assert head["useful"] + sum(head["lost"].values()) == 80


def test_no_threads_no_team() -> None:
    builder = ProfileBuilder()
    path = builder.path(-1, Frame(Kind.CELL, "main", "main"))
    profile = builder.build(Meta("calyx", "p"), [3], [builder.tree([path])])
    assert team(profile) is None
    assert "threads" not in json.loads(summary_json(profile))
