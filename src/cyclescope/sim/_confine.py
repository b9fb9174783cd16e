"""The rights of a program that we start: read what it needs, write in its own folder, nothing else.

Simulators and native kernels are made of a stranger's text, and compilers read it. All of them run
under a guard (`_process`) with limits of time, memory and tasks, and confined: Landlock says which
files, a seccomp filter that there is no network, no other process to look into, and for what only
calculates no further process at all. What the system cannot do is said once, or is an error.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.errors import InputError, ToolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "Confine",
    "Policy",
    "Trust",
    "calculation",
    "check_confinement",
    "compiler_policy",
    "current_trust",
    "foreign_compiler",
    "trusting",
    "uncovered",
]

_GIB = 1 << 30
_TOOL_SECONDS = 3600.0
_KERNEL_SECONDS = 3600.0
_SIMULATION_SECONDS = 86400.0
_TASKS = 512
_FILE_BYTES = 64 * _GIB


class Confine(StrEnum):
    """The ways to confine a program that we start."""

    AUTO = "auto"
    """As far as the system can; what it cannot is said once."""
    REQUIRE = "require"
    """Wholly, or it is an error."""
    OFF = "off"
    """Not at all, which is said once; limits hold all the same."""


@dataclass(frozen=True, slots=True)
class Trust:
    """The user's settings for programs that are profiled.

    Attributes:
        confine: how what they become runs.
        refuse: whether a program that asks for files outside its folder or for other programs
            (`$system`, `$fopen`, an import of `/etc/…`) is refused.
        seconds: limit of time for a simulation or a native run; None for the default.
    """

    confine: Confine = Confine.AUTO
    refuse: bool = True
    seconds: float | None = None


def _initial() -> Trust:
    named = os.environ.get("CYCLESCOPE_CONFINE", "") or Confine.AUTO
    try:
        return Trust(Confine(named))
    except ValueError:
        choices = ", ".join(Confine)
        raise InputError(f"CYCLESCOPE_CONFINE={named}: must be one of {choices}") from None


_chosen: Trust | None = None


def current_trust() -> Trust:
    """The settings in force: as the command line says, else `$CYCLESCOPE_CONFINE`, else `auto`."""
    return _chosen or _initial()


@contextmanager
def trusting(trust: Trust) -> Iterator[None]:
    """Allow this, for all threads of the process, until the block is left."""
    global _chosen
    before, _chosen = _chosen, trust
    try:
        yield
    finally:
        _chosen = before


@dataclass(frozen=True, slots=True)
class Policy:
    """The rights of one program.

    Attributes:
        write: folders in which it may do everything; the first is its own.
        read: files and folders that it may read besides the system's programs and headers.
        execute: files and folders of which it may start programs.
        calculates: it is no compiler: it changes no modes and times of files, and sees of the
            environment what every program needs.
        alone: it may start no other process; else it may, but only what `execute` has.
        seconds: of the clock; 0 for no limit.
        tasks: processes and threads at a time, all together; 0 for no limit.
        memory: bytes resident, all together; 0 for no limit.
        address_space: bytes of one process; 0 for no limit.
        confined: False for our own programs, which have a guard and limits but no confinement.
    """

    write: tuple[Path, ...] = ()
    read: tuple[Path, ...] = ()
    execute: tuple[Path, ...] = ()
    calculates: bool = False
    alone: bool = False
    seconds: float = 0.0
    tasks: int = 0
    memory: int = 0
    address_space: int = 0
    confined: bool = True

    def files(self) -> tuple[list[Path], list[Path], list[Path]] | None:
        """Files to read, execute and write; None if it is not to be confined.

        Raises:
            ToolError: the user requires what the system has not.
        """
        if not self.confined or not check_confinement():
            return None
        read = [*_READABLE, *self.read]
        return read, [*self.execute], [*_WRITABLE, *self.write]

    def limits(self) -> list[tuple[int, int]]:
        """Limits of each process: (resource, value)."""
        import resource

        limits = [(resource.RLIMIT_CORE, 0)]
        if self.address_space:
            limits.append((resource.RLIMIT_AS, self.address_space))
        if self.confined:
            limits.append((resource.RLIMIT_FSIZE, _FILE_BYTES))
        return limits


# What every program needs to start: libraries, the clock's zone, how many processors there are.
_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu",
)  # fmt: skip
_READABLE = tuple(
    Path(name)
    for name in (
        *_SYSTEM,
        *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"),
        *("/sys/devices/system", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat"),
        *("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"),
    )
)
_WRITABLE = (Path("/dev/null"),)


@cache
def _machine_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def calculation(
    program: Path, own: Path, *, read: Iterable[Path] = (), simulation: bool = False
) -> Policy:
    """Let a simulator or a native kernel calculate, and nothing else.

    Args:
        program: what is run; its folder may be read.
        own: the folder that it may write to.
        read: files and folders that it may read.
        simulation: it has the time of a simulation.
    """
    seconds = current_trust().seconds
    if seconds is None:
        seconds = _SIMULATION_SECONDS if simulation else _KERNEL_SECONDS
    return Policy(
        write=(own,),
        read=(program.parent, *read),
        execute=(program, *_loader(program)),
        calculates=True,
        alone=True,
        seconds=seconds,
        tasks=_TASKS,
        memory=_machine_memory() * 9 // 10,
        address_space=_machine_memory(),
    )


def _loader(program: Path) -> list[Path]:
    """The loader of a dynamically linked program (ELF's PT_INTERP)."""
    try:
        with program.open("rb") as stream:
            head = stream.read(4096)
    except OSError:
        return []
    if head[:4] != b"\x7fELF" or head[4] != 2:
        return []
    order = "little" if head[5] == 1 else "big"

    def word(at: int, size: int = 8) -> int:
        return int.from_bytes(head[at : at + size], order)  # type: ignore[arg-type]

    start, size, count = word(32), word(54, 2), word(56, 2)
    for index in range(count):
        entry = start + index * size
        if word(entry, 4) == 3:
            at, length = word(entry + 8), word(entry + 32)
            return [Path(os.fsdecode(head[at : at + length].rstrip(b"\0"))).resolve()]
    return []


def compiler_policy(
    command: tuple[str, ...] | list[str],
    own: Path | None,
    *,
    read: Iterable[Path] = (),
    write: Iterable[Path] = (),
) -> Policy:
    """Let a compiler or a synthesiser read the system and its input, write its output.

    Args:
        command: the program and its first arguments; the program's installation may be read.
        own: the folder that it may write to.
        read: files and folders that it may read.
        write: further folders that it may write to.
    """
    installed = _installation(Path(shutil.which(command[0]) or command[0]))
    python: list[Path] = []
    if Path(command[0]) == Path(sys.executable):
        python = [Path(p) for p in (sys.prefix, sys.base_prefix, *sys.path) if p]
    system = tuple(Path(name) for name in _SYSTEM)
    return Policy(
        write=tuple(folder for folder in (own, *write) if folder is not None),
        read=(*installed, *python, *read),
        execute=(*system, *installed, *python),
        seconds=_TOOL_SECONDS,
        tasks=_TASKS,
        memory=_machine_memory() * 9 // 10,
        # WebAssembly reserves far more address space than it uses.
        address_space=0 if python else _machine_memory(),
    )


def foreign_compiler(own: Path | None) -> Policy:
    """Let a compiler of the user's run: it finds its libraries itself, wherever they are."""
    everything = (Path("/"),)
    return Policy(
        write=() if own is None else (own,),
        read=everything,
        execute=everything,
        seconds=_TOOL_SECONDS,
        tasks=_TASKS,
        memory=_machine_memory() * 9 // 10,
        address_space=_machine_memory(),
    )


def _installation(program: Path) -> list[Path]:
    """The folders that a program was installed to: of `…/bin/program` the one above, too."""
    found = []
    for path in (program.absolute(), program.resolve()):
        above = path.parent.parent
        # Programs in `~/bin` must not make the whole home readable.
        own = path.parent.name in ("bin", "libexec", "sbin") and above not in (
            Path.home(),
            *Path.home().parents,
        )
        found.append(above if own else path.parent)
    return list(dict.fromkeys(found))


@cache
def uncovered() -> str:
    """Describe for a user what this system cannot confine; empty if nothing."""
    from cyclescope._native import confinement

    version, has_filters = confinement()
    missing = []
    if not version:
        missing.append("it has no Landlock: files outside their folders are not protected")
    if not has_filters:
        missing.append("it has no seccomp filters: the network and other processes are in reach")
        if 0 < version < 3:
            missing.append("its Landlock is old: files can be emptied")
    return "; ".join(missing)


def check_confinement() -> bool:
    """Return whether what is started now is to be confined; says once what is not.

    Raises:
        ToolError: the user requires what the system has not.
    """
    trust = current_trust()
    if trust.confine is Confine.OFF:
        why = "--confine=off" if trust.refuse else "--trust"
        _say_once(
            f"not confined ({why}): what this runs may do all that you may, limits of time and"
            " memory apart"
        )
        return False
    missing = uncovered()
    if missing and trust.confine is Confine.REQUIRE:
        raise ToolError(
            f"cannot confine what this runs on this system: {missing}; use a newer kernel, or"
            " --confine=auto to go without"
        )
    if missing:
        _say_once(f"not fully confined on this system: {missing}")
    return True


_said: set[str] = set()


def _say_once(message: str) -> None:
    if message not in _said:
        _said.add(message)
        if sys.stderr is not None:
            print(f"cyclescope: {message}", file=sys.stderr)
