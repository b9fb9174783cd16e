"""A kind of frame and a cause that nobody here knows appear right in every view."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cyclescope import views
from cyclescope.analyse import account, check, diff, parse_limit, table
from cyclescope.model import (
    Activity,
    Frame,
    Meta,
    Position,
    Profile,
    ProfileBuilder,
    Series,
    check_laws,
    load,
    save,
)
from cyclescope.traces import import_paraver

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MOODS = {
    "brewing": (Activity.WORK, ""),
    "thirsty": (Activity.WAITING, "coffee"),
    "away": (Activity.IDLE, ""),
}
RUNS: Sequence[tuple[int, str, str]] = (
    (600, "brewing", "thirsty"), (250, "thirsty", "away"), (150, "brewing", "brewing"),
)  # fmt: skip


def invented(*, tracks: bool) -> Profile:
    """Two baristas: 900 units of work, of which 100 are spent on washing up."""
    builder = ProfileBuilder()
    place = (Position("recipe", "espresso.txt", 3),)
    baristas = [
        builder.path(-1, Frame("barista", name, "bar", activity=Activity.IDLE, track=tracks))
        for name in ("Ada", "Bo")
    ]
    trees = []
    for _, *moods in RUNS:
        active = []
        for barista, mood in zip(baristas, moods, strict=True):
            activity, cause = MOODS[mood]
            frame = Frame("mood", mood, "bar", positions=place, activity=activity, cause=cause)
            active.append(builder.path(barista, frame))
        trees.append(builder.tree(active))
    if tracks:
        ints = (np.array([n]) for n in (0, 600, 100))
        builder.counter(
            Series(
                *("Ada", "washing up", "stall", "cycles", baristas[0], *ints),
                activity=Activity.WAITING,
                cause="a clean cup",
            )
        )
    meta = Meta("bar", "espresso")
    profile = builder.build(meta, [cycles for cycles, *_ in RUNS], trees)
    check_laws(profile)
    return profile


EXPECTED = {
    True: (
        ("barista-cycles", 2000),
        800,
        {"waiting: a clean cup": 100, "waiting: coffee": 850, "idle": 250},
    ),
    # One root's worth: a cycle is work if anybody works in it.
    False: (("cycles", 1000), 750, {"waiting: coffee": 250}),
}


@pytest.mark.parametrize("tracks", [True, False])
def test_every_view_has_the_account(tracks: bool, tmp_path: Path) -> None:
    save(invented(tracks=tracks), tmp_path / "bar.cyc")
    profile = load(tmp_path / "bar.cyc")
    (unit, total), useful, lost = EXPECTED[tracks]
    whole = account(profile)
    assert (whole.unit, whole.total, whole.useful) == (unit, total, useful)
    assert {use.label: units for use, units in whole.lost.items()} == lost

    head = json.loads(views.summary_json(profile))
    assert head["account"] == {"unit": unit, "total": total}
    assert (head["useful"], head["lost"]) == (useful, lost)
    text = " ".join(views.summary_text(profile).split())
    for label, units in {"useful": useful, **lost}.items():
        assert f"{label} {units:,} {100 * units / total:.1f} %" in text

    verdicts = check(profile, [parse_limit(f"useful>={useful}"), parse_limit(f"useful>{useful}")])
    assert [one.passed for one in verdicts] == [True, True, False]  # complete, first
    note = f"Lost: {total - useful:,} {unit} ({100 * (total - useful) / total:.1f} %)"
    assert note in views.flamegraph(profile).decode()
    share = f"{100 * useful / total:.1f} %"
    assert share in views.timeline_svg([profile]).decode()
    assert diff(profile, profile).uses == {use: (n, n) for use, n in whole.parts.items()}


@pytest.mark.parametrize("tracks", [True, False])
def test_every_picture_has_the_frames(tracks: bool, tmp_path: Path) -> None:
    profile = invented(tracks=tracks)
    for scaled in (True, False):
        assert b">thirsty<" in views.flamegraph(profile, scaled=scaled)
    assert "Ada;brewing" in views.folded(profile)
    assert b">Ada" in views.timeline_svg([profile]) or b"barista" in views.timeline_svg([profile])
    names = {frame["name"] for frame in json.loads(views.speedscope(profile))["shared"]["frames"]}
    assert {"Ada", "Bo", *MOODS} == names
    trace = io.BytesIO()
    views.write_timeline(profile, trace)
    for name in (b"Ada", b"Bo", b"thirsty", b"brewing"):
        assert name in trace.getvalue()
    assert {row.frame.name: row.cycles for row in table(profile, "mood")} == {
        "brewing": 750, "thirsty": 850, "away": 250,
    }  # fmt: skip
    (line,) = [row for row in json.loads(views.lines_view(profile, fmt="json")) if row["file"]]
    assert (line["line"], line["cycles"]) == (3, 2000 if tracks else 1000)
    path = tmp_path / "bar.prv"
    with path.open("wb") as stream:
        views.write_paraver(profile, stream)
    for ending, text in views.paraver_companions(profile).items():
        path.with_name(f"bar{ending}").write_text(text)
    back = import_paraver(path, work=["brewing"] if tracks else [])
    assert back.cycles == profile.cycles
    if tracks:
        assert account(back).useful == 900  # Paraver has the states; what counters say is events
