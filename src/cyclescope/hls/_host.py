"""Runs the host's side of a program: natively for data and reference, again with results."""

from __future__ import annotations

import os
import select
import struct
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._files import scratch
from cyclescope.errors import RunError, SourceError, ToolError
from cyclescope.hls._host_text import host_text
from cyclescope.hls._ir import Place
from cyclescope.sim import Process, calculation, call, find_compiler

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cyclescope.hls._compile import Program

__all__ = ["Host", "Native"]

# Floating point as written, also where `simd` would allow lanes of it, signed arithmetic that
# wraps: what the hardware does.
_FLAGS = (
    "-std=gnu11", "-O1", "-fopenmp", "-fno-tree-loop-vectorize", "-ffp-contract=off", "-fwrapv",
    "-w",
)  # fmt: skip
_NO_FILE, _BAD_FILE, _OVERLAP = 121, 122, 123
_MOST_OUTPUT = 256 << 20  # bytes
_POLL, _IDLE = 0.5, 4  # seconds between two looks; looks without any progress: it hangs


@dataclass(frozen=True, slots=True)
class Native:
    """A native run.

    Attributes:
        inputs: contents of the external arrays when the region began (the first time).
        scalars: bits of the host's scalars then, in the region's order.
        outputs: contents of the external arrays when it ended.
        stdout: what the whole program wrote there.
        status: its exit status.
    """

    inputs: dict[str, bytes]
    scalars: tuple[int, ...]
    outputs: dict[str, bytes]
    stdout: bytes
    status: int


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
        source = folder / "host.c"
        source.write_text(host_text(program), encoding="utf-8", errors="surrogateescape")
        compiler = find_compiler()
        constants = program.constants
        flags = [f"-D{name}={value}" for name, value in constants.defines.items()]
        self._sources = Path(unit.file).resolve().parent
        folders = [*map(Path, constants.include), self._sources]
        flags += [f"-I{path}" for path in folders]
        self._program_file = folder / "host"
        command = [*compiler.command, "-x", "c", *_FLAGS, *flags, str(source)]
        try:
            call(
                [*command, "-o", str(self._program_file), "-lm"],
                what=f"{compiler.command[0]} -fopenmp",
                own=folder,
                read=folders,
            )
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the compiled program."""
        self._open.close()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, arguments: Sequence[str] = (), *, threads: int | None = None) -> Native:
        """Run natively.

        Args:
            arguments: of the program.
            threads: of the region; None: as many as the hardware has.

        Raises:
            RunError: it crashes, never enters the region, or maps memory twice.
        """
        found = self._recorded("record", arguments, threads)
        if len(found.outputs) != len(self._arrays):
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
        return self._recorded("begin", arguments, None)

    def _recorded(self, mode: str, arguments: Sequence[str], threads: int | None) -> Native:
        data, stdout, status = self._execute(mode, b"", arguments, threads)
        if not data:
            condition = " where its if clause holds" if self._program.target.condition else ""
            raise RunError(
                f"{self._program.unit.file}: the program ended (status {status}) without "
                f"entering the target region{condition}; give it other arguments"
            )
        parts = _parts(data)
        names, count = self._arrays, self._recorded_first
        return Native(
            inputs=dict(zip(names, parts, strict=False)),
            scalars=tuple(int.from_bytes(p, "little") for p in parts[len(names) : count]),
            outputs=dict(zip(names, parts[count:], strict=False)),
            stdout=stdout,
            status=status,
        )

    def replay(
        self, outputs: Mapping[str, bytes], arguments: Sequence[str] = ()
    ) -> tuple[bytes, int]:
        """Run with given results in the place of the region (the first time it is entered).

        Args:
            outputs: contents of the external arrays after the region.
            arguments: of the program.

        Returns:
            What it wrote to its standard output, and its exit status.

        Raises:
            RunError: it crashes.
        """
        data = b"".join(struct.pack("<Q", len(outputs[n])) + outputs[n] for n in self._arrays)
        _, stdout, status = self._execute("replay", data, arguments, None)
        return stdout, status

    @property
    def _arrays(self) -> list[str]:
        return [a.name for a in self._program.region.arrays if a.place is Place.EXTERNAL]

    @property
    def _recorded_first(self) -> int:
        """How many items are recorded when the region begins."""
        return len(self._arrays) + len(self._program.lowered.scalars)

    def _execute(
        self, mode: str, data: bytes, arguments: Sequence[str], threads: int | None
    ) -> tuple[bytes, bytes, int]:
        file = self._folder / "data"
        file.write_bytes(data)
        environment = {
            "CYCLESCOPE_HLS_MODE": mode,
            "CYCLESCOPE_HLS_FILE": str(file),
            "CYCLESCOPE_HLS_THREADS": str(threads or self._program.region.threads),
            "OMP_DYNAMIC": "false",
            "OMP_WAIT_POLICY": "passive",
        }
        command = [str(self._program_file), *arguments]
        # Hosts read their input from files beside them.
        policy = calculation(self._program_file, file.parent, read=(self._sources,))
        output, written = os.pipe()
        written_out = bytearray()
        try:
            try:
                running = Process(command, policy, env=environment, stdout=written)
            finally:
                os.close(written)
            with running:
                self._await(running, output, written_out, file)
                end = running.wait()
        finally:
            os.close(output)
        assert end is not None
        if end.exceeded:
            raise RunError(
                f"{self._program.unit.file}: its native run {end.exceeded}; give it less to do, or"
                " --time-limit"
            )
        status, stdout = end.status, bytes(written_out)
        name = self._program.unit.file
        if status < 0:
            raise RunError(
                f"{name}: its native run was killed by signal {-status}; check it without hardware"
            )
        if status == _OVERLAP:
            first, second = (self._arrays[int(n)] for n in file.read_bytes().split())
            raise RunError(
                f"{self._program.region.where}: {first} and {second} are mapped to overlapping "
                f"memory; map it once"
            )
        if status in (_NO_FILE, _BAD_FILE):
            raise ToolError(f"{file}: the native run cannot write there, or the disk is full")
        return file.read_bytes(), stdout, status

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
            if len(_parts(file.read_bytes())) == self._recorded_first:
                raise RunError(
                    f"{self._program.region.where}: the native run hangs in the region: its "
                    f"threads wait for each other; let all of them reach every barrier"
                )


def _asleep(process: int) -> str:
    """How much a process has done, if all its threads sleep; empty if not, or if unknown."""
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
