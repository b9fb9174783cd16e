"""Runs the host's side of a program: natively for data and reference, again with results."""

from __future__ import annotations

import os
import select
import shutil
import struct
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._files import scratch
from cyclescope.c import Array, Pointer
from cyclescope.errors import RunError, SourceError, ToolError
from cyclescope.hls.front import HEAP, merged
from cyclescope.hls.ir import Place
from cyclescope.hls.run._host_text import host_text
from cyclescope.sim import Process, calculation, call, current_trust, find_compiler, unstartable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cyclescope.hls._compile import Program

__all__ = ["EndlessError", "Host", "Native", "OverlapError", "Reach", "Resumed"]

# Floating point as written, also where `simd` would allow lanes of it, signed arithmetic that
# wraps: what the hardware does.
_FLAGS = (
    "-std=gnu11", "-O1", "-fopenmp", "-fno-tree-loop-vectorize", "-ffp-contract=off", "-fwrapv",
    "-w",
)  # fmt: skip
# What the text leaves without a value is zero in each run, as in block RAM; from GCC 12 on.
_ZEROS = "-ftrivial-auto-var-init=zero"
# GCC 12 removes functions that only `declare variant` names, and then misses them. Others that it
# removes may call what there is not, so that is the second thing to try.
_WAYS = ((), ("-fkeep-static-functions",))
# What tells the hooks of the blocks of memory that the program has, asks for devices, makes files.
_WRAPPED = (
    "malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "omp_target_alloc",
    "omp_target_free", "free", "omp_get_num_devices", "fopen",
)  # fmt: skip
_WRAPS = "-Wl," + ",".join(f"--wrap={name}" for name in _WRAPPED)
_SECONDS = 120.0  # of a native run: what takes longer cannot be simulated
_NO_FILE, _BAD_FILE, _OVERLAP, _NOWHERE = 121, 122, 123, 124
_MOST_OUTPUT = 256 << 20  # bytes
_POLL, _IDLE = 0.5, 4  # seconds between two looks; looks without any progress: it hangs


class EndlessError(RunError):
    """A native run that did not come to its end in time."""


class OverlapError(RunError):
    """Memories of the host that overlap, of which each was to be one of the hardware's.

    Attributes:
        joined: names of variables by block, as the compiler wants to know them so that it makes
            one memory of each; empty if these cannot be one.
    """

    def __init__(self, message: str, joined: tuple[tuple[str, ...], ...]) -> None:
        super().__init__(message)
        self.joined = joined

    @property
    def names(self) -> list[str]:
        """The memories that the last block, the one that has been found, joins."""
        return [name.removeprefix(HEAP) for name in self.joined[-1]]


@dataclass(frozen=True, slots=True)
class Reach:
    """One time that the host came to the region.

    Attributes:
        inputs: contents of the external arrays when the region began.
        scalars: bits of the host's scalars then, in the region's order.
        outputs: contents of the external arrays when it ended; empty where it was not run.
    """

    inputs: Mapping[str, bytes]
    scalars: tuple[int, ...]
    outputs: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Native:
    """A native run.

    Attributes:
        reaches: the times that the host came to the region, as many as were asked for; at least
            one.
        stdout: what the whole program wrote there.
        status: its exit status.
        reached: how often the host came to the region.
    """

    reaches: tuple[Reach, ...]
    stdout: bytes
    status: int
    reached: int = 1

    @property
    def inputs(self) -> Mapping[str, bytes]:
        """Contents of the external arrays when the region began for the first time."""
        return self.reaches[0].inputs

    @property
    def scalars(self) -> tuple[int, ...]:
        """Bits of the host's scalars then, in the region's order."""
        return self.reaches[0].scalars

    @property
    def outputs(self) -> Mapping[str, bytes]:
        """Contents of the external arrays when the region ended for the first time."""
        return self.reaches[0].outputs


@dataclass(frozen=True, slots=True)
class Resumed:
    """A run of the host with given results.

    Attributes:
        reach: the next time that it comes to the region, without outputs; None: it does not.
        stdout: what the whole program wrote, if it came to its end.
        status: its exit status.
    """

    reach: Reach | None
    stdout: bytes
    status: int


@dataclass(frozen=True, slots=True)
class _Mode:
    """A way of the hooks: what they read, for how many times, how many they keep."""

    name: str
    data: bytes = b""
    given: int = 0
    times: int = 1


class Host:
    """The host's side of a program, compiled; `close` (or `with`) removes it.

    Example::

        with Host(program) as host:
            native = host.run(["100"])
            again = host.replay(native.outputs, ["100"])
    """

    def __init__(self, program: Program) -> None:
        """Compile it.

        Raises:
            SourceError: it has no main function.
            ToolError: there is no C compiler with OpenMP, or it refuses the text.
        """
        unit = program.unit
        if "main" not in unit.functions:
            raise SourceError(
                f"{unit.file}: no main function: the region needs a host that gives it data"
            )
        self._program = program
        self._open = ExitStack()
        self._folder = self._open.enter_context(scratch("hls"))
        folder = self._folder
        self._sources = Path(unit.file).resolve().parent
        self._runs = 0
        self._compiled = {False: folder / "host"}
        try:
            gcc = [(path,) for path in (shutil.which("gcc"),) if path is not None]
            # OpenMP may be missing from the compiler that simulators are built with.
            self._try([find_compiler().command, *gcc], self._compiled[False], host_text(program))
        except BaseException:
            self.close()
            raise

    @property
    def no_judge(self) -> str:
        """The reason that the unmodified program cannot judge the hardware; empty if it can."""
        if self._program.overruled:
            return "the teams are not those that the text says"
        return ""

    def _unmodified(self) -> Path:
        """The program with its region as it is, compiled: by gcc if it is there."""
        if True not in self._compiled:
            file = self._folder / "unmodified"
            text = host_text(self._program, unmodified=True)
            gcc = [(path,) for path in (shutil.which("gcc"),) if path is not None]
            self._try([*gcc, find_compiler().command], file, text)
            self._compiled[True] = file
        return self._compiled[True]

    def _try(self, compilers: Sequence[Sequence[str]], file: Path, text: str) -> None:
        """Compile with the first compiler that takes the text, in one of the ways.

        Raises:
            ToolError: none does; what the first one says.
        """
        first: ToolError | None = None
        for compiler, way in product(compilers, _WAYS):
            try:
                return self._compile((*compiler, *way), file, text)
            except ToolError as error:
                first = first or error
        assert first is not None
        raise first

    def _compile(self, compiler: Sequence[str], file: Path, text: str) -> None:
        source = file.with_suffix(".c")
        source.write_text(text, encoding="utf-8", errors="surrogateescape")
        constants = self._program.constants
        flags = [f"-D{name}={value}" for name, value in constants.defines.items()]
        others = [path.resolve() for path in self._program.link]
        folders = [*map(Path, constants.include), self._sources, *(p.parent for p in others)]
        flags += [f"-I{path}" for path in folders]
        command = [
            *compiler,
            "-x",
            "c",
            *_FLAGS,
            *flags,
            str(source),
            *map(str, others),
            "-o",
            str(file),
            _WRAPS,
            "-lm",
        ]
        what = f"{compiler[0]} -fopenmp"
        try:
            call([*command, _ZEROS], what=what, own=self._folder, read=folders, makes=file)
        except ToolError as error:
            if _ZEROS not in str(error):
                raise
            call(command, what=what, own=self._folder, read=folders, makes=file)

    def close(self) -> None:
        """Remove the compiled program."""
        self._open.close()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self,
        arguments: Sequence[str] = (),
        *,
        threads: int | None = None,
        unmodified: bool = False,
        inputs: Sequence[Mapping[str, bytes]] = (),
        times: int = 1,
    ) -> Native:
        """Run natively.

        Args:
            arguments: of the program.
            threads: of the region; None: as many as the hardware has.
            unmodified: the region with its directives as they are.
            inputs: contents of the external arrays when the region begins, for each time from the
                first on; then what the program has there. What it leaves without a value may
                differ from run to run.
            times: that the host comes to the region of which data are kept, at most.

        Raises:
            RunError: it crashes, never enters the region, or maps memory twice.
            EndlessError: it did not come to its end in time.
            ToolError: the unmodified program cannot be compiled.
        """
        program = self._unmodified() if unmodified else self._compiled[False]
        data = b"".join(map(self._packed, inputs))
        how = _Mode("given" if inputs else "record", data, len(inputs), times)
        found = self._recorded(how, arguments, threads, program)
        if len(found.reaches[-1].outputs) != len(self._arrays):
            raise RunError(
                f"{self._program.unit.file}: the program ended (status {found.status}) inside the "
                f"region"
            )
        return found

    def begin(self, arguments: Sequence[str] = ()) -> Native:
        """Run natively up to the region alone: there are no outputs.

        Args:
            arguments: of the program.

        Raises:
            RunError: it crashes, never enters the region, or maps memory twice.
        """
        return self._recorded(_Mode("resume"), arguments, None, self._compiled[False])

    def _recorded(
        self, how: _Mode, arguments: Sequence[str], threads: int | None, program: Path
    ) -> Native:
        data, stdout, status, reached = self._execute(how, arguments, threads, program)
        if not data:
            condition = " where its if clause is true" if self._program.target.condition else ""
            raise RunError(
                f"{self._program.unit.file}: the program ended (status {status}) without "
                f"entering the target region{condition}; give it other arguments"
            )
        reaches = self._reaches(data)
        return Native(reaches, stdout, status, reached or len(reaches))

    def replay(
        self,
        outputs: Mapping[str, bytes],
        arguments: Sequence[str] = (),
        *,
        inputs: Mapping[str, bytes] | None = None,
    ) -> tuple[bytes, int]:
        """Run with given results in the place of the region, the first time that it is entered.

        Args:
            outputs: contents of the external arrays after the region.
            arguments: of the program.
            inputs: contents of them before it; None: what the program has there.

        Returns:
            What it wrote to its standard output, and its exit status.

        Raises:
            RunError: it crashes.
        """
        data = self._packed(outputs)
        how = _Mode("replay", data, 1)
        if inputs is not None:
            how = _Mode("resume", self._packed(inputs) + data, 1)
        _, stdout, status, _ = self._execute(how, arguments, None, self._compiled[False])
        return stdout, status

    def resume(
        self, reaches: Sequence[Reach], arguments: Sequence[str] = (), *, times: int
    ) -> Resumed:
        """Run with given results in the place of the region, up to where it is entered once more.

        Args:
            reaches: the times that the host comes to the region which have results.
            arguments: of the program.
            times: that may have results, at most; later the host runs the region.

        Raises:
            RunError: it crashes.
        """
        data = b"".join(self._packed(r.inputs) + self._packed(r.outputs) for r in reaches)
        how = _Mode("resume", data, len(reaches), times)
        found, stdout, status, _ = self._execute(how, arguments, None, self._compiled[False])
        return Resumed(self._reaches(found)[0] if found else None, stdout, status)

    def _packed(self, arrays: Mapping[str, bytes]) -> bytes:
        return b"".join(struct.pack("<Q", len(arrays[n])) + arrays[n] for n in self._arrays)

    @property
    def _arrays(self) -> list[str]:
        return [a.name for a in self._program.region.arrays if a.place is Place.EXTERNAL]

    @property
    def _recorded_first(self) -> int:
        """The number of items recorded when the region begins; an empty one if it has no data."""
        return max(len(self._arrays) + len(self._program.scalars), 1)

    def _reaches(self, data: bytes) -> tuple[Reach, ...]:
        """The times that the host came to the region, as the hooks wrote them down."""
        parts, names = _parts(data), self._arrays
        first = self._recorded_first
        found = []
        for at in range(0, len(parts), first + len(names)):
            before, after = parts[at : at + first], parts[at + first : at + first + len(names)]
            scalars = before[len(names) : len(names) + len(self._program.scalars)]
            found.append(
                Reach(
                    dict(zip(names, before, strict=False)),
                    tuple(int.from_bytes(p, "little") for p in scalars),
                    dict(zip(names, after, strict=False)),
                )
            )
        return tuple(found)

    def _is_inside(self, data: bytes) -> bool:
        """Return whether the last thing that was recorded is the begin of a region."""
        parts = len(_parts(data))
        return parts % (self._recorded_first + len(self._arrays)) == self._recorded_first

    def _execute(
        self, how: _Mode, arguments: Sequence[str], threads: int | None, program: Path
    ) -> tuple[bytes, bytes, int, int]:
        """Run a program of the host.

        Returns:
            What the hooks wrote, what it printed, its exit status; how often it came to the region,
            if that is more than was asked for, else 0.
        """
        target = self._program.target
        # Of a league each thread of the unmodified program is the first of its team.
        is_first = program != self._compiled[False] and target.is_league
        has_team = target.is_parallel or bool(self._program.forks)
        levels = int(has_team and not is_first)
        self._runs += 1
        file, given = self._folder / "recorded", self._folder / "given"
        more = self._folder / f"{file.name}.reached"
        more.unlink(missing_ok=True)
        file.write_bytes(b"")
        given.write_bytes(how.data)
        team = str(threads or self._program.region.threads)
        teams, each = self._program.teams
        if threads is not None and threads != self._program.region.threads:
            is_league = target.is_league
            teams, each = (min(teams, 1) * threads, 1) if is_league else (1, threads)
        environment = {
            "CYCLESCOPE_HLS_MODE": how.name,
            "CYCLESCOPE_HLS_FILE": str(file),
            "CYCLESCOPE_HLS_DATA": str(given),
            "CYCLESCOPE_HLS_GIVEN": str(how.given),
            "CYCLESCOPE_HLS_TIMES": str(how.times),
            "CYCLESCOPE_HLS_FILES": str(self._folder / f"run-{self._runs}"),
            "CYCLESCOPE_HLS_THREADS": team,
            "CYCLESCOPE_HLS_TEAMS": str(teams),
            "CYCLESCOPE_HLS_EACH": str(each),
            "OMP_NUM_THREADS": str(each),
            "OMP_NUM_TEAMS": str(teams),
            "OMP_SCHEDULE": "static",
            # In the region; what the host's own may be, the hooks see to.
            "OMP_MAX_ACTIVE_LEVELS": str(levels),
            "OMP_TARGET_OFFLOAD": "disabled",
            "OMP_DYNAMIC": "false",
            "OMP_WAIT_POLICY": "passive",
        }
        command = [str(program), *arguments]
        # Hosts read their input from files beside them.
        policy = calculation(program, file.parent, read=(self._sources,))
        if current_trust().seconds is None:
            policy = replace(policy, seconds=_SECONDS)
        output, written = os.pipe()
        written_out = bytearray()
        try:
            try:
                running = Process(command, policy, env=environment, stdout=written)
            except OSError as error:
                raise unstartable(program, error) from error
            finally:
                os.close(written)
            with running:
                self._await(running, output, written_out, file)
                end = running.wait()
        finally:
            os.close(output)
        assert end is not None
        if end.exceeded:
            inside = self._is_inside(file.read_bytes())
            raise EndlessError(
                f"{self._program.region.where if inside else self._program.unit.file}: the native "
                f"run {end.exceeded}{' in the region' if inside else ''}; let it end, give it less "
                f"to do, or more time with --time-limit"
            )
        status, stdout = end.status, bytes(written_out)
        name = self._program.unit.file
        if status < 0:
            raise RunError(
                f"{name}: its native run was killed by signal {-status}; check it without hardware"
            )
        if status == _OVERLAP:
            first, second = (self._arrays[int(n)] for n in file.read_bytes().split())
            raise OverlapError(
                f"{self._program.region.where}: {first} and {second} are mapped to overlapping "
                f"memory; map it once",
                self._joined(first, second),
            )
        if status == _NOWHERE:
            pointer = self._arrays[int(file.read_bytes().split()[0])]
            raise RunError(
                f"{self._program.region.where}: {pointer} does not point to a block of malloc: say "
                f"what it points to, map(tofrom: {pointer}[0:count])"
            )
        if status in (_NO_FILE, _BAD_FILE):
            raise ToolError(f"{file}: the native run cannot write there, or the disk is full")
        reached = int(more.read_text("ascii")) if more.exists() else 0
        return file.read_bytes(), stdout, status, reached

    def _joined(self, *names: str) -> tuple[tuple[str, ...], ...]:
        """The blocks of the host's memory that are known, with one of these memories."""
        program = self._program
        found: list[str] = []
        for name in names:
            if name in program.heaps:
                found.append(f"{HEAP}{name}")
                continue
            parts = program.blocks.get(name) or [program.variables[name]]
            if not all(isinstance(v.type, Pointer | Array) for v in parts):
                return ()
            found += [v.name for v in parts]
        groups = merged(program.joined, tuple(found))
        return () if groups == program.joined else groups

    def _await(self, running: Process, output: int, stdout: bytearray, file: Path) -> None:
        """Collect what a process writes until it ends.

        Raises:
            RunError: it is in the region, and its threads wait for each other for ever.
        """
        idle, before = 0, ""
        while True:
            if select.select([output], [], [], _POLL)[0]:
                chunk = os.read(output, 1 << 16)
                if not chunk:
                    return
                stdout += chunk
                if len(stdout) > _MOST_OUTPUT:
                    raise RunError(
                        f"{self._program.unit.file}: its native run wrote more than "
                        f"{_MOST_OUTPUT >> 20} MB to its standard output; let it write less"
                    )
                continue
            now = _asleep(running.pid)
            idle = idle + 1 if now and now == before else 0
            before = now
            if idle < _IDLE:
                continue
            if self._is_inside(file.read_bytes()):
                raise RunError(
                    f"{self._program.region.where}: the native run hangs in the region: its "
                    f"threads wait for each other; let all of them reach every barrier"
                )


def _asleep(process: int) -> str:
    """The progress of a process, if all its threads sleep; empty if not, or if unknown."""
    done = []
    try:
        for task in sorted(Path(f"/proc/{process}/task").iterdir()):
            words = (task / "stat").read_text().rpartition(")")[2].split()
            if words[0] != "S":
                return ""
            done.append(f"{task.name} {words[11]} {words[12]}")
    except (OSError, IndexError):
        return ""
    return ", ".join(done)


def _parts(data: bytes) -> list[bytes]:
    parts = []
    position = 0
    while position + 8 <= len(data):
        (size,) = struct.unpack_from("<Q", data, position)
        parts.append(data[position + 8 : position + 8 + size])
        position += 8 + size
    return parts
