"""Mistakes of users: one line says so, nothing of theirs is lost, no traceback is seen."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cyclescope.cli import COMMANDS, main
from cyclescope.model import save

from ..views.switch import switch_profile

if TYPE_CHECKING:
    from collections.abc import Callable

VIEWS = {
    "summary": [], "table": [], "source": [], "area": [], "flamegraph": [], "timeline": [],
    "export": ["--format", "folded"], "check": [], "advise": [], "query": ["SELECT 1"],
    "report": [],
}  # fmt: skip


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(switch_profile(), Path("p.cyc"))
    return Path("p.cyc")


@pytest.fixture
def complaint(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def run(*arguments: str) -> tuple[int, str]:
        status = main(list(arguments))
        said = capsys.readouterr().err
        assert said.count("\n") == (1 if status else 0), said
        assert status != 70, said
        return status, said

    return run


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["sumary", "p.cyc"], "no command sumary; did you mean summary?; see cyclescope --help"),
        (["p.cyc", "summary"], "the command comes first: cyclescope report p.cyc"),
        (["qqqq"], "no command qqqq; there are calyx, bounds"),
        (["summary"], "missing argument 'PROFILE.cyc'; see cyclescope summary --help"),
        (["summary", "p.cyc", "p.cyc"], "unexpected extra argument"),
        (["summary", "p.cyc", "--top", "-1"], "invalid value for '--top'"),
        (["table", "groups", "p.cyc"], "'p.cyc' is not one of"),
        (["export", "p.cyc"], "missing option '--format'"),
        (["export", "p.cyc", "--format", "folded", "--table", "runs"], "--table is for parquet"),
        (["export", "p.cyc", "--format", "csv", "--period", "1ns"], "--period is for paraver"),
        (["timeline", "p.cyc", "--gzip", "-o", "t.svg"], "--gzip is for traces"),
        (["query", "p.cyc", ""], "the query is empty"),
        (["query", "p.cyc", "SELECT nothing FROM frames"], '"nothing" not found'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_one_line(
    arguments: list[str], expected: str, profile: Path, complaint: Callable[..., tuple[int, str]]
) -> None:
    if arguments[0] == "query":
        pytest.importorskip("duckdb", reason="the extra `query` is not installed")
    status, said = complaint(*arguments)
    assert status == 2
    assert said.startswith("cyclescope: ")
    assert expected in said


@pytest.mark.parametrize("verb", VIEWS)
@pytest.mark.parametrize("name", [".", "absent.cyc", "empty.cyc", "text.cyc", "cut.cyc"])
def test_what_is_no_profile_is_said_in_one_line(
    verb: str, name: str, profile: Path, complaint: Callable[..., tuple[int, str]]
) -> None:
    Path("empty.cyc").touch()
    Path("text.cyc").write_text("not a profile\n", "utf-8")
    Path("cut.cyc").write_bytes(profile.read_bytes()[:1000])
    status, said = complaint(verb, name, *VIEWS[verb])
    assert status == 2
    assert said.startswith(f"cyclescope: {name}: ")


@pytest.mark.parametrize("verb", ["calyx", "bounds", "hls", "ladder", "sweep"])
@pytest.mark.parametrize("name", [".", "", "absent", "bytes"])
def test_what_is_no_program_is_said_in_one_line(
    verb: str, name: str, profile: Path, complaint: Callable[..., tuple[int, str]]
) -> None:
    Path("bytes").write_bytes(profile.read_bytes())
    status, said = complaint(verb, name)
    assert status == 2
    assert said.startswith("cyclescope: ")


@pytest.mark.parametrize("verb", ["flamegraph", "timeline", "table", "report", "query"])
def test_a_view_never_replaces_the_profile_that_it_shows(
    verb: str, profile: Path, complaint: Callable[..., tuple[int, str]]
) -> None:
    if verb == "query":
        pytest.importorskip("duckdb", reason="the extra `query` is not installed")
    before = profile.read_bytes()
    status, said = complaint(verb, "p.cyc", *VIEWS[verb], "-o", "./p.cyc", "--force")
    assert (status, said) == (
        3, "cyclescope: p.cyc: is the profile that is shown; choose another name\n",
    )  # fmt: skip
    assert profile.read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["flamegraph", "p.cyc", "-o", "x.png"],
        ["timeline", "p.cyc", "-o", "x.pdf"],
        ["source", "p.cyc", "-o", "x.PNG"],
        ["diff", "p.cyc", "p.cyc", "--flamegraph", "x.jpg"],
    ],
    ids=" ".join,
)
def test_a_picture_is_not_called_what_it_is_not(
    arguments: list[str], profile: Path, complaint: Callable[..., tuple[int, str]]
) -> None:
    status, said = complaint(*arguments)
    assert status == 3
    assert said.endswith("pictures are SVG; call it x.svg\n")
    assert not list(Path().glob("x.*"))


def test_two_outputs_have_two_names(
    profile: Path, complaint: Callable[..., tuple[int, str]]
) -> None:
    status, said = complaint("diff", "p.cyc", "p.cyc", "--flamegraph", "d", "-o", "d")
    assert status == 3
    assert "two outputs of one name" in said
    assert not Path("d").exists()


def test_a_pipe_is_written_to_and_stays(
    profile: Path, complaint: Callable[..., tuple[int, str]]
) -> None:
    os.mkfifo("pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()))
    reader.start()
    assert complaint("flamegraph", "p.cyc", "-o", "pipe") == (0, "")
    reader.join(timeout=60)
    assert read[0].startswith(b"<?xml")
    assert Path("pipe").is_fifo()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_device_is_one_line_and_stays(
    profile: Path, complaint: Callable[..., tuple[int, str]]
) -> None:
    status, said = complaint("flamegraph", "p.cyc", "-o", "/dev/full", "--force")
    assert status == 3
    assert said == "cyclescope: /dev/full: cannot be written: No space left on device\n"
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("verb", ["source", "report", "timeline", "export"])
def test_a_reader_that_has_seen_enough_is_no_error(verb: str, profile: Path) -> None:
    out = [] if verb == "source" else ["-o", "-"]
    command = [sys.executable, "-m", "cyclescope", verb, "p.cyc", *VIEWS[verb], *out]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_an_encoding_lacks_is_shown_by_its_number(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments in (["table", "--help"], ["check", "p.cyc", "--against", "p.cyc"]):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(arguments) == 0
        stream.flush()
        assert b"\\u20" in stream.buffer.getvalue() or b"\\u2192" in stream.buffer.getvalue()  # type: ignore[attr-defined]


def test_a_table_without_rows_says_what_there_is(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["table", "p.cyc", "threads"]) == 0
    shown = capsys.readouterr()
    assert shown.err.endswith(" has no threads; it has cells, groups, control, primitives\n")
    assert shown.out.count("\n") == 1


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_command_has_help_with_an_example_of_its_arguments(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: cyclescope {verb} ")
    assert "\n  -h, --help" in shown
