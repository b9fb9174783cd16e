"""Some signals at random times, and some rounds of everything in one process.

`make signals` sends a thousand, `make soak` runs for as long as one likes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
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


@pytest.mark.long
@pytest.mark.parametrize("verbs", [["calyx", "export"], ["bounds", "report"]], ids="-".join)
def test_signals(verbs: list[str]) -> None:
    assert VERBS.keys() >= set(verbs)
    assert disturb is not None
    # In a process of its own, which takes in what loses its parent.
    text = SHORT.format(tests=str(ROOT / "tests"), count=10, seed=20260, verbs=verbs)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.long
def test_soak(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts/soak.py"), "--rounds", "3", "--seed", "1"]
    # A cache of its own: what other tests put into theirs is no growth.
    own = {**os.environ, "CYCLESCOPE_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def running(process: int) -> bool:
    """Return whether a process that is not ours still runs."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_what_reads_for_the_fuzzer_ends_with_it(number: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts/fuzz.py"), "--plain", "--only", "study"]
    said = tmp_path / "said"
    with said.open("wb") as stream, subprocess.Popen(
        [*command, "--minutes", "5", "--folder", str(tmp_path / "fuzz")],
        stdout=stream, stderr=stream,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as fuzzer:  # fmt: skip
        listed = Path(f"/proc/{fuzzer.pid}/task/{fuzzer.pid}/children")
        until = time.monotonic() + 60
        while not (readers := listed.read_text().split()):
            assert fuzzer.poll() is None, said.read_text()
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(0.5)
        fuzzer.send_signal(number)
    assert fuzzer.returncode == (-number if number == signal.SIGKILL else 0), said.read_text()
    until = time.monotonic() + 10
    while any(running(int(reader)) for reader in readers):
        assert time.monotonic() < until
        time.sleep(0.05)
