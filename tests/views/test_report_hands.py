"""The report in a hand: what is pressed leads there, in every view; the address keeps it."""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cyclescope.bounds import estimate, profile_of
from cyclescope.model import Kind, Meta, Position, ProfileBuilder, load
from cyclescope.views import write_report
from meaning import Frame

from ..strategies import large_profile
from .browser import CHROMIUM
from .page import timeline_box, whole
from .switch import switch_profile
from .test_report_page_use import AXE, barriers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Locator, Page

    from cyclescope.model import Profile

pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="needs a Chromium (Debian: apt install chromium); web/test covers what the page counts",
)

DATA = Path(__file__).parent / "data"
KERNEL = """void kernel(int a[8], int b[8], int c[1]) {
    for (int i = 1; i < 8; i++)
        a[i] = a[i - 1] * b[i];
    for (int i = 0; i < 8; i++)
        c[0] += a[i];
}
"""
KINDS = ("calyx", "bounds", "hls")
SIZES = ((390, False), (390, True), (1024, False), (1024, True), (1680, False), (1680, True))


def _with_text(profile: Profile) -> Profile:
    """Every file that frames name, as text."""
    last: dict[str, int] = {}
    for frame in profile.catalog:
        for at in frame.positions:
            last[at.file] = max(last.get(at.file, 0), at.line)
    texts = {
        file: "\n".join(f"text {n} of {file}" for n in range(1, line + 9))
        for file, line in last.items()
    }
    return replace(profile, sources={**texts, **profile.sources})


def _profile(kind: str) -> Profile:
    if kind == "small":
        return _with_text(switch_profile())
    if kind == "calyx":
        return _with_text(large_profile(20))
    if kind == "hls":
        return _with_text(load(DATA / "rows.cyc"))
    found = estimate("k.c", text=KERNEL, detail=True)
    return replace(profile_of(found, found.absolute), sources={"k.c": KERNEL})


@contextmanager
def _opened(browser: Browser, file: Path, profile: Profile) -> Iterator[Page]:
    stream = io.BytesIO()
    write_report([("p", profile)], stream, embed="all")
    file.write_bytes(stream.getvalue())
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    page = context.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]")
    yield page
    context.close()


@pytest.fixture(scope="module")
def pages(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Page]]:
    """A page for each kind of profile, made once."""
    folder = tmp_path_factory.mktemp("hands")
    kinds = (*KINDS, "small")
    opened = [_opened(browser, folder / f"{kind}.html", _profile(kind)) for kind in kinds]
    yield {kind: one.__enter__() for kind, one in zip(kinds, opened, strict=True)}
    for one in opened:
        one.__exit__(None, None, None)


@pytest.fixture(params=KINDS)
def page(pages: dict[str, Page], request: pytest.FixtureRequest) -> Page:
    """The page of a kind as it is when it is opened."""
    return _fresh(pages[request.param])


def _fresh(page: Page, *, width: int = 1300, dark: bool = False) -> Page:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if dark else "light", media="screen")
    address = page.url.split("#")[0]
    page.goto("about:blank")  # else it would be the same document
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    return page


def _inside(page: Page, what: str, scroller: str) -> bool:
    """Return whether an element is seen in what scrolls around it."""
    found: bool = page.evaluate(
        """([what, scroller]) => {
          const box = document.querySelector(scroller).getBoundingClientRect();
          return [...document.querySelectorAll(what)].some((one) => {
            const { top, bottom } = one.getBoundingClientRect();
            return top >= box.top - 1 && bottom <= box.bottom + 1;
          });
        }""",
        [what, scroller],
    )
    return found


def _marked_everywhere(page: Page, *, line: bool = True) -> None:
    """Something is marked, and seen, on the timeline, in the flame graph, table and source."""
    page.wait_for_selector(".focused")
    page.wait_for_timeout(60)
    assert page.locator(".names li.pointed").count()
    assert _inside(page, ".names li.pointed", ".names")
    assert page.locator("#flame .box.pointed").count()
    assert page.locator("#tables tr.pointed").count()
    if line:
        assert page.locator("#source tr.pointed").count()
        assert _inside(page, "#source tr.pointed", "#source .code")


def _rows(page: Page, part: str) -> list[Locator]:
    return page.locator(f'[data-part="{part}"] tbody tr').all()


def test_a_hot_path_leads_to_all_views(page: Page) -> None:
    for row in (0, -1):
        rows = _rows(page, "hottest")
        rows[row].locator("td").first.click()  # anywhere in its row
        _marked_everywhere(page, line=bool(rows[row].locator("a.place").count()))
        assert "pointed" in (rows[row].get_attribute("class") or "")


@pytest.mark.long(keep_one_in=3)
def test_a_table_s_row_leads_to_all_views(page: Page) -> None:
    for kind in page.locator("#tables .choice button").all():
        kind.click()
        if kind.inner_text() == "primitives":
            continue  # these have no line of their own in this profile
        row = page.locator('[data-part="table"] tbody tr').first
        row.locator("td").first.click()
        page.wait_for_selector(".focused")
        assert "pointed" in (row.get_attribute("class") or "")
        assert page.locator(".names li.pointed").count()
        assert _inside(page, ".names li.pointed", ".names")
        # Its tab stays: what was pressed is in it.
        assert kind.get_attribute("aria-pressed") == "true"
        page.keyboard.press("Escape")


def test_a_line_of_source_leads_to_all_views(page: Page) -> None:
    for row in page.locator("#source tr.press").all()[
        :: max(1, page.locator("#source tr.press").count() // 4)
    ]:
        row.click(position={"x": 5, "y": 5})
        _marked_everywhere(page)
        assert "pointed" in (row.get_attribute("class") or "")
        page.keyboard.press("Escape")


@pytest.mark.long(keep_one_in=3)
def test_a_link_to_a_line_leads_to_it(page: Page) -> None:
    for link in page.locator("a.place:visible").all()[:6]:
        text = link.inner_text()
        link.click()
        line = text.rsplit(":", 1)[1]
        assert re.search(rf"#line-{line}(\?|$)", page.url)
        page.wait_for_function(
            "id => { const { top, bottom } = document.getElementById(id).getBoundingClientRect();"
            " return top > 40 && bottom < innerHeight }",
            arg=f"line-{line}",
        )
        assert "pointed" in (page.locator(f"#line-{line}").get_attribute("class") or "")
        assert page.locator("#source select").last.input_value() == text.rsplit(":", 1)[0]


@pytest.mark.long
def test_a_site_of_advice_leads_to_all_views(pages: dict[str, Page]) -> None:
    seen = 0
    for kind in KINDS:
        page = _fresh(pages[kind])
        page.evaluate("document.querySelectorAll('#advice details').forEach(e => e.open = true)")
        for site in page.locator("#advice ul button.link").all()[:3]:
            site.click()
            _marked_everywhere(page)
            assert page.locator("#advice li.pointed").count()
            page.keyboard.press("Escape")
            seen += 1
        for link in page.locator('#advice a[href="#timeline"]').all()[:1]:
            first = whole(link.inner_text().split()[1].split("\u2013")[0])
            link.click()
            page.wait_for_function(
                "document.getElementById('timeline').getBoundingClientRect().top < 200"
            )
            shown = page.locator('[data-part="view"]').inner_text().removeprefix("shown: ")
            start, end = map(whole, shown.split("\u2013"))
            assert start <= first <= end
    assert seen > 2


def test_a_span_leads_to_all_views(page: Page) -> None:
    box = timeline_box(page)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 22 + 46 + 8)
    page.wait_for_selector(".focused")
    _marked_everywhere(page, line=False)
    # The same by its name, from the keyboard.
    page.keyboard.press("Escape")
    name = page.locator(".names button.lane").filter(has_not_text="critical path").first
    if name.count():
        name.press("Enter")
        assert page.locator(".names li.pointed").count() == 1


def test_closed_lanes_open(pages: dict[str, Page]) -> None:
    page = _fresh(pages["calyx"])
    before = page.locator(".names li").count()
    assert page.locator('.names [aria-expanded="false"]').count()
    page.get_by_role("button", name="primitives", exact=True).last.click()
    page.locator('[data-part="table"] tbody button').last.click()
    assert page.locator(".names li").count() > before
    assert _inside(page, ".names li.pointed", ".names")


def test_what_is_not_in_the_cycles_that_are_shown_is_looked_for(pages: dict[str, Page]) -> None:
    page = _fresh(pages["bounds"])
    for _ in range(4):
        page.locator('[data-part="surface"]').press("+")
    before = page.locator('[data-part="view"]').inner_text()
    for row in _rows(page, "hottest"):
        row.locator("button").click()
    assert page.locator('[data-part="view"]').inner_text() != before


STATE = """(() => {
  const text = (what) => document.querySelector(what).innerText;
  const all = (what) => [...document.querySelectorAll(what)];
  return [
    text(".gist"), text("[data-part=total]"), text("[data-part=view]"), text("[data-part=chosen]"),
    all("[aria-pressed=true]").map((e) => e.innerText).join(), all(".pointed").length,
    document.querySelector("[type=search]").value, all("#flame .box").length,
  ];
})()"""


def _steps(page: Page) -> list[Callable[[], None]]:
    def select() -> None:
        field = page.locator('[data-part="to"]')
        field.fill(str(max(2, int(field.input_value()) // 2)))
        field.press("Enter")

    return [
        select,
        lambda: page.locator('[data-part="hottest"] tbody button').first.click(),
        lambda: page.get_by_role("button", name="Zoom in").click(),
        lambda: page.locator('#tables .choice [aria-pressed="false"]').last.click(),
        lambda: page.locator('[data-part="table"] thead button').last.click(),
        lambda: page.get_by_role("button", name="on top").click(),
        lambda: page.locator("#flame .box").nth(1).click(),
        lambda: page.get_by_role("searchbox").fill("a"),
        lambda: page.get_by_role("link", name="Tables").click(),
    ]


@pytest.mark.long(keep_one_in=3)
def test_the_address_keeps_all_and_back_undoes(page: Page) -> None:
    states, addresses = [page.evaluate(STATE)], [page.url]
    for step in _steps(page):
        step()
        page.wait_for_timeout(40)
        states.append(page.evaluate(STATE))
        addresses.append(page.url)
    assert len(set(addresses)) == len(addresses)
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate(STATE) == states[-1]
    # The address alone, in another window.
    other = page.context.new_page()
    other.set_viewport_size({"width": 1300, "height": 900})
    other.goto(addresses[-2])
    other.wait_for_selector("html[data-ready]")
    assert other.evaluate(STATE) == states[-2]
    other.close()
    for state, address in zip(states[-2::-1], addresses[-2::-1], strict=True):
        page.go_back()
        page.wait_for_timeout(40)
        assert page.url == address
        assert page.evaluate(STATE) == state
    page.go_forward()
    page.wait_for_timeout(40)
    assert page.evaluate(STATE) == states[1]


@pytest.mark.long
def test_a_drag_and_a_word_are_one_step_each(pages: dict[str, Page]) -> None:
    page = _fresh(pages["calyx"])
    box = timeline_box(page)
    page.mouse.move(box["x"] + 100, box["y"] + 90)
    page.mouse.down()
    for x in range(110, 600, 25):
        page.mouse.move(box["x"] + x, box["y"] + 90)
        page.wait_for_timeout(20)
    page.mouse.up()
    page.wait_for_timeout(40)
    chosen = page.locator('[data-part="chosen"]')
    assert "range" in chosen.inner_text()
    page.get_by_role("searchbox").press_sequentially("queue", delay=20)
    page.go_back()
    page.wait_for_timeout(40)
    assert page.get_by_role("searchbox").input_value() == ""
    assert "range" in chosen.inner_text()
    page.go_back()
    page.wait_for_timeout(40)
    assert chosen.inner_text() == ""
    assert "#" not in page.url


@pytest.mark.parametrize(
    "address",
    ["#?cycles=9-3&shown=x&mark=zz,-&as=a%E2%80%AEb%0A&table=none&zoom=7.7&flame=odd&profile=9",
     "#nowhere?sort=-none&level=?&file=%00&line=1&find=(", "#%E0%A4%A", "#timeline"],
)  # fmt: skip
def test_an_address_that_is_wrong_does_no_harm(pages: dict[str, Page], address: str) -> None:
    page = pages["calyx"]
    target = page.url.split("#")[0] + address
    page.goto("about:blank")
    page.goto(target)
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#flame .box").count()
    assert "\u202e" not in page.inner_text("body")


def test_the_headline_says_what_it_holds_for(page: Page) -> None:
    total = whole(page.locator('[data-part="total"]').inner_text())
    assert page.locator('[data-part="whole-run"]').count() == 0
    field = page.locator('[data-part="to"]')
    field.fill(str(total // 2))
    field.press("Enter")
    summary = page.locator("#summary")
    assert whole(page.locator('[data-part="total"]').inner_text()) == total // 2
    assert f"of a run of {total:,} cycles" in summary.inner_text()
    account = whole(page.locator('[data-part="account"]').inner_text())
    lost = whole(page.locator('[data-part="lost"]').inner_text())
    assert lost <= account <= total // 2 * 99
    first = summary.get_by_text("What to change")
    if first.count():
        assert "in the whole run" in first.locator("xpath=..").inner_text()
        assert page.locator("#advice [data-part=whole-run]").count() == 1
    if page.locator("#ladder").count():
        assert page.locator("#ladder [data-part=whole-run]").count() == 1


@pytest.mark.long(keep_one_in=3)
def test_one_search_for_all_views(page: Page) -> None:
    assert page.get_by_role("searchbox").count() == 1
    page.keyboard.press("/")
    word = page.locator('[data-part="table"] tbody button').first.inner_text()
    page.keyboard.type(word)
    hits = page.locator('[data-part="hits"]')
    assert hits.is_visible()
    assert word in hits.inner_text()
    assert page.locator("#flame .box.hit").count() or page.locator("#flame .box.miss").count()
    names = page.locator('[data-part="table"] tbody tr').all_inner_texts()
    assert names
    assert all(word.lower() in name.lower() for name in names)
    assert page.locator(".names li.hit").count()
    assert f"({len(names)})" in page.locator('#tables [aria-pressed="true"]').inner_text()
    page.keyboard.press("Enter")
    assert page.locator(".focused").is_visible()
    # A text that is in one line of the source.
    page.locator("body").press("/")
    text = (
        page.locator("#source code")
        .filter(has_text=re.compile(r"\w{3}"))
        .first.inner_text()
        .strip()
    )
    page.get_by_role("searchbox").fill(text)
    page.wait_for_timeout(60)
    assert page.locator("#source tr.hit").count() >= 1
    assert _inside(page, "#source tr.hit", "#source .code") or page.locator(".focused").count()
    hits.get_by_role("button").last.click()
    assert page.locator("#source tr.pointed").count()
    # The summary, the advice and the critical path are searched, too.
    for row, button in (
        ('[data-part="hottest"] tbody tr', "button.link b"),
        ("#advice > ol > li", "summary b"),
        ('[data-part="critical"] tbody tr', "button.link"),
    ):
        for one in page.locator(row).all()[:1]:
            page.get_by_role("searchbox").fill(one.locator(button).first.inner_text())
            assert "hit" in (one.get_attribute("class") or "").split()
    # What is no expression is text.
    page.get_by_role("searchbox").fill("a[(")
    assert "0 places" in hits.inner_text()
    page.get_by_role("searchbox").press("Escape")
    assert page.locator(".hit, .miss").count() == 0


def test_callers_and_callees(pages: dict[str, Page]) -> None:
    page = _fresh(pages["calyx"])
    profile = _profile("calyx")
    paths = profile.call_paths
    page.locator('[data-part="hottest"] tbody button').first.click()
    callers, callees = _rows(page, "callers"), _rows(page, "callees")
    active = whole(page.locator('[data-part="focus-active"]').inner_text())
    assert sum(whole(row.locator("td").first.inner_text()) for row in callers) == active
    assert all(whole(row.locator("td").first.inner_text()) <= active for row in callees)
    name = callers[0].locator("button").inner_text()
    callers[0].locator("button").click()
    # It called what was highlighted before.
    assert page.locator(".focused b").inner_text() == name
    labels = {profile.catalog[f].label for f in paths.frame.tolist()}
    assert name in labels
    below = page.locator('[data-part="callees"] tbody tr').count()
    assert below >= 1


def test_callers_of_a_group_of_several_arms(
    pages: dict[str, Page], browser: Browser, tmp_path: Path
) -> None:
    with _opened(browser, tmp_path / "s.html", switch_profile()) as page:
        page.locator("#tables").get_by_role("button", name="control blocks").click()
        page.locator("#tables").get_by_role("button", name="par L31").click()
        cells = [row.locator("td").all_inner_texts() for row in _rows(page, "callers")]
        assert cells == [["4", "100.0 %", "seq L29", "main"]]
        cells = [row.locator("td").all_inner_texts() for row in _rows(page, "callees")]
        assert cells == [["3", "75.0 %", "if L32", "main"], ["2", "50.0 %", "if L33", "main"],
                         ["1", "25.0 %", "nothing"]]  # fmt: skip


def test_counters_have_an_axis(pages: dict[str, Page], browser: Browser, tmp_path: Path) -> None:
    with _opened(browser, tmp_path / "s.html", switch_profile()) as page:
        lane = page.locator(".names li").filter(has_text="bytes read")
        assert lane.locator('[data-part="axis"] b').all_inner_texts() == ["8", "-3"]
        assert "from -3 to 8" in (lane.locator("span").first.get_attribute("title") or "")


def test_paper_keeps_colours_and_words(page: Page) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_timeout(60)
    adjust = page.locator("#summary .bar span").first.evaluate(
        "e => getComputedStyle(e).printColorAdjust"
    )
    assert adjust == "exact"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for part in (
        "#summary .gist",
        "#timeline .legend",
        "#flame .box",
        "#tables tbody tr",
        "#source tbody tr",
        ".help p",
    ):
        assert page.locator(part).first.is_visible(), part
    # Nothing is cut off: neither lanes nor lines.
    for scroller in (".names", "#source .code"):
        hidden = page.locator(scroller).evaluate("e => e.scrollHeight - e.clientHeight")
        assert hidden <= 4, scroller
    page.emulate_media(media="screen")
    page.wait_for_selector(".help p >> nth=0", state="hidden")


def _deep(levels: int) -> Profile:
    builder = ProfileBuilder()
    paths = [builder.path(-1, Frame(Kind.CELL, "main", "", "main"))]
    for level in range(1, levels):
        at = (Position("calyx", "deep.futil", level),)
        paths.append(
            builder.path(paths[-1], Frame(Kind.CONTROL, f"seq L{level}", "main", "seq", at))
        )
    trees = [builder.tree([path]) for path in [*paths, *paths[-2::-1]]]
    return builder.build(Meta("calyx", "deep"), [2] * len(trees), trees)


def test_a_hundred_and_twenty_levels_fit_a_screen(browser: Browser, tmp_path: Path) -> None:
    with _opened(browser, tmp_path / "deep.html", _deep(120)) as page:
        page.set_viewport_size({"width": 1300, "height": 800})
        flame = page.locator("#flame .flame")
        assert page.locator("#flame .box").count() == 120
        assert flame.evaluate("e => e.offsetHeight") < 800 - 200
        assert page.locator("#flame .box span").count() > 20
        tops = page.locator("#flame .box").evaluate_all(
            "all => all.map(e => [e.offsetTop, e.offsetHeight])"
        )
        assert np.all(np.diff([top for top, _ in tops]) < 0)
        assert min(height for _, height in tops) >= 3
        # Zoomed in, what is above is thin and what is below has names.
        page.locator("#flame .box").nth(100).click()
        assert page.locator("#flame .box span").count() >= 19
        assert flame.evaluate("e => e.offsetHeight") < 800 - 200
        page.locator('[data-part="hottest"] tbody button').last.click()
        assert _inside(page, ".names li.pointed", ".names")
        assert page.locator(".focused").evaluate("e => e.offsetHeight") < 400


@pytest.mark.parametrize("width", [800, 1000, 1024, 1100, 1140, 1141, 1300])
def test_the_hottest_paths_fit(pages: dict[str, Page], width: int) -> None:
    page = _fresh(pages["calyx"], width=width)
    around = page.locator(".wide:has(> [data-part=hottest])")
    assert around.evaluate("e => e.scrollWidth - e.clientWidth") == 0


@pytest.mark.long(keep_one_in=10)
@pytest.mark.parametrize(
    ("kind", "width", "dark"),
    [("calyx", 390, True), *((k, *s) for k in ("small", "bounds", "hls") for s in SIZES)],
)
def test_every_size_and_theme(pages: dict[str, Page], kind: str, width: int, dark: bool) -> None:
    page = _fresh(pages[kind], width=width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator('[data-part="hottest"] tbody button').first.click()
    page.wait_for_timeout(60)
    assert page.locator(".focused").evaluate("e => e.offsetHeight") <= 0.4 * 900
    assert _inside(page, ".names li.pointed", ".names")
    page.get_by_role("searchbox").fill("a")
    assert page.locator('[data-part="hits"]').is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("searchbox").press("Escape")
    for name in ("Timeline", "Flame graph", "Table", "Source"):
        page.locator(".focused nav").get_by_role("link", name=name).click()
        view = {"Table": "tables", "Flame graph": "flame"}.get(name, name.lower())
        page.wait_for_function(
            "id => { const { top } = document.getElementById(id).getBoundingClientRect();"
            " return top >= 0 && top < 400 }", arg=view
        )  # fmt: skip
    if AXE.is_file():
        assert barriers(page) == []
