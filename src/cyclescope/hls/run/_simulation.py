"""Runs a machine in simulation: data in, cycles and data out, what went wrong as text."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cyclescope._files import scratch, unwritable
from cyclescope.errors import DataError, RunError
from cyclescope.hls.ir import Op, Place
from cyclescope.hls.microarch import BANK_BITS, BANKS, FOLD, LINE, LINE_BITS, bank_of
from cyclescope.hls.run._memory_model import MemoryModel
from cyclescope.hls.run._models import with_models
from cyclescope.hls.run._testbench import LAST_WORDS, Host, config_words, dram, harness
from cyclescope.hls.run._watch import captures, watch, watch_modules
from cyclescope.hls.trace import layout_of
from cyclescope.sim import Design, StopReason, build, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from cyclescope.hls.ir import Array
    from cyclescope.hls.microarch import Access, Machine
    from cyclescope.sim import Capture

__all__ = [
    "TRACE_LINES",
    "HardwareRun",
    "Setup",
    "arrays_of",
    "prepare",
    "read_back",
    "run_setup",
    "set_up",
    "trace_of",
]

# Arrays begin at multiples of a page, with a page between them.
_PAGE = 4096
_FEWEST_LINES = 4096

_LIMIT = 1 << 32

# Cycles without any movement until the bench gives up. Requests that a bank has taken count as
# movement, but a profiling unit's go before the threads': memory that is slow lets these wait.
_PATIENCE = 1000
_PATIENCE_TRACED = 1 << 17

TRACE_LINES = 1 << 14
"""Lines of a profiling unit's region by default: a megabyte."""


@dataclass(frozen=True)
class HardwareRun:
    """The result of a run.

    Attributes:
        cycles: from the start of the first thread until the last is over and memory at rest.
        complete: it came to its own end; one that was cut may have a trace all the same.
        stop_reason: why it ended, in the words of sim's `StopReason`.
        seconds: wall time of the simulation.
        arrays: external array → its bytes after the run; empty if it is not complete.
        capture: what was captured.
        trace: the profiling unit's region of memory; empty if there is none.
    """

    cycles: int
    complete: bool
    stop_reason: str
    seconds: float
    arrays: Mapping[str, bytes]
    capture: Capture | None = field(repr=False, default=None)
    trace: bytes = field(repr=False, default=b"")


@dataclass(frozen=True)
class Layout:
    """The layout of the external arrays: their bases, and the lines that a bank needs."""

    bases: tuple[int, ...]
    lines: int


def externals(machine: Machine) -> list[Array]:
    """The external arrays, in order."""
    return [a for a in machine.region.arrays if a.place is Place.EXTERNAL]


def lay_out(sizes: Sequence[int]) -> Layout:
    """Places arrays of these sizes one after the other.

    Raises:
        DataError: they need more than the accelerator can address.
    """
    bases, at = [], _PAGE
    for size in sizes:
        bases.append(at)
        at += (-(-size // _PAGE) + 1) * _PAGE
    if at >= _LIMIT:
        raise DataError(f"the arrays need {at} bytes; the accelerator can address {_LIMIT}")
    lines = max(_FEWEST_LINES, 1 << (at // LINE // BANKS).bit_length())
    return Layout(tuple(bases), lines)


def prepare(
    machine: Machine, lines: int, *, profiled: bool = False, unit_rtl: bool = False
) -> Design:
    """The machine with its testbench, ready to be built.

    Args:
        machine: what to simulate.
        lines: of memory in each bank.
        profiled: capture what a profile is made of.
        unit_rtl: simulate arithmetic units by their RTL, not by models.
    """
    files = {**machine.sources} if unit_rtl else with_models(machine.sources)
    files["dram.v"] = dram()
    inside = ""
    if profiled:
        files["watch.v"] = watch_modules(machine)
        inside = watch(machine)
    return Design(
        "bench",
        files,
        capture=captures(machine) if profiled else (),
        harness=harness(machine, lines, inside),
    )


@dataclass(frozen=True)
class Setup:
    """A run that is about to be made: what the bench is told, and what is in the memories.

    Attributes:
        machine: what to simulate.
        arrays: external array → its bytes.
        host: what the host says.
        memory: timing of the external memory.
        layout: where the arrays are.
        trace_lines: lines of memory that a profiling unit has; 0 without one.
        profiled: capture what a profile is made of.
    """

    machine: Machine
    arrays: Mapping[str, bytes] = field(repr=False)
    host: Host
    memory: MemoryModel
    layout: Layout
    trace_lines: int
    profiled: bool

    def write(self, folder: Path) -> None:
        """Write `config.hex` and `bank0.hex` … into a folder."""
        write_inputs(folder, self.machine, self.arrays, self.host, self.memory, self.layout)


def set_up(
    machine: Machine,
    arrays: Mapping[str, bytes],
    scalars: Sequence[int] = (),
    *,
    team: int | None = None,
    only: int | None = None,
    memory: MemoryModel | None = None,
    in_order: bool = False,
    start_cost: int = 0,
    cycle_limit: int | None = None,
    period: int | None = None,
    trace_lines: int = TRACE_LINES,
) -> Setup:
    """Prepares a run.

    Args:
        machine: what to simulate.
        arrays: external array → its bytes.
        scalars: bit patterns of the region's scalars.
        team: threads to start, at most the machine's; all if absent.
        only: start this one of them alone; all if absent. Barriers then wait for it alone.
        memory: timing of the external memory.
        in_order: no thread overtakes another in a variable-latency stage.
        start_cost: cycles that the host needs to start each further thread.
        cycle_limit: stop after so many cycles.
        period: cycles between two samples of a profile's counters; None: nothing is captured.
        trace_lines: of 64 bytes in the region of a profiling unit, if there is one.

    Raises:
        DataError: an array is missing or too large, or the team does not fit.
    """
    team = machine.threads if team is None else team
    if not 1 <= team <= machine.threads:
        raise DataError(f"{team} threads: the hardware has 1 to {machine.threads}")
    if only is not None and not 0 <= only < team:
        raise DataError(f"thread {only}: there are threads 0 to {team - 1}")
    places = externals(machine)
    if missing := [a.name for a in places if a.name not in arrays]:
        raise DataError(f"no data for {', '.join(missing)}")
    sizes = [len(arrays[a.name]) for a in places]
    if layout_of(machine) is None:
        trace_lines = 0
    # The trace has a bank to itself: of each group of lines the one that lies in bank 0.
    layout = lay_out([*sizes, LINE * BANKS * trace_lines])
    host = Host(
        team,
        in_order,
        start_cost,
        layout.bases[:-1],
        sizes,
        scalars,
        only=0 if only is None else only + 1,
        period=period or 1,
        patience=_PATIENCE if layout_of(machine) is None else _PATIENCE_TRACED,
        trace=(layout.bases[-1] // BANKS, unit_lines(machine, trace_lines)),
        stop_at=cycle_limit or 0,
    )
    return Setup(
        machine, arrays, host, memory or MemoryModel(), layout, trace_lines, period is not None
    )


def run_setup(
    setup: Setup,
    *,
    progress: Callable[[int, float], object] | None = None,
    unit_rtl: bool = False,
    optimise: str = "-O1",
) -> HardwareRun:
    """Simulates a run that has been prepared.

    Args:
        setup: the run.
        progress: called a few times a second with (cycles, seconds) so far.
        unit_rtl: simulate arithmetic units by their RTL, not by models.
        optimise: the C++ compiler's flag for the simulator; hardware that runs once and not for
            long is there sooner with "-O0".

    Raises:
        RunError: an access out of range, a deadlock, or a simulation that failed.
        ToolError: a compiler is missing or fails.
        OutputError: no space for the simulation's files.
    """
    machine, layout = setup.machine, setup.layout
    cycle_limit = setup.host.stop_at or None
    limit = cycle_limit
    if limit is not None and layout_of(machine) is not None:
        limit += LAST_WORDS
    design = prepare(machine, layout.lines, profiled=setup.profiled, unit_rtl=unit_rtl)
    built = build(design, optimise=optimise)
    try:
        with scratch("data") as folder:
            setup.write(folder)
            result = run(
                built,
                cycle_limit=limit,
                progress=progress,
                arguments=(f"+RUN={folder}",),
                files=folder,
            )
            said = re.search(r"^CYC (.*)$", result.output, re.MULTILINE)
            # Cut by the limit, or by whoever stopped it: the trace is there all the same.
            cut = said is not None and said[1] == "cut"
            if said is not None and not cut:
                raise RunError(_wrong(machine, said[1].split()))
            if result.stop_reason == "failed":
                raise RunError(f"the simulation failed: {result.message}; please report this")
            image = b""
            if result.complete:
                image = read_back(folder, layout)
            elif cut:
                # The time that it had to write the memory was perhaps too short.
                with suppress(OSError, ValueError):
                    image = read_back(folder, layout)
    except OSError as error:
        raise unwritable(tempfile.gettempdir(), error) from error
    complete = result.complete and not cut
    reason = StopReason.LIMIT if cut and result.complete else result.stop_reason
    return HardwareRun(
        cycle_limit if cycle_limit and reason is StopReason.LIMIT else result.cycles,
        complete,
        str(reason),
        result.seconds,
        arrays_of(setup, image) if complete else {},
        result.capture,
        trace_of(setup, image),
    )


def unit_lines(machine: Machine, trace_lines: int) -> int:
    """The lines of a profiling unit that fit in so many lines of the memory."""
    layout = layout_of(machine)
    return 0 if layout is None else trace_lines * LINE_BITS // layout.line_bits


def write_inputs(
    folder: Path,
    machine: Machine,
    arrays: Mapping[str, bytes],
    host: Host,
    memory: MemoryModel,
    layout: Layout,
) -> None:
    """Writes `config.hex` and `bank0.hex` … into a folder."""
    words = config_words(host, memory)
    (folder / "config.hex").write_text("".join(f"{w & (1 << 64) - 1:x}\n" for w in words), "ascii")
    image = np.zeros(layout.lines * BANKS * LINE, np.uint8)
    for array, base in zip(externals(machine), layout.bases, strict=False):
        data = np.frombuffer(arrays[array.name], np.uint8)
        image[base : base + len(data)] = data
    lines = image.reshape(-1, LINE)
    order = _bank_order(layout.lines)
    for bank in range(BANKS):
        # The highest byte first, as a number is written.
        text = lines[order[bank]][:, ::-1].tobytes().hex()
        step = 2 * LINE
        with (folder / f"bank{bank}.hex").open("w", encoding="ascii") as file:
            file.writelines(text[i : i + step] + "\n" for i in range(0, len(text), step))


def _bank_order(lines: int) -> list[NDArray[np.int64]]:
    """For each bank the numbers of its lines in all memory."""
    local = np.arange(lines, dtype=np.int64)
    fold = np.zeros(lines, np.int64)
    for pair in range(FOLD - 1):  # of the number's bits above the lowest
        fold ^= local >> BANK_BITS * pair & BANKS - 1
    return [local * BANKS + (fold ^ bank) for bank in range(BANKS)]


def read_back(folder: Path, layout: Layout) -> bytes:
    """All of memory, as the banks left it.

    Raises:
        OSError: a bank is not whole: the disk was full, which the simulator does not notice.
    """
    image = np.zeros((layout.lines * BANKS, LINE), np.uint8)
    order = _bank_order(layout.lines)
    assert all(bank_of(int(line)) == 1 for line in order[1][:64].tolist())
    for bank in range(BANKS):
        file = folder / f"bank{bank}.out"
        words = [w for w in file.read_text("ascii").split("\n") if w and w[0] not in "/@"]
        digits = "".join(words)
        if len(digits) != 2 * LINE * layout.lines:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
        data = np.frombuffer(bytes.fromhex(digits), np.uint8).reshape(-1, LINE)
        image[order[bank]] = data[:, ::-1]
    return image.tobytes()


def arrays_of(setup: Setup, image: bytes) -> dict[str, bytes]:
    """The external arrays of a run, by name, in all of memory."""
    places = zip(externals(setup.machine), setup.layout.bases, setup.host.sizes, strict=False)
    return {a.name: image[base : base + size] for a, base, size in places}


def trace_of(setup: Setup, image: bytes) -> bytes:
    """The region of the profiling unit in all of memory: lines of bank 0."""
    first = setup.host.trace[0] // LINE
    lines = np.frombuffer(image, np.uint8).reshape(-1, LINE)
    order = _bank_order(setup.layout.lines)[0][first : first + setup.trace_lines]
    return lines[order].tobytes() if image else b""


def _wrong(machine: Machine, words: Sequence[str]) -> str:
    """Explain what the bench reported."""
    if words[0] == "fault":
        return _fault(machine.accesses[int(words[1])], int(words[2]), int(words[3]))
    clock, finished, waits = words[1], int(words[2], 16), int(words[3], 16)
    parts = []
    for thread in range(machine.threads):
        at = [w for w in machine.waits if waits >> (w.low + thread) & 1 and w.node.op in _NAMES]
        if finished >> thread & 1:
            parts.append(f"thread {thread} is over")
        elif at:
            places = " and ".join(f"{_NAMES[w.node.op]} of line {w.node.where.line}" for w in at)
            parts.append(f"thread {thread} waits in the {places}")
    where = machine.region.where
    return (
        f"{where.file}:{where.line}: deadlock in cycle {clock}: {'; '.join(parts)}; make sure that"
        " all threads reach the same barriers and that no thread waits for a lock that never comes"
    )


_NAMES = {
    Op.BARRIER: "barrier",
    Op.ACQUIRE: "critical section",
    Op.LOAD: "load",
    Op.STORE: "store",
    Op.COPY: "copy",
}


def _fault(access: Access, thread: int, offset: int) -> str:
    node, array = access.node, access.array
    place = offset - (1 << 64) if offset >> 63 else offset
    where = f"{node.where.file}:{node.where.line}: thread {thread}"
    if array.beyond:
        return f"{where} {array.beyond}"
    if node.op is Op.COPY:
        end = "to" if array is node.array else "from"
        return (
            f"{where} copies {end} byte {place} of {array.name}: out of range; correct the"
            " bounds of the loop or the map"
        )
    bits = node.widths[0] if node.op is Op.LOAD else node.operands[1].width
    verb = "reads" if node.op is Op.LOAD else "writes"
    how = f"{verb} {bits // 8} bytes at byte {place} of {array.name}"
    if place >= 0 and place % (bits // 8):
        return (
            f"{where} {how}: not at a multiple of its size; align the access, or make sure that"
            " it stays in its array"
        )
    return f"{where} {how}: out of range; correct the index or the map"
