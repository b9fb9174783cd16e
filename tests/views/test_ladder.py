"""The ladder in every format."""

from __future__ import annotations

import json

from cyclescope.analyse import Gap, Rung
from cyclescope.views import ladder_json, ladder_markdown, ladder_text

RUNGS = (
    Rung("unbounded", 129),
    Rung("absolute", 6807, (Gap("waits", 6615), Gap("resource", 63))),
    Rung("one thread", 5807, (Gap("overlap", -1000),)),
)

TEXT = """\
k.c\\x1b

  unbounded        129
      waits     +6,615
      resource     +63
  absolute       6,807
      overlap   -1,000
  one thread     5,807
"""


def test_for_people() -> None:
    assert ladder_text(RUNGS, "k.c\x1b") == TEXT
    markdown = ladder_markdown(RUNGS, "k|c").splitlines()
    assert markdown[0] == "### k\\|c"
    assert "| **absolute** | **6,807** |" in markdown
    assert "| overlap | -1,000 |" in markdown


def test_for_programs() -> None:
    found = json.loads(ladder_json(RUNGS, "k.c"))
    assert [rung["cycles"] for rung in found["rungs"]] == [129, 6807, 5807]
    assert found["rungs"][2]["gaps"] == [{"name": "overlap", "cycles": -1000}]
