"""A system that stops us: the simulation ends too, and what was measured is kept."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from cyclescope.cli import main, program
from cyclescope.model import load

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


def test_an_interrupt_of_what_cleans_up_is_not_lost() -> None:
    text = """
import sys, time
from cyclescope.cli import _tell_again
sys.unraisablehook = _tell_again
class Cleaned:
    def __del__(self):
        raise KeyboardInterrupt
class Broken:
    def __del__(self):
        raise ValueError("told as always")
Broken()
try:
    Cleaned()
    time.sleep(20)
    print("slept")
except KeyboardInterrupt:
    print("told")
"""
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert ran.stdout == "told\n"
    assert "told as always" in ran.stderr
    assert "KeyboardInterrupt" not in ran.stderr


def test_what_an_interrupt_left_half_made_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "run.cyc").write_bytes(b"PK")
    text = """
import os, signal, sys, types, zipfile
# In the middle of ZipFile.__init__: it cannot be closed then.
hang_up = lambda: os.kill(os.getpid(), signal.SIGHUP)
zipfile.threading = types.SimpleNamespace(RLock=hang_up)
from cyclescope.cli import main
sys.exit(main(["summary", "run.cyc"], watched=True))
"""
    command = [sys.executable, "-c", text]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (130, "cyclescope: interrupted\n")


def test_an_error_that_a_library_put_in_an_interrupts_place_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def disturbed(*_args: object, **_named: object) -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise TypeError("cannot compare")

    def broken(*_args: object, **_named: object) -> None:
        raise TypeError("cannot compare")

    before = signal.getsignal(signal.SIGINT)
    try:
        monkeypatch.setattr(program, "main", disturbed)
        assert main(["cache", "path"]) == 130
        assert capsys.readouterr().err == "cyclescope: interrupted\n"
        monkeypatch.setattr(program, "main", broken)
        assert main(["cache", "path"]) == 70
        assert "a bug of cyclescope: TypeError: cannot compare" in capsys.readouterr().err
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.long(keep_one_in=3)
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
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
        # Until it runs: the capture begins with a head, and grows from then on.
        deadline, sizes = time.monotonic() + 60, set[int]()
        while len(sizes) < 2 and time.monotonic() < deadline:
            sizes |= {file.stat().st_size for file in scratch.glob("*/capture")} - {0}
            time.sleep(0.05)
        killer = threading.Timer(60, process.kill)
        killer.start()
        process.send_signal(stop)
        _, complaint = process.communicate()
        killer.cancel()
    if stop == signal.SIGTERM and process.returncode == 130:
        # A busy machine: two seconds were not enough to write it down, or to show it.
        assert complaint.strip() == "cyclescope: interrupted"
        for file in tmp_path.glob("*.cyc*"):
            assert file == made
            assert not load(file).meta.complete
        return
    assert process.returncode == 5
    expected = f"cyclescope: not complete: interrupted; {made} contains what came before"
    assert complaint.strip() == expected
    profile = load(made)
    assert (profile.meta.complete, profile.meta.stop_reason) == (False, "interrupted")
    assert profile.cycles > 1000
    assert not list(scratch.iterdir())


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no /proc on this system")
def test_the_simulation_ends_when_whoever_started_it_was_killed(tmp_path: Path) -> None:
    program, scratch = tmp_path / "e.futil", tmp_path / "scratch"
    program.write_text(ENDLESS, "utf-8")
    scratch.mkdir()

    def simulations() -> int:
        found = 0
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                found += f"capture={scratch}".encode() in file.read_bytes()
        return found

    def wait_for(count: int) -> None:
        deadline = time.monotonic() + 60
        while simulations() != count and time.monotonic() < deadline:
            time.sleep(0.1)
        assert simulations() == count

    command = [sys.executable, "-m", "cyclescope", "calyx", str(program)]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=-1) as process:
        wait_for(1)
        process.kill()
    wait_for(0)


def test_ctrl_c_ends_a_build_at_once_with_all_its_tools(tmp_path: Path) -> None:
    program, slow = tmp_path / "e.futil", tmp_path / "c++"
    program.write_text(ENDLESS, "utf-8")
    # As compilers are: a driver that waits for the program which does the work.
    slow.write_text(
        '#!/bin/sh\ncase "$*" in *--version*) echo 1;; *) : > begun; sleep 300 | cat;; esac\n'
    )
    slow.chmod(0o755)
    settings = {"CXX": shlex.quote(str(slow)), "CYCLESCOPE_CACHE": str(tmp_path / "cache")}
    environment = {**os.environ, **settings}
    command = [sys.executable, "-m", "cyclescope", "calyx", str(program)]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=-1, stderr=-1, text=True
    ) as process:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("cache/*/begun")) and time.monotonic() < deadline:
            time.sleep(0.05)
        stopped = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert time.monotonic() - stopped < 20  # the compiler would have taken five minutes
    assert process.returncode == 130
    assert complaint.strip() == "cyclescope: interrupted"
    assert not list((tmp_path / "cache").glob("**/sim"))


def test_a_folder_goes_even_if_its_removal_is_interrupted(tmp_path: Path) -> None:
    """An interrupt just where it would have been removed."""
    made = (
        "from cyclescope import _files\n"
        "def told(_):\n"
        "    raise KeyboardInterrupt\n"
        "_files._surely = told\n"
        "with _files.scratch('bounds') as folder:\n"
        "    print(folder)\n"
    )
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", made], env=env, capture_output=True, text=True, check=False
    )
    assert "KeyboardInterrupt" in done.stderr
    assert done.stdout.startswith(str(tmp_path))
    assert not list(tmp_path.iterdir())
