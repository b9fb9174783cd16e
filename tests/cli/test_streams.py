"""Standard output that is full, or closed before we start."""

from __future__ import annotations

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
@pytest.mark.parametrize("arguments", [["--help"], ["calyx", "--list-passes"]])
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
