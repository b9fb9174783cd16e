"""Runs a built design: data in, progress, limits and interruption, memories and capture out."""

from __future__ import annotations

import os
import re
import selectors
import signal
import tempfile
import time
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from cyclescope._files import scratch, unwritable
from cyclescope.errors import DataError, OutputError, RunError
from cyclescope.sim._confine import Confine, calculation, current_trust
from cyclescope.sim._memory import check_data, decode_memory, encode_memory
from cyclescope.sim._phases import phase
from cyclescope.sim._process import Process, unstartable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cyclescope.sim._build import Built
    from cyclescope.sim._capture import Capture
    from cyclescope.sim._memory import MemoryData

__all__ = ["RunResult", "StopReason", "run"]

PROGRESS_SECONDS = 0.25
# A simulation that was told to end has a second; a system that stops us waits for two.
GRACE_SECONDS = 1.0
HANG_SECONDS = 900.0
KEPT_OUTPUT = 1 << 16
KEPT_MESSAGE = 400


class StopReason(StrEnum):
    """The reason for which a run ended."""

    DONE = "done"
    """The testbench saw the end it waits for."""
    LIMIT = "limit"
    """It reached the cycle limit."""
    INTERRUPTED = "interrupted"
    """The user (Ctrl-C) or the system stopped it."""
    FINISH = "finish"
    """The design called `$finish`."""
    FAILED = "failed"
    """The design called `$fatal`, `$error` or `$stop`, or its simulation crashed."""


@dataclass(frozen=True)
class RunResult:
    """The result of a run.

    Attributes:
        cycles: those that were over when it ended; for a crashed simulation those reported.
        stop_reason: why it ended.
        message: more about that, of a failed run the simulator's own words and the instance that
            said them; one line, empty if there is nothing to add.
        seconds: wall time of the simulation.
        memories: the external memories after the run, in the form of the data; none if the
            simulation failed before it wrote them.
        capture: what was captured; None if nothing was to be, or the program fell at once.
        output: the end of what the design printed.
    """

    cycles: int
    stop_reason: StopReason
    message: str
    seconds: float
    memories: MemoryData
    capture: Capture | None
    output: str

    @property
    def complete(self) -> bool:
        """Did the run come to its own end?"""
        return self.stop_reason is StopReason.DONE


def run(
    built: Built,
    *,
    data: Mapping[str, object] | None = None,
    cycle_limit: int | None = None,
    progress: Callable[[int, float], object] | None = None,
    arguments: Sequence[str] = (),
    files: Path | None = None,
) -> RunResult:
    """Runs a design to its end.

    A run that reaches the limit, is interrupted or fails leaves a result too, with everything up
    to there. Ctrl-C ends the run, not the caller.

    Args:
        built: the program.
        data: memory → its data and format; for exactly the design's memories.
        cycle_limit: stop after so many cycles.
        progress: called a few times a second with (cycles so far, seconds so far).
        arguments: plusargs for the design.
        files: a folder that the design may read and write besides its own.

    Raises:
        DataError: the data is not what the design's memories need.
        OutputError: no space for the capture or the memories.
        RunError: the design does not settle (a combinational loop).
        ToolError: the program does not start.
    """
    memories, data = built.design.memories, data or {}
    if cycle_limit is not None and cycle_limit < 0:
        raise RunError(f"cycle limit {cycle_limit}: must not be negative")
    check_data(memories, data)
    texts = {m.name: encode_memory(m, data[m.name]) for m in memories}
    try:
        with scratch("run") as folder:
            for memory, text in texts.items():
                (folder / f"{memory}.dat").write_text(text, "ascii")
            phase("simulating")
            child = _Child(progress)
            started = time.monotonic()
            child.run(built, folder, files, _command(built, folder, cycle_limit, arguments))
            seconds = time.monotonic() - started
            return _result(built, folder, data, child, seconds)
    except OSError as error:
        raise unwritable(tempfile.gettempdir(), error) from error


def _command(
    built: Built, folder: Path, cycle_limit: int | None, arguments: Sequence[str]
) -> list[str]:
    command = [str(built.program), f"period={PROGRESS_SECONDS}"]
    if built.design.capture:
        command.append(f"capture={folder / 'capture'}")
    if cycle_limit is not None:
        command.append(f"limit={cycle_limit}")
    return [*command, "--", f"+DATA={folder}", *arguments]


@dataclass
class _Child:
    """The simulation's process, watched until it is gone."""

    progress: Callable[[int, float], object] | None
    cycles: int = 0
    reason: str = ""
    message: str = ""
    output: bytearray = field(default_factory=bytearray)
    status: int = 0

    def run(self, built: Built, folder: Path, files: Path | None, command: list[str]) -> None:
        policy = calculation(built.program, folder, simulation=True)
        if files is not None:
            policy = replace(policy, write=(*policy.write, files))
        report, theirs = os.pipe()
        output, written = os.pipe()
        try:
            process = Process(
                [command[0], f"report={theirs}", *command[1:]],
                policy,
                # Where a design that is trusted leaves its files.
                cwd=None if current_trust().confine is Confine.OFF else folder,
                stdout=written,
                stderr=written,
                keep=(theirs,),
            )
        except OSError as error:
            os.close(report)
            os.close(output)
            raise unstartable(built.program, error) from error
        finally:
            os.close(theirs)
            os.close(written)
        try:
            with process:
                self._watch(process, report, output)
                end = process.wait()
            assert end is not None
            self.status = end.status
            if end.exceeded:
                self.reason = StopReason.FAILED
                self.message = f"the simulation {end.exceeded}"
        finally:
            os.close(report)
            os.close(output)

    def _watch(self, process: Process, report: int, output: int) -> None:
        started = time.monotonic()
        deadline: float | None = None
        heard = started
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(report, selectors.EVENT_READ)
            selector.register(output, selectors.EVENT_READ)
            while selector.get_map():
                try:
                    for key, _ in selector.select(PROGRESS_SECONDS):
                        chunk = os.read(key.fd, 1 << 16)
                        if not chunk:
                            selector.unregister(key.fileobj)
                        elif key.fd == report:
                            heard = time.monotonic()
                            *lines, pending = (pending[-KEPT_OUTPUT:] + chunk).split(b"\n")
                            for line in lines:
                                self._heard(line.decode("utf-8", "replace"), started)
                        else:
                            self.output += chunk
                            del self.output[:-KEPT_OUTPUT]
                except KeyboardInterrupt:
                    if deadline is not None:
                        raise
                    process.send(signal.SIGINT)
                    deadline = time.monotonic() + GRACE_SECONDS
                now = time.monotonic()
                if deadline is not None and now > deadline:
                    # It hangs within a cycle; what it had flushed is kept.
                    self.reason = self.reason or StopReason.INTERRUPTED
                    process.kill()
                elif deadline is None and now - heard > HANG_SECONDS:
                    self.reason = StopReason.FAILED
                    self.message = f"no cycle came to its end for {HANG_SECONDS:g} s"
                    process.kill()
                    deadline = now + GRACE_SECONDS

    def _heard(self, line: str, started: float) -> None:
        # The recorder writes it, but in a process with the design's own code.
        match line.split(" ", 3):
            case ["cycles", cycles] if _is_count(cycles):
                self.cycles = int(cycles)
                if self.progress:
                    self.progress(self.cycles, time.monotonic() - started)
            case ["end", reason, cycles, message] if _is_count(cycles) and reason in _REASONS:
                self.reason, self.cycles, self.message = reason, int(cycles), message
            case _:
                self.reason = StopReason.FAILED
                self.message = "the simulation reported nonsense"


_REASONS = frozenset({*StopReason, "unwritable"})


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 20


def _result(
    built: Built, folder: Path, data: Mapping[str, object], child: _Child, seconds: float
) -> RunResult:
    output = child.output.decode("utf-8", "replace")
    if child.reason == "unwritable":
        raise unwritable(folder / "capture", child.message)
    if not child.reason:
        child.reason = StopReason.FAILED
        child.message = _death(child.status, output)
    if "did not converge" in child.message:
        signals = ", ".join(built.loops) or "its signals are unknown"
        raise RunError(
            f"combinational loop: the design does not settle in cycle {child.cycles}"
            f" ({signals}); put a register into the loop"
        )
    reason = StopReason(child.reason)
    message = child.message
    if reason is StopReason.FAILED:
        message = _complaint(output, built.design.bench.scope) or message
    capture = None
    if built.design.capture and (folder / "capture").exists():
        from cyclescope.sim._capture import load_capture

        capture = load_capture(folder / "capture")
    return RunResult(
        cycles=child.cycles,
        stop_reason=reason,
        message=message,
        seconds=seconds,
        memories=_memories(built, folder, data, failed=reason is StopReason.FAILED),
        capture=capture,
        output=output,
    )


def _complaint(output: str, scope: str) -> str:
    """The design's own words when it failed, led by the instance that said them; one line."""
    found = _COMPLAINT.findall(output)
    if not found:
        return ""
    where, said = found[-1]
    where = where.removeprefix(scope)
    return f"{where}: {_one_line(said)}" if where else _one_line(said)


# What Verilator prints for $error and $fatal: `[time] %Error: FILE:LINE: Assertion failed in
# INSTANCE: TEXT`, the text as the design words it, often over several lines.
_COMPLAINT = re.compile(
    r"^(?:\[\d+\] )?%(?:Error|Fatal): "
    r"(?:[^:\n]+:\d+: )?(?:Assertion failed in ([^:\n]+): )?"
    r"(.*?)(?=^(?:\[\d+\] )?%|\Z)",
    re.MULTILINE | re.DOTALL,
)


def _death(status: int, output: str) -> str:
    """Describe the end of a simulator that could not say so itself, with its last words."""
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else f"{-status}"
        how = f"the simulator was ended by signal {name}"
        if -status == signal.SIGKILL:
            how += " (out of memory?)"
    else:
        how = f"the simulator ended with status {status}"
    last = output.strip().rpartition("\n")[2]
    return f"{how}: {_one_line(last)}" if last else how


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= KEPT_MESSAGE else f"{line[:KEPT_MESSAGE]} \u2026"


def _memories(
    built: Built, folder: Path, data: Mapping[str, object], *, failed: bool
) -> MemoryData:
    """The memories as the design wrote them; of a run that failed only if all are there."""
    memories: MemoryData = {}
    for memory in built.design.memories:
        file = folder / f"{memory.name}.out"
        try:
            memories[memory.name] = decode_memory(
                memory, data[memory.name], file.read_text("ascii")
            )
        except (DataError, FileNotFoundError) as error:
            if failed:
                return {}
            raise OutputError(
                f"memory {memory.name}: the simulation did not write it back whole ({error}); is"
                f" there space in {folder.parent}, and is it as large as announced?"
            ) from error
    return memories
