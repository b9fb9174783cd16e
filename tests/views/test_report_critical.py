"""The critical path in the report: figures, the lane, and sliders that say what if."""

from __future__ import annotations

import json
import random
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cyclescope.analyse import (
    LATENCY,
    START_COST,
    THREADS,
    OtherLength,
    critical,
    critical_over_time,
    curves_of,
    definition_of,
    retimed,
)
from cyclescope.bounds import estimate, profile_of
from cyclescope.cli import main
from cyclescope.errors import ToolError
from cyclescope.hls import compile_c, measure
from cyclescope.model import Profile, load, save
from cyclescope.views import _critical_data
from network.stepped import random_network

from ..strategies import large_profile
from .browser import CHROMIUM
from .page import timeline_box, whole
from .switch import switch_profile
from .test_report_network import chain

if TYPE_CHECKING:
    from collections.abc import Callable

    from .page import Seen

pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="needs a Chromium (Debian: apt install chromium); web/test covers what the page counts",
)

PROGRAMS = Path(__file__).parents[1] / "hls" / "programs"
ROWS = Path(__file__).parent / "data" / "rows.cyc"


def _cells(seen: Seen, part: str) -> list[dict[str, str]]:
    heads, *rows = seen.page.locator(f'[data-part="{part}"] tr').evaluate_all(
        "all => all.map(row => [...row.cells].map(cell => cell.innerText.trim()))"
    )
    names = [head.rstrip(" \u25be\u25b4") for head in heads]
    return [dict(zip(names, row, strict=False)) for row in rows]


@pytest.mark.long
@pytest.mark.parametrize("profile", [large_profile(20), load(ROWS)], ids=["calyx", "hls"])
def test_figures_are_those_of_the_command(profile: Profile, show: Callable[..., Seen]) -> None:
    seen = show(("p", profile))
    found = critical(profile)
    rows = _cells(seen, "critical")
    shown = [row for row in rows if not row["critical"].startswith("and ")]
    assert sum(frame.critical for frame in found.frames) == profile.cycles
    for row, frame in zip(shown, found.frames, strict=False):
        assert whole(row["critical"]) == frame.critical
        assert whole(row["times"]) > 0
    names = {
        (profile.catalog[f.key[0]].label, f.key[1]): f for f in found.frames
    }  # the same names may be in several instances
    for row in shown:
        frame = names[row["name"], row["instance"]]
        assert (whole(row["slack"]), row["leverage"]) == (
            frame.slack,
            f"{100 * float(frame.leverage):.1f} %",
        )
    assert whole(
        re.findall(r": ([\d,]+) of", seen.page.locator("#critical .gist").inner_text())[0]
    ) == (found.frames[0].critical)
    # Beside each block, too.
    kinds = seen.page.locator("#tables .choice button").all()
    seen_figures = 0
    for kind in kinds:
        kind.click()
        for row in _cells(seen, "table"):
            frame = names.get((row["name"], row["instance"]))
            if frame is not None:
                assert whole(row["critical"]) == frame.critical
                assert whole(row["slack"]) == frame.slack
                seen_figures += 1
    assert seen_figures
    assert seen.quiet()


def test_lines_have_figures(show: Callable[..., Seen]) -> None:
    profile = switch_profile()
    seen = show(("p", profile))
    rows = _cells(seen, "lines")
    assert sum(whole(row["critical"]) for row in rows if row["critical"]) <= profile.cycles
    by_line: dict[int, list[tuple[int, int]]] = {}
    for frame in critical(profile).frames:
        for at in profile.catalog[frame.key[0]].positions:
            by_line.setdefault(at.line, []).append((frame.critical, frame.slack))
    for row in rows:
        figures = by_line.get(whole(row["line"]), [])
        assert row["critical"] == (f"{total:,}" if (total := sum(c for c, _ in figures)) else "")
        assert row["slack"] == (f"{min(s for _, s in figures):,}" if figures else "")


def test_the_lane_shows_the_path(show: Callable[..., Seen]) -> None:
    profile = switch_profile()
    seen = show(("p", profile))
    box = timeline_box(seen.page)
    assert seen.page.locator(".names li").first.inner_text() == "critical path"
    found = critical_over_time(profile)
    start = 0
    for cycles, path in zip(found.cycles.tolist(), found.path.tolist(), strict=True):
        for cycle in range(start, start + cycles):
            x = box["x"] + (cycle + 0.5) * box["width"] / profile.cycles
            seen.page.mouse.move(x, box["y"] + 22 + 46 + 8)
            chain = [profile.frame_of(p).label for p in (*profile.lineage(path), path)]
            chain = list(dict.fromkeys(chain))
            told = seen.text("at")
            assert told.startswith(f"cycle {cycle} ")
            assert set(told.rsplit(" \u00b7 ", 1)[1].split(" \u203a ")) == set(chain)
        start += cycles
    assert start == profile.cycles
    # Its name highlights all that is on it.
    seen.page.get_by_role("button", name="critical path: highlight").click()
    assert "highlighted: critical path" in seen.text("chosen")


@pytest.mark.long
def test_sliders_say_what_the_command_says(show: Callable[..., Seen]) -> None:
    profile = large_profile(20)
    seen = show(("p", profile))
    found = critical(profile)
    keys = [frame.key for frame in found.frames]
    page = seen.page
    assert page.locator('[data-part="curves"]').count() == 0

    def alike(key: tuple[int, str]) -> tuple[tuple[int, str], ...]:
        wanted = definition_of(profile, key)
        return tuple(one for one in keys if definition_of(profile, one) == wanted)

    changes = []
    for row, length in ((0, 0), (3, 40), (5, 1)):
        slider = page.locator('[data-part="critical"] tbody tr').nth(row).locator("input")
        most = int(slider.get_attribute("max") or 0)
        length = min(length, most)
        slider.evaluate(
            "(e, value) => { e.value = value;"
            " e.dispatchEvent(new Event('input', { bubbles: true })) }",
            length,
        )
        changes.append(OtherLength("", alike(keys[row]), length, length))
        (expected,) = retimed(profile, changes).totals
        assert whole(seen.text("whatif-cycles").split()[0]) == expected
        (alone,) = retimed(profile, changes[-1:]).totals
        by = f"{alone - profile.cycles:+,}".replace("-", "\u2212")
        told = page.locator('[data-part="critical"] tbody tr').nth(row).locator(".told")
        assert told.inner_text() == f"{length:,}: {by if alone != profile.cycles else 'no change'}"
    before = seen.text("whatif")
    page.wait_for_timeout(60)
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert seen.text("whatif") == before
    # The same slider where the block is highlighted.
    page.locator('[data-part="critical"] tbody button.link').first.click()
    assert page.locator(".focused .whatif input").input_value() == "0"
    page.get_by_role("button", name="Take back").click()
    assert "Move a slider" in seen.text("whatif")
    assert not seen.complaints


def test_curves_say_what_the_command_says(
    show: Callable[..., Seen], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run.cyc"
    try:
        save(measure(compile_c(PROGRAMS / "comma_and_steps.c")).profile, run)
    except ToolError as error:
        pytest.skip(str(error))
    profile = load(run)
    seen = show(("p", profile))
    page = seen.page
    curves = curves_of(profile)
    names = [curve.name for curve in curves]
    assert {LATENCY, START_COST, THREADS} < set(names)
    rows = _cells(seen, "curves")
    assert [row["what"] for row in rows] == names
    page.get_by_text("All values").click()
    listed = page.locator('[data-part="curve-values"] > div')
    for number, curve in enumerate(curves):
        row = page.locator('[data-part="curves"] tbody tr').nth(number)
        slider = row.locator("input")
        assert slider.get_attribute("aria-label") == f"What if: {curve.name}"
        assert slider.get_attribute("max") == str(len(curve.values) - 1)
        ends = [f"{v:,}: {t:,}" for v, t in zip(curve.values, curve.totals, strict=True)]
        assert [rows[number]["the run takes, from"], rows[number]["to"]] == [ends[0], ends[-1]]
        assert listed.nth(number).locator("dd").all_inner_texts() == ends
        slider.focus()
        page.keyboard.press("End")
        page.keyboard.press("Home")
        for value, total in zip(curve.values, curve.totals, strict=True):
            # What is above the table, what is beside the slider, and what the command says.
            (command,) = shlex.split(seen.text("whatif-command"))[3:]
            assert command == f"{curve.name} = {value}"
            assert main(["whatif", str(run), command, "--format", "json"]) == 0
            (told,) = json.loads(capsys.readouterr().out)
            assert told["total"] == total
            assert whole(seen.text("whatif-cycles").split()[0]) == total
            by = f"{total - profile.cycles:+,}".replace("-", "\u2212")
            shown = f"{value:,}: {'no change' if by == '+0' else by}"
            assert row.locator(".told").inner_text() == shown
            assert f"{value:,}: the run takes {total:,} " in str(
                slider.get_attribute("aria-valuetext")
            )
            page.keyboard.press("ArrowRight")
    # One change at a time; a reload keeps it, back undoes it.
    assert page.locator('[data-part="curves"] button[aria-label$="as it was"]').count() == 1
    before = seen.text("whatif")
    page.wait_for_timeout(200)
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert seen.text("whatif") == before
    page.go_back()
    assert seen.text("whatif") != before
    page.go_forward()
    assert seen.text("whatif") == before
    # The same slider where its loop is highlighted.
    loops = page.locator('[data-part="curves"] button.link')
    loops.last.click()
    assert page.locator(".focused .whatif input").count() == 1
    for width in (320, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.locator('[data-part="whatif-cycles"]').is_visible()
        assert page.locator('[data-part="whatif-command"]').is_visible()
    page.get_by_text("All values").click()
    page.emulate_media(media="print")
    page.wait_for_function("document.querySelector('[data-part=curve-values]').checkVisibility()")
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Take back").click()
    assert "Move a slider" in seen.text("whatif")
    assert not seen.complaints
    # A run that does not say which loops the team divides has no slider for the team.
    assert THREADS not in {curve.name for curve in curves_of(load(ROWS))}


def test_curves_of_a_network_may_come_to_a_standstill(show: Callable[..., Seen]) -> None:
    profile = next(
        network
        for network in map(random_network, map(random.Random, range(100)))
        if any(None in curve.totals for curve in curves_of(network))
    )
    seen = show(("p", profile))
    page = seen.page
    assert "memory" not in seen.text("whatif")
    found = curves_of(profile)
    assert [row["what"] for row in _cells(seen, "curves")] == [curve.name for curve in found]
    for number, curve in enumerate(found):
        page.locator('[data-part="curves"] tbody tr').nth(number).locator("input").focus()
        for place in range(len(curve.values)):
            # From the other end, as one that is there already has not moved.
            for key in ["ArrowRight"] if place else ["End", "Home"]:
                page.keyboard.press(key)
            total = curve.totals[place]
            told = "deadlock" if total is None else f"{total:,} cycles"
            assert seen.text("whatif-cycles") == told
    assert not seen.complaints


def test_where_nothing_is_known_nothing_is_said(
    show: Callable[..., Seen], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = estimate(
        "k.c", text="void k(int a[4]) { for (int i = 0; i < 4; i++) a[i] = i; }", detail=True
    )
    seen = show(("p", profile_of(found, found.absolute)))
    assert seen.page.locator("#critical").count() == 0
    assert seen.page.get_by_text("critical path", exact=True).count() == 0
    # A graph too large for a page: figures without sliders.
    monkeypatch.setattr(_critical_data, "MOST_NODES", 3)
    seen = show(("p", switch_profile()))
    assert seen.page.locator("#critical").count() == 1
    assert seen.page.locator('input[type="range"]').count() == 0
    assert not seen.complaints


def test_processes_have_cycles_alone(show: Callable[..., Seen]) -> None:
    """Of a network in hardware the path is known, not slack, and not when."""
    profile = chain()
    seen = show(("p", profile))
    rows = _cells(seen, "critical")
    assert [whole(row["critical"]) for row in rows] == [
        frame.critical for frame in critical(profile).frames
    ]
    assert {(row["slack"], row["leverage"]) for row in rows} == {("", "")}
    assert seen.page.locator(".names li").filter(has_text="critical path").count() == 0
    assert not seen.complaints
