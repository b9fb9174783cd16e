"""Comparisons in every format; names stay text; the picture says what the table says."""

from __future__ import annotations

import html.parser
import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings

from cyclescope.analyse import Diff, diff
from cyclescope.model import Kind, Meta, Profile, ProfileBuilder, Runs, scaled_weights
from cyclescope.views import (
    _diffgraph,
    diff_flamegraph,
    diff_html,
    diff_json,
    diff_markdown,
    diff_text,
)
from cyclescope.views._diff import signed
from meaning import Frame

from ..strategies import calyx_profiles
from .browser import CHROMIUM
from .golden import check_golden
from .switch import switch_profile
from .test_report_page_use import AXE, barriers

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

SVG = "{http://www.w3.org/2000/svg}"


def compared() -> Diff:
    """The switch against itself with a renamed group, twice the time in `write`, an option."""
    before = switch_profile(anomalies=())
    catalog = tuple(
        replace(frame, name="run_case_1") if frame.name == "run_s1" else frame
        for frame in before.catalog
    )
    cycles = before.schedule.cycles.copy()
    cycles[7] = 3
    cycles[5] = 4
    after = replace(before, catalog=catalog, schedule=Runs(cycles, before.schedule.tree), series=())
    return diff(before, after.with_meta(options={"disable": "static-promotion"}))


def test_the_switch_as_text_and_markdown() -> None:
    check_golden("diff.txt", diff_text(compared()))
    check_golden("diff.md", diff_markdown(compared(), top=2))
    check_golden("diff.json", diff_json(compared()))


def test_json_carries_the_exact_sum() -> None:
    found = compared()
    record = json.loads(diff_json(found))
    assert sum(Fraction(c["own_exact"]) for c in record["changes"]) == record["cycles"]
    assert record["after"]["cycles"] - record["before"]["cycles"] == record["cycles"] == 5


@settings(max_examples=20)
@given(calyx_profiles(hostile=True), calyx_profiles(hostile=True))
def test_formats_mirror_and_stay_in_lines(one: Profile, two: Profile) -> None:
    there, back = diff(one, two), diff(two, one)
    for text in (diff_text(there, top=1000), diff_markdown(there, top=1000)):
        assert text.isprintable() or all(c == "\n" or c.isprintable() for c in text)
    rows = [line for line in diff_markdown(there, top=1000).splitlines() if line[:1] == "|"]
    bars = {line.replace("\\\\", "").replace("\\|", "").count("|") for line in rows}
    assert bars <= {6, 8}
    swapped = json.loads(diff_json(back))
    for change in swapped["changes"]:
        change["own"], change["active"] = -change["own"], -change["active"]
        change["before"], change["after"] = change["after"], change["before"]
    for change in (mine := json.loads(diff_json(there))["changes"]):
        change["own"] += 0.0
    assert [(c["own"], c["active"], c["before"], c["after"]) for c in mine] == [
        (c["own"], c["active"], c["before"], c["after"]) for c in swapped["changes"]
    ]


@settings(max_examples=20)
@given(calyx_profiles(hostile=True), calyx_profiles(hostile=True))
def test_the_picture_is_as_wide_as_both_runs_and_mirrors(one: Profile, two: Profile) -> None:
    there = ET.fromstring(diff_flamegraph(diff(one, two), min_width=0))
    back = ET.fromstring(diff_flamegraph(diff(two, one), min_width=0))
    scale = max(one.cycles, two.cycles)
    for panel, profile in zip(_panels(there), (one, two), strict=True):
        roots = [g for g in panel if g.get("data-d") == "0"]
        assert abs(sum(float(g.get("data-w", 0)) for g in roots) * scale - profile.cycles) < 1e-3
        shown = {int(g.get("data-id", -1)) for g in panel}
        assert shown >= {p for p, w in enumerate(scaled_weights(profile)) if w}
        (base,) = {_top(g) for g in roots} or {0}
        assert all(_top(g) == base - int(g.get("data-d", 0)) * _diffgraph._ROW for g in panel)
    first, second = ([_top(g) for g in panel] for panel in _panels(there))
    assert min(first) > 60
    assert (
        max(first) + _diffgraph._ROW
        < min(second)
        <= max(second)
        < float(there.get("height", 0)) - 16
    )
    flip = {"before": "after", "after": "before"}
    for panel in _panels(there):
        name = panel.get("data-panel", "")
        other = next(p for p in _panels(back) if p.get("data-panel") == flip[name])
        assert [_hue(g) for g in panel] == [_opposite(_hue(g)) for g in other]


def _panels(root: ET.Element) -> list[ET.Element]:
    return [g for g in root.iter(f"{SVG}g") if g.get("data-panel")]


def _top(box: ET.Element) -> float:
    rect = box.find(f"{SVG}rect")
    assert rect is not None
    return float(rect.get("y", ""))


def _hue(box: ET.Element) -> str:
    rect = box.find(f"{SVG}rect")
    assert rect is not None
    red, _, blue = (int(rect.get("fill", "")[i : i + 2], 16) for i in (1, 3, 5))
    return "grey" if (red, blue) == (222, 228) else "red" if red > blue else "blue"


def _opposite(hue: str) -> str:
    return {"red": "blue", "blue": "red"}.get(hue, hue)


@settings(max_examples=40)
@given(calyx_profiles(), calyx_profiles())
def test_changes_of_all_boxes_add_up(one: Profile, two: Profile) -> None:
    before, after = _diffgraph._panels(diff(one, two))

    def total(panel: _diffgraph._Panel, *, alone: bool) -> Fraction:
        # A primitive's cycles are its caller's, too.
        return sum(
            (
                change
                for path, change in enumerate(panel.change)
                if panel.profile.frame_of(path).kind is not Kind.PRIMITIVE
                and not (alone and panel.partner[path] >= 0)
            ),
            Fraction(0),
        )

    assert total(after, alone=False) + total(before, alone=True) == two.cycles - one.cycles


def test_a_picture_of_no_difference_is_grey() -> None:
    found = switch_profile()
    root = ET.fromstring(diff_flamegraph(diff(found, found)))
    hues = Counter(_hue(g) for panel in _panels(root) for g in panel)
    assert set(hues) == {"grey"}
    assert "no difference" in diff_text(diff(found, found))


class _Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.links: list[str] = []
        self.policy = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        links = [v or "" for k, v in attrs if k in ("src", "href", "onerror", "onload")]
        inside = ("data:image/svg+xml;base64,", "#")
        self.links += [link for link in links if not link.startswith(inside)]
        if tag == "meta" and dict(attrs).get("http-equiv"):
            self.policy = dict(attrs).get("content") or ""


@settings(max_examples=20)
@given(calyx_profiles(hostile=True), calyx_profiles(hostile=True))
def test_the_page_has_one_script_and_loads_nothing(one: Profile, two: Profile) -> None:
    page = _Page()
    page.feed(diff_html(diff(one, two)).decode())
    assert page.tags["script"] == 1
    assert page.tags["img"] == 1
    assert not page.links
    assert page.policy.startswith("default-src 'none'")
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'$", page.policy)


def test_signs() -> None:
    assert signed(0) == "0"
    assert signed(1234) == "+1,234"
    assert signed(Fraction(-1, 3)) == "-0.3"
    assert signed(Fraction(1, 100)) == "+<0.1"
    assert signed(Fraction(-99, 100)) == "-1.0"


@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium (Debian: apt install chromium)")
def test_both_pictures_zoom_together(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "diff.svg"
    file.write_bytes(diff_flamegraph(compared()))
    page = browser.new_page(viewport={"width": 900, "height": 600})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.clientWidth") == 900
    off = "document.querySelectorAll('g.b.off').length"
    assert page.evaluate(off) == 0
    write = page.locator("title", has_text=re.compile("^write"))
    first = page.locator("g.panel").first.locator("g.b", has=write)
    first.locator("rect").hover()
    assert page.locator("g.b.twin").count() == 1
    assert "at its end" in page.locator("[data-part=details]").inner_html()
    first.locator("rect").click()
    hidden = [panel.locator("g.b.off").count() for panel in page.locator("g.panel").all()]
    assert all(hidden)
    assert all(panel.locator("g.b.above").count() for panel in page.locator("g.panel").all())
    page.keyboard.press("Escape")
    assert page.evaluate(off) == 0
    page.keyboard.press("/")
    page.keyboard.type("^(read|write)$")
    assert page.locator("g.b.hit").count() == 4
    page.keyboard.type("(")
    assert page.locator("input.bad").count() == 1
    assert not complaints
    page.close()


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium (Debian: apt install chromium)")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_has_landmarks_and_is_walked_by_keys(
    browser: Browser, tmp_path: Path, dark: bool
) -> None:
    file = tmp_path / "diff.html"
    file.write_bytes(diff_html(compared()))
    for width in (390, 1680):
        page = browser.new_page(
            viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light"
        )
        page.goto(file.as_uri())
        assert page.get_by_role("banner").count() == page.get_by_role("main").count() == 1
        names = ["Flame graphs", "Timelines", "Changes"]
        assert page.get_by_role("main").get_by_role("heading").all_inner_texts() == names
        for name in names:
            page.get_by_role("navigation").get_by_role("link", name=name).click()
            assert page.get_by_role("region", name=name, exact=True).is_visible()
        # One stop for each picture; arrows go on from there, Enter zooms both.
        assert page.locator('g.b[tabindex="0"]').count() == 2
        page.locator('g.b[tabindex="0"]').first.focus()
        label = "document.activeElement.querySelector('title').textContent.split('\\n')[0]"
        seen = [page.evaluate(label)]
        for key in ("ArrowUp", "ArrowUp", "ArrowRight", "ArrowDown", "ArrowUp"):
            page.keyboard.press(key)
            seen.append(page.evaluate(label))
        assert seen == ["main", "seq L29", "read", "par L31", "seq L29", "read"]
        assert page.locator("[data-part=details]").text_content().startswith("read")
        page.keyboard.press("Enter")
        assert page.locator("g.b.off").count()
        page.keyboard.press("Escape")
        assert page.locator("g.b.off").count() == 0
        if AXE.is_file():
            assert barriers(page) == []
        page.close()


def test_the_account_of_threads_is_compared() -> None:
    def run(title: str, critical: int) -> Profile:
        build = ProfileBuilder()
        region = build.path(-1, Frame(Kind.CELL, "k", "k", "k"))
        trees = []
        threads = [build.path(region, Frame(Kind.THREAD, f"t{n}", "k")) for n in range(2)]
        for states in (("running", "running"), ("critical", "spinning")):
            at = zip(threads, states, strict=True)
            trees.append(build.tree([build.path(t, Frame(Kind.STATE, s, "k")) for t, s in at]))
        return build.build(Meta("hls", title), [10, critical], trees)

    found = diff(run("before", 5), run("after", 2))
    assert {use.label: n for use, n in found.uses.items()} == {
        "work": (25, 22), "waiting: lock": (5, 2),
    }  # fmt: skip
    shown = diff_text(found)
    assert "thread-cycles  before  after  change  of the run" in shown
    assert "waiting: lock       5      2      -3     -10.0 %" in shown
    head = json.loads(diff_json(found))
    assert head["uses"]["waiting: lock"] == [5, 2]
    assert [side["total"] for side in head["account"]] == [30, 24]
