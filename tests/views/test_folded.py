"""Folded stacks and speedscope: sums are exact."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from cyclescope.model import Meta, Profile, ProfileBuilder, flat_weights, scaled_weights
from cyclescope.views import folded, speedscope
from cyclescope.views._stacks import stacks

from ..analyse.test_team import threaded
from ..strategies import calyx_profiles
from .golden import check_golden
from .switch import switch_profile


@pytest.mark.parametrize("scaled", [False, True])
def test_folded_stacks_of_the_switch(scaled: bool) -> None:
    found = folded(switch_profile(), scaled=scaled)
    check_golden(f"switch.{'scaled' if scaled else 'flat'}.folded", found)


@settings(max_examples=60, deadline=None)
@given(calyx_profiles(hostile=True))
def test_counts_sum_exactly_and_names_break_nothing(profile: Profile) -> None:
    for scaled in (False, True):
        found = folded(profile, scaled=scaled)
        lines = found.split("\n")
        assert lines.pop() == ""
        counts = []
        for line in lines:
            match = re.fullmatch(r"(.+) ([0-9]+)", line)
            assert match, line
            counts.append(int(match[2]))
        exact = scaled_weights(profile) if scaled else flat_weights(profile)
        assert sum(counts) == sum(exact)
        whole = stacks(profile, scaled=scaled).whole
        assert all(abs(kept - weight) < 1 for kept, weight in zip(whole, exact, strict=True))
        depths = sorted(line.count(";") for line in lines)
        weighed = [p for p, w in enumerate(whole) if w]
        assert depths == sorted(len(profile.lineage(p)) - 1 for p in weighed)


def check_schema(document: dict[str, Any]) -> None:
    """The rules of speedscope's published schema, for what we write."""
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]
    for frame in frames:
        assert set(frame) <= {"name", "file", "line", "col"}
        assert isinstance(frame["name"], str)
    assert 0 <= document["activeProfileIndex"] < len(document["profiles"])
    for profile in document["profiles"]:
        assert set(profile) == {
            "type",
            "name",
            "unit",
            "startValue",
            "endValue",
            "samples",
            "weights",
        }
        assert profile["type"] == "sampled"
        assert profile["unit"] == "none"
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= i < len(frames) for stack in profile["samples"] for i in stack)
        assert all(isinstance(w, int) and w > 0 for w in profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])


@settings(max_examples=60, deadline=None)
@given(calyx_profiles(hostile=True))
def test_speedscope_weights_sum_exactly(profile: Profile) -> None:
    document = json.loads(speedscope(profile))
    check_schema(document)
    scaled, flat, *over_time = document["profiles"]
    assert scaled["endValue"] == profile.cycles
    assert flat["endValue"] == sum(flat_weights(profile))
    assert over_time
    for lane in over_time:
        assert lane["endValue"] == profile.cycles
    # Over time and by path the same stacks have the same cycles.
    by_stack: dict[tuple[int, ...], int] = {}
    for lane in over_time:
        for stack, weight in zip(lane["samples"], lane["weights"], strict=True):
            if stack:
                by_stack[tuple(stack)] = by_stack.get(tuple(stack), 0) + weight
    expected: dict[tuple[int, ...], int] = {}
    for stack, weight in zip(flat["samples"], flat["weights"], strict=True):
        expected[tuple(stack)] = expected.get(tuple(stack), 0) + weight
    assert by_stack == expected


def test_speedscope_window_and_limit() -> None:
    profile = switch_profile()
    window = json.loads(speedscope(profile, start=2, end=6))["profiles"][2:]
    assert [p["endValue"] for p in window] == [4, 4]
    assert window[0]["name"] == "over time from 2 to 6 (cycles)"
    short = json.loads(speedscope(profile, max_runs=3))
    assert len(short["profiles"]) == 2
    assert "choose a window" in short["name"]


def test_a_run_of_no_cycles_has_no_stacks() -> None:
    nothing = ProfileBuilder().build(Meta("calyx", "empty"), [], [])
    assert folded(nothing, scaled=True) == ""
    assert Fraction(sum(p["endValue"] for p in json.loads(speedscope(nothing))["profiles"])) == 0


def test_each_thread_has_a_profile_of_its_own() -> None:
    profile = threaded([[1, 0], [2, 1], [1, 1]], [10, 20, 30])
    document = json.loads(speedscope(profile))
    check_schema(document)
    threads = [p for p in document["profiles"] if p["name"].startswith("thread ")]
    assert [p["name"] for p in threads] == ["thread 0 (cycles)", "thread 1 (cycles)"]
    assert [p["endValue"] for p in threads] == [60, 60]
    over_time = [p for p in document["profiles"] if p["name"].startswith("over time")]
    assert [p["name"] for p in over_time] == [
        "over time, thread 0 (cycles)", "over time, thread 1 (cycles)",
    ]  # fmt: skip
    assert [p["endValue"] for p in over_time] == [60, 60]
