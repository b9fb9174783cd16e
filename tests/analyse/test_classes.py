"""Every cycle in one class: the same totals by two routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings

import cyclescope.analyse._steps as steps
from cyclescope.analyse import cycle_classes
from cyclescope.model import Meta, Profile, ProfileBuilder
from meaning import design_overhead

from ..strategies import calyx_profiles, large_profile
from ..views.switch import switch_profile

if TYPE_CHECKING:
    import pytest


def test_the_switch_cycle_by_cycle() -> None:
    found = cycle_classes(switch_profile())
    shown = [found.names[i] for i in np.repeat(found.index, found.cycles).tolist()]
    assert shown == [
        "useful", "fsm", "other", "useful", "par_done", "other", "fsm", "useful", "other",
    ]  # fmt: skip


@settings(max_examples=60)
@given(calyx_profiles())
def test_classes_sum_to_the_overheads(profile: Profile) -> None:
    found = cycle_classes(profile)
    lost = design_overhead(profile)
    assert found.totals() == {"useful": lost.useful, **lost.by_kind()}
    assert found.cycles.sum() == profile.cycles
    assert (found.index[1:] != found.index[:-1]).all()


def test_windows_leave_no_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = large_profile(40)
    whole = cycle_classes(profile)
    monkeypatch.setattr(steps, "_WINDOW", 37)
    cut = cycle_classes(profile)
    assert np.array_equal(whole.cycles, cut.cycles)
    assert np.array_equal(whole.index, cut.index)


def test_a_run_of_no_cycles() -> None:
    nothing = ProfileBuilder().build(Meta("calyx", "empty.futil"), [], [])
    assert sum(cycle_classes(nothing).totals().values()) == 0
