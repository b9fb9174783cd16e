"""The headline's figure is the same in every view, whatever the profile's source.

The page's, read from the DOM, is in `test_report_account`.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING

import pytest

from cyclescope import views
from cyclescope.analyse import WORK, Use, account, check, diff, parse_limit, track_units
from cyclescope.views._text import percent

from .test_report_account import PROFILES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("kind", PROFILES)
def test_every_view_says_the_same(kind: str, tmp_path: Path) -> None:
    profile = PROFILES[kind](tmp_path)
    head = json.loads(views.summary_json(profile))
    useful, lost = head["useful"], head["lost"]
    unit, total = head["account"]["unit"], head["account"]["total"]
    missed = sum(lost.values())
    assert useful + missed == total
    assert (kind == "ladder") == bool(profile.meta.ladder)

    text = " ".join(views.summary_text(profile, width=200).split())
    assert f"useful {useful:,} {percent(account(profile).share(useful))}" in text

    limits = [
        parse_limit(text) for text in (f"useful>={useful}", f"useful<={useful}", f"lost=={missed}")
    ]
    assert all(finding.passed for finding in check(profile, limits))
    above = check(profile, [parse_limit(f"useful>{useful}")])
    assert not above[-1].passed

    picture = views.flamegraph(profile).decode()
    assert f"Lost: {missed:,} {unit} " in picture
    (share,) = re.findall(
        r"cycles, ([^<]*?) (?:of \S+ )?useful<", views.timeline_svg([profile]).decode()
    )
    assert share == percent(account(profile).share(useful))

    (before, after) = diff(profile, profile).uses[WORK]
    assert before == after == useful
    assert json.loads(views.diff_json(diff(profile, profile)))["account"][0]["total"] == total
    (row,) = json.loads(views.comparison([profile], "json"))
    assert row["useful"] == useful

    if profile.meta.ladder:
        rungs = json.loads(views.ladder_json(profile))["rungs"]
        assert rungs[-1]["cycles"] == head["cycles"] == profile.cycles
        for below, rung in itertools.pairwise(rungs):
            assert rung["cycles"] == below["cycles"] + sum(g["cycles"] for g in rung["gaps"])
        last = f"{rungs[-1]['name']} {profile.cycles:,}"
        assert " ".join(views.ladder_text(profile).split()).endswith(last)

    if account(profile).tracks:
        units = track_units(profile)
        assert sum(one.units for one in units) == total
        by_use: dict[Use, int] = {}
        for one in units:
            by_use[one.use] = by_use.get(one.use, 0) + one.units
        assert {use.label: n for use, n in by_use.items() if use != WORK} == lost
