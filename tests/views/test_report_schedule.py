"""The schedule in the report: operations in stages, what bounds the interval, where was waited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cyclescope.model import (
    Access,
    Bound,
    Kind,
    Loop,
    Meta,
    Operation,
    Position,
    Profile,
    ProfileBuilder,
    Series,
)
from cyclescope.views._schedule_data import schedule_data
from meaning import Frame

from .browser import CHROMIUM
from .test_report_page_use import AXE, barriers

if TYPE_CHECKING:
    from collections.abc import Callable

    from .page import Seen

HOSTILE = "</script>a\u202e"
NEEDS = pytest.mark.skipif(
    CHROMIUM is None, reason="needs a Chromium (Debian: apt install chromium)"
)


def at(line: int) -> Position:
    return Position("c", "k.c", line)


def looped() -> Profile:
    """Two threads in a loop for 30 cycles, of whose thread-cycles 40 are waited for a load."""
    builder = ProfileBuilder()
    root = builder.path(-1, Frame(Kind.CELL, "kernel", "kernel"))
    threads = [
        builder.path(root, Frame(Kind.THREAD, f"thread {t}", "kernel", track=True))
        for t in range(2)
    ]
    frame = Frame(Kind.LOOP, "L3", "kernel", positions=(at(3),))
    inside = [builder.path(thread, frame) for thread in threads]
    sites = [
        Loop("kernel", at(3), interval=8, frame=builder.frame(frame), depth=20, apart=9,
             serial=(2,)),
        Access("kernel", "a", at(4), loop=0, stage=2),
        Operation("kernel", "loop", at(3), waits=True, stages=1, array="L3", of=0),
        Operation("kernel", "add", at(3), text="i + 1", loop=0, bits=32),
        Operation("kernel", "load", at(4), text="a[i + 1]", loop=0, stage=2, stages=1, waits=True,
                  after=(3,), array="a", bits=32, of=1),
        Operation("kernel", "fadd", at(5), text=f"s += {HOSTILE}", loop=0, stage=3, stages=7,
                  after=(4,), unit="fadd32", bits=32, count=4),
        Bound("kernel", "recurrence", "s", 8, at(5), loop=0, operations=(5,)),
        Bound("kernel", "ports", "x", 3, at(4), loop=0, operations=(4,), ports=2),
    ]  # fmt: skip
    builder.counter(
        Series("kernel", "waiting: load of a", "stall", "thread cycles", path=root, site=1,
               cause="memory", start=np.array([0, 10]), end=np.array([10, 30]),
               value=np.array([30, 10]))
    )  # fmt: skip
    trees = [builder.tree([*threads, *inside]), builder.tree(threads)]
    return builder.build(Meta("hls", "k.c"), [30, 10], trees, sites=sites)


def test_what_the_page_is_given_is_the_schedule() -> None:
    region, loop = schedule_data(looped())
    assert (region["frame"], region["interval"], region["stages"]) == (-1, None, 1)
    assert region["operations"][0]["graph"] == 1
    assert [(o["name"], o["stage"], o["stages"], o["after"]) for o in loop["operations"]] == [
        ("add", 0, 0, []), ("load", 2, 1, [0]), ("fadd", 3, 7, [1]),
    ]  # fmt: skip
    assert [o["series"] for o in loop["operations"]] == [[], [0], []]
    assert [(b["interval"], b["operations"]) for b in loop["bounds"]] == [(8, [2]), (3, [1])]
    assert "\u202e" not in str(loop)


def test_a_profile_without_a_schedule_has_none() -> None:
    builder = ProfileBuilder()
    root = builder.path(-1, Frame(Kind.CELL, "main", "main"))
    assert schedule_data(builder.build(Meta("calyx", "m"), [3], [builder.tree([root])])) == []


@NEEDS
def test_the_loop_with_most_cycles_is_shown_with_what_bounds_it(show: Callable[..., Seen]) -> None:
    seen = show(("p", looped()))
    assert "20 stages" in seen.text("interval")
    assert "9 cycles later at the soonest" in seen.text("interval")
    bounds = seen.page.locator('[data-part="bounds"] li').all_inner_texts()
    assert bounds[0].startswith("8 cycles: recurrence: s is computed from what it was")
    assert "fadd32 7, and 1 to the next iteration" in bounds[0]
    assert bounds[1].startswith("3 cycles: accesses of x share its 2 ports")
    assert "left stage 2" in bounds[2]
    picture = seen.page.locator('svg[data-part="schedule"]')
    rows = picture.locator(".operation")
    assert rows.count() == 3
    assert "40 (50.0 %)" in (rows.nth(1).text_content() or "")
    assert picture.locator(".bit.limits").count() == 1
    assert "4 \u00d7 fadd32" in (rows.nth(2).text_content() or "")
    boxes = [row.locator(".bit").bounding_box() for row in rows.all()]
    begin, end = ([box and box[k] for box in boxes] for k in ("x", "width"))
    assert begin == sorted(begin)
    assert end[2] > 6 * end[1]
    assert seen.quiet()


@NEEDS
def test_an_operation_and_a_loop_inside_lead_there(show: Callable[..., Seen]) -> None:
    seen = show(("p", looped()))
    rows = seen.page.locator('svg[data-part="schedule"] .operation')
    rows.nth(1).click()
    assert "k.c:4" in seen.text("chosen")
    assert seen.page.locator(".operation.pointed").count() == 1
    # The region's only operation is the loop: from there back to it, and by the keyboard.
    seen.page.locator('[data-part="loop"]').nth(0).click()
    assert "once for each thread" in seen.text("interval")
    assert "loop=0" in seen.page.evaluate("location.hash")
    rows.nth(0).press("Enter")
    assert "20 stages" in seen.text("interval")
    seen.page.go_back()
    seen.page.wait_for_function(
        "document.querySelector('[data-part=interval]').innerText.includes('once')"
    )
    assert seen.quiet()


@NEEDS
def test_what_was_waited_follows_the_selection(show: Callable[..., Seen]) -> None:
    seen = show(("p", looped()))
    seen.page.evaluate("location.hash = '#schedule?cycles=0-10'")
    seen.page.wait_for_function(
        "document.querySelector('svg[data-part=schedule]').textContent.includes('30 (')"
    )
    assert seen.quiet()


@pytest.mark.long
@NEEDS
@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core in web/node_modules (`make page`)")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_schedule_is_no_barrier(show: Callable[..., Seen], dark: bool) -> None:
    assert barriers(show(("p", looped()), dark=dark).page) == []
