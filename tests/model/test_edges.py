"""A run read part by part: the same activations and changes as of the whole run in memory."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclescope.model import (
    Edges,
    Kind,
    Meta,
    Profile,
    ProfileBuilder,
    Runs,
    Segments,
    in_windows,
    spans,
    values,
)
from cyclescope.model import _repeated as module
from meaning import Frame

from ..strategies import calyx_profiles, kept_otherwise

if TYPE_CHECKING:
    from collections.abc import Iterable


def listed(parts: Iterable[tuple[np.ndarray, np.ndarray]]) -> list[tuple[int, int]]:
    return [pair for part in parts for pair in zip(*(c.tolist() for c in part), strict=True)]


@st.composite
def loops(draw: st.DrawFn) -> Profile:
    """Phrases of call trees in any order: what is active in one often goes on in the next.

    Paths are a chain and what branches off it, with fixed latencies here and there, also one
    inside the other.
    """
    rng = random.Random(draw(st.integers(0, 2**32)))  # few choices of many
    share = rng.choice([0.0, 0.3, 0.8])
    builder = ProfileBuilder()
    paths = [builder.path(-1, Frame(Kind.CELL, "main", "", "main"))]
    for number in range(1, rng.randint(2, 8)):
        parent = paths[-1] if rng.random() < 0.7 else rng.choice(paths)
        latency = rng.choice([1, 2, 3, 4, 6]) if rng.random() < share else None
        frame = Frame(Kind.PRIMITIVE, f"p{number}", "main", latency=latency)
        paths.append(builder.path(parent, frame))
    phrases = [
        [
            (
                rng.choice([1, 2, 3, 6, 12]),
                builder.tree([paths[-1 - rng.randrange(2)], rng.choice(paths)]),
            )
            for _ in range(rng.randint(1, 5))
        ]
        for _ in range(rng.randint(1, 3))
    ]
    runs = [run for _ in range(rng.randint(2, 25)) for run in rng.choice(phrases)]
    return builder.build(Meta("calyx", "loops"), [n for n, _ in runs], [tree for _, tree in runs])


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(loops(), loops(), calyx_profiles()),
    st.integers(0, 3),
    st.sampled_from([1, 3, 40, 1 << 17]),
    st.data(),
)
def test_edges_are_those_of_the_activations_in_memory(
    profile: Profile, anchors: int, part: int, data: st.DataObject
) -> None:
    some = data.draw(st.permutations(range(len(profile.forest))))
    other = kept_otherwise(profile, some[:anchors])
    start = data.draw(st.integers(0, profile.cycles - 1))
    end = data.draw(st.integers(start + 1, profile.cycles))
    paths = np.array(data.draw(st.permutations(range(len(profile.call_paths)))))
    paths = paths[: data.draw(st.integers(1, len(paths)))]
    dense = spans(profile, paths=paths)
    place = {path: number for number, path in enumerate(paths.tolist())}
    expected = []
    for path, begin, until in zip(dense.path, dense.start, dense.end, strict=True):
        if begin < end and until > start:
            expected.append((max(int(begin), start), place[int(path)]))
            expected.append((min(int(until), end), -1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PART", part)
        found = listed(Edges(other, paths, start, end).of(paths))
    assert found == sorted(expected)


@pytest.mark.parametrize("part", [1, 3, 40])
@pytest.mark.parametrize("inner", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("outer", [5, 6, 7])
def test_activations_are_cut_with_their_callers_in_the_next_part(
    outer: int, inner: int, part: int
) -> None:
    """The end of the caller's activation is known only after the part in which it begins."""
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    calls = builder.path(main, Frame(Kind.GROUP, "calls", "main", latency=outer))
    called = builder.path(calls, Frame(Kind.PRIMITIVE, "called", "main", latency=inner))
    last = builder.path(called, Frame(Kind.PRIMITIVE, "last", "main", latency=3))
    trees = [builder.tree([path]) for path in (last, calls, main)]
    lengths = [3 * outer, 2, 2 * outer, 1, 2 * outer - 3, 3, outer]
    order = [0, 1, 0, 1, 0, 2, 1]
    profile = builder.build(Meta("calyx", "cut"), lengths * 3, [trees[n] for n in order] * 3)
    paths = np.array([calls, called, last])
    dense = spans(profile, paths=paths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PART", part)
        edges = Edges(kept_otherwise(profile, [1]), paths, 0, profile.cycles)
        found = listed(edges.of(paths))
    which = np.searchsorted(paths, dense.path).tolist()
    expected = list(zip(dense.start.tolist(), which, strict=True))
    assert found == sorted([*expected, *((end, -1) for end in dense.end.tolist())])


@settings(max_examples=100, deadline=None)
@given(loops(), st.sampled_from([1, 8, 100, 1 << 17]), st.data())
def test_values_over_time_come_in_parts(profile: Profile, part: int, data: st.DataObject) -> None:
    """Each from where it begins, also side by side with others, one window after another."""
    some = data.draw(st.permutations(range(len(profile.forest))))
    runs = kept_otherwise(profile, some[: data.draw(st.integers(0, 3))]).schedule
    start = data.draw(st.integers(0, profile.cycles - 1))
    end = data.draw(st.integers(start + 1, profile.cycles))
    numbers = st.lists(st.integers(0, 3), min_size=len(some), max_size=len(some))
    columns = [np.array(data.draw(numbers)) for _ in range(2)]
    each = np.repeat(profile.schedule.tree, profile.schedule.cycles)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PART", part)
        streams = [values(runs.segments, column[runs.tree_of], start, end) for column in columns]
        windows = list(in_windows(streams, start, end))
    assert [low for low, _, _ in windows] == [start, *(high for _, high, _ in windows[:-1])]
    assert windows[-1][1] == end
    for number, column in enumerate(columns):
        found = []
        for low, high, parts in windows:
            found += listed(parts[number])
            assert all(low <= cycle < high for cycle, _ in listed(parts[number]))
        shown = column[each][start:end]
        begins = np.flatnonzero(np.append(True, shown[1:] != shown[:-1]))
        assert found == list(zip((begins + start).tolist(), shown[begins].tolist(), strict=True))


@pytest.mark.parametrize("latency", [None, 10])
def test_no_part_is_longer_than_it_may_be(latency: int | None) -> None:
    """However long the run, and also where an activation that is cut goes on all the time."""
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    block = builder.path(main, Frame(Kind.CONTROL, "static seq", "main", latency=latency))
    inner = [
        builder.path(block, Frame(Kind.GROUP, name, "main", latency=latency and 5)) for name in "ab"
    ]
    trees = [builder.tree([path]) for path in inner]
    profile = builder.build(Meta("calyx", "long"), [5, 5], trees)
    times = 20_000
    segments = Segments(
        np.zeros(times, np.uint8), np.array([0, 2]), np.array([5, 5]), np.array([0, 1])
    )
    long = replace(profile, schedule=Runs.of(segments, np.arange(2)))
    paths = np.array([block, *inner])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PART", 1 << 10)
        sizes = [len(time) for time, _ in Edges(long, paths, 0, long.cycles).of(paths)]
    assert sum(sizes) == 4 * times + (2 * times if latency else 2)
    assert max(sizes) <= 1 << 10
