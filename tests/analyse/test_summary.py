"""The summary's hottest paths."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings

from cyclescope.analyse import places, summarise
from cyclescope.model import Kind, Meta, Position, Profile, ProfileBuilder
from meaning import Frame

from ..strategies import calyx_profiles


@settings(max_examples=40, deadline=None)
@given(calyx_profiles())
def test_hottest_paths_descend_and_stay_below_the_total(profile: Profile) -> None:
    summary = summarise(profile, hottest=5)
    cycles = [path.cycles for path in summary.hottest]
    assert cycles == sorted(cycles, reverse=True)
    assert all(0 < c <= profile.cycles for c in cycles)
    assert summary.cycles == profile.cycles == summary.account.total
    everything = summarise(profile, hottest=10_000).hottest
    assert everything[: len(cycles)] == summary.hottest
    # In each cycle something is at the end of its path, and only groups do work there.
    assert sum(path.cycles for path in everything) >= profile.cycles
    assert all(path.kind is not Kind.PRIMITIVE for path in everything)


def test_callers_do_not_split_a_hot_spot_and_primitives_count_for_their_group() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    work = Frame(Kind.GROUP, "work", "queue", "", (Position("calyx", "q.futil", 9),))
    add = [Frame(Kind.PRIMITIVE, name, "queue", "std_add") for name in ("add0", "add1")]
    trees = []
    for caller in ("push", "pop"):
        call = builder.path(main, Frame(Kind.GROUP, caller, "main"))
        cell = builder.path(call, Frame(Kind.CELL, "q", "main", "queue"))
        group = builder.path(cell, work)
        trees.append(builder.tree([builder.path(group, a) for a in add]))
    trees.append(builder.tree([main]))
    profile = builder.build(Meta("calyx", "q.futil"), [3, 4, 1], trees)
    first, second = summarise(profile).hottest
    assert (first.instance, first.stack, first.cycles) == ("main.q", ("work",), 7)
    assert first.share == Fraction(7, 8)
    assert str(first.position) == "q.futil:9"
    assert (second.instance, second.stack, second.kind, second.cycles) == ("main", (), Kind.CELL, 1)
    assert len(set(places(profile))) == 7


def test_a_profile_without_cycles_has_a_summary() -> None:
    summary = summarise(ProfileBuilder().build(Meta("calyx", "empty"), [], []))
    assert (summary.cycles, summary.hottest, summary.share(0)) == (0, (), 0)
