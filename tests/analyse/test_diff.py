"""Comparisons: they add up, mirror, and are empty where nothing differs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings

from cyclescope.analyse import account, diff
from cyclescope.model import Kind, Profile, Runs, active_cycles

from ..strategies import calyx_profiles, large_profile
from ..views.switch import switch_profile
from .teams import team_profile, team_profiles
from .test_match import EITHER


@settings(max_examples=40)
@given(calyx_profiles(hostile=True) | team_profiles())
def test_a_profile_does_not_differ_from_itself(found: Profile) -> None:
    same = diff(found, found)
    assert same.empty
    assert same.cycles == 0
    assert not same.settings
    assert all(old == new for old, new in same.uses.values())


@settings(max_examples=40)
@given(EITHER)
def test_changes_add_up_and_mirror(both: tuple[Profile, Profile]) -> None:
    one, two = both
    there, back = diff(one, two), diff(two, one)
    assert sum(change.own for change in there.changes) == there.cycles == two.cycles - one.cycles
    # Uses divide a run's cycles, or those of each of its tracks.
    change = account(two).total - account(one).total
    assert sum(new - old for old, new in there.uses.values()) == change
    # Two that share all but their side, one gone and one new, have no order of their own.
    swap = {"new": "gone", "gone": "new"}
    ahead = [(c.before, c.after, c.own, c.active, c.status) for c in there.changes]
    mirrored = [
        (c.after, c.before, -c.own, -c.active, swap.get(c.status, c.status)) for c in back.changes
    ]
    assert sorted(map(repr, mirrored)) == sorted(map(repr, ahead))
    assert [abs(c.own) for c in there.changes] == [abs(c.own) for c in back.changes]


@settings(max_examples=25)
@given(calyx_profiles())
def test_against_nothing_all_is_new(found: Profile) -> None:
    nothing = replace(
        found,
        call_paths=replace(
            found.call_paths, parent=found.call_paths.parent[:0], frame=found.call_paths.frame[:0]
        ),
        forest=replace(found.forest, offset=found.forest.offset[:1], path=found.forest.path[:0]),
        schedule=Runs(found.schedule.cycles[:0], found.schedule.tree[:0]),
        series=(),
    )
    compared = diff(nothing, found)
    assert {change.status for change in compared.changes} == {"new"}
    shown = [c.after for c in compared.changes if c.after is not None]
    assert sum((spot.own for spot in shown), Fraction(0)) == found.cycles


def test_active_cycles_of_a_row_are_those_of_its_paths() -> None:
    """A row that stands for a single path shows what the model says of that path."""
    found = switch_profile()
    longer = replace(
        found, schedule=Runs(found.schedule.cycles * 3, found.schedule.tree), series=()
    )
    compared = diff(found, longer)
    assert compared.cycles == 18
    active = active_cycles(found).tolist()
    for change in compared.changes:
        assert change.before is not None
        assert change.before.active == active[change.before.path]
        assert change.active == 2 * active[change.before.path]
        assert not change.status
    kinds = Counter(change.spot.kind for change in compared.changes)
    assert Kind.PRIMITIVE not in kinds
    assert sum(kinds.values()) == sum(
        found.frame_of(p).kind is not Kind.PRIMITIVE for p in range(len(found.call_paths))
    )


def test_a_row_is_of_all_threads() -> None:
    before, after = team_profile([(3, "i")], 2), team_profile([(7, "i")], 3, states=["critical"])
    compared = diff(before, after)
    rows = {change.spot.stack: change for change in compared.changes}
    loop = rows["threads", "running", "L7"]
    assert not loop.status
    assert loop.spot.instance == "k"
    assert sum(change.own for change in compared.changes) == compared.cycles
    assert all(stack[1:2] != ("running",) or not c.status for stack, c in rows.items())
    assert rows["threads", "critical"].status == "new"


def test_what_differs_in_the_settings_is_told() -> None:
    found = switch_profile(options={"passes": "all"}, inputs={"a": "1"})
    other = switch_profile(options={"passes": "none", "disable": "x"}, inputs={"a": "1"})
    assert diff(found, other).settings == {
        "option disable": ("", "x"),
        "option passes": ("all", "none"),
    }


def test_a_large_profile_in_seconds() -> None:
    one, two = large_profile(2000), large_profile(2000, seed=6)
    compared = diff(one, two)
    assert sum(change.own for change in compared.changes) == two.cycles - one.cycles
