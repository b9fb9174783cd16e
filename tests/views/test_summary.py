"""The summary as text and as JSON."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

from hypothesis import given, settings

from cyclescope.model import Meta, Profile, ProfileBuilder
from cyclescope.views import print_summary, summary_json, summary_text

from ..strategies import calyx_profiles
from .golden import check_golden
from .switch import switch_profile

if TYPE_CHECKING:
    import pytest


def test_summary_of_the_switch() -> None:
    check_golden("switch.summary.txt", summary_text(switch_profile(period_ps=3333)))


def test_summary_json_of_the_switch() -> None:
    check_golden("switch.summary.json", summary_json(switch_profile()))


def test_an_incomplete_run_is_said_loudly() -> None:
    text = summary_text(switch_profile(complete=False, stop_reason="cycle limit"))
    assert "INCOMPLETE: the run was stopped before its end (cycle limit)" in text
    assert json.loads(summary_json(switch_profile(complete=False)))["complete"] is False


@settings(max_examples=40, deadline=None)
@given(calyx_profiles(hostile=True))
def test_hostile_names_stay_inside_their_line(profile: Profile) -> None:
    text = summary_text(profile, width=90)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u2028\u2029]", text)
    assert all(len(line) <= 90 for line in text.split("\n"))
    found = json.loads(summary_json(profile))
    assert found["title"] == profile.meta.title
    assert found["cycles"] == profile.cycles
    assert found["account"] == {"unit": "cycles", "total": profile.cycles}
    assert found["useful"] + sum(found["lost"].values()) == profile.cycles


def test_no_colours_where_nobody_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    print_summary(switch_profile(), stream)
    assert "\x1b" not in stream.getvalue()

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = Terminal()
    print_summary(switch_profile(), coloured)
    assert "\x1b[32m" in coloured.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    print_summary(switch_profile(), plain)
    assert not re.search(r"\x1b\[3\dm", plain.getvalue())


def test_a_stream_that_knows_ascii_only_gets_escapes() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    print_summary(switch_profile(title="漢字"), stream)
    stream.flush()
    assert b"\\u6f22" in raw.getvalue()


def test_a_run_of_no_cycles() -> None:
    nothing = ProfileBuilder().build(Meta("calyx", "empty.futil"), [], [])
    assert summary_text(nothing).strip() == "0 cycles  empty.futil"
    assert json.loads(summary_json(nothing))["cycles"] == 0
