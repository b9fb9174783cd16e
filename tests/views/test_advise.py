"""Advice in every format; names stay text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given, settings

from cyclescope.analyse import advise
from cyclescope.views import advice_json, advice_markdown, advice_text

from ..strategies import calyx_profiles
from .golden import check_golden
from .switch import switch_profile

if TYPE_CHECKING:
    from cyclescope.model import Profile


def test_the_switch() -> None:
    found = switch_profile()
    advice = advise(found)
    check_golden("advice.txt", advice_text(found, advice, file="my runs/switch.cyc"))
    check_golden("advice.md", advice_markdown(found, advice, file="switch.cyc"))
    check_golden("advice.json", advice_json(found, advice))


def test_nothing_to_say() -> None:
    found = switch_profile(source="traces", complete=False)
    assert "No rule has anything to say" in advice_text(found, ())
    assert "INCOMPLETE" in advice_text(found, ())
    assert json.loads(advice_json(found, ()))["advice"] == []


@settings(max_examples=40)
@given(calyx_profiles(hostile=True))
def test_formats_agree_and_stay_in_lines(found: Profile) -> None:
    advice = advise(found)
    record = json.loads(advice_json(found, advice))
    assert [entry["saving"] for entry in record["advice"]] == [a.saving for a in advice]
    text = advice_text(found, advice, file="p.cyc", sites=2)
    markdown = advice_markdown(found, advice, file="p.cyc", sites=2)
    for shown in (text, markdown):
        assert all(c == "\n" or c.isprintable() for c in shown)
        for rank, finding in enumerate(advice, 1):
            assert f"{rank}. " in shown
            assert finding.rule.name in shown
    rows = [line for line in markdown.splitlines() if line.startswith("   |")]
    bars = {line.replace("\\\\", "").replace("\\|", "").count("|") for line in rows}
    assert bars <= {6}
