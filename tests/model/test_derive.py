"""Weights and spans against the slow way: cycle by cycle, straight from the definitions."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings

from cyclescope.model import (
    Profile,
    active_cycles,
    check_laws,
    flat_weights,
    scaled_weights,
    spans,
    tree_cycles,
)
from strategies import calyx_profiles


def each_cycle(profile: Profile) -> list[set[int]]:
    """The paths active in each cycle."""
    active = []
    for cycles, tree in zip(
        profile.schedule.cycles.tolist(), profile.schedule.tree.tolist(), strict=True
    ):
        active += [set(profile.forest[tree].tolist())] * cycles
    return active


def leaves(profile: Profile, active: set[int]) -> list[int]:
    parents = {int(profile.call_paths.parent[path]) for path in active}
    return sorted(active - parents)


@given(calyx_profiles())
def test_every_cycle_is_counted_once(profile: Profile) -> None:
    check_laws(profile)
    cycles = each_cycle(profile)
    assert len(cycles) == profile.cycles == int(tree_cycles(profile).sum())
    assert active_cycles(profile)[0] == profile.cycles


@given(calyx_profiles())
def test_weights_agree_with_counting_cycle_by_cycle(profile: Profile) -> None:
    active, flat = Counter[int](), Counter[int]()
    scaled: dict[int, Fraction] = {}
    for paths in each_cycle(profile):
        active.update(paths)
        ends = leaves(profile, paths)
        flat.update(ends)
        for path in ends:
            scaled[path] = scaled.get(path, Fraction(0)) + Fraction(1, len(ends))
    size = len(profile.call_paths)
    assert active_cycles(profile).tolist() == [active[p] for p in range(size)]
    assert flat_weights(profile) == [flat[p] for p in range(size)]
    assert scaled_weights(profile) == [scaled.get(p, 0) for p in range(size)]


@given(calyx_profiles())
def test_scaled_weights_sum_to_the_total_and_never_exceed_flat_ones(profile: Profile) -> None:
    flat, scaled = flat_weights(profile), scaled_weights(profile)
    assert sum(scaled) == profile.cycles <= sum(flat)
    assert all(s <= f for s, f in zip(scaled, flat, strict=True))


@pytest.mark.parametrize("at_once", [1, 1 << 21])
@given(profile=calyx_profiles())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_transitions_are_what_adjacent_runs_differ_in(profile: Profile, at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cyclescope.model._profile._AT_ONCE", at_once)
        started, ended, which = profile.transitions
    shown = [set(profile.forest[tree].tolist()) for tree in profile.schedule.tree.tolist()]
    for change, (old, new) in zip(
        which.tolist(), itertools.pairwise([set(), *shown, set()]), strict=True
    ):
        assert started[change].tolist() == sorted(new - old)
        assert ended[change].tolist() == sorted(old - new)


@given(calyx_profiles())
def test_spans_cover_exactly_the_active_cycles(profile: Profile) -> None:
    found = spans(profile)
    covered: dict[int, list[int]] = {p: [] for p in range(len(profile.call_paths))}
    for path, start, end in zip(
        found.path.tolist(), found.start.tolist(), found.end.tolist(), strict=True
    ):
        assert start < end
        covered[path] += range(start, end)
    for path, cycles in covered.items():
        assert cycles == [c for c, paths in enumerate(each_cycle(profile)) if path in paths]
