"""A system that stops us: the simulation ends too, and what was measured is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from cyclescope.cli import main

if TYPE_CHECKING:
    from pathlib import Path

ENDLESS = """import "primitives/core.futil";
component main() -> () {
  cells { r = std_reg(1); more = std_not(1); }
  wires {
    more.in = r.out;
    group a { r.in = 1'd0; r.write_en = 1'd1; a[done] = r.done; }
  }
  control { while more.out { a; } }
}
"""


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_run_leaves_a_profile_and_no_process(tmp_path: Path, stop: int) -> None:
    program, made, scratch = tmp_path / "e.futil", tmp_path / "e.cyc", tmp_path / "scratch"
    program.write_text(ENDLESS, "utf-8")
    scratch.mkdir()
    # Built before, so that the signal falls into the run.
    assert main(["calyx", str(program), "-o", str(made), "--cycle-limit", "10"]) == 5
    made.unlink()
    command = [sys.executable, "-m", "cyclescope", "calyx", str(program), "-o", str(made)]
    with subprocess.Popen(
        command, env={**os.environ, "TMPDIR": str(scratch)}, stdout=-1, stderr=-1, text=True
    ) as process:
        deadline = time.monotonic() + 30
        while not list(scratch.glob("*/capture")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(stop)
        _, complaint = process.communicate(timeout=30)
    assert process.returncode == 5
    assert complaint.strip() == "cyclescope: not complete: interrupted"
    assert made.exists()
    assert not list(scratch.iterdir())
