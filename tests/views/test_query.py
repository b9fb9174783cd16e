"""Answers in every format. No database is needed to show one."""

from __future__ import annotations

import csv
import io
import json

from cyclescope.analyse import Answer
from cyclescope.views import answer_view

ANSWER = Answer(
    ("name", "cycles", "share", "cycles", "more", "static"),
    (
        ("read", 12, 0.25, None, [1, {"a": 2}], True),
        ("=evil", 1_000_000, float("nan"), 3, None, False),
        ("a\x1b|b", 0, 2.0, 4, {}, None),
    ),
)


def test_for_people() -> None:
    lines = answer_view(ANSWER).decode().splitlines()
    assert lines[0].split() == ["name", "cycles", "share", "cycles_2", "more", "static"]
    assert lines[1].split() == ["read", "12", "0.25", "[1,", '{"a":', "2}]", "true"]
    assert "\\x1b" in lines[3]
    markdown = answer_view(ANSWER, "markdown").decode().splitlines()
    assert len(markdown) == 5
    assert "\\|" in markdown[4]


def test_for_programs() -> None:
    records = json.loads(answer_view(ANSWER, "json"))
    assert records[0]["more"] == [1, {"a": 2}]
    assert records[1]["share"] is None
    assert records[1]["cycles_2"] == 3
    rows = list(csv.DictReader(io.StringIO(answer_view(ANSWER, "csv").decode())))
    assert rows[1]["name"] == "'=evil"
    assert json.loads(rows[0]["more"]) == [1, {"a": 2}]


def test_an_answer_of_nothing() -> None:
    assert answer_view(Answer((), ())).decode().strip() == ""
    assert json.loads(answer_view(Answer(("a",), ()), "json")) == []
