"""The flame graph: sums, nesting, safety, and how it behaves in a browser."""

from __future__ import annotations

import html
import os
import re
import subprocess
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from cyclescope.model import (
    Kind,
    Meta,
    Profile,
    ProfileBuilder,
    active_cycles,
    flat_weights,
    scaled_weights,
)
from cyclescope.views import flamegraph
from cyclescope.views._text import visible
from meaning import Frame

from ..strategies import HOSTILE, calyx_profiles
from .browser import CHROMIUM, QUIET, scratch
from .golden import check_golden
from .switch import switch_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SVG = "{http://www.w3.org/2000/svg}"


def boxes(svg: bytes) -> list[ET.Element]:
    root = ET.fromstring(svg)
    return [g for g in root.iter(f"{SVG}g") if g.get("class", "").startswith("b ")]


def without_code(svg: bytes) -> str:
    return re.sub(r"<!\[CDATA\[.*?\]\]>", "", svg.decode(), flags=re.DOTALL)


@pytest.mark.parametrize("scaled", [False, True])
def test_flame_graph_of_the_switch(scaled: bool) -> None:
    svg = flamegraph(switch_profile(), scaled=scaled)
    check_golden(f"switch.{'scaled' if scaled else 'flat'}.svg", without_code(svg))


@settings(max_examples=40, deadline=None)
@given(calyx_profiles(hostile=True))
def test_boxes_add_up_and_nest_whatever_the_names(profile: Profile) -> None:
    for scaled in (False, True):
        drawn = boxes(flamegraph(profile, scaled=scaled, min_width=0))
        exact = scaled_weights(profile) if scaled else flat_weights(profile)
        total = sum(exact)
        assert total == profile.cycles or not scaled
        parents = profile.call_paths.parent.tolist()
        weight = [Fraction(w) for w in exact]
        for path in reversed(range(len(weight))):
            if parents[path] >= 0:
                weight[parents[path]] += weight[path]
        widths = sorted(float(w / total) for w in weight if w)
        assert sorted(float(g.get("data-w", "")) for g in drawn) == pytest.approx(widths)
        stack: list[tuple[float, float]] = []
        for g in drawn:
            depth = int(g.get("data-d", ""))
            left, width = float(g.get("data-x", "")), float(g.get("data-w", ""))
            del stack[depth:]
            assert len(stack) == depth
            if stack:
                assert stack[-1][0] - 1e-6 <= left
                assert left + width <= stack[-1][0] + stack[-1][1] + 1e-6
            stack.append((left, width))


@settings(max_examples=20, deadline=None)
@given(calyx_profiles(hostile=True))
def test_tooltips_say_the_name_and_the_active_cycles(profile: Profile) -> None:
    drawn = boxes(flamegraph(profile, scaled=False, min_width=0))
    found = sorted((g.findtext(f"{SVG}title") or "").split("\n")[0] for g in drawn)
    active = active_cycles(profile).tolist()
    shown = [p for p, cycles in enumerate(active) if cycles]
    assert found == sorted(visible(profile.frame_of(p).label) or "(no name)" for p in shown)
    said = [re.search(r"\nactive ([0-9,]+) of", g.findtext(f"{SVG}title") or "") for g in drawn]
    cycles = [int(match[1].replace(",", "")) for match in said if match]
    assert sorted(cycles) == sorted(active[p] for p in shown)


def test_the_root_states_the_total_and_the_colours_are_the_papers() -> None:
    svg = flamegraph(switch_profile())
    root, *rest = boxes(svg)
    assert root.findtext(f"{SVG}text") == "main \u00b7 9 cycles"
    assert {g.get("class") for g in (root, *rest)} == {
        "b cell",
        "b control",
        "b group",
        "b primitive",
    }
    style = svg.decode()
    for kind, colour in (
        ("cell", "#b79ce6"),  # purple
        ("control", "#ee7b6c"),  # red
        ("group", "#f7ad55"),  # orange
        ("primitive", "#f7e072"),  # yellow
    ):
        assert f".{kind} rect, rect.{kind} {{ fill: {colour}; }}" in style


def test_children_stand_in_order_of_first_activity() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    late, early = (builder.path(main, Frame(Kind.GROUP, n, "main")) for n in ("late", "early"))
    trees = [builder.tree([late]), builder.tree([early])]
    profile = builder.build(Meta("calyx", "order"), [1, 2], [trees[1], trees[0]])
    names = [g.findtext(f"{SVG}text") for g in boxes(flamegraph(profile))]
    assert names == ["main \u00b7 3 cycles", "early", "late"]


def test_narrow_boxes_are_left_out_and_the_picture_says_so() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    wide = builder.path(main, Frame(Kind.GROUP, "wide", "main"))
    thin = builder.path(main, Frame(Kind.GROUP, "thin", "main"))
    deep = builder.path(thin, Frame(Kind.PRIMITIVE, "deep", "main"))
    trees = [builder.tree([wide]), builder.tree([deep])]
    profile = builder.build(Meta("calyx", "thin"), [99_999, 1], trees)
    svg = flamegraph(profile)
    assert len(boxes(svg)) == 2
    assert "Not drawn: 2 boxes narrower than 0.1 px (&lt;0.01 % of the width)." in svg.decode()
    assert len(boxes(flamegraph(profile, min_width=0))) == 4


def test_several_roots_stand_on_the_run() -> None:
    builder = ProfileBuilder()
    roots = [builder.path(-1, Frame(Kind.THREAD, f"thread {i}", "")) for i in range(2)]
    states = [builder.path(r, Frame(Kind.STATE, "running", "")) for r in roots]
    profile = builder.build(Meta("hls", "threads"), [4], [builder.tree(states)])
    merged = [g.findtext(f"{SVG}text") for g in boxes(flamegraph(profile))]
    assert merged == ["running \u00b7 8 thread-cycles"]
    drawn = boxes(flamegraph(profile, apart=True))
    assert [g.findtext(f"{SVG}text") for g in drawn] == [
        "run \u00b7 8 thread-cycles",
        "thread 0",
        "running",
        "thread 1",
        "running",
    ]


def test_an_empty_profile_is_a_picture_too() -> None:
    svg = flamegraph(ProfileBuilder().build(Meta("calyx", "empty"), [], []))
    assert "0 cycles" in (ET.fromstring(svg).findtext(f"{SVG}title") or "")


def test_an_incomplete_run_is_said_in_the_picture() -> None:
    svg = flamegraph(switch_profile(complete=False, stop_reason="cycle limit"))
    assert "INCOMPLETE: the run was stopped before its end (cycle limit)." in svg.decode()


def test_our_own_code_cannot_end_its_section() -> None:
    data = Path(flamegraph.__code__.co_filename).parent / "data"
    for name in ("boxes.js", "flamegraph.js", "diffgraph.js", "flamegraph.css", "diffgraph.css"):
        text = (data / name).read_text("utf-8")
        assert "]]>" not in text
        assert "</" not in text


# In a browser

DRIVER = """
(function () {
  var svg = document.documentElement, out = {};
  var boxes = Array.from(svg.querySelectorAll("g.b"));
  function shown() {
    return boxes.filter(function (b) { return !b.classList.contains("off"); }).length;
  }
  function title(b) { return b.querySelector("title").textContent.split("\\n")[0]; }
  function box(name) { return boxes.find(function (b) { return title(b) === name; }); }
  function click(node) { node.dispatchEvent(new MouseEvent("click", {bubbles: true})); }
  out.all = shown();
  click(box("par L31"));
  out.zoomed = shown();
  var rect = box("par L31").querySelector("rect");
  out.wide = Number(rect.getAttribute("width")) > svg.clientWidth - 30;
  out.above = svg.querySelectorAll(".above").length;
  click(svg.querySelector("[data-part='reset']"));
  out.reset = shown();
  var input = svg.querySelector("input");
  function search(text) { input.value = text; input.dispatchEvent(new Event("input")); }
  search("^if");
  out.hits = svg.querySelectorAll(".hit").length;
  out.found = svg.querySelector("[data-part='found']").textContent;
  search("(");
  out.bad = input.classList.contains("bad");
  window.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
  out.cleared = svg.classList.contains("searched");
  box("read").dispatchEvent(new MouseEvent("mouseenter"));
  out.details = svg.querySelector("[data-part='details']").textContent;
  function key(name) {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true}));
  }
  out.stops = svg.querySelectorAll(".b[tabindex='0']").length;
  boxes[0].focus();
  ["ArrowUp", "ArrowUp", "ArrowRight", "Enter"].forEach(key);
  out.walked = title(document.activeElement);
  out.entered = shown();
  out.alerts = window.alerted || 0;
  svg.setAttribute("data-out", JSON.stringify(out));
}());
"""


@pytest.fixture
def browse() -> Iterator[Callable[[Path], str]]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with scratch() as folder:
        home = f"--user-data-dir={folder / 'browser'}"
        command = [CHROMIUM, "--headless", *QUIET, home, "--dump-dom"]

        def dump(page: Path) -> str:
            found = subprocess.run(
                [*command, page.as_uri()],
                capture_output=True,
                text=True,
                timeout=120,
                check=True,
                env={**os.environ, "TMPDIR": str(folder)},
            )
            return found.stdout

        yield dump


def test_zoom_search_and_reset_work_from_disk(
    browse: Callable[[Path], str], tmp_path: Path
) -> None:
    svg = flamegraph(switch_profile(), scaled=True).decode()
    page = tmp_path / "flame.svg"
    driver = f"<script><![CDATA[{DRIVER}]]></script></svg>"
    page.write_text(svg.replace("</svg>", driver), encoding="utf-8")
    import json

    match = re.search(r'data-out="([^"]*)"', browse(page))
    assert match
    assert json.loads(html.unescape(match[1])) == {
        "all": 11,
        "zoomed": 8,
        "wide": True,
        "above": 2,
        "reset": 11,
        "hits": 2,
        "found": "2 boxes, 33.3 % of the width",
        "bad": True,
        "cleared": False,
        "stops": 1,
        "walked": "par L31",
        "entered": 8,
        "details": "read  \u00b7  group in main  \u00b7  switch.futil:14  \u00b7  "
        "active 1 of 9 cycles (11.1 %)  \u00b7  its share of the run: 1 (11.1 %)",
        "alerts": 0,
    }


def test_no_name_runs_as_a_script(browse: Callable[[Path], str], tmp_path: Path) -> None:
    names = [*HOSTILE, "<img src=x onerror=alert(1)>", "\"><script>document.title='owned'</script>"]
    builder = ProfileBuilder()
    root = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    paths = [builder.path(root, Frame(Kind.GROUP, name, "main", "")) for name in names]
    profile = builder.build(
        Meta("calyx", "</title><script>document.title='owned'</script>"),
        [1] * len(paths),
        [builder.tree([p]) for p in paths],
    )
    page = tmp_path / "hostile.svg"
    page.write_bytes(flamegraph(profile))
    dom = browse(page)
    assert dom.count("<script") == 1
    assert "<img" not in dom
    assert 'class="live"' in dom or "live" in dom.split(">")[0]
