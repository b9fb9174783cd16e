"""The export is a valid Paraver trace, and says what the profile says."""

from __future__ import annotations

import gzip
import io
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cyclescope
from cyclescope.cli import main
from cyclescope.errors import InputError
from cyclescope.model import Ints, Kind, Meta, Profile, ProfileBuilder, Series, _repeated, spans
from cyclescope.views import paraver_companions, write_paraver
from meaning import Frame
from strategies import calyx_profiles, kept_otherwise, with_banks

from ..views.switch import switch_profile
from .grammar import Names, Trace, check_names, check_rows, check_trace, check_view
from .profiles import STATES, threaded_profiles


def written(profile: Profile, **options: int | bool | None) -> str:
    stream = io.BytesIO()
    write_paraver(profile, stream, **options)  # type: ignore[arg-type]
    return stream.getvalue().decode("ascii")


def checked(profile: Profile) -> tuple[Trace, Names, list[str]]:
    """All files of a profile, each valid and agreeing with the others."""
    trace = check_trace(written(profile))
    files = paraver_companions(profile)
    names = check_names(files[".pcf"])
    rows = check_rows(files[".row"], trace)
    assert {state for own in trace.states.values() for *_, state in own} <= names.states.keys()
    for events in trace.events.values():
        for _, kind, value in events:
            assert kind in names.types
            assert value in names.values.get(kind, {value: ""})
    for ending, text in files.items():
        if ending.endswith(".cfg"):
            check_view(text, names)
    return trace, names, rows


def curve(cycles: int, start: Ints, end: Ints, value: Ints) -> np.ndarray:
    """A level, cycle by cycle."""
    result = np.zeros(cycles, dtype=np.int64)
    for begin, until, level in zip(start.tolist(), end.tolist(), value.tolist(), strict=True):
        result[begin:until] = level
    return result


@settings(max_examples=60, deadline=None)
@given(
    calyx_profiles(),
    st.integers(0, 1 << 32),
    st.lists(st.integers(0, 6), max_size=3),
    st.sampled_from([1, 20, 1 << 17]),
    st.sampled_from([None, 3333]),
)
def test_a_trace_is_the_same_however_a_profile_is_kept(
    profile: Profile, seed: int, anchors: list[int], part: int, period: int | None
) -> None:
    """Cut into segments, written in parts, its registers in banks or each with its intervals."""
    profile = with_banks(profile, seed)
    apart = [
        Series(s.track, s.name, s.metric, s.unit, s.path, *s.intervals) for s in profile.series
    ]
    whole = written(replace(profile, series=tuple(apart)), period_ps=period)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_repeated, "PART", part)
        assert written(kept_otherwise(profile, anchors), period_ps=period) == whole


@settings(max_examples=60, deadline=None)
@given(threaded_profiles())
def test_states_are_those_of_the_threads(profile: Profile) -> None:
    trace, names, rows = checked(profile)
    found = spans(profile)
    row = 0
    for path in range(len(profile.call_paths)):
        frame = profile.frame_of(path)
        if frame.kind is not Kind.THREAD:
            continue
        assert rows[row] == f"region.{frame.name}"
        expected = []
        for child in profile.call_paths.children[path]:
            own = found.path == child
            state = STATES.index(profile.frame_of(child).name)
            for begin, end in zip(found.start[own], found.end[own], strict=True):
                expected.append((int(begin), int(end), state))
        row += 1
        assert trace.states[(1, 1, row)] == sorted(expected)
    assert [names.states[n].lower() for n in range(4)] == list(STATES)
    assert trace.end == profile.cycles


@settings(max_examples=60, deadline=None)
@given(threaded_profiles())
def test_counters_are_those_of_the_series(profile: Profile) -> None:
    trace, names, rows = checked(profile)
    for series in profile.series:
        row = rows.index(series.track)
        thread = trace.threads[row]
        kinds = [n for n, label in names.types.items() if label.startswith(series.name)]
        events = [e for e in trace.events.get(thread, []) if e[1] in kinds]
        time, value = (np.array([e[n] for e in events], dtype=np.int64) for n in (0, 2))
        if series.metric in ("bytes", "row misses"):
            # Totals since the event before: sums up to every end of an interval agree.
            assert [v for v in value.tolist() if v] == [v for v in series.value.tolist() if v]
            for end in series.end.tolist():
                assert value[time <= end].sum() == series.value[series.end <= end].sum()
            before = dict(zip(time.tolist(), [0, *time.tolist()], strict=False))
            for start, end in zip(series.start.tolist(), series.end.tolist(), strict=True):
                assert before[end] == start
        else:
            until = np.append(time[1:], profile.cycles)[: len(time)]
            drawn = curve(profile.cycles, time, until, value)
            assert (drawn == curve(profile.cycles, *series.intervals)).all()


@settings(max_examples=40, deadline=None)
@given(calyx_profiles(hostile=True))
def test_any_profile_can_be_exported(profile: Profile) -> None:
    trace, names, rows = checked(profile)
    assert len(rows) == len(trace.threads) >= 1
    main_row = trace.states[(1, 1, 1)]
    assert names.states[main_row[0][2]] in ("Running", "Control")
    assert all(state != 0 for *_, state in main_row), "main is active in every cycle"


@settings(max_examples=40, deadline=None)
@given(threaded_profiles(hostile=True))
def test_hostile_names_break_no_file(profile: Profile) -> None:
    checked(profile)


@settings(max_examples=20, deadline=None)
@given(threaded_profiles())
def test_real_time_stays_contiguous(profile: Profile) -> None:
    trace = check_trace(written(profile, period_ps=7143))
    assert trace.end == profile.cycles * 7143 // 1000
    plain = check_trace(written(profile))
    for thread, own in plain.states.items():
        scaled = [(b * 7143 // 1000, e * 7143 // 1000, s) for b, e, s in own]
        assert trace.states[thread] == scaled


def test_the_switch_as_a_person_reads_it() -> None:
    profile = switch_profile()
    checked(profile)
    _golden("switch.prv", written(profile))
    for ending, text in paraver_companions(profile).items():
        if ending in (".pcf", ".row", ".bytes.cfg"):
            _golden(f"switch{ending}", text)


def _golden(name: str, found: str) -> None:
    path = Path(__file__).parent / "data" / name
    if os.environ.get("CYCLESCOPE_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8"), f"differs from {path}"


def test_colours_of_the_paper() -> None:
    names = check_names(paraver_companions(switch_profile())[".pcf"])
    seen = {names.states[n]: colour for n, colour in names.colours.items()}
    assert seen["Idle"] == (0, 0, 0)
    assert seen["Running"] == (0, 255, 0)
    assert seen["Critical"] == (0, 0, 255)
    assert seen["Spinning"] == (255, 0, 0)


def test_forty_states_have_forty_numbers_and_no_second_black() -> None:
    builder = ProfileBuilder()
    thread = builder.path(-1, Frame(Kind.THREAD, "t", ""))
    trees = [
        builder.tree([builder.path(thread, Frame(Kind.STATE, f"s{n}", ""))]) for n in range(40)
    ]
    profile = builder.build(Meta("traces", "x"), [1] * 40, trees)
    _, names, _ = checked(profile)
    assert len(names.states) == 45
    assert [n for n, colour in names.colours.items() if max(colour) < 40] == [0]


def test_rates_are_named_by_what_they_are() -> None:
    files = paraver_companions(switch_profile(), period_ps=1000)
    assert "window_name bytes read, GB/s\n" in files[".bytes.cfg"]
    files = paraver_companions(switch_profile())
    assert "window_name bytes read (B) per cycle\n" in files[".bytes.cfg"]


@pytest.mark.parametrize(
    ("profile", "period", "text"),
    [
        (ProfileBuilder().build(Meta("calyx", "empty"), [], []), None, "no cycles"),
        (switch_profile(), 999, "nanosecond"),
        (switch_profile(), 1 << 62, "63 bits"),
    ],
)
def test_what_cannot_be_written_is_refused(profile: Profile, period: int | None, text: str) -> None:
    with pytest.raises(InputError, match=text):
        write_paraver(profile, io.BytesIO(), period_ps=period)


def test_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    profile = switch_profile()
    cyclescope.save(profile, "p.cyc")
    export = ["export", "p.cyc", "--format", "paraver"]
    assert main(export) == 0
    assert Path("p.prv").read_text() == written(profile)
    names = {p.name for p in tmp_path.iterdir()}
    assert {"p.prv", "p.pcf", "p.row", "p.states.cfg", "p.histogram.cfg"} <= names
    assert main(export) == 3
    assert "--force" in capsys.readouterr().err
    assert main([*export, "--force"]) == 0
    assert main([*export, "-o", "q.prv.gz", "--period", "10ns"]) == 0
    assert gzip.decompress(Path("q.prv.gz").read_bytes()).decode() == written(
        profile, period_ps=10_000
    )
    assert Path("q.pcf").is_file()
    assert main([*export, "-o", "q.txt"]) == 2
    assert ".prv.gz" in capsys.readouterr().err


@pytest.mark.parametrize(("known", "used"), [(9300, 9300), (None, None), (700, None)])
def test_the_profiles_clock_is_that_of_the_trace(
    tmp_path: Path, known: int | None, used: int | None
) -> None:
    profile = switch_profile().with_meta(period_ps=known)
    cyclescope.save(profile, tmp_path / "p.cyc")
    out = tmp_path / "q.prv"
    assert main(["export", str(tmp_path / "p.cyc"), "--format", "paraver", "-o", str(out)]) == 0
    assert out.read_text() == written(profile, period_ps=used)
    given = ["--period", "20ns", "--force", "-o", str(out)]
    assert main(["export", str(tmp_path / "p.cyc"), "--format", "paraver", *given]) == 0
    assert out.read_text() == written(profile, period_ps=20_000)
