"""The critical path over time is the one of the figures, in every cycle."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings

from cyclescope.analyse import critical, critical_over_time
from cyclescope.errors import InputError
from cyclescope.model import Meta, Profile, ProfileBuilder, load

from ..strategies import calyx_profiles, large_profile

ROWS = Path(__file__).parents[1] / "views" / "data" / "rows.cyc"


def _check(profile: Profile) -> None:
    """Its cycles sum to the figures of each frame in its instance, and each path is active then."""
    found = critical_over_time(profile)
    spent: Counter[tuple[int, str]] = Counter()
    start = 0
    active = [set(tree) for tree in profile.forest]
    trees, ends = profile.schedule.tree, profile.schedule.start + profile.schedule.cycles
    run = 0
    for cycles, path in zip(found.cycles.tolist(), found.path.tolist(), strict=True):
        spent[int(profile.call_paths.frame[path]), profile.instances[path]] += cycles
        while start < profile.cycles and ends[run] <= start:
            run += 1
        last = run
        while True:
            assert path in active[int(trees[last])]
            if ends[last] >= start + cycles:
                break
            last += 1
        start += cycles
    assert start == profile.cycles
    assert spent == {f.key: f.critical for f in critical(profile).frames if f.critical}


@given(calyx_profiles(depth=4))
@settings(max_examples=60, deadline=None)
def test_it_is_the_path_of_the_figures(profile: Profile) -> None:
    _check(profile)


def test_it_is_so_in_a_long_run() -> None:
    _check(large_profile(200))


def test_threads_have_one_too() -> None:
    profile = load(ROWS)
    try:
        figures = critical(profile)
    except InputError:
        pytest.skip("recorded without exact waits")
    found = critical_over_time(profile)
    spent: Counter[int] = Counter()
    for cycles, path in zip(found.cycles.tolist(), found.path.tolist(), strict=True):
        spent[int(profile.call_paths.frame[path])] += cycles
    wanted: Counter[int] = Counter()
    for frame in figures.frames:
        wanted[frame.key[0]] += frame.critical
    assert spent == +wanted
    assert sum(spent.values()) == profile.cycles


def test_nothing_has_none() -> None:
    with pytest.raises(InputError, match="no cycle"):
        critical_over_time(ProfileBuilder().build(Meta("calyx", "empty"), [], []))
