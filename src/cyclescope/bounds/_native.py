"""Compile the generated program and run it: as another process, since the kernel is the user's."""

from __future__ import annotations

import signal
import struct
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope.bounds._program import parameters, program_text
from cyclescope.errors import OutputError, RunError, SourceError, ToolError
from cyclescope.sim import call, find_compiler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cyclescope.bounds._network import Network

__all__ = ["FLAGS", "Program", "Records", "compile_c", "execute"]

# Kernels' values must be those of a plain build: no contraction, no fast mathematics.
FLAGS = ("-std=gnu11", "-ffp-contract=off", "-fwrapv", "-w", "-g0")

_FAULT, _PROCESS, _START, _WORK, _SEEN, _FINAL, _INITIAL, _DETAIL, _TESTS = range(1, 10)
_INDEX, _DIVISION, _MEMORY, _STAMP, _LIMIT = range(1, 6)

# At -Og a program compiles in half the time of -O1, but runs a quarter longer: right for kernels
# with fewer elements than this, which take no time to run.
_SMALL = 1 << 16

_DETAIL_TYPES = {0: "u4", 3: "u4"}


def compile_c(text: str, output: Path, flags: Sequence[str]) -> None:
    """Compile a C text to a program.

    Raises:
        ToolError: there is no compiler, or it fails.
    """
    compiler = find_compiler()
    source = output.with_suffix(".c")
    source.write_text(text, encoding="utf-8")
    command = [*compiler.command, "-x", "c", *FLAGS, *flags, str(source), "-o", str(output), "-lm"]
    call(command, what=compiler.command[0])


@dataclass
class Records:
    """What a run left.

    Attributes:
        processes: shape (processes, 5): firings, first and last start absolute, and unbounded.
        starts: (process, estimate) → starts in each cycle, exact.
        work: (process, estimate) → (shift, cycles of execution per 2^shift cycles).
        seen: per storage, odd if the kernel read what it had not written.
        tests: how often each non-affine condition was tested.
        initial, final: values of parameters and globals by storage.
        detail: process → firing numbers, starts absolute and unbounded, writers.
    """

    processes: NDArray[np.int64]
    starts: dict[tuple[int, int], NDArray[Any]] = field(default_factory=dict)
    work: dict[tuple[int, int], tuple[int, NDArray[np.int64]]] = field(default_factory=dict)
    seen: list[int] = field(default_factory=list)
    tests: list[int] = field(default_factory=list)
    initial: dict[int, bytes] = field(default_factory=dict)
    final: dict[int, bytes] = field(default_factory=dict)
    detail: dict[int, list[NDArray[Any]]] = field(default_factory=dict)


class _OverflowError(Exception):
    """A stamp did not fit; wider ones are needed."""


class Program:
    """A kernel's program; compiled in a folder of its own, once for each way to run it.

    Attributes:
        execute: runs a command and gives its status.
    """

    def __init__(
        self, network: Network, declarations: list[str], optimise: str | None = None
    ) -> None:
        self._network = network
        self._text = program_text(network, declarations)
        self._folder = tempfile.TemporaryDirectory(prefix="cyclescope-bounds-")
        self._built: dict[tuple[int, int, int, int], Path] = {}
        small = sum(storage.size for storage in network.storages) < _SMALL
        self._optimise = optimise or ("-Og" if small else "-O1")
        self.execute = execute

    def close(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _build(self, width: int, absolute: int, unbounded: int, detail: int) -> Path:
        key = (width, absolute, unbounded, detail)
        if key not in self._built:
            output = Path(self._folder.name) / "_".join(map(str, key))
            flags = [
                self._optimise,
                f"-DSTAMP=uint{width}_t",
                f"-DABSOLUTE={absolute}",
                f"-DUNBOUNDED={unbounded}",
                f"-DDETAIL={detail}",
            ]
            compile_c(self._text, output, flags)
            self._built[key] = output
        return self._built[key]

    def run(
        self,
        *,
        read: int,
        write: int,
        memory: int,
        dump: bool = False,
        data: bytes | None = None,
        detail_limit: int = 0,
    ) -> Records:
        """Run it; with a detail limit, also keep each firing's start and whom it waited for.

        Stamps are as narrow as three times the kernel's memory allows for both estimates
        together; where they overflow, wide ones follow, one estimate after the other if the
        memory asks for it.

        Raises:
            SourceError: the kernel left an array or divided by zero.
            RunError: it crashed or ran out of memory.
        """
        words = parameters(
            self._network, read=read, write=write, memory=memory, detail_limit=detail_limit,
            dump=dump,
        )  # fmt: skip
        detail = int(detail_limit > 0)
        sizes = [(s.size * s.type.bits // 8, s.size) for s in self._network.storages]
        own, elements = (sum(column) for column in zip(*sizes, strict=True)) if sizes else (0, 0)
        wide = 16 * elements <= 2 * own
        if not wide:
            try:
                return self._once(words, data, 32, 1, 1, detail)
            except _OverflowError:
                pass
        if wide or detail:
            return self._once(words, data, 64, 1, 1, detail)
        absolute = self._once(words, data, 64, 1, 0, 0)
        unbounded = self._once(words, data, 64, 0, 1, 0)
        return _joined(absolute, unbounded)

    def _once(
        self, words: list[int], data: bytes | None, width: int, absolute: int, unbounded: int,
        detail: int,
    ) -> Records:  # fmt: skip
        program = self._build(width, absolute, unbounded, detail)
        folder = Path(self._folder.name)
        given, output = folder / "parameters", folder / "result"
        given.write_bytes(np.array(words, dtype=np.uint64).tobytes())
        command = [str(program), str(given), str(output)]
        if data is not None:
            (folder / "data").write_bytes(data)
            command.append(str(folder / "data"))
        status = self.execute(command)
        if status < 0:
            name = signal.Signals(-status).name
            raise RunError(
                f"{self._network.kernel}: the kernel crashed ({name}); run it under a debugger"
            )
        if status == 4:
            raise OutputError(f"{output}: cannot be written; make room")
        if status not in (0, 3):
            raise ToolError(f"{program}: ended with status {status}")
        raw = output.read_bytes()
        output.unlink()
        return self._read(raw, width)

    def _read(self, raw: bytes, width: int) -> Records:
        count = len(self._network.processes)
        records = Records(np.zeros((count, 5), dtype=np.int64))
        stamp = f"u{width // 8}"
        position = 0
        while position < len(raw):
            tag, index, size, number = struct.unpack_from("<4Q", raw, position)
            position += 32
            body = memoryview(raw)[position : position + size * number]
            position += size * number
            match tag:
                case 1:
                    self._fault(*struct.unpack("<4Qq", body))
                case 2:
                    records.processes[index] = np.frombuffer(body, dtype=np.int64)
                case 3:
                    key = (index // 2, index % 2)
                    records.starts[key] = np.frombuffer(body, dtype=f"u{size}")
                case 4:
                    key = (index // 4, index % 4 // 2)
                    if index % 2 == 0:
                        shift = int(np.frombuffer(body, dtype=np.int64)[0])
                        records.work[key] = (shift, np.zeros(0, dtype=np.int64))
                    else:
                        row = np.frombuffer(body, dtype=np.int64)
                        records.work[key] = (records.work[key][0], row)
                case 5:
                    records.seen = np.frombuffer(body, dtype=np.uint64).tolist()
                case 6:
                    records.final[index] = bytes(body)
                case 7:
                    records.initial[index] = bytes(body)
                case 8:
                    kind = _DETAIL_TYPES.get(index % 4, stamp)
                    own = records.detail.setdefault(index // 4, [])
                    own.append(np.frombuffer(body, dtype=kind))
                case 9:
                    records.tests = np.frombuffer(body, dtype=np.uint64).tolist()
        return records

    def _fault(self, kind: int, place: int, storage: int, dimension: int, value: int) -> None:
        network = self._network
        if kind == _STAMP:
            raise _OverflowError
        if kind == _MEMORY:
            raise RunError(f"{network.kernel}: no memory for another {value} MB; use smaller sizes")
        if kind == _LIMIT:
            raise RunError(f"{network.kernel}: more than {value} firings; do without the details")
        site = network.sites[place]
        if kind == _DIVISION:
            raise SourceError(f"{site.where}: integer division by zero in `{site.text}`")
        array = network.storages[storage]
        if dimension == 99:
            what = f"element {value} of {array.name}, which has {array.size},"
        else:
            what = f"subscript {value} of {array.name}, extent {array.dims[dimension]}"
            what += f" (dimension {dimension + 1})," if len(array.dims) > 1 else ","
        raise SourceError(
            f"{site.where}: {what} in `{site.text}` leaves the array; mend the bounds"
        )


def execute(command: list[str]) -> int:
    """Run to the end; an interruption ends the program too."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as running:
        try:
            return running.wait()
        except BaseException:
            running.kill()
            running.wait()
            raise


def _joined(absolute: Records, unbounded: Records) -> Records:
    absolute.processes[:, 3:] = unbounded.processes[:, 3:]
    for key in unbounded.starts.keys() | unbounded.work.keys():
        if key[1] == 1:
            absolute.starts.pop(key, None)
            if key in unbounded.starts:
                absolute.starts[key] = unbounded.starts[key]
            if key in unbounded.work:
                absolute.work[key] = unbounded.work[key]
    return absolute
