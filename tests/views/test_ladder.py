"""The ladder in every format."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from cyclescope.errors import InputError
from cyclescope.model import Anomaly, Gap, Rung, Severity
from cyclescope.views import ladder_json, ladder_markdown, ladder_svg, ladder_text

from .switch import switch_profile

PROFILE = switch_profile().with_meta(
    title="k|c\x1b",
    ladder=(
        Rung("unbounded", 129, (), "no waits"),
        Rung("absolute", 6807, (Gap("recurrence", 6615, "waits"), Gap("resource", 63))),
        Rung("the <design>", 5807, (Gap("work side by side", -1000),)),
    ),
)
TEXT = """\
k|c\\x1b

  unbounded                 129
      recurrence         +6,615  113.9 %
      resource              +63    1.1 %
  absolute                6,807
      work side by side  -1,000  -17.2 %
  the <design>            5,807
"""


def test_for_people() -> None:
    assert ladder_text(PROFILE) == TEXT
    lost = Anomaly("no bounds", Severity.INFO, 1, "too long")
    assert ladder_text(PROFILE.with_meta(anomalies=(lost,))).endswith("  no bounds: too long\n")
    markdown = ladder_markdown(PROFILE).splitlines()
    assert markdown[0] == "### k\\|c\\\\x1b"
    assert "| **absolute** | **6,807** | |" in markdown
    assert "| work side by side | -1,000 | -17.2 % |" in markdown


def test_with_a_clock_rungs_have_times() -> None:
    timed = PROFILE.with_meta(period_ps=20_284)
    lines = ladder_text(timed).splitlines()
    assert lines[2:4] == [
        "  unbounded                 129  2.617 µs",
        "      recurrence         +6,615   113.9 %",
    ]
    assert lines[-1].endswith("5,807  117.8 µs")
    markdown = ladder_markdown(timed).splitlines()
    assert markdown[2] == "| | cycles | of the run; time |"
    assert "| **absolute** | **6,807** | 138.1 µs |" in markdown
    assert ladder_json(timed) == ladder_json(PROFILE)


def test_another_model_s_bound_is_beside_it() -> None:
    other = (Rung("of statements", 8000), Rung("of operations", 6807, (Gap("units", -1193),)))
    profile = PROFILE.with_meta(other_bounds=other)
    said = ladder_text(profile)
    assert said.startswith(TEXT)
    assert "      units      -1,193  -14.9 %\n" in said
    assert "| units | -1,193 | -14.9 % |" in ladder_markdown(profile).splitlines()
    assert json.loads(ladder_json(profile))["other_bounds"][1]["cycles"] == 6807
    assert "other_bounds" not in json.loads(ladder_json(PROFILE))


def test_for_programs() -> None:
    found = json.loads(ladder_json(PROFILE))
    assert [rung["cycles"] for rung in found["rungs"]] == [129, 6807, 5807]
    assert found["rungs"][2]["gaps"] == [
        {"name": "work side by side", "cycles": -1000, "about": ""}
    ]


def test_the_picture_is_to_scale() -> None:
    root = ET.fromstring(ladder_svg(PROFILE))
    space = "{http://www.w3.org/2000/svg}"
    bars = [
        (rect.get("class"), float(rect.get("x", "0")), float(rect.get("width", "0")))
        for group in root.iter(f"{space}g")
        for rect in group.iter(f"{space}rect")
    ]
    assert [kind for kind, _, _ in bars] == ["bar", "program", "program", "bar", "less", "bar"]
    unit = bars[3][2] / 6807
    for (_, _, width), cycles in zip(bars, (129, 6615, 63, 6807, 1000, 5807), strict=True):
        assert width == pytest.approx(cycles * unit, abs=0.1)
    # A gap begins where the rung below ends; one that is negative goes back.
    assert bars[1][1] == pytest.approx(bars[0][1] + bars[0][2], abs=0.11)
    assert bars[4][1] == pytest.approx(bars[5][1] + bars[5][2], abs=0.11)
    assert "the <design>" in [text.text for text in root.iter(f"{space}text")]


def test_without_a_ladder() -> None:
    for view in (ladder_text, ladder_markdown, ladder_json, ladder_svg):
        with pytest.raises(InputError, match="cyclescope ladder"):
            view(switch_profile())
