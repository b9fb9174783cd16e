"""The report in a real browser: searching, selecting, keyboard, hostile names, accessibility."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cyclescope.analyse import advise
from cyclescope.model import Gap, Kind, Meta, Position, Profile, ProfileBuilder, Rung, load
from cyclescope.views._text import visible
from meaning import Frame

from ..strategies import HOSTILE, large_profile
from .browser import CHROMIUM
from .page import timeline_box
from .switch import switch_profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from .page import Seen

pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="needs a Chromium (Debian: apt install chromium); web/test covers what the page counts",
)

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def test_search_finds_and_zoom_resets(show: Callable[..., Seen]) -> None:
    seen = show(("p", switch_profile()))
    field_ = seen.page.get_by_role("searchbox")
    field_.fill("^if L3")
    assert seen.text("found") == "found: 2 boxes, 33.3 %"
    hits = seen.page.locator(".flame .box.hit")
    assert sorted(hits.evaluate_all("all => all.map(e => e.ariaLabel.split(',')[0])")) == [
        "if L32",
        "if L33",
    ]
    field_.fill("")
    assert seen.page.locator(".flame .box.miss").count() == 0
    before = seen.page.locator(".flame .box").count()
    seen.box("par L31").click()
    assert seen.page.locator(".flame .box").count() < before
    wide = seen.box("par L31").evaluate("e => e.offsetWidth / e.parentElement.clientWidth")
    assert wide > 0.99
    seen.page.locator('[data-part="reset"]').click()
    assert seen.page.locator(".flame .box").count() == before


def test_the_graph_turns_over_and_hides_what_a_compiler_made(show: Callable[..., Seen]) -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    made = builder.path(main, Frame(Kind.GROUP, "made", "main", generated=True))
    mine = builder.path(made, Frame(Kind.PRIMITIVE, "mine", "main", "std_add"))
    profile = builder.build(
        Meta("calyx", "p"), [3, 1], [builder.tree([mine]), builder.tree([main])]
    )
    seen = show(("p", profile))
    assert seen.page.locator(".flame .box").count() == 3
    seen.page.get_by_label("hide generated groups").check()
    assert seen.page.locator(".flame .box").count() == 2
    seen.page.get_by_role("button", name="inverted").click()
    tops = seen.page.locator('.flame [aria-level="2"]')
    labels = tops.evaluate_all("all => all.map(e => e.ariaLabel)")
    assert labels[0].startswith("mine [std_add], primitive, 3 cycles, 75.0 %")


def test_selecting_on_the_timeline_counts_those_cycles_everywhere(
    show: Callable[..., Seen],
) -> None:
    profile = switch_profile()
    seen = show(("p", profile))
    box = timeline_box(seen.page)
    step = box["width"] / profile.cycles
    seen.page.mouse.move(box["x"] + 2 * step, box["y"] + 80)
    seen.page.mouse.down()
    seen.page.mouse.move(box["x"] + 3 * step, box["y"] + 80, steps=3)
    seen.page.mouse.move(box["x"] + 5 * step, box["y"] + 80, steps=3)
    seen.page.mouse.up()
    assert "range: cycles 2\u20134, 3 of 9" in seen.text("chosen")
    assert seen.text("total") == "3"
    assert "add up to 3 cycles" in seen.text("flame-total")
    names = seen.page.locator(".flame .box").evaluate_all(
        "all => all.map(e => e.ariaLabel.split(',')[0])"
    )
    assert "par L31" in names
    assert "read" not in names
    assert "write" not in names
    assert seen.numbers()["main run_s1"] == 1
    assert seen.numbers()["main read"] == 0
    assert seen.page.locator('[data-line="31"]').inner_text() == "3"
    seen.page.locator('[data-part="from"]').fill("7")
    seen.page.locator('[data-part="to"]').fill("9")
    seen.page.locator('[data-part="to"]').press("Enter")
    assert seen.text("total") == "2"
    seen.page.get_by_role("button", name="Show all").click()
    assert seen.text("view") == "shown: 0\u20138"
    seen.page.get_by_role("button", name="Show the selection").click()
    assert seen.text("view") == "shown: 1\u20138"
    seen.page.get_by_role("button", name="all cycles").click()
    assert seen.text("total") == "9"
    assert seen.quiet()


def test_what_is_highlighted_shows_in_all_views(show: Callable[..., Seen]) -> None:
    seen = show(("p", switch_profile()))
    seen.page.locator("#tables").get_by_role("button", name="run_s1").click()
    assert "highlighted: run_s1" in seen.text("chosen")
    assert seen.page.locator(".flame .pointed").count() == 1
    assert seen.page.locator("#tables .pointed").count() == 1
    assert seen.page.locator("#source .pointed").count() == 1
    seen.page.keyboard.press("Escape")
    assert seen.page.locator(".pointed").count() == 0
    seen.box("par L31").click()
    assert seen.page.locator("#source .pointed").count() == 1


@pytest.mark.long
def test_advice_leads_to_what_it_speaks_of(show: Callable[..., Seen]) -> None:
    text = "\n".join(f"text {n}" for n in range(1, 80))
    two = replace(switch_profile(), sources={"switch.futil": text, "other.futil": text})
    seen = show(("p", two), ("none", large_profile(20)), embed="all")
    (finding,) = advise(two)
    assert "A switch written as a par of ifs: about 3 cycles (33.3 %)." in seen.page.inner_text(
        "#summary"
    )
    advice = seen.page.locator("#advice")
    shown = advice.inner_text()
    for words in ("about 3 cycles (33.3 %), between 2 and 4", finding.rule.change, "par-switch"):
        assert words in shown
    (site,) = finding.places
    assert site.evidence in shown
    advice.get_by_role("button", name="par L31").click()
    assert seen.text("chosen").startswith("highlighted: par L31")
    assert seen.page.locator(".flame .box.pointed").count() == 1
    assert site.cycles == (2, 6)
    advice.get_by_role("link", name="cycles 2\u20135").click()
    assert "shown: 0\u20137" in seen.page.inner_text("#timeline")
    assert "#timeline?" in seen.page.url
    advice.get_by_role("link", name="switch.futil:31").click()
    assert "#line-31?" in seen.page.url
    assert seen.page.locator("#line-31").is_visible()
    seen.page.locator(".chooser").get_by_role("button", name="none").click()
    assert advice.count() == (1 if advise(large_profile(20)) else 0)
    assert not seen.complaints


def test_the_keyboard_is_enough(show: Callable[..., Seen]) -> None:
    seen = show(("p", switch_profile()))
    page = seen.page
    page.locator('.flame [tabindex="0"]').focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.ariaLabel").startswith("seq L29, control")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator('[data-part="reset"]').is_enabled()
    page.keyboard.press("Escape")
    assert page.locator('[data-part="reset"]').is_disabled()
    page.locator('[data-part="surface"]').focus()
    page.keyboard.press("+")
    shown = seen.text("view")
    page.keyboard.press("ArrowRight")
    assert seen.text("view") != "shown: 0\u20138"
    page.keyboard.press("Home")
    assert seen.text("view") == "shown: 0\u20138"
    assert shown == "shown: 1\u20138"
    page.keyboard.press("+")
    page.keyboard.press("Enter")
    assert "range: cycles" in seen.text("chosen")
    page.keyboard.press("Escape")
    assert "highlighted" not in seen.text("chosen")
    page.keyboard.press("Escape")
    assert "range" not in seen.text("chosen")


def _hostile() -> Profile:
    """Every hostile text in every place that has one."""
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    names = (*HOSTILE, "</SCRIPT><img src=x onerror=alert(1)>", "<b>bold</b>", "${1}{{2}}")
    paths = [
        builder.path(
            main,
            Frame(Kind.GROUP, name, name, name, (Position("calyx", f"{name}.futil", i + 1),)),
        )
        for i, name in enumerate(names)
    ]
    trees = [builder.tree([path]) for path in paths]
    meta = Meta("calyx", names[-3], options={names[-3]: names[0]}, tools={names[1]: names[2]})
    return builder.build(meta, [2] * len(trees), trees)


def test_hostile_names_stay_text(show: Callable[..., Seen]) -> None:
    profile = _hostile()
    texts = {f"{name}.futil": f"{name} text" for name in (*HOSTILE, "x")}
    object.__setattr__(profile, "sources", texts)
    seen = show((HOSTILE[0], profile), ("</title><script>alert(2)</script>", profile), embed="all")
    page = seen.page
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    assert page.locator("img, b b, iframe, object").count() == 0
    scripts = page.locator("script").evaluate_all("all => all.map(e => e.type)")
    assert scripts == ["module"]
    labels = page.locator(".flame .box").evaluate_all("all => all.map(e => e.ariaLabel)")
    for name in HOSTILE:
        shown = visible(name)[:300] or "(no name)"
        assert any(label.startswith(f"{shown}, group") for label in labels), name
    cells = set(page.locator("#tables tbody td").all_inner_texts())
    assert visible(HOSTILE[0]) in cells
    assert page.title().startswith(visible(HOSTILE[0]))
    page.locator("#source select").first.select_option(index=1)
    assert not dialogs
    assert seen.quiet()


def test_the_policy_would_stop_what_got_in(show: Callable[..., Seen]) -> None:
    seen = show(("p", switch_profile()))
    seen.page.evaluate(
        "() => { const s = document.createElement('script'); try { s.text = 'window.bad = 1';"
        " } catch {} document.body.append(s); }"
    )
    assert seen.page.evaluate("window.bad") is None
    assert seen.page.evaluate("fetch('https://example.org/').then(() => 1, () => 0)") == 0
    assert any("Content Security Policy" in text for text in seen.complaints)


@pytest.mark.long(keep_one_in=4)
@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core in web/node_modules (`make page`)")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_serious_barrier(show: Callable[..., Seen], dark: bool) -> None:
    rungs = (Rung("absolute", 6), Rung("the design", 9, (Gap("control", 3, "steps"),)))
    one, two = switch_profile().with_meta(ladder=rungs), large_profile(20)
    rows = load(Path(__file__).parent / "data" / "rows.cyc")
    seen = show(("one", one), ("two", two), ("three", one), ("threads", rows), dark=dark)
    assert barriers(seen.page) == []
    seen.page.locator(".chooser").get_by_role("button", name="threads").click()
    assert barriers(seen.page) == []


def barriers(page: Page) -> list[tuple[str, str, list[str]]]:
    rows = page.locator("#tables tbody button")
    if rows.count():
        rows.first.click()
    for details in page.locator("details").all():
        details.evaluate("e => e.open = true")
    # The page's own policy would refuse the tool: it comes in beside the page, not as part of it.
    client = page.context.new_cdp_session(page)
    source = AXE.read_text("utf-8") + (
        ";axe.run({ resultTypes: ['violations'] }).then(r => JSON.stringify(r.violations))"
    )
    found = client.send(
        "Runtime.evaluate",
        {"expression": source, "awaitPromise": True, "returnByValue": True},
    )
    violations = json.loads(found["result"]["value"])
    return [
        (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"]][:3])
        for one in violations
        if one["impact"] in ("serious", "critical")
    ]


def test_light_and_dark(show: Callable[..., Seen]) -> None:
    page = show(("p", switch_profile()), dark=True).page
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.locator('[data-part="theme"]').click()
    light = page.evaluate(ground)
    assert light == "rgb(255, 255, 255)"
    assert dark != light
