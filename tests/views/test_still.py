"""Still timelines and comparisons: several profiles on one axis."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings

from cyclescope.analyse import account
from cyclescope.errors import InputError
from cyclescope.model import Activity, Area, Cause, Kind, Meta, Profile, ProfileBuilder, Series
from cyclescope.views import _still, comparison, timeline_svg, write_timeline
from cyclescope.views._still import _coverage
from cyclescope.views._uses import use_style
from meaning import Frame, design_overhead
from strategies import calyx_profiles, large_profile


def steps(title: str, gap: int) -> Profile:
    """`seq { a; b; }`, a and b three cycles each with some cycles between."""
    build = ProfileBuilder()
    main = build.path(-1, Frame(Kind.CELL, "main", "main", "main"))
    seq = build.path(main, Frame(Kind.CONTROL, "seq L1", "main", "seq"))
    one, two = (build.path(seq, Frame(Kind.GROUP, name, "main")) for name in "ab")
    trees = [build.tree([one]), build.tree([seq]), build.tree([two])]
    ends = np.array([3, 3 + gap]), np.array([3 + gap, 6 + gap]), np.array([0, 1])
    if gap:
        build.counter(Series("main", "fsm0 (seq L1)", "fsm", "state", -1, *ends))
    return build.build(Meta("calyx", title), [3, gap, 3], trees)


def texts(svg: bytes) -> list[str]:
    root = ElementTree.fromstring(svg.decode())
    return [e.text or "" for e in root.iter() if e.tag.endswith("}text")]


def labels(svg: bytes) -> list[str]:
    """The texts left of the rows."""
    found = ElementTree.fromstring(svg.decode()).iter("{http://www.w3.org/2000/svg}text")
    return [e.text or "" for e in found if (e.get("x"), e.get("fill")) == ("8", "#333")]


def boxes(svg: bytes) -> dict[str, tuple[float, float]]:
    """Title → (x, width) of each named box."""
    root = ElementTree.fromstring(svg.decode())
    found = {}
    for group in (e for e in root.iter() if e.tag.endswith("}g")):
        title, rect = group[0], group[1]
        if not rect.tag.endswith("}rect"):
            continue
        found[title.text or ""] = (float(rect.get("x", "")), float(rect.get("width", "")))
    return found


def test_two_runs_stand_on_one_axis() -> None:
    svg = timeline_svg([steps("slow", 2), steps("fast", 0)])
    shown = texts(svg)
    assert "slow · 8 cycles, 75.0 % useful" in shown
    assert "fast · 6 cycles, 100.0 % useful" in shown
    assert labels(svg) == [
        "cell", "seq L1", "control registers", "a, b", "cell", "seq L1", "a, b",
    ]  # fmt: skip
    found = boxes(svg)
    slow, fast = found["b: cycles 5 to 7"], found["b: cycles 3 to 5"]
    scale = (1000 - 204 - 14) / 8
    assert slow == pytest.approx((204 + 5 * scale, 3 * scale), abs=0.02)
    assert fast == pytest.approx((204 + 3 * scale, 3 * scale), abs=0.02)


def area(svg: bytes, colour: str) -> float:
    """The pixels of a row's height behind the boxes in a colour, without the legend."""
    return sum(
        float(e.get("width", "")) * float(e.get("height", "")) / 15
        for e in ElementTree.fromstring(svg.decode())
        if e.get("fill") == colour and (e.get("width"), e.get("height")) != ("10", "10")
    )


@pytest.mark.parametrize("title", ["waits", "waits long " * 6])
def test_what_counters_tell_of_a_threads_work_is_drawn(title: str) -> None:
    build = ProfileBuilder()
    main = build.path(-1, Frame(Kind.CELL, "main", "main", "main"))
    thread = build.path(main, Frame(Kind.THREAD, "thread 0", "main"))
    running, spinning = (
        build.path(thread, Frame(Kind.STATE, name, "main")) for name in ("running", "spinning")
    )
    one = np.array([0, 500]), np.array([500, 1000]), np.array([100, 300])
    waiting = {"activity": Activity.WAITING, "cause": Cause.MEMORY.value}
    build.counter(Series("thread 0", "stalls: memory", "stall", "cycles", thread, *one, **waiting))
    profile = build.build(
        Meta("hls", title),
        [400, 200, 400],
        list(map(build.tree, ([running], [spinning], [running]))),
    )
    whole = account(profile)
    svg = timeline_svg([profile])
    scale = (1000 - 204 - 14) / profile.cycles
    for use, units in whole.parts.items():
        # Heights are whole pixels of 15.
        drawn = area(svg, use_style(use).colour)
        assert drawn == pytest.approx(units * scale, abs=profile.cycles * scale / 15), use
    assert [whole.parts[u] for u in whole.parts] == [400, 400, 200]
    shown = texts(svg)
    assert {"useful", "spinning", "waiting: memory"} <= set(shown)
    assert not any("stalls: memory" in text for text in shown)


def test_rows_name_their_instance_where_there_are_several() -> None:
    build = ProfileBuilder()
    main = build.path(-1, Frame(Kind.CELL, "main", "main", "main"))
    call = build.path(main, Frame(Kind.GROUP, "call", "main"))
    part = build.path(call, Frame(Kind.CELL, "part", "main", "half"))
    work = build.path(part, Frame(Kind.GROUP, "work", "half"))
    profile = build.build(Meta("calyx", "two"), [4, 2], [build.tree([work]), build.tree([call])])
    svg = timeline_svg([profile])
    assert labels(svg) == ["main cell", "main call", "part cell", "part work"]
    assert {"main groups: call", "part groups: work"} <= set(boxes_titles(svg))


def test_a_window_of_a_still() -> None:
    svg = timeline_svg([steps("slow", 2), steps("fast", 0)], start=6)
    assert set(boxes(svg)) == {
        "main: cycles 6 to 7", "seq L1: cycles 6 to 7", "b: cycles 6 to 7",
    }  # fmt: skip
    with pytest.raises(InputError, match="no cycles from 8 to before 8"):
        timeline_svg([steps("slow", 2), steps("fast", 0)], start=8)


def test_more_changes_than_a_picture_can_hold_are_refused_with_a_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_still, "_MOST", 2)
    with pytest.raises(InputError, match=r"3 changes are too many .* choose a window of cycles"):
        timeline_svg([steps("alone", 2)])
    timeline_svg([steps("alone", 2)], start=1, end=4)


def test_what_is_too_narrow_is_shade_and_rows_are_counted() -> None:
    svg = timeline_svg([large_profile(400)], max_rows=3)
    assert b"fill-opacity" in svg
    assert any(text.startswith("not drawn: ") for text in texts(svg))
    assert len(svg) < 200_000


def test_registers_that_are_updated_together_are_named_together() -> None:
    profile = steps("slow", 2)
    ends = np.array([0, 2, 5]), np.array([2, 5, 8]), np.array([0, 1, 2])
    done = Series("main", "pd0", "par done", "state", -1, *ends)
    found = boxes(timeline_svg([replace(profile, series=(*profile.series, done))]))
    assert {title for title in found if title.startswith(("pd0", "fsm0"))} == {
        "pd0: cycles 1 to 1", "fsm0, pd0: cycles 4 to 4",
    }  # fmt: skip


def crowded() -> Profile:
    """Blocks five deep, a `par` of seven arms with primitives, and a counter of its own."""
    build = ProfileBuilder()
    path = build.path(-1, Frame(Kind.CELL, "main", "main", "main"))
    for depth in range(1, 6):
        path = build.path(path, Frame(Kind.CONTROL, f"seq L{depth}", "main", "seq"))
    path = build.path(path, Frame(Kind.CONTROL, "par L6", "main", "par"))
    groups = [build.path(path, Frame(Kind.GROUP, f"g{n}", "main")) for n in range(7)]
    adder = build.path(groups[0], Frame(Kind.PRIMITIVE, "add", "main", "std_add"))
    build.counter(Series("main", "depth", "parallelism", "", -1, *np.array([[0], [4], [2]])))
    return build.build(Meta("calyx", "crowded"), [4], [build.tree([adder, *groups])])


def test_what_is_left_out_is_named_by_its_blocks() -> None:
    svg = timeline_svg([crowded()])
    assert labels(svg) == ["cell", "seq L1", "seq L2", "seq L3", *(f"g{n}" for n in range(7))]
    assert "groups, arm 7: g6" in boxes_titles(svg)
    shown = texts(svg)
    deep = "control: seq L4, seq L5, par L6"
    assert f"not drawn: 3 rows; {deep}; primitives; counters: depth" in shown
    shown = texts(timeline_svg([crowded()], max_rows=5))
    note = f"not drawn: 9 rows; {deep}; groups: g1, g2, g3 and 3 more; primitives; counters: depth"
    assert note in shown
    narrow = timeline_svg([crowded()], max_rows=5, width=400)
    assert [text for text in texts(narrow) if "drawn" in text or ";" in text] == [
        f"not drawn: 9 rows; {deep}",
        "groups: g1, g2, g3 and 3 more; primitives",
    ]
    # The tooltip names them all.
    whole = f"not drawn: 9 rows; {deep}; groups: {', '.join(f'g{n}' for n in range(1, 7))}"
    assert f"{whole}; primitives; counters: depth" in boxes_titles(narrow)
    assert not any("not drawn" in text for text in texts(timeline_svg([steps("slow", 2)])))


def boxes_titles(svg: bytes) -> list[str]:
    root = ElementTree.fromstring(svg.decode())
    return [e.text or "" for e in root.iter() if e.tag.endswith("}title")]


@given(calyx_profiles(depth=4))
@settings(max_examples=25, deadline=None)
def test_every_row_is_drawn_or_named(profile: Profile) -> None:
    """However many rows are wanted, as many are drawn and counted together."""

    def count(most: int) -> tuple[int, int]:
        svg = timeline_svg([profile], max_rows=most, width=100_000)
        titles = labels(svg)
        shown = texts(svg)
        counted = [int(m[1]) for t in shown if (m := re.match(r"not drawn: (\d+) row", t))]
        return len(titles), sum(counted)

    drawn, deep = count(10_000)
    assert count(2) == (min(drawn, 2), max(drawn - 2, 0) + deep)


def test_coverage_against_counting() -> None:
    rng = np.random.default_rng(3)
    start = np.sort(rng.uniform(0, 20, 30))
    end = np.minimum(start + rng.uniform(0, 0.5, 30), 20)
    fine = (np.arange(200_000) + 0.5) / 10_000
    inside = ((fine[:, None] >= start) & (fine[:, None] < end)).sum(axis=1)
    assert np.allclose(_coverage(start, end, 20), inside.reshape(20, -1).mean(axis=1), atol=1e-3)


@given(calyx_profiles(hostile=True))
@settings(max_examples=25, deadline=None)
def test_any_profile_has_a_still(profile: Profile) -> None:
    svg = timeline_svg([profile, profile])
    names = {e.tag.rsplit("}")[-1] for e in ElementTree.fromstring(svg.decode()).iter()}
    assert names <= {"svg", "rect", "text", "line", "g", "title"}


def test_one_trace_of_several_profiles() -> None:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    stream = io.BytesIO()
    write_timeline([steps("slow", 2), steps("fast", 0)], stream)
    trace = Trace()
    trace.ParseFromString(stream.getvalue())
    described = [p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")]
    assert len({d.uuid for d in described}) == len(described)
    processes = {d.uuid: d.process.process_name for d in described if d.HasField("process")}
    assert list(processes.values()) == [
        "slow (1 cycle = 1 ns)", "fast (1 cycle = 1 ns)",
    ]  # fmt: skip
    above = {d.uuid: d.parent_uuid for d in described}
    ends: dict[str, int] = {}
    for packet in trace.packet:
        if not packet.HasField("timestamp"):
            continue
        track = packet.trusted_packet_sequence_id
        while track not in processes:
            track = above[track]
        ends[processes[track]] = max(ends.get(processes[track], 0), packet.timestamp)
    assert list(ends.values()) == [8, 6]

    alone = io.BytesIO()
    write_timeline(steps("slow", 2), alone)
    assert stream.getvalue().startswith(alone.getvalue())


def test_a_comparison_counts_from_the_first() -> None:
    profiles = [steps("slow", 2), steps("fast", 0), steps("slower", 4)]
    table = comparison(profiles).decode().splitlines()
    assert table[1].split()[:3] == ["slow", "8", "6"]
    assert table[2].split()[:4] == ["fast", "6", "\u221225.0", "%"]
    assert table[3].split()[:4] == ["slower", "10", "+25.0", "%"]
    assert "LUT" not in table[0]
    priced = replace(profiles[0], areas=(Area("main", "main", 7, 5, 1, 3),))
    table = comparison([priced, profiles[1]]).decode().splitlines()
    assert table[0].split()[-4:] == ["LUT", "FF", "DSP", "BRAM"]
    assert table[1].split()[-4:] == ["7", "5", "1", "1.5"]
    assert table[2].split()[-1] == "0"
    rows = list(csv.DictReader(io.StringIO(comparison(profiles, "csv").decode())))
    assert [int(row["cycles"]) for row in rows] == [8, 6, 10]
    for row, profile in zip(rows, profiles, strict=True):
        lost = [int(row[name] or 0) for name in row if name.startswith("control: ")]
        assert int(row["useful"]) + sum(lost) == profile.cycles
        assert int(row["useful"]) == design_overhead(profile).useful


def test_processes_have_rows_of_their_own_and_nothing_is_drawn_beyond_an_end() -> None:
    builder = ProfileBuilder()
    kernel = builder.path(-1, Frame(Kind.CELL, "kernel", "", "kernel"))
    names = ("source A", "sum L5", "sink y")
    first, second, last = (builder.path(kernel, Frame(Kind.PROCESS, n, "kernel")) for n in names)
    # Iterations so short that they are shade, in a picture that goes on for long after them.
    turns = [builder.tree([path]) for path in (first, second, last)] * 300
    short = builder.build(Meta("bounds", "short"), [1] * len(turns), turns)
    svg = timeline_svg([short, steps("long", 40_000)])
    shown = texts(svg)
    assert [name for name in names if name in shown] == list(names)
    assert "short · 900 cycles, 33.3 % of process-cycles useful" in shown
    root = ElementTree.fromstring(svg.decode())
    shades = [e for e in root.iter() if e.tag.endswith("}rect") and e.get("fill-opacity")]
    ends = 204 + 900 / 40_006 * 782
    pale = [float(e.get("x", "0")) for e in shades if e.get("fill") == "#4f9d69"]
    assert pale
    assert max(pale) <= ends
