"""A compiled Calyx program, run: what it needs for that, and why it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.errors import DataError, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from cyclescope.calyx._compile import Program
    from cyclescope.sim import RunResult

__all__ = ["check_top", "simulate", "stopped_because"]

_STOPPED = {
    "limit": "cycle limit reached",
    "interrupted": "interrupted",
    "finish": "the design called $finish",
    "failed": "the simulation failed",
}


def simulate(
    program: Program,
    values: Mapping[str, object],
    data: Path | None,
    limit: int | None,
    progress: Callable[[int, float], object] | None = None,
) -> RunResult:
    """Build a compiled program and run it.

    Args:
        program: what to run.
        values: the data's content.
        data: its file, for messages; None without data.
        limit: stop after so many cycles.
        progress: called a few times a second with (cycles, seconds).

    Raises:
        SourceError: its top component expects cells from a caller.
        DataError, ToolError, RunError, OutputError: see `cyclescope.errors`.
    """
    from cyclescope.sim import build, run

    if "externalize" in program.record.passes and (values or _declares_memories(program)):
        raise DataError(
            f"{program.path}: the pass `externalize` makes ports of its memories, which nothing "
            "here drives; leave it out (-d externalize)"
        )
    check_top(program)
    if program.design.memories and data is None:
        names = ", ".join(memory.name for memory in program.design.memories)
        raise DataError(f"{program.path}: its memories need data ({names}); give --data DATA.json")
    built = build(program.design)
    try:
        return run(built, data=values, cycle_limit=limit, progress=progress)
    except DataError as error:
        raise DataError(f"{data}: {error}") from error


def check_top(program: Program) -> None:
    """Refuse a program whose top component expects cells from a caller; an instrumented one knows.

    Raises:
        SourceError: names the cells.
    """
    main = program.record.components.get(program.record.main)
    if main is not None and (names := [cell.name for cell in main.cells if cell.reference]):
        them = "it" if len(names) == 1 else "them"
        raise SourceError(
            f"{program.path}: {', '.join(names)} of component {program.record.main}: a `ref` cell"
            " is passed by whoever invokes the component, and nothing invokes the top one; declare"
            f" {them} as a cell of its own, a memory with data as @external"
        )


def _declares_memories(program: Program) -> bool:
    main = program.record.components.get(program.record.main)
    return main is not None and any(cell.external for cell in main.cells)


def stopped_because(result: RunResult) -> str:
    """The reason for which a run did not come to its end."""
    from cyclescope.sim import StopReason

    reason = _STOPPED[result.stop_reason]
    # A signal's number says nothing to anybody.
    named = result.message and result.stop_reason is not StopReason.INTERRUPTED
    return f"{reason}: {result.message}" if named else reason
