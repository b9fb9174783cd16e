"""A command that is stopped or short of space ends in time, with one line, and leaves nothing."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from cyclescope._files import write_whole
from cyclescope.cli import main
from cyclescope.errors import OutputError

START = [sys.executable, "-m", "cyclescope"]


def limited(megabytes: int, arguments: list[str], folder: Path) -> tuple[int, str]:
    import resource

    size = megabytes << 20
    done = subprocess.run(
        [*START, *arguments],
        cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    return done.returncode, done.stderr


KERNEL = "void kern(int a[4]) { for (int i = 0; i < 4; i++) a[i] = a[i] + 1; }\n"
PROGRAM = (
    'import "primitives/core.futil"; component main() -> () { cells { r = std_reg(1); } wires { '
    "group g { r.in = 1'd1; r.write_en = 1'd1; g[done] = r.done; } } control { g; } }\n"
)


TRACE = "#Paraver (01/01/2026 at 00:00):100:1(1):1:1(1:1)\n1:1:1:1:1:0:40:1\n"


@pytest.mark.parametrize("megabytes", [30, 60, 100, 190, 250, 400])
@pytest.mark.parametrize("verb", ["calyx", "bounds", "hls", "import"])
def test_too_little_address_space_is_one_line(tmp_path: Path, verb: str, megabytes: int) -> None:
    file = "p.futil" if verb == "calyx" else "p.c"
    (tmp_path / file).write_text(PROGRAM if verb == "calyx" else KERNEL, "utf-8")
    (tmp_path / "t.prv").write_text(TRACE, "utf-8")
    words = ["import", "paraver", "t.prv"] if verb == "import" else [verb, file]
    status, said = limited(megabytes, words, tmp_path)
    assert said.count("\n") <= 1
    assert status in (0, 1, 2, 4)
    if status:
        assert said.startswith("cyclescope: ")
        assert "bug" not in said


PROFILE = Path(__file__).parents[1] / "analyse/data/pi-start-1.cyc"


@pytest.mark.parametrize(
    "words",
    [
        ["export", "p.cyc", "--format", "csv", "-o", "o.csv"],
        ["export", "p.cyc", "--format", "parquet", "-o", "o.parquet"],
        ["table", "p.cyc", "threads", "--format", "parquet", "-o", "o.parquet"],
    ],
    ids=" ".join,
)
def test_tables_need_little_address_space(tmp_path: Path, words: list[str]) -> None:
    shutil.copy(PROFILE, tmp_path / "p.cyc")
    assert limited(400, words, tmp_path) == (0, "")


# DuckDB starts threads as it is loaded, and ends the process if it cannot.
@pytest.mark.parametrize("megabytes", [400, 500, 700, 900])
def test_too_little_for_a_library_that_ends_the_process(tmp_path: Path, megabytes: int) -> None:
    shutil.copy(PROFILE, tmp_path / "p.cyc")
    words = ["query", "p.cyc", "SELECT count(*) AS n FROM frames"]
    status, said = limited(megabytes, words, tmp_path)
    assert status == 4, said
    assert said.startswith(
        f"cyclescope: out of memory: the address space is limited to {megabytes}"
    )
    assert said.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.cyc"]


@pytest.mark.parametrize("verb", ["bounds", "hls"])
def test_the_limit_is_told_and_not_the_program(tmp_path: Path, verb: str) -> None:
    (tmp_path / "p.c").write_text(KERNEL, "utf-8")
    status, said = limited(500, [verb, "p.c"], tmp_path)
    assert status == 2
    assert "more address space than 500 MB (ulimit -v: allow more)" in said


def test_an_output_that_is_a_link_is_written_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there/target", tmp_path / "o.csv"
    link.symlink_to("there/target")
    for content in (b"new", b"newer"):
        with write_whole(link, force=target.exists()) as stream:
            stream.write(content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    with pytest.raises(OutputError, match=r"o\.csv: exists already"), write_whole(link):
        pass
    with pytest.raises(ZeroDivisionError), write_whole(link, force=True) as stream:
        stream.write(bytes(1 // 0))
    assert target.read_bytes() == b"newer"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["o.csv", "target", "there"]


@pytest.mark.parametrize(
    ("leads", "says"),
    [("o.csv", "is a link that leads to itself"), ("no/target", "there is no folder"),
     ("there", "is a folder")],
)  # fmt: skip
def test_an_output_that_is_a_link_to_no_file(tmp_path: Path, leads: str, says: str) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "o.csv"
    link.symlink_to(leads)
    for force in (False, True):
        with pytest.raises(OutputError, match=says), write_whole(link, force=force):
            pass
    assert link.is_symlink()


@pytest.mark.long
def test_ctrl_c_while_it_starts_is_no_traceback(tmp_path: Path) -> None:
    for moment in range(12):
        with subprocess.Popen(
            [*START, "summary", "absent.cyc"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        ) as process:
            # Python's own start, before it has come to us, is not ours to mend.
            time.sleep(0.06 + moment * 0.02)
            process.send_signal(signal.SIGINT)
            said = process.communicate()[1]
        ours = "cyclescope" in said and "Traceback" in said
        assert not ours, said


# Where memory is short, or an interrupt came in the middle of another import, nothing loads.
NOTHING_MORE = """import sys
from cyclescope import cli

class Nothing:
    def find_spec(self, name, *_):
        raise ImportError(name)

sys.meta_path[:] = [Nothing()]
sys.exit(cli._complain("interrupted \\u00e9\\x1b", 130))
"""


def test_an_error_is_told_without_loading_anything() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NOTHING_MORE], capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 130
    assert done.stderr.startswith("cyclescope: interrupted ")
    assert done.stderr.endswith("\\x1b\n")


# A library that does not come back for long: Python attends to no signal meanwhile.
SLOW = """import sys
sys.argv = ["__main__.py", "summary", "x.cyc"]
import cyclescope.__main__ as program
from cyclescope.cli import _summary

def stuck(*_):
    print("stuck", flush=True)
    import hashlib
    hashlib.pbkdf2_hmac("sha256", b"x", b"y", 2**31 - 1)

_summary.read_profile = stuck
sys.exit(program.main())
"""


def test_sigterm_ends_it_within_two_seconds_whatever_it_does() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stuck\n"
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=30)[1]
    assert time.monotonic() - started < 4  # 2 s, and a busy machine's delay
    assert process.returncode == 130
    assert said == "cyclescope: interrupted\n"


@pytest.mark.parametrize("verb", ["calyx", "bounds", "hls"])
@pytest.mark.parametrize("there", [False, True])
def test_without_a_folder_for_temporary_files(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: str,
    there: bool,
) -> None:
    def folder() -> str:
        if there:
            return str(tmp_path / "gone")
        raise FileNotFoundError

    path = tmp_path / ("p.futil" if verb == "calyx" else "p.c")
    region = "int main(void) { int x = 0;\n#pragma omp target map(x)\nx = 1; return x - 1; }\n"
    path.write_text({"calyx": PROGRAM, "bounds": KERNEL, "hls": region}[verb], "utf-8")
    monkeypatch.setattr(tempfile, "gettempdir", folder)
    assert main([verb, str(path), "-o", str(tmp_path / "x.cyc")]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "TMPDIR" in line
