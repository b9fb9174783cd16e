"""Traces become profiles: round trips, another reader's answer, and damage that is named."""

from __future__ import annotations

import gzip
import io
import random
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
from cyclescope.model import Kind, Profile, Severity, check_laws, spans
from cyclescope.traces import import_paraver
from cyclescope.views import paraver_companions, write_paraver

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
    tasks = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
    places = [(1, t, n) for t, count in enumerate(tasks, 1) for n in range(1, count + 1)]
    end = rng.choice([10, 1000, 10**10, 10**15])
    lines = []
    counting = set()
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
            counting.add(place[:2])
        if rng.random() < 0.3:
            time = rng.randint(0, end)
            lines.append((time, f"3:{who}:{time}:{time}:{who}:{time}:{time}:64:1"))
    lines.sort(key=lambda line: line[0])
    shape = ",".join(f"{count}:1" for count in tasks)
    head = f"#Paraver (21/11/2026 at 12:00):{end}_ns:1({len(places)}):1:{len(tasks)}({shape})\n"
    text = head + "".join(f"{line}\n" for _, line in lines)
    expected = check_trace(text)
    profile = import_paraver(trace(tmp_path, text, ""))
    check_laws(profile)
    assert profile.cycles == end
    found = thread_states(profile)
    working = {
        place[:2] for place, rows in expected.states.items() if any(number for *_, number in rows)
    }
    for place, rows in expected.states.items():
        if working and place[:2] in counting - working:
            # Its threads only count.
            assert "thread " + ".".join(map(str, place)) not in found
            continue
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
    }
    assert read == values
    assert lost(profile).get("communication", 0) == expected.messages


CASES = [
    ("", "", {}),
    ("overlap", "1:1:1:1:1:0:700:1\n1:1:1:1:1:600:1000:2\n", {"overlapping state": 1}),
    ("unsorted", "1:1:1:1:1:500:1000:1\n1:1:1:1:1:0:500:2\n", {"record out of order": 1}),
    ("fraction", "1:1:1:1:1:0:10.5:1\n1:1:1:1:1:20:30:1\n", {"unreadable line": 1}),
    ("words", "hello\n\n# a comment\n2:1:1:1:1:5:7:x\n", {"unreadable line": 2}),
    ("fields", "1:1:1:1:1:0:10\n2:1:1:1:1:0:7\n4:1:1:1:1:0:1:1\n", {"unreadable line": 3}),
    ("empty field", "1:1:1:1:1::10:1\n", {"unreadable line": 1}),
    ("overflow", "2:1:1:1:1:5:7:9223372036854775808\n", {"unreadable line": 1}),
    ("far overflow", "2:1:1:1:1:5:7:99999999999999999999999\n", {"unreadable line": 1}),
    ("sign inside", "2:1:1:1:1:5:7:1-2\n", {"unreadable line": 1}),
    ("signs", "2:1:1:1:1:5:7:--2\n", {"unreadable line": 1}),
    ("thread", "1:1:1:1:9:0:5:1\n", {"record of an unknown thread": 1}),
    ("task", "1:1:2:1:1:0:5:1\n1:1:1:0:1:0:5:1\n", {"record of an unknown thread": 2}),
    ("backward", "1:1:1:1:1:50:5:1\n", {"state that ends before it begins": 1}),
    ("negative", "2:1:1:1:1:-5:7:1\n", {"event before time 0": 1}),
    ("message", "3:1:1:1:1:5:5:1:1:1:2:6:6:64:1\n", {"communication": 1}),
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


def test_a_task_that_only_counts_has_no_threads(tmp_path: Path) -> None:
    head = "#Paraver (x):100_ns:0:1:2(2:1,1:1)\n"
    counts = "2:3:1:2:1:50:9:7\n"
    works = "1:1:1:1:1:0:30:1\n1:2:1:1:2:0:40:1\n" + counts
    for body in (works, works + "1:3:1:2:1:0:100:0\n"):
        profile = import_paraver(trace(tmp_path, body, head))
        check_laws(profile)
        assert list(thread_states(profile)) == ["thread 1.1.1", "thread 1.1.2"]
        [counter] = profile.series
        assert (counter.track, counter.path) == ("thread 1.2.1", -1)
        assert [c.tolist() for c in counter.intervals] == [[50], [100], [7]]
        [_, running] = summarise(profile).hottest
        assert (running.instance, running.stack, running.cycles) == ("threads", ("state 1",), 70)
    # Where nobody has a state, all are threads.
    profile = import_paraver(trace(tmp_path, counts, head))
    assert len(thread_states(profile)) == 3


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
    from cyclescope.traces import _paraver

    body = "".join(f"1:1:1:1:1:{n}:{n + 1}:{n % 7}\n2:1:1:1:2:{n}:5:{n}\n" for n in range(200))
    path = trace(tmp_path, body)
    whole = import_paraver(path)
    for piece in (3, 50, 1000):
        monkeypatch.setattr(_paraver, "_PIECE", piece)
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
