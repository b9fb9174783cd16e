"""The outcome of a check in every format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from hypothesis import given, settings

from cyclescope.analyse import check, diff
from cyclescope.views import check_json, check_junit, check_markdown, check_text

from ..strategies import calyx_profiles
from .golden import check_golden
from .switch import switch_profile

if TYPE_CHECKING:
    from cyclescope.model import Profile


def test_the_switch() -> None:
    found = switch_profile()
    findings = check(
        found,
        ["cycles <= 9", "useful >= 50%", "longest(main/par L31) < 4"],
        against=switch_profile(),
        fail_on=["cycles > +2%"],
        strict=True,
    )
    check_golden("check.txt", check_text(found, findings))
    check_golden("check.json", check_json(found, findings))
    check_golden("check.xml", check_junit(found, findings).decode())
    check_golden("check.md", check_markdown(found, findings, diff(found, found)))


@settings(max_examples=25)
@given(calyx_profiles(hostile=True), calyx_profiles(hostile=True))
def test_all_formats_agree(one: Profile, two: Profile) -> None:
    budgets = [f"cycles <= {one.cycles - 1}", "useful >= 10%"]
    findings = check(one, budgets, against=two, fail_on=["cycles > +0", "fsm > +1%"], strict=True)
    failed = sum(not finding.passed for finding in findings)
    text = check_text(one, findings)
    assert sum(line.startswith("FAIL") for line in text.splitlines()) == failed
    assert len(text.splitlines()) == len(findings) + 1
    record = json.loads(check_json(one, findings))
    assert [f["passed"] for f in record["findings"]] == [f.passed for f in findings]
    assert record["passed"] is (failed == 0)
    root = ET.fromstring(check_junit(one, findings))
    assert len(list(root.iter("testcase"))) == len(findings) == int(root.get("tests", 0))
    assert len(list(root.iter("failure"))) == failed == int(root.get("failures", -1))
    markdown = check_markdown(one, findings, diff(two, one))
    assert markdown.count("**FAIL**") == failed
