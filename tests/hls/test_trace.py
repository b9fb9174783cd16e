"""Dumps of the profiling unit become profiles: exactly, or with the loss named."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cyclescope
from cyclescope.cli import main
from cyclescope.errors import DataError
from cyclescope.hls.trace._decoder import read_dump
from cyclescope.hls.trace._format import (
    COUNTERS,
    LineKind,
    OnFull,
    Scope,
    Source,
    TraceLayout,
    make_layout,
    read_layout,
)
from cyclescope.hls.trace._states import STATES
from cyclescope.model import (
    Access,
    Activity,
    Kind,
    Loop,
    Position,
    Profile,
    Severity,
    check_laws,
    spans,
)

from .trace_writer import Writer, write_run

if TYPE_CHECKING:
    from pathlib import Path


def layout_of(rng: random.Random, threads: int, **options: object) -> TraceLayout:
    chosen = rng.sample(COUNTERS, rng.randint(0, len(COUNTERS)))
    sources = [
        Source(counter, index, rng.choice([1, 7, 64, 1000]))
        for counter in chosen
        for index in range({Scope.THREAD: threads, Scope.BANK: 4, Scope.DESIGN: 1}[counter.scope])
    ]
    if period := options.get("period"):
        assert isinstance(period, int)
        few = rng.sample(chosen, rng.randint(0, len(chosen)))
        # The next sample must come before its time stamp comes again.
        most = (1 << int(str(options.get("time_bits", 32)))) - 16
        steps = [step for step in (1, 2, 6, 12) if period * step <= max(most, period)]
        options["periods"] = {c.name: period * rng.choice(steps) for c in few}
    return make_layout("gemm.c", threads, sources, **options)  # type: ignore[arg-type]


def random_run(
    rng: random.Random, layout: TraceLayout, cycles: int
) -> tuple[list[int], list[list[int]]]:
    words, word = [], 0
    for _ in range(cycles):
        if rng.random() < 0.3:
            word ^= rng.randint(0, 3) << 2 * rng.randrange(layout.threads)
        words.append(word)
    increments = [
        [rng.choice([0, 0, 1, p.source.largest]) for _ in range(cycles)] for p in layout.places
    ]
    return words, increments


def seen_states(profile: Profile) -> list[list[str]]:
    """For each thread its state in each cycle."""
    found = spans(profile)
    threads = [f.name for f in profile.catalog if f.kind is Kind.THREAD]
    result = [[""] * profile.cycles for _ in threads]
    for path, start, end in zip(
        found.path.tolist(), found.start.tolist(), found.end.tolist(), strict=True
    ):
        frame = profile.frame_of(path)
        if frame.kind is Kind.STATE:
            thread = profile.frame_of(int(profile.call_paths.parent[path])).name
            for cycle in range(start, end):
                assert result[threads.index(thread)][cycle] == ""
                result[threads.index(thread)][cycle] = frame.name
    return result


def true_states(words: list[int], threads: int) -> list[list[str]]:
    return [[STATES[word >> 2 * t & 3] for word in words] for t in range(threads)]


def losses(profile: Profile) -> dict[str, int]:
    assert all(a.severity is Severity.DATA_LOSS for a in profile.meta.anomalies)
    return {a.name: a.count for a in profile.meta.anomalies}


def check_counters(profile: Profile, layout: TraceLayout, increments: list[list[int]]) -> None:
    """Each interval has the truth's sum, and the intervals leave nothing out."""
    assert len(profile.series) == len(layout.places)
    for series, place, truth in zip(profile.series, layout.places, increments, strict=True):
        assert (series.name, series.metric) == (
            place.source.counter.name,
            place.source.counter.metric,
        )
        assert series.summed
        assert series.start.tolist() == [0, *series.end[:-1].tolist()]
        assert int(series.end[-1]) == profile.cycles
        for start, end, value in zip(*(c.tolist() for c in series.intervals), strict=True):
            assert value == sum(truth[start:end])


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 12),
    st.sampled_from([256, 512, 1024]),
    st.sampled_from([6, 32]),
    st.sampled_from([0, 1, 7, 50]),
    st.integers(1, 300),
)
def test_a_run_comes_back_exactly(
    seed: int, threads: int, line: int, bits: int, period: int, cycles: int
) -> None:
    rng = random.Random(seed)
    layout = layout_of(rng, threads, line_bits=line, time_bits=bits, period=period)
    words, increments = random_run(rng, layout, cycles)
    if period == 0 and bits == 6:
        return  # samples must come before their time stamp comes again
    profile = read_dump(write_run(layout, 10_000, words, increments), layout)
    check_laws(profile)
    assert losses(profile) == {}
    assert profile.meta.complete
    assert profile.cycles == cycles
    assert seen_states(profile) == true_states(words, threads)
    check_counters(profile, layout, increments)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(list(OnFull)), st.booleans(), st.integers(2, 4))
def test_a_full_region_shows_what_it_has_and_no_more(
    seed: int, on_full: OnFull, ended: bool, region: int
) -> None:
    rng = random.Random(seed)
    layout = layout_of(rng, 4, on_full=on_full, period=40, time_bits=rng.choice([7, 32]))
    words, increments = random_run(rng, layout, 600)
    dump = write_run(layout, region, words, increments, end=ended)
    with suppress(DataError):  # no states are left, and no end: no cycles
        check_full(read_dump(dump, layout), on_full, ended, words, increments)


def check_full(
    profile: Profile,
    on_full: OnFull,
    ended: bool,
    words: list[int],
    increments: list[list[int]],
) -> None:
    check_laws(profile)
    assert losses(profile)
    assert profile.meta.complete == ended
    if not ended and on_full is OnFull.WRAP:
        return  # nobody knows when it was
    for shown, truth in zip(seen_states(profile), true_states(words, 4), strict=True):
        known = [cycle for cycle, state in enumerate(shown) if state != "unknown"]
        assert [shown[c] for c in known] == [truth[c] for c in known]
    if ended:
        assert profile.cycles == 600
        assert losses(profile)["cycle of unknown state"] > 0
    for series, truth in zip(profile.series, increments, strict=True):
        for start, end, value in zip(*(c.tolist() for c in series.intervals), strict=True):
            assert value == sum(truth[start:end])


def test_a_loss_in_the_middle_is_a_hole() -> None:
    layout = make_layout("x", 2, [])
    writer = Writer(layout, 10)
    writer.states([(0, 1), (5, 5), (9, 7)])
    writer.states([(20, 2), (30, 3)], LineKind.LATE_STATES)
    writer.end(40)
    profile = read_dump(writer.dump(), layout)
    assert losses(profile) == {"change of state lost": 1, "cycle of unknown state": 10}
    first, second = seen_states(profile)
    assert (
        first
        == ["running"] * 9 + ["spinning"] + ["unknown"] * 10 + ["critical"] * 10 + ["spinning"] * 10
    )
    assert second[9:21] == ["running"] + ["unknown"] * 10 + ["idle"]


def test_a_line_that_is_missing_is_a_hole_too() -> None:
    layout = make_layout("x", 1, [Source(COUNTERS[0], 0, 1)], period=10)
    writer = Writer(layout, 10)
    for begin in (0, 10, 20):
        writer.states([(begin, 1), (begin + 5, 2)])
        writer.sample(0, begin + 9, {0: begin})
    writer.end(30)
    lines = [writer.lines[n] for n in (0, 1, 2, 5, 6, 0, 0)]
    lines[0] -= 2 << 12  # the end is honest about what is there
    size = layout.line_bits // 8
    profile = read_dump(b"".join(line.to_bytes(size, "little") for line in lines), layout)
    assert losses(profile) == {"line missing": 1, "cycle of unknown state": 14}
    assert seen_states(profile)[0][5:21] == ["critical"] + ["unknown"] * 14 + ["running"]
    assert [c.tolist() for c in profile.series[0].intervals] == [[0], [12], [0]]


def test_the_clock_of_a_long_run() -> None:
    layout = make_layout("x", 1, [Source(COUNTERS[0], 0, 1)], period=1 << 31)
    writer = Writer(layout, 10)
    wrap = 1 << 32
    writer.states([(0, 1), (7, 0), (wrap, 0), (wrap + 7, 1), (2 * wrap, 1), (2 * wrap + 1, 3)])
    for time in range(wrap // 2, 2 * wrap + 1, wrap // 2):
        writer.sample(0, time, {0: time >> 31})
    writer.sample(0, 2 * wrap + 9, {0: 77})
    writer.end(2 * wrap + 9)
    profile = read_dump(writer.dump(), layout)
    assert losses(profile) == {}
    assert profile.schedule.cycles.tolist() == [7, wrap, wrap - 6, 8]
    assert profile.series[0].end.tolist() == [
        wrap // 2 + 4,
        wrap + 4,
        wrap * 3 // 2 + 4,
        2 * wrap + 4,
        2 * wrap + 9,
    ]


def test_a_number_that_began_anew() -> None:
    layout = make_layout("x", 1, [])
    writer = Writer(layout, 4)
    for time in range(0, 60, 10):
        writer.states([(time, time // 10 % 2)] * 1)
    writer.made += (1 << 24) - 5
    writer.end(70)
    profile = read_dump(writer.dump(), layout)
    assert losses(profile)["line dropped"] == (1 << 24) - 2
    assert seen_states(profile)[0][:22] == ["idle"] * 10 + ["running"] * 10 + ["idle", "unknown"]


def test_a_counter_that_was_full_is_named() -> None:
    layout = make_layout("x", 1, [Source(COUNTERS[0], 0, 1)], period=2)
    writer = Writer(layout, 10)
    writer.states([(0, 1)])
    writer.sample(0, 2, {0: 1 << 40})
    writer.end(5)
    assert losses(read_dump(writer.dump(), layout)) == {"counter full": 1}


def simple() -> tuple[TraceLayout, bytes]:
    rng = random.Random(3)
    layout = make_layout("gemm.c", 8, [Source(c, i, 4) for c in COUNTERS for i in range(4)])
    words, increments = random_run(rng, layout, 500)
    return layout, write_run(layout, 60, words, increments)


def test_cut_dumps_are_named_and_never_wrong() -> None:
    layout, dump = simple()
    whole = seen_states(read_dump(dump, layout))
    for size in range(0, len(dump), 77):
        try:
            profile = read_dump(dump[:size], layout)
        except DataError:
            continue
        check_laws(profile)
        for shown, truth in zip(seen_states(profile), whole, strict=True):
            assert all(s in (t, "unknown") for s, t in zip(shown, truth, strict=True))
        if size < 20 * 64:
            assert losses(profile)


def test_noise_and_wrong_layouts_are_refused_or_shown_lawfully() -> None:
    layout, dump = simple()
    rng = random.Random(8)
    for _ in range(150):
        data = bytearray(dump)
        for _ in range(rng.randint(1, 20)):
            data[rng.randrange(len(data) if rng.random() < 0.5 else 640)] = rng.randrange(256)
        other = replace(layout, threads=rng.choice([1, 4, 8, 8, 8, 9]))
        try:
            profile = read_dump(bytes(data), other)
        except DataError:
            continue
        if profile.cycles < 1 << 60:
            check_laws(profile)
    for data in (b"", b"\1", bytes(640), b"\xff" * 640):
        with pytest.raises(DataError, match="dump"):
            read_dump(data, layout)


def test_layouts_go_through_text(tmp_path: Path) -> None:
    sites = (Loop("matmul"), Access("matmul", "A", Position("c", "gemm.c", 4), width=4, loop=0))
    layout = replace(
        simple()[0],
        peaks={"bytes": 256},
        region="matmul",
        where=("gemm.c", 3, 5),
        sites=sites,
    )
    path = tmp_path / "l.json"
    path.write_text(layout.to_json())
    assert read_layout(path) == layout
    good = json.loads(layout.to_json())
    for name, value in (
        ("version", 4), ("version", "3"), ("format", "x"), ("threads", 0), ("threads", "8"),
        ("threads", 2000), ("line_bits", 500), ("line_bits", 64), ("stamp_bits", 33),
        ("period", -1), ("on_full", "x"),
        ("places", [1]), ("places", [{**good["places"][0], "low": 0}]),
        ("places", [{**good["places"][0], "width": 40}]), ("places", good["places"][:1] * 2),
        ("peaks", []), ("peaks", {"bytes": "many"}), ("region", 3), ("where", ["a.c", 1]),
        ("sites", [1]), ("sites", [{"site": "loop"}]),
        ("sites", [{"site": "pond", "function": "f"}]),
        ("sites", [{"site": "loop", "function": "f", "trips": "many"}]),
        ("sites", [{"site": "access", "function": "f", "array": "A", "loop": 7}]),
        *(
            ("places", [{**place, "source": {**source, "counter": {**source["counter"], **wrong}}}])
            for place in good["places"][:1]
            for source in [place["source"]]
            for wrong in ({"site": 3}, {"site": "x"}, {"activity": "work"}, {"cause": 4})
        ),
    ):  # fmt: skip
        path.write_text(json.dumps(good | {name: value}))
        with pytest.raises(DataError, match=r"l\.json"):
            read_layout(path)
    del good["title"]
    for text in (json.dumps(good), "", "[]", "{", "[" * 100_000):
        path.write_text(text)
        with pytest.raises(DataError, match=r"l\.json"):
            read_layout(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_layout(tmp_path / "none")


def test_places_are_packed_and_apart() -> None:
    layout, _ = simple()
    assert layout.records == 10
    taken = np.zeros((layout.sample_lines, layout.line_bits), dtype=int)
    taken[:, :64] += 1
    for place in layout.places:
        assert place.width >= (4 * 4096).bit_length()
        taken[place.line, place.low : place.low + place.width] += 1
    assert taken.max() == 1


def test_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    layout, dump = simple()
    (tmp_path / "l.json").write_text(layout.to_json())
    (tmp_path / "d.bin").write_bytes(dump)
    # Counters at random: more waiting than there is work.
    assert main(["import", "nymble", "d.bin", "--layout", "l.json"]) == 2
    assert "more waiting than there is work" in capsys.readouterr().err
    words, increments = random_run(random.Random(3), layout, 500)
    for place, counted in zip(layout.places, increments, strict=True):
        if place.source.counter.activity is Activity.WAITING:
            counted[:] = [0] * len(counted)
    (tmp_path / "d.bin").write_bytes(write_run(layout, 60, words, increments))
    assert main(["import", "nymble", "d.bin", "--layout", "l.json", "--force"]) == 0
    profile = cyclescope.load("d.cyc")
    assert (profile.cycles, profile.meta.source, profile.meta.title) == (500, "hls", "gemm.c")
    assert list(profile.meta.inputs) == ["d.bin", "l.json"]
    assert main(["import", "nymble", "none", "--layout", "l.json"]) == 2
    assert "none" in capsys.readouterr().err
