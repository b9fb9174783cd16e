"""Segments: however a sequence is cut, it is the same sequence."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cyclescope
from cyclescope.errors import InputError
from cyclescope.model import (
    Kind,
    Meta,
    Profile,
    ProfileBuilder,
    Runs,
    Segments,
    Spans,
    active_cycles,
    around,
    between,
    check_laws,
    find_anchors,
    repeated_spans,
    segmented,
    spans,
    tree_cycles,
)
from cyclescope.model import _segments as module
from meaning import Frame

from ..strategies import calyx_profiles, kept_otherwise, large_profile

if TYPE_CHECKING:
    from pathlib import Path

STATES = 5


@st.composite
def sequences(draw: st.DrawFn) -> list[tuple[int, int]]:
    """(cycles, state): phrases that repeat in any order, neighbours differ."""
    runs = st.tuples(st.integers(1, 300), st.integers(0, STATES - 1))
    phrases = draw(st.lists(st.lists(runs, min_size=1, max_size=6), min_size=1, max_size=4))
    order = draw(st.lists(st.integers(0, len(phrases) - 1), max_size=30))
    found: list[tuple[int, int]] = []
    for cycles, state in (run for n in order for run in phrases[n]):
        if not found or found[-1][1] != state:
            found.append((cycles, state))
    return found


def arrays(runs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(runs, dtype=np.int64).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


def cut(runs: list[tuple[int, int]], anchors: list[int] | None) -> Segments:
    return segmented([arrays(runs[:3]), arrays(runs[3:])], anchors)


def listed(segments: Segments) -> list[tuple[int, int]]:
    return list(zip(*(column.tolist() for column in segments.runs()), strict=True))


@given(sequences(), st.none() | st.lists(st.integers(0, STATES - 1), max_size=3))
def test_however_it_is_cut_it_is_the_same(
    runs: list[tuple[int, int]], anchors: list[int] | None
) -> None:
    found = cut(runs, anchors)
    cycles, state = arrays(runs)
    assert listed(found) == runs
    assert len(found) == len(runs)
    assert found == Segments.plain(cycles, state)
    assert found.total == sum(n for n, _ in runs)
    weights = Counter[int]()
    for length, which in runs:
        weights[which] += length
    assert found.weights(STATES).tolist() == [weights[n] for n in range(STATES)]
    changes = Counter(zip(state[:-1].tolist(), state[1:].tolist(), strict=True))
    before, after, times = (column.tolist() for column in found.changes)
    assert dict(zip(zip(before, after, strict=True), times, strict=True)) == changes
    start = (np.cumsum(cycles) - cycles).tolist()
    first = [
        next((c for c, (_, n) in zip(start, runs, strict=True) if n == s), found.total)
        for s in range(STATES)
    ]
    assert found.first_cycles(STATES).tolist() == first


@given(sequences(), st.lists(st.integers(0, STATES - 1), max_size=3), st.data())
def test_parts_of_it(runs: list[tuple[int, int]], anchors: list[int], data: st.DataObject) -> None:
    found = cut(runs, anchors)
    each = [state for cycles, state in runs for _ in range(cycles)]
    start = data.draw(st.integers(0, len(each)))
    end = data.draw(st.integers(start, len(each)))
    part = found.between(start, end)
    assert [s for cycles, s in listed(part) for _ in range(cycles)] == each[start:end]
    of_state = np.array(data.draw(st.lists(st.integers(0, 2), min_size=STATES, max_size=STATES)))
    cycles, other = found.runs(of_state)
    assert np.repeat(other, cycles).tolist() == of_state[each].tolist() if each else not len(other)
    assert (other[1:] != other[:-1]).all()


@given(
    sequences(), st.lists(st.integers(0, STATES - 1), max_size=2), st.permutations(range(STATES))
)
def test_turned_it_begins_where_least_goes_on(
    runs: list[tuple[int, int]], anchors: list[int], depth: list[int]
) -> None:
    found = cut(runs, anchors)
    turned = found.turned(np.array(depth))
    assert listed(turned) == runs
    assert (np.diff(turned.offset) > 0).all()


def test_adjacent_runs_of_one_state_are_one_run() -> None:
    found = segmented([arrays([(1, 0), (2, 0)]), arrays([(3, 0), (1, 1)])], [0])
    assert listed(found) == [(6, 0), (1, 1)]


@pytest.mark.parametrize("wrong", [[(0, 1)], [(1, -1)], [(-1, 1)], [(1, 1 << 40)]])
def test_what_are_no_runs_is_refused(wrong: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="numbers from 0 on"):
        segmented([arrays(wrong)], [])


def test_a_loop_is_kept_once() -> None:
    iteration = [(1, 0), (7, 1), (1, 2), (2, 1), (3, 3)]
    runs = [(5, 4), *iteration * 10_000, (9, 4)]
    found = segmented([arrays(runs)])
    assert len(found.cycles) < 100
    assert listed(found) == runs
    alike = find_anchors([arrays(iteration * 100)])
    assert len(alike) == 1


def test_what_never_repeats_is_no_larger() -> None:
    random = np.random.default_rng(1)
    cycles, state = random.integers(1, 1 << 30, 200_000), np.arange(200_000) % 7
    found = segmented([(cycles, state)])
    assert len(found.cycles) == 200_000
    assert len(found.order) < 5_000
    assert all((a == b).all() for a, b in zip(found.runs(), (cycles, state), strict=True))


@settings(max_examples=60, deadline=None)
@given(calyx_profiles(), st.lists(st.integers(0, 6), max_size=3))
def test_activations_of_segments_are_those_of_the_run(profile: Profile, anchors: list[int]) -> None:
    other = kept_otherwise(profile, anchors)
    check_laws(other)
    assert other == profile
    assert (tree_cycles(other) == tree_cycles(profile)).all()
    assert (active_cycles(other) == active_cycles(profile)).all()
    dense = spans(profile)
    lengths = zip(dense.path.tolist(), (dense.end - dense.start).tolist(), strict=True)
    every = np.arange(len(profile.call_paths))
    found, times = repeated_spans(other, every, every)
    counted = Counter[tuple[int, int]]()
    pairs = zip(found.path.tolist(), (found.end - found.start).tolist(), strict=True)
    for pair, n in zip(pairs, times.tolist(), strict=True):
        counted[pair] += n
    assert counted == Counter(lengths)


@settings(max_examples=40, deadline=None)
@given(calyx_profiles(), st.lists(st.integers(0, 6), max_size=3), st.data())
def test_a_window_of_segments(profile: Profile, anchors: list[int], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, profile.cycles - 1))
    end = data.draw(st.integers(start + 1, profile.cycles))
    assert between(kept_otherwise(profile, anchors), start, end) == between(profile, start, end)


def test_a_long_run_is_a_small_file(tmp_path: Path) -> None:
    """Of a hundred million cycles what repeats is on the disk and in memory once."""
    profile = large_profile(200)
    segments = profile.schedule.segments
    times = 100_000_000 // profile.cycles + 1
    order = np.tile(segments.order, times)
    long = replace(
        profile,
        schedule=Runs.of(
            Segments(order, segments.offset, segments.cycles, segments.state),
            profile.schedule.tree_of,
        ),
        series=(),
    )
    cyclescope.save(long, tmp_path / "long.cyc")
    assert (tmp_path / "long.cyc").stat().st_size < 200_000
    read = cyclescope.load(tmp_path / "long.cyc")
    assert read.cycles == profile.cycles * times
    assert (tree_cycles(read) == tree_cycles(profile) * times).all()


def one_by_one(segments: Segments) -> Profile:
    """A profile in which two trees take turns."""
    builder = ProfileBuilder()
    paths = [builder.path(-1, Frame(Kind.CELL, name, "")) for name in "ab"]
    trees = [builder.tree([path]) for path in paths]
    profile = builder.build(Meta("calyx", "turns"), [1, 1], trees)
    return replace(profile, schedule=Runs.of(segments, np.arange(2)))


def test_more_than_fits_in_memory_is_refused_with_a_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 1_000)
    segments = Segments(
        np.zeros(501, np.uint8), np.array([0, 2]), np.array([1, 1]), np.array([0, 1])
    )
    for asked in (segments.runs, lambda: one_by_one(segments).runs):
        with pytest.raises(InputError, match="choose a window of cycles"):
            asked()
    assert len(segments.between(0, 10)) == 10
    assert len(segments.between(0, 1_000).runs()[0]) == 1_000


@settings(max_examples=40, deadline=None)
@given(calyx_profiles(), st.lists(st.integers(0, 6), max_size=3), st.data())
def test_what_is_around_a_window_says_all_of_it(
    profile: Profile, anchors: list[int], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, profile.cycles - 1))
    end = data.draw(st.integers(start + 1, profile.cycles))
    part, first = around(kept_otherwise(profile, anchors), start, end)

    def inside(found: Spans) -> list[tuple[int, int, int]]:
        edges = np.maximum(found.start, start), np.minimum(found.end, end)
        rows = zip(found.path.tolist(), *(edge.tolist() for edge in edges), strict=True)
        return sorted(row for row in rows if row[1] < row[2])

    assert inside(spans(part).later(first)) == inside(spans(profile))
