"""Some signals at random times, and some rounds of everything in one process.

`make signals` sends a thousand, `make soak` runs for as long as one likes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .signals import VERBS, disturb

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    not Path(f"/proc/self/task/{Path('/proc/self').resolve().name}/children").exists(),
    reason="no list of a process's children in /proc",
)

SHORT = """import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
sys.path.insert(0, {tests!r})
from security.signals import disturb
tally = disturb({count}, {seed}, {verbs!r})
print(tally.wrong)
"""


@pytest.mark.parametrize("verbs", [["calyx", "export"], ["bounds", "report"]], ids="-".join)
def test_signals(verbs: list[str]) -> None:
    assert VERBS.keys() >= set(verbs)
    assert disturb is not None
    # In a process of its own, which takes in what loses its parent.
    text = SHORT.format(tests=str(ROOT / "tests"), count=10, seed=20260, verbs=verbs)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_soak(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts/soak.py"), "--rounds", "3", "--seed", "1"]
    # A cache of its own: what other tests put into theirs is no growth.
    own = {**os.environ, "CYCLESCOPE_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
