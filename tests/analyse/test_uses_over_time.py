"""The use of every cycle: the same totals by two routes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from cyclescope.analyse import account, uses_over_time
from cyclescope.model import Meta, Profile, ProfileBuilder

from ..strategies import calyx_profiles, kept_otherwise, large_profile
from ..views.switch import switch_profile


def test_the_switch_cycle_by_cycle() -> None:
    found = uses_over_time(switch_profile())
    shown = [found.uses[i].label for i in np.repeat(found.index, found.cycles).tolist()]
    fsm, par_done, other = (f"control: {cause}" for cause in ("fsm", "par done", "other"))
    assert shown == [
        "work", fsm, other, "work", par_done, other, fsm, "work", other,
    ]  # fmt: skip


@settings(max_examples=60)
@given(calyx_profiles())
def test_uses_sum_to_the_account(profile: Profile) -> None:
    found = uses_over_time(profile)
    assert {use: n for use, n in found.totals().items() if n} == {
        use: n for use, n in account(profile).parts.items() if n
    }
    assert found.cycles.sum() == profile.cycles
    assert (found.index[1:] != found.index[:-1]).all()


def test_segments_leave_no_seam() -> None:
    profile = large_profile(40)
    whole = uses_over_time(profile)
    for state in range(4):
        cut = uses_over_time(kept_otherwise(profile, [state]))
        assert np.array_equal(whole.cycles, cut.cycles)
        assert np.array_equal(whole.index, cut.index)


def test_a_run_of_no_cycles() -> None:
    nothing = ProfileBuilder().build(Meta("calyx", "empty.futil"), [], [])
    assert sum(uses_over_time(nothing).totals().values()) == 0
