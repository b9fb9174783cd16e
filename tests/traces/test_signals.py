"""Any waveform, its signals read as states."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.cli import main
from cyclescope.errors import DataError
from cyclescope.model import check_laws, load, spans
from cyclescope.traces import import_signals

DATA = Path(__file__).parent / "data"


def history(profile: object, signal: str) -> list[tuple[int, int, str]]:
    """(start, end, state) of a signal, in time order."""
    found = spans(profile)
    rows = []
    for path, start, end in zip(
        found.path.tolist(), found.start.tolist(), found.end.tolist(), strict=True
    ):
        frame = profile.frame_of(path)
        if frame.kind.value == "state" and frame.component == signal:
            rows.append((start, end, frame.name))
    return sorted(rows)


@pytest.mark.parametrize("file", ["counter.vcd", "counter.fst"])
def test_sampled_at_a_clock(file: str) -> None:
    profile = import_signals(DATA / file, ["top.state", "busy"], "top.clk")
    check_laws(profile)
    assert profile.cycles == 4
    assert history(profile, "top.state") == [(0, 1, "0"), (1, 3, "1"), (3, 4, "2")]
    assert history(profile, "top.unit.busy") == [(0, 1, "0"), (1, 3, "1"), (3, 4, "0")]
    assert profile.meta.period_ps is None


@pytest.mark.parametrize("file", ["counter.vcd", "counter.fst"])
def test_at_each_change(file: str) -> None:
    profile = import_signals(DATA / file, ["top.state", "busy"])
    check_laws(profile)
    assert profile.cycles == 40
    assert profile.meta.period_ps == 1000
    assert history(profile, "top.state") == [(0, 15, "0"), (15, 35, "1"), (35, 40, "2")]
    assert history(profile, "top.unit.busy") == [
        (0, 5, "x"),
        (5, 15, "0"),
        (15, 35, "1"),
        (35, 40, "0"),
    ]
    assert [a.name for a in profile.meta.anomalies] == ["signal without a value"]


@pytest.mark.parametrize("file", ["undriven.vcd", "undriven.fst"])
def test_signals_that_nothing_ever_drives_have_no_value(file: str) -> None:
    """Written by Icarus Verilog: `never` is `x` from the beginning to the end, `open` is `z`."""
    profile = import_signals(DATA / file, ["top.never", "top.open", "state"], "top.clk")
    check_laws(profile)
    assert history(profile, "top.never") == [(0, 4, "x")]
    assert history(profile, "top.open") == [(0, 4, "x")]
    assert history(profile, "top.state") == [(0, 1, "1"), (1, 2, "2"), (2, 3, "3"), (3, 4, "0")]


def test_both_readers_give_the_same_profile() -> None:
    for clock in (None, "top.clk"):
        one, other = (
            import_signals(DATA / file, ["state", "busy"], clock)
            for file in ("counter.vcd", "counter.fst")
        )
        assert one.schedule == other.schedule
        assert one.catalog == other.catalog
        assert one.forest == other.forest


@given(
    st.lists(
        st.tuples(st.integers(1, 50), st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)))),
        min_size=1,
        max_size=40,
    ),
    st.booleans(),
)
def test_states_at_each_change_are_those_of_a_slow_reading(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[int, list[tuple[int, int]]]],
    one_line: bool,
) -> None:
    lines = [
        "$var wire 2 a a $end $var wire 2 ba b $end $var wire 2 #b c $end",
        "$enddefinitions $end",
        "#0",
    ]
    keys, now, time = ["a", "ba", "#b"], ["x", "x", "x"], 0
    expected: list[tuple[str, ...]] = []
    for wait, changes in steps:
        for signal, value in changes:
            now[signal] = str(value)
            lines.append(f"b{value:b} {keys[signal]}")
        time += wait
        lines.append(f"#{time}")
        expected += [tuple(now)] * wait
    path = tmp_path_factory.getbasetemp() / "random.vcd"
    text = "\n".join(lines) + "\n"
    if one_line:
        head, tail = text.split("\n#0\n", 1)
        text = head + "\n#0\n" + tail.replace("\n", " ") + "\n"
    path.write_text(text)
    profile = import_signals(path, ["a", "b", "c"])
    shown: list[tuple[str, ...]] = []
    for cycles, tree in zip(profile.schedule.cycles, profile.schedule.tree, strict=True):
        frames = [profile.frame_of(int(p)) for p in profile.forest[int(tree)]]
        states = {f.component: f.name for f in frames if f.kind.value == "state"}
        shown += [tuple(states[name] for name in "abc")] * int(cycles)
    assert shown == expected


def test_many_different_states_are_kept_apart(tmp_path: Path) -> None:
    # So many that parts of their digests must collide.
    count = 20_000
    path = tmp_path / "w.vcd"
    steps = "".join(f"b{(7919 * n) % 65_536:b} !\n#{n + 1}\n" for n in range(count))
    path.write_text(f"$var wire 16 ! n $end\n$enddefinitions $end\n#0\n{steps}")
    profile = import_signals(path, ["n"])
    assert profile.cycles == len(profile.schedule) == len(profile.forest) == count
    assert [name for _, _, name in history(profile, "n")] == [
        str((7919 * n) % 65_536) for n in range(count)
    ]


@pytest.mark.parametrize(
    ("signals", "clock", "says"),
    [
        ([], None, "no signal is named"),
        (["nothing"], None, "has no signal nothing"),
        (["state"], "busy2", "has no signal busy2"),
    ],
)
def test_wrong_use_is_explained(signals: list[str], clock: str | None, says: str) -> None:
    with pytest.raises(DataError, match=says):
        import_signals(DATA / "counter.vcd", signals, clock)


def test_signals_must_be_states(tmp_path: Path) -> None:
    path = tmp_path / "w.vcd"
    head = "$scope module t $end\n$var event 1 ! ping $end\n$var wire 40 % data $end\n"
    head += "$upscope $end\n$scope module u $end\n$var wire 1 & ping $end\n$upscope $end\n"
    head += "$enddefinitions $end\n"
    path.write_text(head + "#0\n" + "".join(f"b{n:b} %\n#{n + 1}\n" for n in range(100_002)))
    with pytest.raises(DataError, match="is an event"):
        import_signals(path, ["t.ping"])
    with pytest.raises(DataError, match="say which"):
        import_signals(path, ["ping"])
    with pytest.raises(DataError, match="combinations"):
        import_signals(path, ["data"])
    path.write_text(head)
    with pytest.raises(DataError, match="no time passes"):
        import_signals(path, ["data"])
    with pytest.raises(DataError, match="never rises"):
        import_signals(path, ["data"], "data")


def test_the_command_writes_a_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["import", "vcd", str(DATA / "counter.vcd"), "--signals", "state,busy"]
    assert main([*arguments, "--clock", "top.clk", "--period", "10ns"]) == 0
    assert "4 cycles" in capsys.readouterr().out
    assert load("counter.cyc").meta.period_ps == 10_000
    assert main(arguments) == 3
    assert "exists already" in capsys.readouterr().err
