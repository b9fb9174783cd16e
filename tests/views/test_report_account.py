"""The report's account, read from the page, is the summary's, whatever the profile's source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cyclescope.analyse import WORK, Use, account, line_cycles, summarise, uses_of_tracks
from cyclescope.bounds import estimate, profile_of
from cyclescope.model import (
    Access,
    Activity,
    Frame,
    Meta,
    Position,
    Profile,
    ProfileBuilder,
    Series,
    load,
    tree_cycles,
)
from cyclescope.traces import import_paraver, import_petal, import_signals
from cyclescope.views import summary_json
from cyclescope.views._text import percent, visible
from cyclescope.views._track_stacks import track_parts, track_stacks
from cyclescope.views._uses import use_style

from .browser import CHROMIUM
from .page import Seen, whole
from .switch import switch_profile

if TYPE_CHECKING:
    from collections.abc import Callable

in_browser = pytest.mark.skipif(
    CHROMIUM is None,
    reason="needs a Chromium (Debian: apt install chromium); web/test covers what the page counts",
)

DATA = Path(__file__).parent / "data"
TRACES = Path(__file__).parents[1] / "traces" / "data"
KERNEL = """
void kernel(int a[8], int b[8], int c[1]) {
    for (int i = 1; i < 8; i++)
        a[i] = a[i - 1] * b[i];
    for (int i = 0; i < 8; i++)
        c[0] += a[i];
}
"""
PARAVER = """#Paraver (01/01/2000 at 00:00):100_ns:1(2):1:1(2:1)
1:1:1:1:1:0:60:1
1:2:1:1:2:0:20:1
1:2:1:1:2:20:100:3
1:1:1:1:1:60:100:3
"""


def _bounds(_: Path) -> Profile:
    found = estimate("k.c", text=KERNEL, detail=True)
    return profile_of(found, found.absolute)


def _paraver(folder: Path) -> Profile:
    trace = folder / "two.prv"
    trace.write_text(PARAVER)
    return import_paraver(trace)


def invented(*, tracks: bool) -> Profile:
    """Two cooks in a kitchen, with causes that nobody here knows; one counts when its pan is hot.

    As tracks 100 cycles each: Ada chops in 70 of hers, 21 of which she waits for a hot pan, and
    looks for a knife in the others; Bo chops in 10 and is asleep in 90.
    """
    builder = ProfileBuilder()
    root = builder.path(
        -1, Frame("kitchen", "kitchen", "", activity=Activity.CONTROL, cause="chef")
    )
    at = (Position("recipe", "soup.txt", 2),)
    cooks = [
        builder.path(root, Frame("cook", name, "", activity=Activity.IDLE, track=tracks))
        for name in ("Ada", "Bo")
    ]
    deeds = [
        ("chopping", Activity.WORK, ""),
        ("looking", Activity.WAITING, "knife <b>"),
        ("sleeping", Activity.IDLE, ""),
    ]
    paths = {
        (cook, deed): builder.path(
            cooks[cook], Frame("deed", deed, "", positions=at, activity=what, cause=cause)
        )
        for cook in (0, 1)
        for deed, what, cause in deeds
    }
    spans = [
        (10, "chopping", "chopping"),
        (60, "chopping", "sleeping"),
        (30, "looking", "sleeping"),
    ]
    trees = [builder.tree([paths[0, a], paths[1, b]]) for _, a, b in spans]
    site = Access("soup", "pan", Position("recipe", "soup.txt", 3))
    values = (np.array([0, 50]), np.array([50, 100]), np.array([20, 1]))
    if tracks:
        builder.counter(
            Series(
                "Ada", "pan", "stall", "cycles", cooks[0], *values,
                activity=Activity.WAITING, cause="hot pan",
            )
        )  # fmt: skip
    builder.counter(
        Series("kitchen", "at the pan", "stall", "cycles", root, *values, cause="hot pan", site=0)
    )
    return builder.build(
        Meta("kitchen", "soup"), [cycles for cycles, _, _ in spans], trees, sites=[site]
    )


PROFILES: dict[str, Callable[[Path], Profile]] = {
    "calyx": lambda _: switch_profile(),
    "bounds": _bounds,
    "hls": lambda _: load(DATA / "rows.cyc"),
    "hls with unit": lambda _: load(DATA / "rows-unit.cyc"),
    "ladder": lambda _: load(DATA / "rows-ladder.cyc"),
    "petal": lambda _: import_petal(TRACES / "petal" / "joints"),
    "paraver": _paraver,
    "vcd": lambda _: import_signals(TRACES / "counter.vcd", ["state", "busy"], work=["1"]),
    "invented": lambda _: invented(tracks=False),
    "invented tracks": lambda _: invented(tracks=True),
}


@pytest.mark.long(keep_one_in=4)
@in_browser
@pytest.mark.parametrize("kind", PROFILES)
def test_the_page_s_flame_graph_of_tracks_is_the_still_one(
    kind: str, show: Callable[..., Seen], tmp_path: Path
) -> None:
    profile = PROFILES[kind](tmp_path)
    whole = account(profile)
    if not whole.tracks:
        return
    seen = show(("p", profile))
    merged, apart = (
        track_stacks(profile, track_parts(profile), apart=way) for way in (False, True)
    )
    switch = seen.page.get_by_role("button", name="apart", exact=True)
    assert switch.count() == (merged.tree != apart.tree)
    for found in (merged, apart) if switch.count() else (merged,):
        if found is apart:
            switch.click()
        wanted = []
        for path, units in enumerate(found.weighed.total):
            frame = found.tree.frame_of(path)
            words = [visible(frame.label) or "(no name)", str(frame.kind)]
            if found.weighed.own[path]:
                assert frame.activity is not None
                words.append(use_style(Use(frame.activity, frame.cause)).name)
            unit = whole.unit.removesuffix("s") if units == 1 else whole.unit
            if units >= 0.0007 * whole.total:
                wanted.append(", ".join((*words, f"{units:,} {unit}", percent(whole.share(units)))))
        boxes = seen.page.locator("#flame").get_by_role("treeitem").all()
        drawn = [box.get_attribute("aria-label") or "" for box in boxes]
        assert sorted(label for label in drawn if not label.startswith("run, run")) == sorted(
            wanted
        )
    assert seen.quiet()


def _uses(seen: Seen) -> dict[str, int]:
    cells = seen.page.locator('[data-part="uses"] [data-use]').all()
    return {
        cell.get_attribute("data-use") or "": whole(cell.inner_text().removeprefix("\u2248 "))
        for cell in cells
    }


@pytest.mark.long(keep_one_in=4)
@in_browser
@pytest.mark.parametrize("kind", PROFILES)
def test_the_page_has_the_summary_s_account(
    kind: str, show: Callable[..., Seen], tmp_path: Path
) -> None:
    profile = PROFILES[kind](tmp_path)
    head = json.loads(summary_json(profile))
    seen = show(("p", profile))
    lost = sum(head["lost"].values())
    unit, total = head["account"]["unit"], head["account"]["total"]
    assert whole(seen.text("total")) == head["cycles"]
    assert whole(seen.text("account")) == total == head["useful"] + lost
    assert _uses(seen) == {"work": head["useful"], **head["lost"]}
    assert whole(seen.text("lost")) == lost
    if profile.meta.ladder:
        rungs = seen.page.locator("#ladder tr.rung")
        figures = [row.locator("td").first.inner_text() for row in rungs.all()]
        assert [whole(figure) for figure in figures] == [r.cycles for r in profile.meta.ladder]
        assert whole(figures[-1]) == head["cycles"]
    gist = seen.page.locator("#summary .gist").first.inner_text()
    if lost:
        assert f"{lost:,} {unit} ({percent(account(profile).share(lost))}) did no work" in gist
        most = max(account(profile).lost.items(), key=lambda item: item[1])[0]
        assert seen.text("most") == use_style(most).name
    # The same colours in the table and in each view's legend.
    names = {use_style(use).name for use in account(profile).lost}
    for view in ("#summary", "#timeline"):
        assert _legend(seen, view).items() >= {name: _colour(seen, name) for name in names}.items()
    _check_tracks(seen, profile)
    _check_places(seen, profile)
    # A part of the run, and the rest of it, counted by the page itself.
    _check_parts(seen, profile)
    assert seen.quiet()


def _legend(seen: Seen, view: str) -> dict[str, str]:
    """The text beside each swatch of a view, with its colour."""
    found: list[list[str]] = seen.page.locator(f"{view} .swatch").evaluate_all(
        "all => all.map(e => [e.parentElement.innerText.trim(),"
        " getComputedStyle(e).backgroundColor])"
    )
    return {entry[0]: entry[1] for entry in found}


def _colour(seen: Seen, name: str) -> str:
    return _legend(seen, '[data-part="uses"]')[name]


def _check_tracks(seen: Seen, profile: Profile) -> None:
    """Each track's useful cycles, where there are several."""
    rows = seen.page.locator('[data-part="tracks"] tbody tr').all()
    found = account(profile)
    if len(found.tracks) < 2:
        assert not rows
        return
    useful = [dict(zip(found.uses, row, strict=True)) for row in found.of_track.tolist()]
    assert [row.locator("td").first.inner_text() for row in rows] == [
        f"{of[WORK]:,}" for of in useful
    ]


def _check_places(seen: Seen, profile: Profile) -> None:
    """The hottest paths, and the lines of the first file."""
    rows = seen.page.locator('[data-part="hottest"] tbody tr').all()
    hottest = summarise(profile, hottest=8).hottest
    assert [row.locator("td").first.inner_text() for row in rows] == [
        f"{path.cycles:,}" for path in hottest
    ]
    assert [row.locator("td").nth(4).inner_text() for row in rows] == [
        " \u203a ".join(filter(None, (path.instance, *path.stack))) for path in hottest
    ]
    lines = line_cycles(profile)
    for line in lines:
        if line.file == lines[0].file and line.file:
            cells = seen.page.locator(f"#source #line-{line.line} td").all_inner_texts()
            # No call path begins in a line that is only a place of something.
            only = not line.cycles and (line.waiting or line.own)
            assert cells[0] == ("" if only else f"{line.cycles:,}")
            assert cells[1] == (percent(line.share) if cells[0] else "")
            assert cells[2] == (f"{line.overhead:,}" if line.overhead else "")
            waits = [text.split()[0] for text in cells[3].split("\n")] if line.waiting else []
            assert sum(map(whole, waits)) == line.waiting


def _check_parts(seen: Seen, profile: Profile) -> None:
    total: dict[str, int] = {}
    middle = profile.cycles // 2
    marked = False
    for first, last in ((0, middle), (middle, profile.cycles)):
        for part, value in (("from", first), ("to", last)):
            field = seen.page.locator(f'[data-part="{part}"]')
            field.fill(str(value))
            field.press("Enter")
        shown = _uses(seen)
        assert sum(shown.values()) == whole(seen.text("account"))
        assert whole(seen.text("account")) == (last - first) * max(len(account(profile).tracks), 1)
        cells = seen.page.locator('[data-part="uses"] [data-use]').all_inner_texts()
        marked |= any(text.startswith("\u2248") for text in cells)
        for label, units in shown.items():
            total[label] = total.get(label, 0) + units
    expected = {use.label: n for use, n in account(profile).parts.items()}
    if marked:
        assert seen.page.locator('[data-part="sampled"]').count() == 1
    # Of a sample that is cut, each half is rounded once for each counter.
    slack = len(uses_of_tracks(profile).splits) if marked else 0
    assert {label for label, n in total.items() if n} <= expected.keys()
    for label, units in expected.items():
        assert total.get(label, 0) == pytest.approx(units, abs=slack)


@in_browser
def test_what_nobody_knows_appears_right(show: Callable[..., Seen]) -> None:
    seen = show(("p", invented(tracks=True)))
    assert _uses(seen) == {
        "work": 59,
        "waiting: hot pan": 21,
        "waiting: knife <b>": 30,
        "idle": 90,
    }
    assert seen.page.locator("#summary .gist").inner_text() == (
        "141 cook-cycles (70.5 %) did no work; most: idle (45.0 %)."
    )
    assert seen.page.get_by_text("Longest wait").inner_text() == (
        "Longest wait: load of pan, soup.txt:3, 21 cook-cycles (10.5 %)."
    )
    assert "By cook, 100 cycles each" in seen.page.locator("#summary").inner_text()
    waiting = _legend(seen, '[data-part="uses"]')
    assert len(set(waiting.values())) == len(waiting)
    # Before the run's middle, where a sample ends, the figures are exact.
    seen.page.locator('[data-part="to"]').fill("50")
    seen.page.locator('[data-part="to"]').press("Enter")
    assert _uses(seen) == {"work": 40, "waiting: hot pan": 20, "idle": 40}
    assert seen.page.locator('[data-part="sampled"]').count() == 0
    # A cut sample counts by the work that is inside: 40 of its 50 cycles, 16 of 20.
    seen.page.locator('[data-part="to"]').fill("40")
    seen.page.locator('[data-part="to"]').press("Enter")
    assert seen.page.locator('[data-use="waiting: hot pan"]').inner_text() == "\u2248 16"
    assert seen.page.locator('[data-use="work"]').inner_text() == "\u2248 34"
    assert seen.page.locator('[data-use="idle"]').inner_text() == "30"
    seen.page.get_by_role("button", name="all cycles").click()
    assert seen.text("at").startswith("cycle 0 \u00b7 2 useful or waiting \u00b7 ")
    for kind in ("kitchens", "cooks", "deeds"):
        assert seen.page.locator("#tables").get_by_role("button", name=kind).count() == 1
    page = show(("p", invented(tracks=False))).page
    text = page.locator("#summary .gist").inner_text()
    assert text == "30 cycles (30.0 %) did no work; all: waiting: knife <b>."
    assert page.locator("#timeline .legend").first.locator("li").all_inner_texts() == [
        "useful",
        "waiting: knife <b>",
    ]


@in_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_colours_are_those_of_the_one_table(show: Callable[..., Seen], dark: bool) -> None:
    seen = show(("p", load(DATA / "rows.cyc")), dark=dark)
    found = _legend(seen, '[data-part="uses"]')
    for use in account(load(DATA / "rows.cyc")).uses:
        red, green, blue = (int(use_style(use).colour[at : at + 2], 16) for at in (1, 3, 5))
        if use.label == "idle" and dark:  # it would not be seen on a dark page
            assert found["idle"] != f"rgb({red}, {green}, {blue})"
        else:
            assert found[use_style(use).name] == f"rgb({red}, {green}, {blue})"


@in_browser
def test_different_units_side_by_side(show: Callable[..., Seen]) -> None:
    rows, switch = load(DATA / "rows.cyc"), switch_profile()
    seen = show(("rows", rows), ("switch", switch))
    table = seen.page.locator('[data-part="compare"]')
    heads = [
        re.sub(r"\s+", " ", text).strip() for text in table.locator("thead th").all_inner_texts()
    ]
    texts = table.locator("tbody tr").first.locator("td").all_inner_texts()
    assert len(heads) == 1 + len(texts)
    uses = sorted({*account(rows).parts, *account(switch).parts}, key=lambda use: use.rank)
    assert heads[4:] == [use_style(use).name for use in uses]
    expected: dict[str, Any] = {
        use_style(use).name: f"{n:,}" for use, n in account(rows).parts.items()
    }
    shown = dict(zip(heads[1:], texts, strict=False))
    assert {name: shown[name] for name in expected} == expected
    assert "thread-cycles of 8 threads" in table.inner_text()


def test_uses_of_tracks_are_what_the_account_is_made_of(tmp_path: Path) -> None:
    """By the definition: cycles of each tree, and counters taken from work."""
    for make in PROFILES.values():
        profile = make(tmp_path)
        found, expected = uses_of_tracks(profile), account(profile)
        assert found.tracks == expected.tracks
        if not found.tracks:
            continue
        rows = np.zeros((len(found.tracks), len(found.uses)), dtype=np.int64)
        for cycles, of_tree in zip(tree_cycles(profile).tolist(), found.of_trees, strict=True):
            for track, use in enumerate(of_tree.tolist()):
                rows[track, use] += cycles
        for number, track, use in found.splits:
            units = int(profile.series[number].value.sum())
            rows[track, found.uses.index(WORK)] -= units
            rows[track, use] += units
        total = dict(zip(found.uses, rows.sum(axis=0).tolist(), strict=True))
        assert {use: n for use, n in total.items() if n} == {
            use: n for use, n in expected.parts.items() if n
        }
