"""Programs that we start: under a guard that ends them with us, with limits, confined.

The guard (`rust/src/guard.rs`) is a process of its own. It notices when we are gone, killed or not,
and ends the program and everything that it has started; it keeps the limits of a `Policy`; and it
reports only when nothing is left running.
"""

from __future__ import annotations

import os
import select
import selectors
import shutil
import signal
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cyclescope.sim._confine import Policy

__all__ = ["End", "Finished", "Process", "Reason", "finish", "unstartable"]

# What a confined program sees of our environment: nothing that might be a secret.
_HARMLESS = ("HOME", "LANG", "LANGUAGE", "PATH", "TERM", "TZ", "LD_LIBRARY_PATH", "USER")
_HARMLESS_BEGINNINGS = ("LC_", "OMP_", "GOMP_", "CYCLESCOPE_HLS_")

KEPT_OUTPUT = 16 << 20


def unstartable(program: Path, error: OSError) -> ToolError:
    """The error of a program of the C++ compiler's that cannot be started."""
    return ToolError(
        f"{program}: cannot be started: {error.strerror or error}; set CXX to a C++ compiler whose"
        " programs run here, or run it again"
    )


class Reason(IntEnum):
    """The reason for which a program ended."""

    OWN = 0
    """By itself, or because we asked."""
    TIME = 1
    """Its time was up."""
    TASKS = 2
    """It had too many processes or threads."""
    MEMORY = 3
    """It had too much memory."""


_IN_WORDS = {
    Reason.TIME: "took more than {seconds:g} s (its limit of time)",
    Reason.TASKS: "started more than {tasks} processes and threads (its limit)",
    Reason.MEMORY: "took more than {memory:.1f} GB of memory (its limit)",
}


@dataclass(frozen=True, slots=True)
class End:
    """The end of a program.

    Attributes:
        status: its exit status; a signal's number below zero.
        exceeded: the limit that it exceeded, for people; empty if none.
    """

    status: int
    exceeded: str


class Process:
    """A running program. Close it (or use `with`): that ends it, if it still runs.

    Attributes:
        pid: its number among the system's processes.
    """

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        policy: Policy,
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        keep: Sequence[int] = (),
    ) -> None:
        """Start it.

        Args:
            command: program and arguments.
            policy: what it may do.
            cwd: folder to run in.
            env: added to the environment.
            stdin: descriptor that it reads; None for `/dev/null`.
            stdout: descriptor that it writes; None for `/dev/null`.
            stderr: descriptor for its complaints; None for `/dev/null`.
            keep: further descriptors that it gets.

        Raises:
            OSError: it cannot be started; the text says at which step.
            ToolError: the user requires confinement that the system has not.
        """
        from cyclescope._native import spawn

        name = os.fspath(command[0])
        program = name if "/" in name else shutil.which(name) or name
        files = policy.files()
        environment = dict(os.environ)
        if files is not None and policy.calculates:
            environment = {
                key: value
                for key, value in environment.items()
                if key in _HARMLESS or key.startswith(_HARMLESS_BEGINNINGS)
            }
        if policy.write:
            # Temporary files go where all that it makes goes.
            environment["TMPDIR"] = str(policy.write[0])
        environment.update(env or {})
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        try:
            self._guard, self.pid, self._line, self._report = spawn(
                [os.fsencode(program), *(os.fsencode(part) for part in command[1:])],
                [os.fsencode(f"{key}={value}") for key, value in environment.items()],
                cwd or Path.cwd(),
                tuple(null if s is None else s for s in (stdin, stdout, stderr)),
                kept=list(keep),
                limits=policy.limits(),
                seconds=policy.seconds,
                tasks=policy.tasks,
                memory=policy.memory,
                files=files,
                calculates=policy.calculates,
                alone=policy.alone,
            )
        except OSError as error:
            if error.errno is None:
                raise
            reason = f"{os.strerror(error.errno)} (to {error.strerror})"
            raise OSError(error.errno, reason, name) from error
        finally:
            os.close(null)
        self._policy = policy
        self._end: End | None = None

    def send(self, number: int) -> None:
        """Send a signal to the program and what it has started in its group."""
        if self._end is None:
            with suppress(OSError):
                os.write(self._line, bytes([number]))

    def wait(self, timeout: float | None = None) -> End | None:
        """Wait, and return how it ended; None if it still runs after so many seconds."""
        if self._end is None:
            if not select.select([self._report], [], [], timeout)[0]:
                return None
            report = os.read(self._report, 8)
            if len(report) == 8:
                reason, status = struct.unpack("=ii", report)
            else:
                # A guard that was killed reports nothing; its program died with it, and what that
                # has started is of its group.
                reason, status = Reason.OWN, signal.SIGKILL
                with suppress(OSError):
                    os.killpg(self.pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(self._guard, 0)
            os.close(self._report)
            os.close(self._line)
            self._line = self._report = -1
            self._end = End(os.waitstatus_to_exitcode(status), self._said(Reason(reason)))
        return self._end

    def _said(self, reason: Reason) -> str:
        policy = self._policy
        return _IN_WORDS.get(reason, "").format(
            seconds=policy.seconds, tasks=policy.tasks, memory=policy.memory / 1e9
        )

    def close(self) -> None:
        """End it: it is asked first, and has a second; then it and all that it started are gone."""
        if self._end is None:
            os.close(self._line)
            # Closed twice would close another's.
            self._line = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            self.wait()

    def kill(self) -> None:
        """End it at once."""
        self.send(signal.SIGKILL)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a program that came to its end.

    Attributes:
        end: how it ended.
        stdout, stderr: what it wrote, at most the last 16 MB each.
    """

    end: End
    stdout: bytes
    stderr: bytes


def finish(
    command: Sequence[str | os.PathLike[str]],
    policy: Policy,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    given: bytes = b"",
    joined: bool = False,
    started: set[Process] | None = None,
    kept: int = KEPT_OUTPUT,
) -> Finished:
    """Run a program to its end.

    Args:
        command: program and arguments.
        policy: what it may do.
        cwd: folder to run in.
        env: added to the environment.
        given: its standard input.
        joined: both outputs go into one.
        started: gets the process while it runs, so that others can end it.
        kept: bytes of each output that are kept.

    Raises:
        OSError: it cannot be started.
    """
    ours: dict[int, bytearray] = {}
    with _Pipes() as pipes:
        stdin, feed = pipes.new() if given else (None, None)
        out, stdout = pipes.new()
        err, stderr = (None, stdout) if joined else pipes.new()
        process = Process(
            command, policy, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr
        )
        with process:
            if started is not None:
                started.add(process)
            try:
                pipes.close(*(fd for fd in (stdin, stdout, stderr) if fd is not None))
                ours = {fd: bytearray() for fd in (out, err) if fd is not None}
                _pump(ours, feed, memoryview(given), pipes, kept)
                end = process.wait()
            finally:
                if started is not None:
                    started.discard(process)
    assert end is not None
    return Finished(end, bytes(ours[out]), b"" if err is None else bytes(ours[err]))


class _Pipes:
    """Descriptors that are closed once, whatever happens."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def new(self) -> tuple[int, int]:
        ends = os.pipe()
        self._open.update(ends)
        return ends

    def close(self, *fds: int) -> None:
        for fd in fds:
            if fd in self._open:
                self._open.discard(fd)
                os.close(fd)

    def __enter__(self) -> _Pipes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close(*self._open.copy())


def _pump(
    into: dict[int, bytearray], feed: int | None, given: memoryview, pipes: _Pipes, kept: int
) -> None:
    with selectors.DefaultSelector() as selector:
        for fd in into:
            selector.register(fd, selectors.EVENT_READ)
        if feed is not None:
            os.set_blocking(feed, False)
            selector.register(feed, selectors.EVENT_WRITE)
        while selector.get_map():
            for key, _ in selector.select():
                if key.fd == feed:
                    try:
                        given = given[os.write(feed, given[: 1 << 16]) :]
                    except BrokenPipeError:
                        given = given[:0]
                    if not given:
                        selector.unregister(feed)
                        pipes.close(feed)
                    continue
                chunk = os.read(key.fd, 1 << 16)
                if chunk:
                    into[key.fd] += chunk
                    del into[key.fd][:-kept]
                else:
                    selector.unregister(key.fd)


def until(deadline: float) -> float:
    """Seconds until a time of the monotonic clock, never below zero."""
    return max(0.0, deadline - time.monotonic())
