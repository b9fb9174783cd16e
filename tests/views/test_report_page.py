"""The report in a real browser: its figures are the profile's, in every view."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cyclescope.analyse import account, line_cycles, summarise, table
from cyclescope.model import (
    Access,
    Activity,
    Area,
    Cause,
    Clock,
    Gap,
    Kind,
    Meta,
    Part,
    PathStep,
    Position,
    Profile,
    ProfileBuilder,
    Rung,
    Series,
    StepKind,
    active_cycles,
    flat_weights,
)
from cyclescope.views import write_report
from cyclescope.views._text import number, percent
from meaning import Frame

from ..strategies import large_profile
from .browser import CHROMIUM
from .page import Seen, whole
from .switch import switch_profile

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="needs a Chromium (Debian: apt install chromium); web/test covers what the page counts",
)


def test_totals_on_screen_are_the_profile_s(show: Callable[..., Seen]) -> None:
    profile = switch_profile()
    _check_totals(show(("p", profile)), profile)


def _check_totals(seen: Seen, profile: Profile) -> None:
    assert whole(seen.text("total")) == profile.cycles
    for use, cycles in account(profile).parts.items():
        assert whole(seen.page.locator(f'[data-use="{use.label}"]').inner_text()) == cycles
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
    builder.counter(
        Series(
            *("thread 0", "stalls: memory", "stall", "cycles", threads[0], *values),
            activity=Activity.WAITING,
            cause=Cause.MEMORY.value,
        )
    )
    sites = [
        Access("region", array, Position("c", "k.c", 6), writes=writes)
        for array, writes in (("a", False), ("b", True))
    ]
    for site, part in enumerate((2, 1)):
        some = (*values[:2], np.array([0, part]))
        builder.counter(
            Series(
                *("region", f"waiting: {site}", "stall", "thread cycles", root, *some),
                cause=Cause.MEMORY.value,
                site=site,
            )
        )
    return builder.build(Meta("hls", "k.c"), [2, 5, 3], trees, sites=sites)


def test_threads_are_counted_in_thread_cycles(show: Callable[..., Seen]) -> None:
    seen = show(("p", _team()))
    assert seen.text("total") == "10"
    cells = seen.page.locator("[data-use]").all()
    found = {cell.get_attribute("data-use"): cell.inner_text() for cell in cells}
    assert found == {"work": "8", "waiting: memory": "5", "waiting: lock": "5", "idle": "2"}
    assert seen.page.locator("#summary .gist").inner_text() == (
        "12 thread-cycles (60.0 %) did no work; most: waiting: memory (25.0 %)."
    )
    assert [row[:3] for row in _cells(seen, "tracks")] == [
        ["thread 0", "5", "50.0 %"],
        ["thread 1", "3", "30.0 %"],
    ]
    rows = seen.page.locator('[data-part="hottest"] tbody tr')
    cells = [row.locator("td").all_inner_texts() for row in rows.all()]
    assert [(cell[0], cell[2], cell[4]) for cell in cells] == [
        ("8", "useful 75.0 %", "region \u203a critical \u203a L5"),
        ("5", "waiting: memory 60.0 %", "region \u203a running \u203a L5"),
        ("5", "waiting: lock", "region \u203a spinning \u203a L5"),
        ("2", "idle", "region \u203a idle \u203a L5"),
    ]
    assert seen.text("at").startswith("cycle 0 \u00b7 1 useful or waiting, 1 idle \u00b7 ")
    line = seen.page.locator("#source tbody tr").first.locator("td").all_inner_texts()
    assert line[:4] == ["20", "100.0 %", "7", ""]
    assert seen.numbers()["region.thread 1 spinning"] == 5
    seen.page.locator('[data-part="from"]').fill("7")
    seen.page.locator('[data-part="from"]').press("Enter")
    assert seen.page.locator('[data-use="waiting: lock"]').count() == 0
    assert seen.page.locator('[data-use="work"]').inner_text() == "\u2248 5"
    seen.page.get_by_role("button", name="apart").click()
    assert seen.page.locator(".flame .box").filter(has_text="thread ").count() == 2
    seen.page.get_by_role("button", name="merged").click()
    assert seen.page.locator(".flame .box").filter(has_text="thread ").count() == 0
    assert seen.quiet()


def _cells(seen: Seen, part: str) -> list[list[str]]:
    rows = seen.page.locator(f'[data-part="{part}"] tbody tr').all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def test_waiting_follows_the_selection(show: Callable[..., Seen]) -> None:
    profile = _team()
    object.__setattr__(profile, "sources", {"k.c": "\n".join(f"text {n}" for n in range(1, 31))})
    seen = show(("p", profile))
    assert _cells(seen, "places") == [
        ["2", "10.0 %", "load of a", "memory", "k.c:6"],
        ["1", "5.0 %", "store to b", "memory", "k.c:6"],
    ]
    row = seen.page.locator("#line-6 td")
    expected = ["2 load of a: memory", "1 store to b: memory"]
    assert row.nth(3).inner_text().split("\n") == expected
    # The text around a line where threads wait is in the report, as of any line that is named.
    assert row.last.inner_text() == "text 6"
    assert seen.page.locator("#line-9").count() == 1
    assert seen.page.locator("#line-10").count() == 0
    # The first sample, then half of the second: of that only a share is known.
    for end, found in (("4", "2"), ("7", "\u2248 3")):
        seen.page.locator('[data-part="to"]').fill(end)
        seen.page.locator('[data-part="to"]').press("Enter")
        assert seen.page.locator('[data-use="waiting: memory"]').inner_text() == found
    expected = ["\u2248 1 load of a: memory", "\u2248 1 store to b: memory"]
    assert row.nth(3).inner_text().split("\n") == expected
    assert "sampled" in seen.text("sampled")
    seen.page.locator('[data-part="places"] a').first.click()
    assert "#line-6?" in seen.page.url
    assert seen.page.locator("#line-6").is_visible()
    assert not seen.complaints


def test_tables_tell_what_parts_cost(show: Callable[..., Seen]) -> None:
    profile = switch_profile()
    groups = {
        profile.frame_of(p).name: p
        for p in range(len(profile.call_paths))
        if profile.frame_of(p).kind is Kind.GROUP
    }
    areas = (
        Area("main", "", 7, 1),
        Area("main.mult", "std_mult_pipe", 1200, 30, 3, 0, (groups["run_s1"],)),
        Area("main.r", "std_reg", 0, 32, 0, 0, (groups["run_s1"], groups["read"])),
    )
    object.__setattr__(profile, "areas", areas)
    seen = show(("p", profile))
    tables = seen.page.locator("#tables")

    def costs(button: str) -> dict[str, list[str]]:
        tables.get_by_role("button", name=button, exact=True).click()
        heads = [h.rstrip(" \u25be\u25b4") for h in tables.locator("thead th").all_inner_texts()]
        assert "BRAM" not in heads  # nothing has one
        first = heads.index("LUT")
        assert heads[first : first + 3] == ["LUT", "FF", "DSP"]
        return {
            cells[heads.index("name")]: cells[first : first + 3] for cells in _cells(seen, "table")
        }

    found = costs("groups")
    assert found["run_s1"] == ["1,200", "62", "3"]
    assert found["read"] == ["0", "32", "0"]
    assert found["write"] == ["0", "0", "0"]
    assert costs("cells")["main"] == ["1,207", "63", "3"]
    tables.get_by_role("button", name="groups", exact=True).click()
    tables.get_by_role("button", name="LUT").click()
    names = [cells[-2] for cells in _cells(seen, "table")]
    assert names[0] == "run_s1"
    assert show(("p", switch_profile())).page.get_by_role("button", name="LUT").count() == 0


LADDER = (
    Rung("unbounded", 2, (), "values only"),
    Rung("absolute", 6, (Gap("resource", 3, "one adder"), Gap("<b>odd</b>", 1))),
    Rung("the design", 9, (Gap("work side by side", -1), Gap("control", 4, "steps"))),
)


def test_the_ladder_is_the_profile_s(show: Callable[..., Seen]) -> None:
    assert show(("p", switch_profile())).page.locator("#ladder").count() == 0
    seen = show(("p", switch_profile().with_meta(ladder=LADDER)))
    rows = [cells[:3] + cells[4:] for cells in _cells(seen, "ladder")]
    assert rows == [
        ["unbounded", "2", "", "values only"],
        ["resource", "+3", "33.3 %", "one adder"],
        ["<b>odd</b>", "+1", "11.1 %", ""],
        ["absolute", "6", "", ""],
        ["work side by side", "\u22121", "\u221211.1 %", ""],
        ["control", "+4", "44.4 %", "steps"],
        ["the design", "9", "", ""],
    ]
    assert "largest part is control: 4 (44.4 %)" in seen.page.locator("#ladder .gist").inner_text()
    bars = seen.page.locator("#ladder .steps > span").evaluate_all(
        "all => all.map(e => [e.className, e.offsetLeft - e.parentElement.offsetLeft,"
        " e.offsetWidth, e.parentElement.offsetWidth])"
    )
    expected = [(0, 2), (2, 5), (5, 6), (0, 6), (5, 6), (5, 9), (0, 9)]
    for (_, left, width, all_), (start, end) in zip(bars, expected, strict=True):
        assert left == pytest.approx(start * all_ / 9, abs=1.5)
        assert width == pytest.approx((end - start) * all_ / 9, abs=1.5)
    assert [kind for kind, *_ in bars][3:6] == ["l-rung", "l-less", "l-control"]
    seen.page.get_by_role("link", name="Ladder").click()
    assert seen.page.locator("#ladder h2").is_visible()
    assert seen.page.get_by_role("row", name="control +4").count() == 1
    assert not seen.complaints


def test_ladders_side_by_side(show: Callable[..., Seen]) -> None:
    rungs = (
        Rung("absolute", 2),
        Rung("N threads", 9, (Gap("control", 4), Gap("memory latency", 5), Gap("lock", -2))),
    )
    two = switch_profile().with_meta(ladder=rungs)
    assert show(("one", switch_profile()), ("two", two)).page.get_by_text("due to").count() == 0
    seen = show(("one", switch_profile().with_meta(ladder=LADDER)), ("two", two))
    # The lowest rung is the program's, and so is what no view knows.
    assert [cells[:5] for cells in _cells(seen, "ladders")] == [
        ["one", "5", "4", "0", "0"],
        ["two", "2", "4", "5", "\u22122"],
    ]
    seen.page.locator('[data-part="ladders"]').get_by_role("button", name="two").click()
    assert [cells[0] for cells in _cells(seen, "ladder")][-1] == "N threads"
    assert not seen.complaints


@pytest.mark.long
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
    seen.page.get_by_role("searchbox").fill("queue")
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
        assert cells[-1] == f"text of line {line.line}"


@pytest.mark.long
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
    assert whole(seen.text("total")) == two.cycles
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


@pytest.fixture(scope="module")
def scheduler() -> tuple[Profile, bytes]:
    """A packet scheduler's profile and its report: made once."""
    profile = large_profile()
    stream = io.BytesIO()
    write_report([("p", profile)], stream)
    return profile, stream.getvalue()


@pytest.mark.long(keep_one_in=3)
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


def test_the_clock_is_the_profile_s(show: Callable[..., Seen]) -> None:
    file, line = next(
        (p.file, p.line) for f in switch_profile().catalog for p in f.positions[:1] if p.line
    )
    path = (
        PathStep(StepKind.LAUNCH, 525, "register", "x", Part.OPERATION, file, line),
        PathStep(StepKind.WIRE, 4475, "", "", Part.CONTROL, file, line),
        PathStep(StepKind.SETUP, 0, "register", "ready", Part.MEMORY_PATH),
    )
    clock = Clock("a device", 1, path)
    profile = switch_profile().with_meta(clock=clock, period_ps=clock.period_ps)
    seen = show(("p", profile))
    text = " ".join(seen.page.locator('[data-part="clock"] p').inner_text().split())
    assert "Reaches 200.0 MHz (5 ns; a device)" in text
    assert f"from {file}:{line} to memory path: 10.5 % logic, 89.5 % wires" in text
    seen.page.locator('[data-part="clock"] summary').click()
    rows = seen.page.locator('[data-part="path"] tbody tr').all()
    cells = [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]
    assert [row[0] for row in cells] == ["525", "4,475", "0"]
    assert [row[1] for row in cells] == ["525", "5,000", "5,000"]
    assert [row[6] for row in cells] == [f"{file}:{line}", f"{file}:{line}", ""]
    assert [row[5] for row in cells] == ["operation", "control", "memory path"]
    assert show(("p", switch_profile())).page.locator('[data-part="clock"]').count() == 0
