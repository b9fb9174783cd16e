"""Compile the generated program and run it: as another process, since the kernel is the user's."""

from __future__ import annotations

import os
import signal
import struct
import weakref
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope._files import scratch
from cyclescope.bounds._host import FLAGS
from cyclescope.bounds._program import parameters, program_text
from cyclescope.errors import OutputError, RunError, SourceError, ToolError
from cyclescope.sim import Process, calculation, call, find_compiler, unstartable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from cyclescope.bounds._host import Host
    from cyclescope.bounds._network import Network, Storage

__all__ = [
    "Call",
    "Column",
    "EdgeRecord",
    "Kept",
    "OutsideError",
    "Program",
    "Records",
    "TooManyFiringsError",
    "compile_c",
    "execute",
]

_INDEX, _DIVISION, _MEMORY, _TIME_STAMP, _LIMIT = range(1, 6)

# At -Og a program compiles in half the time of -O1, but runs a quarter longer: right for kernels
# with fewer elements than this, which take no time to run.
_SMALL = 1 << 16

_MOST_DETAIL = 2**31 - 1  # firings are numbered in 31 bits

MOST_CALLS = 1000
"""Calls that are profiled at most, unless a certain one is."""


def compile_c(text: str, output: Path, flags: Sequence[str], objects: Sequence[Path] = ()) -> None:
    """Compile a C text to a program, with some object files.

    Args:
        text: the program.
        output: where to; the compiler may write to its folder.
        flags: for the compiler.
        objects: files of the same folder to link.

    Raises:
        ToolError: there is no compiler, or it fails.
    """
    compiler = find_compiler()
    source = output.with_suffix(".c")
    source.write_text(text, encoding="utf-8")
    command = [*compiler.command, "-x", "c", *FLAGS, *flags, str(source), "-x", "none"]
    command += [*map(str, objects), "-o", str(output), "-lm"]
    call(command, what=compiler.command[0], own=output.parent, makes=output)


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
    """The record of the values that one process sent to one operand of another.

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
    """The records of a run with details.

    Attributes:
        edges: by consumer.
        paths: per estimate the parts of the critical path, shape (parts, 5): process, that of the
            next firing on it (or their number), cause (0 the end, 1 its result, 2 its resource),
            firings, cycles.
    """

    edges: dict[int, list[EdgeRecord]] = field(default_factory=dict)
    paths: dict[int, NDArray[np.int64]] = field(default_factory=dict)


class Call(NamedTuple):
    """A call of the kernel by the user's program.

    Attributes:
        number: counts from 1.
        absolute, unbounded: cycles.
        firings: of statements.
    """

    number: int
    absolute: int
    unbounded: int
    firings: int


@dataclass
class Records:
    """The records of a run.

    Attributes:
        processes: shape (processes, 5): firings, first and last start absolute, and unbounded.
        starts: (process, estimate) → starts in each cycle, exact.
        work: (process, estimate) → (shift, cycles of execution per 2^shift cycles).
        seen: per storage, odd if the kernel read what it had not written.
        skipped: firings that were not executed, since time stamps repeat.
        tests: how often each non-affine condition was tested.
        initial, final: values of parameters and globals by storage.
        taken: per process, cycles for which operands lay ready and the resource was taken.
        waits: per process and operand, without `detail`: cycles for which the free resource waited
            for it and how many firings did, absolute, then the same unbounded.
        detail: what was noted of firings, if it was asked for.
        trace: per process the rows of its trace (see `_runtime.h`), if it was asked for.
        result: the kernel's result, if it has one and values were asked for.
        plain: what `final` is after the kernel's own run, of the user's program; its result
            under -1.
        seconds: processor time of that run; 0 if there was none.
        calls: what each call came to, where the user's program made them.
        call: number of the call that all else is of; 0 if no program called it.
    """

    processes: NDArray[np.int64]
    starts: dict[tuple[int, int], Column] = field(default_factory=dict)
    work: dict[tuple[int, int], tuple[int, Column]] = field(default_factory=dict)
    seen: list[int] = field(default_factory=list)
    skipped: int = 0
    tests: list[int] = field(default_factory=list)
    initial: dict[int, bytes] = field(default_factory=dict)
    final: dict[int, bytes] = field(default_factory=dict)
    taken: dict[int, int] = field(default_factory=dict)
    waits: dict[int, NDArray[np.int64]] = field(default_factory=dict)
    detail: Kept | None = None
    trace: dict[int, Column] = field(default_factory=dict)
    result: bytes = b""
    plain: dict[int, bytes] = field(default_factory=dict)
    seconds: float = 0.0
    calls: tuple[Call, ...] = ()
    call: int = 0


class _OverflowError(Exception):
    """A time stamp did not fit; wider ones are needed."""


class OutsideError(SourceError):
    """The kernel left an array."""

    def __init__(self, message: str, array: Storage) -> None:
        super().__init__(message)
        self.array = array


class TooManyFiringsError(Exception):
    """There are more firings than details are wanted of."""


class Program:
    """A kernel's program; compiled in a folder of its own, once for each way to run it.

    Args:
        network, declarations: what `network_of` gives.
        optimise: the compiler's level.
        host: the user's program, if it is to call the kernel.
        made_up: whether values are made up for it.
        arguments: of the user's program.
        call: number of the call to profile; 0: every one.

    Attributes:
        execute: runs a command and gives its status.
        call: see above.
    """

    def __init__(
        self,
        network: Network,
        declarations: list[str],
        optimise: str | None = None,
        *,
        host: Host | None = None,
        made_up: bool = True,
        arguments: Sequence[str] = (),
        call: int = 0,
    ) -> None:
        self._network = network
        self._host, self._made_up = host, made_up
        self._arguments, self.call = tuple(arguments), call
        self._objects: list[Path] | None = None
        self._text = program_text(network, declarations, hosted=host is not None, made_up=made_up)
        self._open = ExitStack()
        self._folder = self._open.enter_context(scratch("bounds"))
        self._built: dict[tuple[int, ...], Path] = {}
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

    def _build(
        self, width: int, absolute: int, unbounded: int, detail: int, periods: int, limited: int,
        trace: int,
    ) -> Path:  # fmt: skip
        key = (width, absolute, unbounded, detail, periods, limited, trace)
        if key not in self._built:
            output = self._folder / "_".join(map(str, key))
            flags = [
                self._optimise,
                f"-DTIME_STAMP=uint{width}_t",
                f"-DABSOLUTE={absolute}",
                f"-DUNBOUNDED={unbounded}",
                f"-DDETAIL={detail}",
                f"-DPERIODS={periods}",
                f"-DLIMITED={limited}",
                f"-DTRACE={trace}",
            ]
            if self._host is not None:
                if self._objects is None:
                    made_up = self._network if self._made_up else None
                    self._objects = self._host.compile(self._folder, made_up)
                # What the linker doesn't need of the user's files may name what nobody defines.
                flags.append("-Wl,--gc-sections")
            compile_c(self._text, output, flags, self._objects or ())
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
        periods: int = 1,
        resources: int = 0,
        trace: bool = False,
    ) -> Records:
        """Run it; with a detail limit, also keep each firing's start and whom it waited for.

        With a `trace` besides what each firing read and wrote.

        With a number of `resources`, only one estimate is made, at the place of the unbounded one:
        each process has that many.

        Without details and values, loops whose time stamps repeat are not executed to the end
        (`_periods.h`), unless `periods` is 0; what is recorded is the same. If it is 2, that is
        tried everywhere, whatever it may gain.

        Time stamps have 64 bits if those of both estimates then take at most twice the kernel's own
        memory; else 32, and where these overflow, the kernel runs again with 64, once for each
        estimate (for both at once with details, or in the user's own program).

        Raises:
            SourceError: the kernel left an array or divided by zero.
            RunError: it crashed or ran out of memory.
            TooManyFiringsError: there are more than `detail_limit`.
        """
        words = parameters(
            self._network, read=read, write=write, memory=memory, dump=dump, resources=resources,
            detail_limit=min(detail_limit, _MOST_DETAIL),
        )  # fmt: skip
        detail = int(detail_limit > 0)
        sizes = [(s.size * s.type.bits // 8, s.size) for s in self._network.storages]
        own, elements = (sum(column) for column in zip(*sizes, strict=True)) if sizes else (0, 0)
        wide = 16 * elements <= 2 * own
        once = partial(self._once, words, data, limited=int(resources > 0), trace=int(trace))
        if resources:
            with suppress(_OverflowError):
                return once(32, 0, 1, 0, 0)
            return once(64, 0, 1, 0, 0)
        skips = periods if self._network.loops > 0 and not detail and not dump else 0
        try:
            if not wide:
                try:
                    return once(32, 1, 1, detail, skips)
                except _OverflowError:
                    pass
            if wide or detail or self._host is not None:
                return once(64, 1, 1, detail, skips)
            return _joined(once(64, 1, 0, 0, skips), once(64, 0, 1, 0, skips))
        except SourceError:
            if not skips:
                raise
        # What the kernel does wrong is said of the first place, which may have been skipped.
        return self.run(
            read=read, write=write, memory=memory, dump=dump, data=data,
            detail_limit=detail_limit, periods=0, trace=trace,
        )  # fmt: skip

    def _once(
        self, words: list[int], data: bytes | None, width: int, absolute: int, unbounded: int,
        detail: int, periods: int, *, limited: int, trace: int,
    ) -> Records:  # fmt: skip
        program = self._build(width, absolute, unbounded, detail, periods, limited, trace)
        folder = self._folder
        given, output = folder / "parameters", folder / "result"
        given.write_bytes(np.array(words, dtype=np.uint64).tobytes())
        if self._host is not None:
            return self._hosted(program, given, output, data)
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
            raise OutputError(f"{output}: cannot be written; free some space")
        if status not in (0, 3) or not output.exists():
            raise ToolError(f"{program}: ended with status {status}, without a result")
        # Open, it outlives its name and the folder.
        result = _Result(output)
        output.unlink()
        return self._read(result)

    def _hosted(self, program: Path, given: Path, output: Path, data: bytes | None) -> Records:
        """Run the user's own program, which calls the kernel."""
        folder = self._folder
        noted = folder / "calls"
        settings = {
            "CYCLESCOPE_PARAMETERS": str(given),
            "CYCLESCOPE_RESULT": str(output),
            "CYCLESCOPE_CALLS": str(noted),
            "CYCLESCOPE_CALL": str(self.call),
            "CYCLESCOPE_MOST": str(MOST_CALLS),
        }
        if data is not None:
            (folder / "data").write_bytes(data)
            settings["CYCLESCOPE_DATA"] = str(folder / "data")
        noted.unlink(missing_ok=True)
        command = [str(program), *self._arguments]
        readable = self._host.readable(self._arguments) if self._host is not None else []
        status = self.execute(command, self._network.kernel, settings, readable)
        kernel = self._network.kernel
        rows = np.fromfile(noted, dtype=np.uint64).reshape(-1, 4).tolist() if noted.exists() else []
        if rows and rows[-1][0] == 2**64 - 1:
            self._failed(rows[-1][1], output)
        if not rows:
            if status < 0:
                name = signal.Signals(-status).name
                raise RunError(f"{kernel}: the program crashed before its call ({name})")
            which = f"call {self.call} of {kernel}" if self.call else kernel
            raise RunError(
                f"{kernel}: main ended (status {status}) without {which}; "
                f"give what it needs after --"
            )
        calls = tuple(Call(*row) for row in rows)
        chosen = max(calls, key=lambda c: (c.absolute, -c.number))
        kept = output.with_name(f"{output.name}.{chosen.number}")
        result = _Result(kept)
        kept.unlink()
        records = self._read(result)
        records.calls, records.call = calls, chosen.number
        return records

    def _failed(self, code: int, output: Path) -> None:
        """Say what was wrong with the profiled run of a call."""
        kernel = self._network.kernel
        if code > 100:
            name = signal.Signals(code - 100).name
            raise RunError(f"{kernel}: the kernel crashed ({name}); run it under a debugger")
        if code == 3:
            result = _Result(output)
            output.unlink()
            self._read(result)
        raise OutputError(f"{output}: cannot be written; free some space")

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
                    records.taken[index] = int(column.window(0, 1)[0])
                case 13:
                    # Cycles of both estimates, then firings of both.
                    rows = column.window(0, number).reshape(-1, 2, 2)
                    records.waits[index] = rows.transpose(0, 2, 1).reshape(-1, 4)
                case 10:
                    records.detail = kept
                    row = column.window(0, number).tolist()
                    operand, producer, reads, tokens, falls, first_falls, *waits = row
                    edge = EdgeRecord(
                        operand, producer, reads, tokens, falls, first_falls,
                        late=(waits[0], waits[2]), delayed=(waits[1], waits[3]),
                    )  # fmt: skip
                    kept.edges.setdefault(index, []).append(edge)
                case 100:
                    records.plain[index] = file.read(position, size * number)
                case 101:
                    records.plain[-1] = file.read(position, size * number)
                case 102:
                    records.result = file.read(position, size * number)
                case 103:
                    records.seconds = int(column.window(0, 1)[0]) * 1e-9
                case 14:
                    records.trace[index] = column
                case 12:
                    records.skipped = int(column.window(0, 1)[0])
                case 11:
                    records.detail = kept
                    kept.paths[index] = column.window(0, number).reshape(-1, 5)
            position += size * number
        return records

    def _fault(self, kind: int, place: int, storage: int, dimension: int, value: int) -> None:
        network = self._network
        if kind == _TIME_STAMP:
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
        name = array.name.split(".")[0]
        if name in network.guessed:
            raise OutsideError(
                f"{site.where}: no caller says how many elements {name} points to, and "
                f"`{site.text}` needs more than one; give it with --arg {name}=…", array
            )  # fmt: skip
        raise OutsideError(
            f"{site.where}: {what} in `{site.text}` leaves the array; correct the bounds", array
        )


def execute(
    command: list[str],
    kernel: str,
    settings: Mapping[str, str] | None = None,
    read: Sequence[Path] = (),
) -> int:
    """Run a native program to its end, confined to the folder that it lies in.

    Args:
        command: program and arguments.
        kernel: whose it is, for messages.
        settings: added to the environment; with it the program is the user's own, runs where the
            user is and starts a process for each call that is profiled.
        read: files and folders that it may read.

    Returns:
        Its exit status; a signal's number below zero.

    Raises:
        RunError: it exceeded a limit.
        ToolError: what the compiler made does not start.
    """
    program = Path(command[0])
    policy = calculation(program, program.parent, read=read)
    if settings is not None:
        policy = replace(policy, alone=False)
    try:
        running = Process(command, policy, env=settings)
    except OSError as error:
        raise unstartable(program, error) from error
    with running:
        end = running.wait()
    assert end is not None
    if end.exceeded:
        raise RunError(f"{kernel}: the kernel {end.exceeded}; give it less to do, or --time-limit")
    return end.status


def _joined(absolute: Records, unbounded: Records) -> Records:
    absolute.skipped = min(absolute.skipped, unbounded.skipped)
    absolute.processes[:, 3:] = unbounded.processes[:, 3:]
    for process, rows in absolute.waits.items():
        rows[:, 2:] = unbounded.waits[process][:, 2:]
    for key in unbounded.starts.keys() | unbounded.work.keys():
        if key[1] == 1:
            absolute.starts.pop(key, None)
            if key in unbounded.starts:
                absolute.starts[key] = unbounded.starts[key]
            if key in unbounded.work:
                absolute.work[key] = unbounded.work[key]
    return absolute
