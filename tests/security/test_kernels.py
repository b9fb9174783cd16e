"""The limits of a program that calculates: each forbidden thing, tried confined and unconfined."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cyclescope.sim import (
    Confine,
    Finished,
    Policy,
    Process,
    Trust,
    calculation,
    finish,
    trusting,
)
from cyclescope.sim._confine import compiler_policy
from security.conftest import needs_all

if TYPE_CHECKING:
    from collections.abc import Iterator


def tried(attempts: Path, own: Path, what: str, argument: str = "", **changes: object) -> Finished:
    policy = replace(calculation(attempts, own), **changes)  # type: ignore[arg-type]
    return finish([attempts, what, argument], policy, cwd=own)


def off() -> Trust:
    return Trust(Confine.OFF)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the user's."""
    file = tmp_path / "victim"
    file.write_text("precious", "utf-8")
    file.chmod(0o600)
    return file


FILES = [
    "read", "list", "write", "empty", "empty reading", "remove", "link", "chmod", "date", "chown",
]  # fmt: skip


@needs_all
@pytest.mark.parametrize("what", FILES)
def test_files_outside_its_folder(attempts: Path, own: Path, victim: Path, what: str) -> None:
    target = victim.parent if what == "list" else victim
    before = (victim.read_text(), victim.stat().st_mode, victim.stat().st_mtime_ns)
    assert tried(attempts, own, what, str(target)).stdout.startswith(b"refused")
    assert (victim.read_text(), victim.stat().st_mode, victim.stat().st_mtime_ns) == before
    with trusting(off()):
        assert tried(attempts, own, what, str(target)).stdout == b"done\n"


# What a file system or an older kernel need not have: refused either way.
ODD = ["attribute", "newer chmod", "newer attribute"]


@needs_all
@pytest.mark.parametrize("what", ODD)
def test_modes_and_attributes_of_files_outside(
    attempts: Path, own: Path, victim: Path, what: str
) -> None:
    assert tried(attempts, own, what, str(victim)).stdout.startswith(b"refused")
    assert victim.stat().st_mode & 0o777 == 0o600
    assert not os.listxattr(victim)
    with trusting(off()):
        again = tried(attempts, own, what, str(victim)).stdout
    missing = (b"refused: Function not implemented\n", b"refused: Operation not supported\n")
    assert again in (b"done\n", *missing)


@needs_all
@pytest.mark.parametrize("compiler", [False, True], ids=["kernel", "compiler"])
@pytest.mark.parametrize("what", ["flags", "lease", "watch"])
def test_files_that_it_may_read(
    attempts: Path, own: Path, victim: Path, what: str, compiler: bool
) -> None:
    policy = calculation(attempts, own, read=[victim])
    if compiler:
        policy = compiler_policy([str(attempts)], own, read=[victim])
    done = finish([attempts, what, str(victim)], policy, cwd=own)
    assert done.stdout == b"refused: Operation not permitted\n"
    with trusting(off()):
        again = finish([attempts, what, str(victim)], policy, cwd=own).stdout
    # Not every file system has flags.
    assert again == b"done\n" or (what == "flags" and b"not permitted" not in again)


@needs_all
def test_no_device_is_made(attempts: Path, own: Path) -> None:
    assert tried(attempts, own, "device").stdout.startswith(b"refused")
    assert not (own / "device").exists()


@needs_all
def test_its_own_folder_is_its_own(attempts: Path, own: Path) -> None:
    assert tried(attempts, own, "write", str(own / "made")).stdout == b"done\n"
    assert (own / "made").read_bytes() == b"x"
    assert tried(attempts, own, "remove", str(own / "made")).stdout == b"done\n"


@contextmanager
def listening(family: int, kind: int, where: object) -> Iterator[tuple[socket.socket, str]]:
    with socket.socket(family, kind) as server:
        server.bind(where)  # type: ignore[arg-type]
        if kind == socket.SOCK_STREAM:
            server.listen()
        name = server.getsockname()
        yield server, str(name[1]) if family == socket.AF_INET else str(where).replace("\0", "@")


@needs_all
@pytest.mark.parametrize("what", ["tcp", "udp", "unix", "abstract unix"])
def test_network(attempts: Path, own: Path, tmp_path: Path, what: str) -> None:
    family = socket.AF_INET if what in ("tcp", "udp") else socket.AF_UNIX
    kind = socket.SOCK_DGRAM if what == "udp" else socket.SOCK_STREAM
    named = f"\0cyclescope{os.getpid()}" if "abstract" in what else str(tmp_path / "socket")
    where: object = ("127.0.0.1", 0) if family == socket.AF_INET else named
    with listening(family, kind, where) as (server, name):
        verb = what.split()[-1]
        assert tried(attempts, own, verb, name).stdout.startswith(b"refused")
        assert not select.select([server], [], [], 0)[0]
        with trusting(off()):
            assert tried(attempts, own, verb, name).stdout == b"done\n"
        assert select.select([server], [], [], 5)[0]


@needs_all
@pytest.mark.parametrize("what", ["pair", "fork", "clone3", "core", "shared memory", "queue"])
def test_calls(attempts: Path, own: Path, what: str) -> None:
    assert tried(attempts, own, what).stdout.startswith(b"refused")
    with trusting(off()):
        again = tried(attempts, own, what).stdout
    assert again == b"done\n" or what == "core"  # the limit holds without confinement, too


@needs_all
@pytest.mark.parametrize("what", ["uring", "namespace", "mount", "session"])
def test_calls_that_not_every_user_may_make(attempts: Path, own: Path, what: str) -> None:
    assert tried(attempts, own, what, str(own)).stdout.startswith(b"refused: Operation not perm")


@needs_all
@pytest.mark.parametrize("what", ["system", "exec"])
def test_programs(attempts: Path, own: Path, tmp_path: Path, what: str) -> None:
    command = "/usr/bin/env" if what == "exec" else f"echo > {tmp_path / 'made'}"
    assert tried(attempts, own, what, command).stdout.startswith(b"refused")
    assert not (tmp_path / "made").exists()
    with trusting(off()):
        assert tried(attempts, own, what, command).stdout
    assert (tmp_path / "made").exists() or what == "exec"


@needs_all
@pytest.mark.parametrize("what", ["signal", "trace", "peek", "limits", "priority", "scheduler"])
def test_other_processes(attempts: Path, own: Path, what: str) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        assert tried(attempts, own, what, str(other.pid)).stdout.startswith(b"refused")
        with trusting(off()):
            again = tried(attempts, own, what, str(other.pid)).stdout
        other.communicate(b"\n")
    assert other.returncode == 0
    assert again == b"done\n" or what in ("trace", "peek")  # Yama may forbid these to everybody


def test_secrets_in_the_environment(
    own: Path, attempts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    harmless = {"OMP_NUM_THREADS": "3", "LC_NUMERIC": "C", "TZ": "UTC"}
    for name, value in harmless.items():
        monkeypatch.setenv(name, value)
    env = Path("/usr/bin/env")
    policy = replace(calculation(env, own), execute=(Path("/"),))
    with trusting(Trust(Confine.AUTO)):
        seen = finish([env], policy).stdout
    assert b"hunter2" not in seen
    assert {f"{name}={value}" for name, value in harmless.items()} <= set(seen.decode().split("\n"))
    with trusting(off()):
        assert b"hunter2" in finish([env], policy).stdout


# Limits hold whatever else does.


@pytest.mark.long
@pytest.mark.parametrize("confine", [Confine.AUTO, Confine.OFF])
def test_limit_of_time(attempts: Path, own: Path, confine: Confine) -> None:
    started = time.monotonic()
    with trusting(Trust(confine)):
        done = tried(attempts, own, "stubborn", "60", seconds=0.5)
    assert "more than 0.5 s" in done.end.exceeded
    assert time.monotonic() - started < 10


@pytest.mark.long
@pytest.mark.parametrize("confine", [Confine.AUTO, Confine.OFF])
def test_limit_of_memory(attempts: Path, own: Path, confine: Confine) -> None:
    with trusting(Trust(confine)):
        done = tried(attempts, own, "memory", "200", memory=64 << 20)
        assert "memory" in done.end.exceeded
        done = tried(attempts, own, "memory", "200", address_space=128 << 20)
        assert done.stdout == b"refused: Cannot allocate memory\n"
        assert tried(attempts, own, "memory", "20").stdout == b"done\n"


@pytest.mark.long
@pytest.mark.parametrize("confine", [Confine.AUTO, Confine.OFF])
def test_limit_of_tasks(attempts: Path, own: Path, confine: Confine) -> None:
    with trusting(Trust(confine)):
        assert (
            "processes and threads" in tried(attempts, own, "threads", "60", tasks=50).end.exceeded
        )
        assert tried(attempts, own, "threads", "10", tasks=50).stdout == b"done\n"


def tool(attempts: Path, own: Path) -> Policy:
    return compiler_policy([str(attempts)], own)


def test_a_tool_that_starts_too_many(attempts: Path, own: Path) -> None:
    policy = replace(tool(attempts, own), tasks=40)
    done = finish([attempts, "bomb", "200"], policy)
    assert "processes and threads" in done.end.exceeded
    assert not processes_of(attempts)


@pytest.mark.parametrize("confine", [Confine.AUTO, Confine.OFF])
def test_a_program_that_multiplies(attempts: Path, own: Path, confine: Confine) -> None:
    started = time.monotonic()
    with trusting(Trust(confine)):
        done = tried(attempts, own, "multiply", "12", alone=False)
    assert "processes and threads" in done.end.exceeded
    assert not processes_of(attempts)
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("confine", [Confine.AUTO, Confine.OFF])
def test_what_a_tool_leaves_running_ends_with_it(
    attempts: Path, own: Path, confine: Confine
) -> None:
    with trusting(Trust(confine)):
        assert finish([attempts, "daemon", "60"], tool(attempts, own)).stdout == b"done\n"
    assert not processes_of(attempts)


def test_closing_ends_even_what_does_not_want_to(attempts: Path, own: Path) -> None:
    with Process([attempts, "stubborn", "60"], calculation(attempts, own)) as process:
        assert process.wait(0.2) is None
        started = time.monotonic()
    assert time.monotonic() - started < 5
    assert process.wait() is not None
    assert not processes_of(attempts)


def test_everything_ends_with_a_guard_that_is_killed(attempts: Path, own: Path) -> None:
    with Process([attempts, "bomb", "3"], tool(attempts, own)) as process:
        deadline = time.monotonic() + 30
        while len(processes_of(attempts)) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(processes_of(attempts)) == 4
        os.kill(process._guard, signal.SIGKILL)
        end = process.wait(30)
    assert end is not None
    assert end.status == -signal.SIGKILL
    deadline = time.monotonic() + 5
    while processes_of(attempts) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not processes_of(attempts)


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
def test_everything_ends_with_whoever_started_it(attempts: Path, own: Path, how: str) -> None:
    text = (
        "import sys; from pathlib import Path; from cyclescope.sim._confine import *\n"
        "from cyclescope.sim import finish\n"
        "program = Path(sys.argv[1])\n"
        "finish([program, 'bomb', '3'], compiler_policy([str(program)], Path(sys.argv[2])))\n"
    )
    with subprocess.Popen([sys.executable, "-c", text, attempts, own]) as parent:
        deadline = time.monotonic() + 30
        while len(processes_of(attempts)) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(processes_of(attempts)) >= 4
        parent.send_signal(signal.Signals[how])
    deadline = time.monotonic() + 5
    while processes_of(attempts) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not processes_of(attempts)


def test_what_cannot_be_started_says_why(own: Path) -> None:
    with pytest.raises(FileNotFoundError, match="start"):
        finish([own / "absent"], calculation(own / "absent", own))
    with pytest.raises(FileNotFoundError, match="folder"):
        finish(["/bin/true"], compiler_policy(["/bin/true"], own), cwd=own / "absent")


def processes_of(program: Path) -> list[int]:
    """The processes that run a program, zombies aside."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == os.fsencode(program):
            found.append(int(folder.name))
    return found
