"""Compile the generated program and run it: as another process, since the kernel is the user's."""

from __future__ import annotations

import os
import signal
import struct
import weakref
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope._files import scratch
from cyclescope.bounds._program import parameters, program_text
from cyclescope.errors import OutputError, RunError, SourceError, ToolError
from cyclescope.sim import Process, calculation, call, find_compiler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cyclescope.bounds._network import Network

__all__ = [
    "FLAGS",
    "Column",
    "EdgeRecord",
    "Kept",
    "Program",
    "Records",
    "TooManyFiringsError",
    "compile_c",
    "execute",
]

# Kernels' values must be those of a plain build: no contraction, no fast mathematics.
FLAGS = ("-std=gnu11", "-ffp-contract=off", "-fwrapv", "-w", "-g0")

_INDEX, _DIVISION, _MEMORY, _STAMP, _LIMIT = range(1, 6)

# At -Og a program compiles in half the time of -O1, but runs a quarter longer: right for kernels
# with fewer elements than this, which take no time to run.
_SMALL = 1 << 16


def compile_c(text: str, output: Path, flags: Sequence[str], *, read: Sequence[Path] = ()) -> None:
    """Compile a C text to a program.

    Args:
        text: the program.
        output: where to; the compiler may write to its folder.
        flags: for the compiler.
        read: files and folders that the compiler may read besides the system's.

    Raises:
        ToolError: there is no compiler, or it fails.
    """
    compiler = find_compiler()
    source = output.with_suffix(".c")
    source.write_text(text, encoding="utf-8")
    command = [*compiler.command, "-x", "c", *FLAGS, *flags, str(source), "-o", str(output), "-lm"]
    call(command, what=compiler.command[0], own=output.parent, read=read)


class _Result:
    """A program's result file, read where it is asked for; closed when nobody needs it any more."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._handle)

    def read(self, position: int, size: int) -> bytes:
        """Bytes from a position, as many as there are up to `size`."""
        return os.pread(self._handle, size, position)


class Column:
    """Whole numbers in a file that is read where it is asked for, so that it takes no memory.

    Args:
        file: the file.
        position: of the first number, in bytes.
        dtype: of a number.
        count: how many there are.
    """

    def __init__(self, file: _Result, position: int, dtype: str, count: int) -> None:
        self._file, self._position = file, position
        self._dtype, self._count = np.dtype(dtype), count

    def __len__(self) -> int:
        return self._count

    def window(self, begin: int, end: int) -> NDArray[np.int64]:
        """The numbers from `begin` to `end`; beyond both ends there are zeros."""
        result = np.zeros(end - begin, dtype=np.int64)
        first, last = max(begin, 0), min(end, self._count)
        if first < last:
            width = self._dtype.itemsize
            part = self._file.read(self._position + first * width, (last - first) * width)
            result[first - begin : last - begin] = np.frombuffer(part, dtype=self._dtype)
        return result


class EdgeRecord(NamedTuple):
    """What a run noted of the values that one process sent to one operand of another.

    Attributes:
        operand: number of the consumer's operand.
        producer: number of the process that sends.
        reads, tokens: how often a value was read, and how many different ones.
        falls, first_falls: whether ever an older value was read after a younger; and whether
            among the first reads of values.
        late: per estimate: cycles for which the free consumer waited for it.
        delayed: per estimate: how many firings did.
    """

    operand: int
    producer: int
    reads: int
    tokens: int
    falls: int
    first_falls: int
    late: tuple[int, int]
    delayed: tuple[int, int]


@dataclass
class Kept:
    """What a run with details noted.

    Attributes:
        taken: per process, cycles for which operands lay ready and the resource was taken.
        edges: by consumer.
        paths: per estimate, shape (processes, 3, 2): for the causes `end`, `value`, `resource`
            the firings on the critical path and their cycles.
    """

    taken: dict[int, int] = field(default_factory=dict)
    edges: dict[int, list[EdgeRecord]] = field(default_factory=dict)
    paths: dict[int, NDArray[np.int64]] = field(default_factory=dict)


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
        detail: what was noted of firings, if it was asked for.
    """

    processes: NDArray[np.int64]
    starts: dict[tuple[int, int], Column] = field(default_factory=dict)
    work: dict[tuple[int, int], tuple[int, Column]] = field(default_factory=dict)
    seen: list[int] = field(default_factory=list)
    tests: list[int] = field(default_factory=list)
    initial: dict[int, bytes] = field(default_factory=dict)
    final: dict[int, bytes] = field(default_factory=dict)
    detail: Kept | None = None


class _OverflowError(Exception):
    """A stamp did not fit; wider ones are needed."""


class TooManyFiringsError(Exception):
    """There are more firings than details are wanted of."""


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
        self._open = ExitStack()
        self._folder = self._open.enter_context(scratch("bounds"))
        self._built: dict[tuple[int, int, int, int], Path] = {}
        small = sum(storage.size for storage in network.storages) < _SMALL
        self._optimise = optimise or ("-Og" if small else "-O1")
        self.execute = execute

    def close(self) -> None:
        """Remove the folder."""
        self._open.close()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _build(self, width: int, absolute: int, unbounded: int, detail: int) -> Path:
        key = (width, absolute, unbounded, detail)
        if key not in self._built:
            output = self._folder / "_".join(map(str, key))
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
            TooManyFiringsError: there are more than `detail_limit`.
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
        folder = self._folder
        given, output = folder / "parameters", folder / "result"
        given.write_bytes(np.array(words, dtype=np.uint64).tobytes())
        command = [str(program), str(given), str(output)]
        if data is not None:
            (folder / "data").write_bytes(data)
            command.append(str(folder / "data"))
        status = self.execute(command, self._network.kernel)
        if status < 0:
            name = signal.Signals(-status).name
            raise RunError(
                f"{self._network.kernel}: the kernel crashed ({name}); run it under a debugger"
            )
        if status == 4:
            raise OutputError(f"{output}: cannot be written; make room")
        if status not in (0, 3):
            raise ToolError(f"{program}: ended with status {status}")
        # Open, it outlives its name and the folder.
        result = _Result(output)
        output.unlink()
        return self._read(result)

    def _read(self, file: _Result) -> Records:
        count = len(self._network.processes)
        records = Records(np.zeros((count, 5), dtype=np.int64))
        kept = Kept()
        position = 0
        while head := file.read(position, 32):
            tag, index, size, number = struct.unpack("<4Q", head)
            position += 32
            column = Column(file, position, f"u{size}", number)
            match tag:
                case 1:
                    self._fault(*struct.unpack("<4Qq", file.read(position, 40)))
                case 2:
                    records.processes[index] = column.window(0, number)
                case 3:
                    records.starts[index // 2, index % 2] = column
                case 4:
                    key = (index // 4, index % 4 // 2)
                    if index % 2 == 0:
                        shift = int(column.window(0, 1)[0])
                    else:
                        records.work[key] = (shift, column)
                case 5:
                    records.seen = column.window(0, number).tolist()
                case 6:
                    records.final[index] = file.read(position, size * number)
                case 7:
                    records.initial[index] = file.read(position, size * number)
                case 8:
                    records.tests = column.window(0, number).tolist()
                case 9:
                    records.detail = kept
                    kept.taken[index] = int(column.window(0, 1)[0])
                case 10:
                    row = column.window(0, number).tolist()
                    operand, producer, reads, tokens, falls, first_falls, *waits = row
                    edge = EdgeRecord(
                        operand, producer, reads, tokens, falls, first_falls,
                        late=(waits[0], waits[2]), delayed=(waits[1], waits[3]),
                    )  # fmt: skip
                    kept.edges.setdefault(index, []).append(edge)
                case 11:
                    kept.paths[index] = column.window(0, number).reshape(count, 3, 2)
            position += size * number
        return records

    def _fault(self, kind: int, place: int, storage: int, dimension: int, value: int) -> None:
        network = self._network
        if kind == _STAMP:
            raise _OverflowError
        if kind == _MEMORY:
            raise RunError(f"{network.kernel}: no memory for another {value} MB; use smaller sizes")
        if kind == _LIMIT:
            raise TooManyFiringsError
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


def execute(command: list[str], kernel: str) -> int:
    """Run a native program to its end, confined to the folder that it lies in.

    Returns:
        Its exit status; a signal's number below zero.

    Raises:
        RunError: it exceeded a limit.
    """
    program = Path(command[0])
    with Process(command, calculation(program, program.parent)) as running:
        end = running.wait()
    assert end is not None
    if end.exceeded:
        raise RunError(f"{kernel}: the kernel {end.exceeded}; give it less to do, or --time-limit")
    return end.status


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
