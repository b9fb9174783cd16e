"""Traces become profiles: round trips, another reader's answer, and damage that is named."""

from __future__ import annotations

import gzip
import io
import random
import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cyclescope
from cyclescope.analyse import summarise
from cyclescope.cli import main
from cyclescope.errors import DataError
from cyclescope.model import (
    Kind,
    Meta,
    Profile,
    ProfileBuilder,
    Series,
    Severity,
    check_laws,
    spans,
)
from cyclescope.traces import import_paraver
from cyclescope.views import paraver_companions, write_paraver
from meaning import Frame

from ..views.switch import switch_profile
from .grammar import check_trace
from .profiles import STATES, threaded_profiles

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "#Paraver (21/11/2026 at 12:00):1000_ns:1(2):1:1(2:1)\n"


def exported(folder: Path, profile: Profile, **options: int | bool | None) -> Path:
    path = folder / ("t.prv.gz" if options.get("compress") else "t.prv")
    stream = io.BytesIO()
    write_paraver(profile, stream, **options)  # type: ignore[arg-type]
    path.write_bytes(stream.getvalue())
    for ending, text in paraver_companions(profile).items():
        (folder / f"t{ending}").write_text(text, encoding="utf-8")
    return path


def trace(folder: Path, body: str, head: str = HEAD) -> Path:
    path = folder / "t.prv"
    path.write_text(head + body, encoding="utf-8", newline="")
    return path


def thread_states(profile: Profile) -> dict[str, list[tuple[int, int, str]]]:
    """For each thread when it was in which state, from the profile's spans."""
    found = spans(profile)
    result: dict[str, list[tuple[int, int, str]]] = {}
    for path, start, end in zip(
        found.path.tolist(), found.start.tolist(), found.end.tolist(), strict=True
    ):
        if profile.frame_of(path).kind is Kind.STATE:
            thread = profile.instances[path]
            result.setdefault(thread, []).append((start, end, profile.frame_of(path).name))
    return {thread: sorted(rows) for thread, rows in result.items()}


def lost(profile: Profile) -> dict[str, int]:
    assert all(a.severity in (Severity.DATA_LOSS, Severity.INFO) for a in profile.meta.anomalies)
    return {a.name: a.count for a in profile.meta.anomalies if a.severity is Severity.DATA_LOSS}


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(threaded_profiles(), st.sampled_from([None, 1000, 7143, 10_000]), st.booleans())
def test_what_was_exported_comes_back(
    tmp_path: Path, profile: Profile, period: int | None, packed: bool
) -> None:
    path = exported(tmp_path, profile, period_ps=period, compress=packed)
    back = import_paraver(path)
    check_laws(back)
    assert back.meta.anomalies[:1] == () or set(lost(back)) <= {"event with another at its instant"}
    assert back.cycles == profile.cycles
    assert back.meta.period_ps == period
    expected = thread_states(profile)
    shown = thread_states(back)
    for thread, rows in expected.items():
        assert shown[thread] == rows
    for series in profile.series:
        found = [s for s in back.series if s.head | {"path": 0} == series.head | {"path": 0}]
        if not found:
            assert len(series) == 0
            continue
        (same,) = found
        nonzero = same.value != 0
        if series.summed:
            wanted = series.value != 0
            for column in range(3):
                assert (same.intervals[column][nonzero] == series.intervals[column][wanted]).all()
        else:
            assert (level(same, back.cycles) == level(series, back.cycles)).all()


def level(series: object, cycles: int) -> np.ndarray:
    result = np.zeros(cycles, dtype=np.int64)
    for start, end, value in zip(*(c.tolist() for c in series.intervals), strict=True):  # type: ignore[attr-defined]
        result[start:end] = value
    return result


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 2**32))
def test_any_valid_trace_reads_as_the_strict_reader_has_it(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    appls = [
        [rng.randint(1, 3) for _ in range(rng.randint(1, 3))] for _ in range(rng.randint(1, 3))
    ]
    places = [
        (a, t, n)
        for a, tasks in enumerate(appls, 1)
        for t, count in enumerate(tasks, 1)
        for n in range(1, count + 1)
    ]
    end = rng.choice([10, 1000, 10**10, 10**15])
    lines = []
    for cpu, place in enumerate(places, 1):
        who = f"{cpu}:" + ":".join(map(str, place))
        cuts = sorted({0, end, *(rng.randrange(end) for _ in range(rng.randint(0, 8)))})
        for begin, until in pairwise(cuts):
            lines.append((begin, f"1:{who}:{begin}:{until}:{rng.randint(0, 9)}"))
        for _ in range(rng.randint(0, 5)):
            time = rng.randint(0, end)
            pairs = "".join(
                f":{rng.randint(1, 3)}:{rng.randint(-(1 << 62), 1 << 62)}"
                for _ in range(rng.randint(1, 3))
            )
            lines.append((time, f"2:{who}:{time}{pairs}"))
        for _ in range(rng.choice((0, 0, 1, 5))):
            sent, leaves, awaited, arrives = (rng.randint(0, end) for _ in range(4))
            other = rng.randrange(len(places))
            whom = f"{other + 1}:" + ":".join(map(str, places[other]))
            size = rng.choice((0, 64, 1 << 40))
            message = f"3:{who}:{sent}:{leaves}:{whom}:{awaited}:{arrives}:{size}:1"
            lines.append((rng.choice((sent, arrives)), message))
    lines.sort(key=lambda line: line[0])
    shape = ",".join(
        f"{len(tasks)}({','.join(f'{count}:1' for count in tasks)})" for tasks in appls
    )
    head = f"#Paraver (21/11/2026 at 12:00):{end}_ns:1({len(places)}):{len(appls)}:{shape}"
    head += rng.choice(("\n", ",1\nc:1:1:1:1\n"))
    text = head + "".join(f"{line}\n" for _, line in lines)
    expected = check_trace(re.sub(r",1\nc:.*", "", text))
    if rng.random() < 0.3:
        text = text.replace("),", "):").replace("):1\nc", "),1\nc")  # Paraver takes a colon, too
    profile = import_paraver(trace(tmp_path, text, ""))
    check_laws(profile)
    assert profile.cycles == end
    found = thread_states(profile)
    for place, rows in expected.states.items():
        merged: list[tuple[int, int, str]] = []
        for begin, until, number in rows:
            name = "idle" if number == 0 else f"state {number}"
            if merged and merged[-1][2] == name:
                merged[-1] = (merged[-1][0], until, name)
            else:
                merged.append((begin, until, name))
        assert found["thread " + ".".join(map(str, place))] == merged
    values = {}
    for place, events in expected.events.items():
        for time, kind, value in events:
            values[("thread " + ".".join(map(str, place)), f"event {kind}", time)] = value
    read = {
        (s.track, s.name, start): value
        for s in profile.series
        for start, value in zip(s.start.tolist(), s.value.tolist(), strict=True)
        if not s.summed
    }
    assert read == values
    assert set(lost(profile)) <= {"event with another at its instant"}
    traffic: Counter[tuple[str, str, int]] = Counter()
    for sender, leaves, receiver, arrives, size in expected.messages:
        for place, side, time in ((sender, "sent", leaves), (receiver, "received", arrives)):
            key = "thread " + ".".join(map(str, place)), min(time, end - 1)
            traffic[key[0], f"messages {side}", key[1]] += 1
            traffic[key[0], f"bytes {side}", key[1]] += size
    assert traffic == {
        (s.track, s.name, start): value
        for s in profile.series
        if s.summed
        for start, value in zip(s.start.tolist(), s.value.tolist(), strict=True)
    }


CASES = [
    ("", "", {}),
    ("overlap", "1:1:1:1:1:0:700:1\n1:1:1:1:1:600:1000:2\n", {"overlapping state": 1}),
    ("unsorted", "1:1:1:1:1:500:1000:1\n1:1:1:1:1:0:500:2\n", {"record out of order": 1}),
    ("fraction", "1:1:1:1:1:0:10.5:1\n1:1:1:1:1:20:30:1\n", {"unreadable line": 1}),
    ("words", "hello\n\n# a comment\n2:1:1:1:1:5:7:x\n", {"unreadable line": 2}),
    ("fields", "1:1:1:1:1:0:10\n2:1:1:1:1:0:7\n4:1:1:1:1:0:1:1\n", {"unreadable line": 3}),
    ("empty field", "1:1:1:1:1::10:1\n", {"unreadable line": 1}),
    ("overflow", "2:1:1:1:1:5:7:9223372036854775808\n", {"event value beyond 63 bits": 1}),
    ("far overflow", "2:1:1:1:1:5:7:99999999999999999999\n", {"event value beyond 63 bits": 1}),
    ("type overflow", "2:1:1:1:1:5:9223372036854775808:7\n", {"unreadable line": 1}),
    ("time overflow", "1:1:1:1:1:0:9223372036854775808:7\n", {"unreadable line": 1}),
    ("sign inside", "2:1:1:1:1:5:7:1-2\n", {"unreadable line": 1}),
    ("signs", "2:1:1:1:1:5:7:--2\n", {"unreadable line": 1}),
    ("thread", "1:1:1:1:9:0:5:1\n", {"record of an unknown thread": 1}),
    ("task", "1:1:2:1:1:0:5:1\n1:1:1:0:1:0:5:1\n", {"record of an unknown thread": 2}),
    ("backward", "1:1:1:1:1:50:5:1\n", {"state that ends before it begins": 1}),
    ("negative", "2:1:1:1:1:-5:7:1\n", {"event before time 0": 1}),
    ("message", "3:1:1:1:1:5:5:2:1:1:2:6:6:64:1\n", {}),
    ("out of order", "2:1:1:1:1:9:7:1\n3:1:1:1:1:5:5:2:1:1:2:6:6:64:1\n2:1:1:1:1:9:8:1\n", {}),
    ("no receiver", "3:1:1:1:1:5:5:2:1:1:3:6:6:64:1\n", {"record of an unknown thread": 1}),
    ("size", "3:1:1:1:1:5:5:2:1:1:2:6:6:-64:1\n", {"negative time or size of a message": 1}),
    ("early", "3:1:1:1:1:5:5:2:1:1:2:-6:6:64:1\n", {"negative time or size of a message": 1}),
    ("cut", "1:1:1:1:1:0:500:1\n1:1:1:1:1:500:10", {"trace cut": 1}),
    ("twice", "2:1:1:1:1:5:7:1\n2:1:1:1:1:5:7:2\n", {"event with another at its instant": 1}),
    ("windows", "1:1:1:1:1:0:500:1\r\n1:1:1:1:1:500:1000:2\r\n", {}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_damage_is_named_and_counted(tmp_path: Path, body: str, expected: dict[str, int]) -> None:
    profile = import_paraver(trace(tmp_path, body))
    check_laws(profile)
    assert lost(profile) == expected
    assert profile.cycles == 1000


def test_states_around_damage(tmp_path: Path) -> None:
    profile = import_paraver(trace(tmp_path, CASES[1][1]))
    assert thread_states(profile)["thread 1.1.1"] == [(0, 600, "state 1"), (600, 1000, "state 2")]
    assert "100 cycles" in profile.meta.anomalies[0].detail
    profile = import_paraver(trace(tmp_path, CASES[2][1]))
    assert thread_states(profile)["thread 1.1.1"] == [(0, 500, "state 2"), (500, 1000, "state 1")]
    profile = import_paraver(trace(tmp_path, "1:1:1:1:1:100:200:1\n"))
    rows = [(0, 100, "idle"), (100, 200, "state 1"), (200, 1000, "idle")]
    assert thread_states(profile)["thread 1.1.1"] == rows
    assert thread_states(profile)["thread 1.1.2"] == [(0, 1000, "idle")]


@pytest.mark.parametrize(
    "head",
    [
        "",
        "hello\n",
        "new format\n",
        "#Paraver (x):_ns:0:1:1(1:1)\n",
        "#Paraver (x):10_ns:0:1:2(1:1)\n",
        "#Paraver (x):10_ns:0:2:1(1:1)\n",
        "#Paraver (x):10_ns:0:0:\n",
        "#Paraver (x):10_ns:0:1:1(999999999:1)\n",
        "#Paraver (x):9999999999999999999_ns:0:1:1(1:1)\n",
        "#Paraver (x):0_ns:0:1:1(1:1)\n",
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(tmp_path: Path, head: str) -> None:
    with pytest.raises(DataError, match=r"t\.prv: ") as error:
        import_paraver(trace(tmp_path, "", head))
    assert "\n" not in str(error.value)


def test_times_beyond_63_bits_are_refused(tmp_path: Path) -> None:
    path = trace(tmp_path, "", "#Paraver (x):99999999999999999_ms:0:1:1(1:1)\n")
    assert import_paraver(path).cycles == 99999999999999999
    with pytest.raises(DataError, match="63 bits"):
        import_paraver(path, period_ps=7)


def test_units_communicators_and_a_later_end(tmp_path: Path) -> None:
    body = "c:1:1:1:1\nI:1:1:2:1:2\n1:0:1:1:1:0:30:1\n"
    for suffix, period in (("_us", 10**6), ("_ms", 10**9), ("", 10**6), ("_cycles", 10**6)):
        head = f"#Paraver (1/1/26 at 1:00):20{suffix}:0:1:1(1:0),2\n"
        profile = import_paraver(trace(tmp_path, body, head))
        assert (profile.cycles, profile.meta.period_ps) == (30, period)
        assert lost(profile) == {}
    profile = import_paraver(trace(tmp_path, body, head), period_ps=250_000)
    assert (profile.cycles, profile.meta.period_ps) == (120, 250_000)


def test_hardware_counters_belong_to_the_time_before(tmp_path: Path) -> None:
    body = "2:1:1:1:1:0:42000050:0\n2:1:1:1:1:10:42000050:5:7:1\n2:1:1:1:1:30:42000050:6\n"
    path = trace(tmp_path, body)
    text = "EVENT_TYPE\n7  42000050  Instructions\n0 7 Phase\nVALUES\n1 Begin\n"
    (tmp_path / "t.pcf").write_text(text)
    phase, counter = import_paraver(path).series
    assert [counter.name, phase.name] == ["Instructions", "Phase"]
    assert [c.tolist() for c in counter.intervals] == [[0, 10], [10, 30], [5, 6]]
    assert [c.tolist() for c in phase.intervals] == [[10], [1000], [1]]


@pytest.mark.parametrize("separator", [",", ":"])
def test_threads_without_a_record_of_their_own_are_idle_rows(
    tmp_path: Path, separator: str
) -> None:
    """Two applications, as Paraver's own writer has them; of the second only events are known."""
    head = f"#Paraver (x):100_ns:1(4):2:1(2:1){separator}2(1:1,1:1),0\n"
    counts = "2:3:2:1:1:50:9:7\n"
    body = "1:1:1:1:1:0:30:1\n1:2:1:1:2:0:40:1\n" + counts
    profile = import_paraver(trace(tmp_path, body, head))
    check_laws(profile)
    states = thread_states(profile)
    assert list(states) == ["thread 1.1.1", "thread 1.1.2", "thread 2.1.1", "thread 2.2.1"]
    assert states["thread 2.1.1"] == states["thread 2.2.1"] == [(0, 100, "idle")]
    [counter] = profile.series
    assert profile.instances[counter.path] == counter.track == "thread 2.1.1"
    assert [c.tolist() for c in counter.intervals] == [[50], [100], [7]]
    [idle, running] = summarise(profile).hottest
    assert (running.stack, running.cycles, idle.stack, idle.cycles) == (
        *(("state 1",), 70),
        *(("idle",), 330),
    )
    profile = import_paraver(trace(tmp_path, counts, head))
    assert len(thread_states(profile)) == 4


def test_tracks_that_count_come_back_as_no_threads(tmp_path: Path) -> None:
    """A counter of no thread has a row of its own in what is exported: it is none that works."""
    builder = ProfileBuilder()
    thread = builder.path(-1, Frame(Kind.THREAD, "worker", ""))
    builder.counter(
        Series("bank 0", "row misses", "row misses", "", -1, *np.array([[0], [5], [3]]))
    )
    idle = builder.tree([builder.path(thread, Frame(Kind.STATE, "idle", ""))])
    path = exported(tmp_path, builder.build(Meta("hls", "t.c"), [10], [idle]))
    back = import_paraver(path)
    assert thread_states(back) == {"worker": [(0, 10, "idle")]}
    assert [(s.track, s.path) for s in back.series] == [("bank 0", -1)]


def test_messages_count_where_they_leave_and_arrive(tmp_path: Path) -> None:
    first = "3:1:1:1:1:10:20:2:1:1:2:5:40:64:1\n"
    again = "3:1:1:1:1:11:20:2:1:1:2:5:1000:36:1\n"
    back = "3:2:1:1:2:50:60:1:1:1:1:50:70:0:1\n"
    path = trace(tmp_path, back + first + again)
    found = {(s.track, s.name): s for s in import_paraver(path).series}
    assert {key: [c.tolist() for c in s.intervals] for key, s in found.items()} == {
        ("thread 1.1.1", "messages sent"): [[20], [21], [2]],
        ("thread 1.1.1", "bytes sent"): [[20], [21], [100]],
        ("thread 1.1.2", "messages sent"): [[60], [61], [1]],
        ("thread 1.1.2", "bytes sent"): [[60], [61], [0]],
        ("thread 1.1.1", "messages received"): [[70], [71], [1]],
        ("thread 1.1.1", "bytes received"): [[70], [71], [0]],
        # What arrives at the trace's end arrives in its last cycle.
        ("thread 1.1.2", "messages received"): [[40, 999], [41, 1000], [1, 1]],
        ("thread 1.1.2", "bytes received"): [[40, 999], [41, 1000], [64, 36]],
    }
    assert all(s.summed and s.path >= 0 for s in found.values())
    # A message may be the last thing that is recorded.
    late = trace(tmp_path, "3:1:1:1:1:10:20:2:1:1:2:5:4000:64:1\n")
    assert import_paraver(late).cycles == 4000


def test_the_other_values_of_a_line_are_taken_in(tmp_path: Path) -> None:
    body = f"2:1:1:1:1:5:7:1:8:{1 << 63}:9:2\n2:1:1:1:1:6:7:{10**25}:8:-3:9:4\n"
    profile = import_paraver(trace(tmp_path, body))
    assert [(s.name, s.start.tolist(), s.value.tolist()) for s in profile.series] == [
        ("event 7", [5], [1]),
        ("event 8", [6], [-3]),
        ("event 9", [5, 6], [2, 4]),
    ]
    (anomaly,) = profile.meta.anomalies
    assert (anomaly.name, anomaly.count) == ("event value beyond 63 bits", 2)
    assert "line 2" in anomaly.detail


def test_labels_of_values_are_kept(tmp_path: Path) -> None:
    path = trace(tmp_path, "2:1:1:1:1:0:7:1\n2:1:1:1:1:9:7:0\n2:1:1:1:2:5:8:-2:9:4:6:1\n")
    names = (
        "EVENT_TYPE\n0 7 MPI call\n0 8 OpenMP\nVALUES\n0 Outside\n1   MPI_Send: to all \n-2 odd\n"
        "no number\n\nEVENT_TYPE\n0 9 Bytes\n"
    )
    (tmp_path / "t.pcf").write_text(names)
    profile = import_paraver(path)
    labels = {0: "Outside", 1: "MPI_Send: to all", -2: "odd"}
    assert {s.name: s.labels for s in profile.series} == {
        "MPI call": labels, "OpenMP": labels, "Bytes": {}, "event 6": {}
    }  # fmt: skip
    table = profile.counters.sort("name", "start")
    assert table.select("name", "value", "label").rows() == [
        ("Bytes", 4, None),
        ("MPI call", 1, "MPI_Send: to all"),
        ("MPI call", 0, "Outside"),
        ("OpenMP", -2, "odd"),
        ("event 6", 1, None),
    ]
    # They are saved, and go to Paraver and back.
    cyclescope.save(profile, tmp_path / "t.cyc")
    assert cyclescope.load(tmp_path / "t.cyc") == profile
    (tmp_path / "out").mkdir()
    back = import_paraver(exported(tmp_path / "out", profile))
    assert {s.name: s.labels for s in back.series} == {s.name: s.labels for s in profile.series}


def test_a_cut_archive_is_data_loss(tmp_path: Path) -> None:
    body = "".join(f"1:1:1:1:1:{n}:{n + 1}:{n % 7}\n" for n in range(1000))
    whole = gzip.compress((HEAD + body).encode(), 1)
    path = tmp_path / "t.prv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    profile = import_paraver(path)
    assert lost(profile) == {"trace cut": 1}
    assert 100 < len(profile.schedule) < 1000


def test_garbage_never_does_more_than_an_error(tmp_path: Path) -> None:
    rng = random.Random(4)
    messages: list[str] = []
    good = (HEAD + CASES[1][1] + CASES[15][1] + "2:1:1:1:1:5:7:1:8:2\n").encode() * 3
    for _ in range(150):
        data = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(data))
            data[at : at + rng.randint(0, 3)] = bytes(
                rng.choices(b"0123456789:-\n.#\xffx", k=rng.randint(0, 3))
            )
        path = tmp_path / "t.prv"
        path.write_bytes(bytes(data))
        try:
            check_laws(import_paraver(path))
        except DataError as error:
            messages.append(str(error))
    assert not any("\n" in message for message in messages)


def test_pieces_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cyclescope.traces.paraver import _import

    body = "".join(f"1:1:1:1:1:{n}:{n + 1}:{n % 7}\n2:1:1:1:2:{n}:5:{n}\n" for n in range(200))
    path = trace(tmp_path, body)
    whole = import_paraver(path)
    for piece in (3, 50, 1000):
        monkeypatch.setattr(_import, "_PIECE", piece)
        assert import_paraver(path) == whole


def test_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exported(tmp_path, switch_profile())
    assert main(["import", "paraver", "t.prv", "-o", "out.cyc"]) == 0
    back = cyclescope.load("out.cyc")
    assert (back.cycles, back.meta.source, STATES[0]) == (9, "traces", "idle")
    assert main(["import", "paraver", "none.prv"]) == 2
    assert "none.prv" in capsys.readouterr().err
