"""Waveforms that are cut, damaged or made to hurt: the right profile or our error, soon."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.errors import CyclescopeError, DataError
from cyclescope.model import Profile, check_laws
from cyclescope.traces import Limits, import_petal, import_signals
from cyclescope.traces.wave import _stored
from traces.design import CYCLES, body, header, write_run

DATA = Path(__file__).parent / "data"
TEXT = (header() + body()).encode()


def attempt(folder: Path, content: bytes) -> Profile | None:
    """The profile, or None for an error of ours; anything else is raised."""
    path = folder / "run.vcd"
    path.write_bytes(content)
    try:
        profile = import_petal(folder)
    except CyclescopeError:
        return None
    check_laws(profile)
    return profile


def shown(profile: Profile) -> list[list[tuple[str, ...]]]:
    """The active paths of each cycle."""
    runs = zip(profile.schedule.cycles.tolist(), profile.schedule.tree.tolist(), strict=True)
    trees = [t for cycles, t in runs for _ in range(cycles)]
    return [sorted(profile.stack(p) for p in profile.forest[t].tolist()) for t in trees]


@pytest.mark.long
def test_cut_at_every_byte_it_is_shorter_and_says_so(tmp_path: Path) -> None:
    write_run(tmp_path)
    whole = import_petal(tmp_path)
    done = TEXT.index(b"#115")
    before = 0
    for length in range(len(TEXT)):
        profile = attempt(tmp_path, TEXT[:length])
        if profile is None:
            assert length < TEXT.index(b"#25")
            continue
        assert before <= profile.cycles <= len(CYCLES)
        before = profile.cycles
        if length < done:
            assert not profile.meta.complete
            assert profile.meta.anomalies
        assert shown(profile) == shown(whole)[: profile.cycles]
    assert before == len(CYCLES)


@given(st.data())
def test_flipped_bits_never_escape(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp() / "flips"
    folder.mkdir(exist_ok=True)
    write_run(folder)
    content = bytearray(TEXT)
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    attempt(folder, bytes(content))


@given(st.lists(st.sampled_from("0123456789bxz#$!~ \n\r\tr"), max_size=200))
def test_any_text_after_the_head_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, letters: list[str]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "letters"
    folder.mkdir(exist_ok=True)
    write_run(folder)
    attempt(folder, (header() + "#0\n" + "".join(letters)).encode())


REFUSED = {
    "empty": (b"", "empty"),
    "zeros": (bytes(1000), "cannot be read|damaged|lacks"),
    "noise": (random.Random(3).randbytes(5000), "is not a VCD|damaged|cannot"),
    "text": (b"hello, world\n" * 50, "is not a VCD"),
    "gzip of nothing": (b"\x1f\x8b\x08\x00", "damaged|empty"),
    "no end of head": (TEXT[:200], "cut"),
    "deep": (b"$scope module a $end\n" * 200_000 + b"$enddefinitions $end\n", "deep"),
    "wide": (
        b"$var wire 4294967295 ! a $end\n$enddefinitions $end\n#0\n",
        "4,294,967,295 bits",
    ),
    "negative width": (b"$var wire -1 ! a $end\n$enddefinitions $end\n", "width"),
    "short variable": (b"$var wire 1 $end\n$enddefinitions $end\n", "lacks"),
    "time past 2^64": (TEXT.replace(b"#45", b"#18446744073709551616"), "18 digits"),
    "no time": (TEXT.replace(b"#45", b"#"), "18 digits"),
    "negative time": (TEXT.replace(b"#45", b"#-5"), "18 digits"),
    "too many bits": (TEXT.replace(b"\nb10 &~", b"\nb10101 &~"), "more bits"),
    "no bits": (TEXT.replace(b"\nb10 &~", b"\nb &~"), "no bits"),
    "foreign digit": (TEXT.replace(b"\nb10 &~", b"\nb12 &~"), "foreign digit"),
    "real number": (TEXT.replace(b"\nb10 &~", b"\nr0.5 &~"), "not bits"),
    "control character in an identifier": (
        TEXT.replace(b" ! ", b" \x02! ", 1),
        "control character",
    ),
    "scale": (b"$timescale 3 weeks $end\n" + TEXT, "time scale"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path, case: str) -> None:
    content, says = REFUSED[case]
    path = write_run(tmp_path, content)
    before = time.process_time()
    with pytest.raises(DataError, match=says) as caught:
        import_petal(tmp_path, path)
    assert time.process_time() - before < 5
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_undeclared_identifiers_change_nothing(tmp_path: Path) -> None:
    write_run(tmp_path)
    expected = import_petal(tmp_path)
    profile = attempt(tmp_path, TEXT.replace(b"#45\n", b"#45\n1undeclared\nb101 zz\n1?\n"))
    assert profile is not None
    assert profile.schedule == expected.schedule


def test_limits_hold(tmp_path: Path) -> None:
    path = write_run(tmp_path)
    for limits in (
        Limits(header_bytes=100),
        Limits(signals=5),
        Limits(depth=2),
        Limits(changes=20),
    ):
        with pytest.raises(DataError, match=r"run\.vcd"):
            import_petal(tmp_path, limits=limits)
    # Without a new time there is nowhere to cut the text.
    path.write_bytes(header().encode() + b"#0\n" + b"0!\n" * 600_000)
    with pytest.raises(DataError, match="no new time"):
        import_petal(tmp_path, limits=Limits(step_bytes=1 << 19))


FST = (DATA / "counter.fst").read_bytes()


def attempt_fst(folder: Path, content: bytes) -> Profile | None:
    path = folder / "w.fst"
    path.write_bytes(content)
    try:
        profile = import_signals(path, ["top.state"], "top.clk", limits=Limits(seconds=5))
    except CyclescopeError:
        return None
    check_laws(profile)
    return profile


@pytest.mark.long
def test_a_damaged_fst_is_read_or_refused(tmp_path: Path) -> None:
    # Each attempt is two processes; a full sweep of cuts and flips was run once by hand.
    chance = random.Random(5)
    for _ in range(6):
        attempt_fst(tmp_path, FST[: chance.randrange(1, len(FST))])
        content = bytearray(FST)
        content[chance.randrange(len(FST))] ^= 1 << chance.randrange(8)
        attempt_fst(tmp_path, bytes(content))


@pytest.mark.parametrize(
    ("at", "value", "says"),
    [
        (41, 1 << 40, "scopes or variables"),  # number of scopes
        (1, 5, "no length"),  # length of the first block
    ],
)
def test_what_an_fst_announces_is_checked_first(
    tmp_path: Path, at: int, value: int, says: str
) -> None:
    content = bytearray(FST)
    content[at : at + 8] = value.to_bytes(8, "big")
    path = tmp_path / "w.fst"
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=says):
        import_signals(path, ["top.state"])


@pytest.mark.long
@pytest.mark.parametrize(
    ("crime", "says", "limits"),
    [
        ("raise BaseException('panic')", "panic", Limits()),
        ("raise ValueError('its reader stopped:  a  panic')", "stopped: a panic", Limits()),
        ("print('WARN: not in the answer'); import os; os._exit(0)", "no answer", Limits()),
        ("import os; os.abort()", "broke down", Limits()),
        ("import time; time.sleep(300)", "more than 1 s", Limits(seconds=1, grace=1)),
        ("x = bytearray(1 << 33)", "MemoryError|broke down", Limits()),
        ("while True: pass", "broke down|more than 1 s", Limits(seconds=1, grace=1)),
    ],
)
def test_a_reader_that_misbehaves_is_stopped(
    monkeypatch: pytest.MonkeyPatch, crime: str, says: str, limits: Limits
) -> None:
    replaced = f"def crime(*_):\n    {crime}\n_native.stored_signals = crime\n"
    start = f"from cyclescope import _native\n{replaced}"
    path, _, rest = _stored._START.partition("; from ")
    monkeypatch.setattr(_stored, "_START", f"{path}\n{start}from {rest}")
    before = time.monotonic()
    with pytest.raises(DataError, match=says):
        import_signals(DATA / "counter.fst", ["top.state"], limits=limits)
    assert time.monotonic() - before < 100


def test_the_command_never_shows_a_traceback(tmp_path: Path) -> None:
    path = write_run(tmp_path, TEXT[:700])
    for arguments in (["petal", str(tmp_path)], ["vcd", str(path), "--signals", "main.go"]):
        done = subprocess.run(
            [sys.executable, "-m", "cyclescope", "import", *arguments, "-o", "x.cyc"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "x.cyc").exists()
