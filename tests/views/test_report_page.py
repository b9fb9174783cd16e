"""The report in a real browser: figures, links between views, names, keyboard, speed."""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cyclescope.analyse import cycle_classes, line_cycles, summarise, table
from cyclescope.model import (
    Frame,
    Kind,
    Meta,
    Position,
    Profile,
    ProfileBuilder,
    Series,
    active_cycles,
    flat_weights,
)
from cyclescope.views import write_report
from cyclescope.views._text import number, percent, visible

from ..strategies import HOSTILE, large_profile
from .browser import CHROMIUM, chromium
from .switch import switch_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="needs a Chromium (Debian: apt install chromium); web/test covers what the page counts",
)

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


@dataclass
class Seen:
    """What a page did besides showing itself."""

    page: Page
    address: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def quiet(self) -> bool:
        return self.requests == [self.address] and not self.complaints

    def text(self, part: str) -> str:
        return self.page.locator(f'[data-part="{part}"]').inner_text()

    def box(self, name: str) -> object:
        return self.page.locator(".flame .box").filter(has_text=re.compile(f"^{name}$"))

    def numbers(self) -> dict[str, int]:
        """Cycles of the table's rows, by instance and name."""
        heads, *rows = self.page.locator('[data-part="table"] tr').evaluate_all(
            "all => all.map(row => [...row.cells].map(cell => cell.innerText))"
        )
        names = [head.rstrip(" \u25be\u25b4") for head in heads]
        found = {}
        for row in rows:
            cells = dict(zip(names, row, strict=True))
            found[f"{cells['instance']} {cells['name']}"] = _int(cells["cycles"])
        return found


def _int(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Seen]]:
    contexts = []

    def show(*profiles: Any, dark: bool = False, embed: str = "used") -> Seen:
        file = tmp_path / "report.html"
        if isinstance(profiles[0], bytes):
            file.write_bytes(profiles[0])
        else:
            with file.open("wb") as stream:
                write_report(profiles, stream, embed=embed)
        context = browser.new_context(
            viewport={"width": 1300, "height": 900}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        seen = Seen(context.new_page(), file.as_uri())
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.on("console", lambda message: seen.complaints.append(message.text))
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.goto(seen.address)
        seen.page.wait_for_selector("html[data-ready]")
        return seen

    yield show
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def scheduler() -> tuple[Profile, bytes]:
    """A packet scheduler's profile and its report: made once."""
    profile = large_profile()
    stream = io.BytesIO()
    write_report([("p", profile)], stream)
    return profile, stream.getvalue()


def test_totals_on_screen_are_the_profile_s(show: Callable[..., Seen]) -> None:
    profile = switch_profile()
    _check_totals(show(("p", profile)), profile)


def _check_totals(seen: Seen, profile: Profile) -> None:
    assert _int(seen.text("total")) == profile.cycles
    for key, cycles in cycle_classes(profile).totals().items():
        cell = seen.page.locator(f'[data-class="{key}"]')
        assert (_int(cell.inner_text()) if cell.count() else 0) == cycles
    summary = summarise(profile, hottest=8)
    rows = seen.page.locator('[data-part="hottest"] tbody tr').all()
    assert [row.locator("td").first.inner_text() for row in rows] == [
        number(hot.cycles) for hot in summary.hottest
    ]
    assert [row.locator("td").nth(4).inner_text() for row in rows] == [
        " \u203a ".join((hot.instance, *hot.stack)) for hot in summary.hottest
    ]
    assert f"add up to {number(profile.cycles)} cycles" in seen.text("flame-total")
    root = seen.page.locator(".flame .box").first
    assert f"{number(profile.cycles)} cycles" in (root.get_attribute("aria-label") or "")
    seen.page.get_by_role("button", name="flat").click()
    assert f"together {number(sum(flat_weights(profile)))} for" in seen.text("flame-total")
    assert seen.quiet()


def _team() -> Profile:
    """Two threads, ten cycles: one holds a lock for which the other spins; a stall counter."""
    builder = ProfileBuilder()
    root = builder.path(-1, Frame(Kind.CELL, "region", "region"))
    threads = [builder.path(root, Frame(Kind.THREAD, f"thread {t}", "region")) for t in (0, 1)]
    at = (Position("c", "k.c", 5),)
    paths = {}
    for t, thread in enumerate(threads):
        for name in ("idle", "running", "critical", "spinning"):
            state = builder.path(thread, Frame(Kind.STATE, name, "region", name))
            paths[t, name] = builder.path(state, Frame(Kind.LOOP, "L5", "region", positions=at))
    states = [("running", "idle"), ("critical", "spinning"), ("running", "critical")]
    trees = [builder.tree([paths[0, a], paths[1, b]]) for a, b in states]
    values = (np.array([0, 4]), np.array([4, 10]), np.array([2, 3]))
    builder.counter(Series("thread 0", "stalls: memory", "stall", "cycles", threads[0], *values))
    return builder.build(Meta("hls", "k.c"), [2, 5, 3], trees)


def test_threads_are_counted_in_thread_cycles(show: Callable[..., Seen]) -> None:
    seen = show(("p", _team()))
    assert seen.text("total") == "10"
    cells = seen.page.locator("[data-class]").all()
    found = {cell.get_attribute("data-class"): cell.inner_text() for cell in cells}
    assert found == {"running": "5", "critical": "8", "spinning": "5", "idle": "2"}
    assert seen.page.locator(".gist").inner_text() == (
        "7 thread-cycles (35.0 %) did no work; most of them (71.4 %): spinning."
    )
    assert seen.page.locator('[data-part="stalls"] td').all_inner_texts()[:3] == [
        "5",
        "25.0 %",
        "stalls: memory",
    ]
    rows = seen.page.locator('[data-part="hottest"] tbody tr')
    cells = [row.locator("td").all_inner_texts() for row in rows.all()]
    assert [(cell[0], cell[2], cell[4]) for cell in cells] == [
        ("8", "work", "region \u203a threads \u203a critical \u203a L5"),
        ("5", "work", "region \u203a threads \u203a running \u203a L5"),
        ("5", "spinning", "region \u203a threads \u203a spinning \u203a L5"),
        ("2", "idle", "region \u203a threads \u203a idle \u203a L5"),
    ]
    assert seen.text("at").startswith("cycle 0 \u00b7 1 running, 1 idle \u00b7 ")
    line = seen.page.locator("#source tbody tr").first.locator("td").all_inner_texts()
    assert line[:3] == ["20", "100.0 %", "7"]
    assert seen.numbers()["region.thread 1 spinning"] == 5
    seen.page.locator('[data-part="from"]').fill("7")
    seen.page.locator('[data-part="from"]').press("Enter")
    assert seen.page.locator('[data-class="spinning"]').count() == 0
    assert seen.page.locator('[data-class="critical"]').inner_text() == "3"
    assert seen.quiet()


def test_tables_say_what_the_tables_say(show: Callable[..., Seen]) -> None:
    profile = large_profile(20)
    seen = show(("p", profile))
    for kind, button in [(Kind.GROUP, "groups"), (Kind.CONTROL, "control blocks")]:
        seen.page.locator("#tables").get_by_role("button", name=button).click()
        more = seen.page.locator("#tables").get_by_role("button", name="Show all")
        if more.count():
            more.click()
        expected = {f"{r.instance} {r.frame.label}": r.cycles for r in table(profile, kind)}
        assert seen.numbers() == expected
    seen.page.locator("#tables").get_by_role("button", name="cells").click()
    seen.page.locator("#tables").get_by_label("Filter").fill("queue")
    assert set(seen.numbers()) < {
        f"{r.instance} {r.frame.label}" for r in table(profile, Kind.CELL)
    }


def test_lines_say_what_the_lines_say(show: Callable[..., Seen]) -> None:
    profile = switch_profile()
    texts = {"switch.futil": "\n".join(f"text of line {n}" for n in range(1, 60))}
    object.__setattr__(profile, "sources", texts)
    seen = show(("p", profile))
    for line in line_cycles(profile):
        if not line.file:
            continue
        row = seen.page.locator("#source tbody tr").filter(
            has=seen.page.locator(f'[data-line="{line.line}"]')
        )
        cells = row.locator("td").all_inner_texts()
        assert cells[:2] == [number(line.cycles), percent(line.share)]
        assert cells[2] == (number(line.overhead) if line.overhead else "")
        assert cells[4] == f"text of line {line.line}"


def test_search_finds_and_zoom_resets(show: Callable[..., Seen]) -> None:
    seen = show(("p", switch_profile()))
    field_ = seen.page.locator("#flame").get_by_label("Search")
    field_.fill("^if L3")
    assert seen.text("found") == "2 boxes, 33.3 %"
    hits = seen.page.locator(".flame .box.hit")
    assert sorted(hits.evaluate_all("all => all.map(e => e.ariaLabel.split(',')[0])")) == [
        "if L32",
        "if L33",
    ]
    field_.fill("(")
    assert field_.get_attribute("aria-invalid") == "true"
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
    seen.page.get_by_label("hide what the compiler made").check()
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
    surface = seen.page.locator('[data-part="surface"]')
    surface.scroll_into_view_if_needed()
    box = surface.bounding_box()
    assert box is not None
    step = box["width"] / profile.cycles
    seen.page.mouse.move(box["x"] + 2 * step, box["y"] + 80)
    seen.page.mouse.down()
    seen.page.mouse.move(box["x"] + 3 * step, box["y"] + 80, steps=3)
    seen.page.mouse.move(box["x"] + 5 * step, box["y"] + 80, steps=3)
    seen.page.mouse.up()
    assert "counting cycles 2\u20134 only: 3 of 9" in seen.text("chosen")
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


def test_what_is_pointed_out_shows_in_all_views(show: Callable[..., Seen]) -> None:
    seen = show(("p", switch_profile()))
    seen.page.locator("#tables").get_by_role("button", name="run_s1").click()
    assert "pointed out: run_s1" in seen.text("chosen")
    assert seen.page.locator(".flame .pointed").count() == 1
    assert seen.page.locator("#tables .pointed").count() == 1
    assert seen.page.locator("#source .pointed").count() == 1
    seen.page.keyboard.press("Escape")
    assert seen.page.locator(".pointed").count() == 0
    seen.box("par L31").click()
    assert seen.page.locator("#source .pointed").count() == 1


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
    assert "counting cycles" in seen.text("chosen")
    page.keyboard.press("Escape")
    assert "pointed out" not in seen.text("chosen")
    page.keyboard.press("Escape")
    assert "counting" not in seen.text("chosen")


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


@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core in web/node_modules (`make page`)")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_serious_barrier(browser: Browser, show: Callable[..., Seen], dark: bool) -> None:
    one, two = switch_profile(), large_profile(20)
    page = show(("one", one), ("two", two), dark=dark).page
    page.locator("#tables tbody button").first.click()
    for details in page.locator("details").all():
        details.evaluate("e => e.open = true")
    # The page's own policy would refuse the tool: it comes in beside the page, not as part of it.
    client = page.context.new_cdp_session(page)
    source = AXE.read_text("utf-8") + ";axe.run().then(r => JSON.stringify(r.violations))"
    found = client.send(
        "Runtime.evaluate",
        {"expression": source, "awaitPromise": True, "returnByValue": True},
    )
    violations = json.loads(found["result"]["value"])
    serious = [
        (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"]][:3])
        for one in violations
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_light_and_dark(show: Callable[..., Seen]) -> None:
    page = show(("p", switch_profile()), dark=True).page
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.locator('[data-part="theme"]').click()
    light = page.evaluate(ground)
    assert light == "rgb(255, 255, 255)"
    assert dark != light


def test_profiles_side_by_side(show: Callable[..., Seen]) -> None:
    one, two = large_profile(12), large_profile(20)
    seen = show(("one", one), ("two", two))
    cells = seen.page.locator('[data-part="compare"] tbody tr').nth(1).locator("td")
    more = number(two.cycles - one.cycles)
    assert cells.nth(0).inner_text() == number(two.cycles)
    assert cells.nth(1).inner_text().startswith(f"+{more} (")
    seen.page.get_by_text("Flame graphs on one scale").click()
    roots = seen.page.locator('.beside [aria-level="1"]')
    widths = roots.evaluate_all("all => all.map(e => e.getBoundingClientRect().width)")
    assert widths[0] / widths[1] == pytest.approx(one.cycles / two.cycles, rel=0.02)
    seen.page.get_by_role("group", name="Profile").get_by_role("button", name="two").click()
    assert _int(seen.text("total")) == two.cycles
    assert f"add up to {number(two.cycles)} cycles" in seen.text("flame-total")


def test_profiles_with_little_in_them(show: Callable[..., Seen]) -> None:
    nothing = ProfileBuilder().build(Meta("calyx", "empty.futil"), [], [])
    idle = ProfileBuilder()
    still = idle.build(Meta("traces", "idle"), [7], [idle.tree([])])
    seen = show(("nothing", nothing), ("idle", still))
    assert seen.text("total") == "0"
    seen.page.get_by_role("group", name="Profile").get_by_role("button", name="idle").click()
    assert seen.text("total") == "7"
    assert seen.quiet()


def test_an_incomplete_run_is_said_loudly(show: Callable[..., Seen]) -> None:
    seen = show(("p", switch_profile(complete=False, stop_reason="cycle limit")))
    alert = seen.page.get_by_role("alert").inner_text()
    assert "INCOMPLETE: the run was stopped before its end (cycle limit)" in alert
    assert "DATA LOSS: late probe \u00d7 2" in seen.page.locator("#summary").inner_text()


def test_a_million_cycles_are_no_burden(
    show: Callable[..., Seen], scheduler: tuple[Profile, bytes]
) -> None:
    """Generous limits for slow, shared machines; `benches/bench_report.py` measures."""
    profile, page = scheduler
    assert profile.cycles > 1_000_000
    assert len(page) <= 3_000_000
    seen = show(page)
    assert f"active {number(max(active_cycles(profile).tolist()))} of" in seen.text("details")
    surface = seen.page.locator('[data-part="surface"]')
    surface.focus()
    seen.page.keyboard.press("+")
    times = seen.page.evaluate(PAN, 10)
    assert sorted(times)[len(times) // 2] < 400
    _check_totals(seen, profile)


PAN = """async (frames) => {
  const surface = document.querySelector('[data-part="surface"]');
  const times = [];
  for (let i = 0; i < frames; i++) {
    const key = i % 20 < 10 ? "ArrowRight" : "ArrowLeft";
    const before = performance.now();
    surface.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    times.push((performance.now() - before) / 2);
  }
  return times;
}"""
