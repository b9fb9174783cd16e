"""Standard output that is full, or closed before we start."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "calyx" / "switch_par.futil"


def run(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = f'exec "$0" -m cyclescope "$@" {redirection}'
    command = ["/bin/sh", "-c", script, sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("arguments", [["--help"], ["calyx", "--list-passes"], ["hls", "--help"]])
def test_a_full_standard_output_is_one_line(arguments: list[str]) -> None:
    done = run("> /dev/full", *arguments)
    assert done.returncode == 3
    assert done.stderr.startswith("cyclescope: standard output cannot be written: No space left")
    assert done.stderr.count("\n") == 1


def test_a_closed_standard_output_does_not_stop_the_work(tmp_path: Path) -> None:
    data, made = str(EXAMPLE.with_suffix(".json")), tmp_path / "s.cyc"
    done = run(">&-", "calyx", str(EXAMPLE), "--data", data, "-o", str(made))
    assert (done.returncode, done.stderr) == (0, "")
    assert made.exists()
    done = run(">&-", "summary", str(made))
    assert (done.returncode, done.stderr) == (0, "")
    done = run("2>&-", "sumary")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("reader", ["2>&1 | true", "| head -n 1 > /dev/null"])
def test_a_reader_that_leaves_ends_neither_the_work_nor_the_verdict(
    tmp_path: Path, reader: str
) -> None:
    data, made = EXAMPLE.with_suffix(".json"), tmp_path / "s.cyc"
    memories, report, status = tmp_path / "m.json", tmp_path / "r.xml", tmp_path / "status"

    def piped(*arguments: object) -> tuple[int, str]:
        command = shlex.join([sys.executable, "-m", "cyclescope", *map(str, arguments)])
        script = f"{{ {command}; echo $? > {shlex.quote(str(status))}; }} {reader}"
        done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True)
        return int(status.read_text()), done.stderr

    made_by = ["calyx", EXAMPLE, "--data", data, "-o", made, "--memories", memories]
    assert piped(*made_by) == (0, "")
    assert json.loads(memories.read_text())
    assert piped("check", made, "--budget", "cycles<=1", "--junit", report) == (1, "")
    assert "cycles&lt;=1" in report.read_text()
