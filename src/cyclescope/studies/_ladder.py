"""Measures ladders: runs bounds, and hardware with and without what slows it down."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cyclescope.analyse import (
    NO_BOUNDS,
    NO_STATEMENT_BOUNDS,
    bounds_ladder,
    calyx_ladder,
    network_ladder,
    statement_bounds,
    thread_ladder,
)
from cyclescope.errors import InputError, RunError, VerifyError
from cyclescope.model import Anomaly, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cyclescope.bounds import Calibration
    from cyclescope.hls import Measurement, MemoryModel, Share
    from cyclescope.model import Profile, Rung

__all__ = ["measure_calyx_ladder", "measure_ladder", "measure_network_ladder"]


def measure_ladder(
    source: Path,
    *,
    threads: int | None = None,
    defines: Mapping[str, str] | None = None,
    include: Sequence[Path] = (),
    arguments: Sequence[str] = (),
    memory: MemoryModel | None = None,
    start_cost: int | None = None,
    limit: int | None = None,
    progress: Callable[[int, float], object] | None = None,
) -> Profile:
    """Measure a program of hardware threads, and what lies between its bounds and that.

    One machine is built; it runs as it is, with all threads started at once, and with the thread
    that has most to do alone, under memories that lack more and more of their timing.

    Args:
        source: a C program with a target region, as for `cyclescope hls`.
        threads: hardware threads; as the program says if not given.
        defines: macros.
        include: folders of headers.
        arguments: of the program's main function.
        memory: timing of the external memory.
        start_cost: cycles from one thread's start to the next; as measured runs have it.
        limit: iterations beyond which there are no bounds, for the time that they take.
        progress: called a few times a second with (cycles, seconds) of a simulation.

    Returns:
        The run's profile, its ladder in its head.

    Raises:
        SourceError: the hardware compiler does not take the program.
        RunError: a run went wrong.
        VerifyError: hardware and native run differ.
    """
    from cyclescope.hls import (
        MOST_ITERATIONS,
        START_COST,
        Host,
        MemoryModel,
        compile_c,
        measure,
        read_memory_model,
        shares,
    )

    memory = memory or MemoryModel()
    cost = START_COST if start_cost is None else start_cost
    program = compile_c(source, threads=threads, defines=dict(defines or {}), include=include)

    with Host(program) as host:

        def run(timing: MemoryModel, cost: int = 0, only: int | None = None) -> Measurement:
            made = measure(
                program, arguments, memory=timing, start_cost=cost, only=only, progress=progress,
                host=host, times=1,
            )  # fmt: skip
            if not made.agrees and only is None:
                what = made.differing[0] if made.differing else "what the program prints"
                raise VerifyError(f"{source}: hardware and native run differ: {what}")
            return made

        first = run(memory, cost)
        measured = first.profile
        bounds: tuple[Share, ...]
        try:
            bounds = shares(program, first.native, MOST_ITERATIONS if limit is None else limit)
            # Of equal ones the last: it is started last.
            thread = max(range(len(bounds)), key=lambda t: (bounds[t].absolute, t))
        except RunError as error:
            bounds, thread = (), program.region.threads - 1
            lost = Anomaly(NO_BOUNDS, Severity.INFO, 1, f"{error}; use smaller sizes")
            measured = measured.with_meta(anomalies=(*measured.meta.anomalies, lost))
        at_once = read_memory_model("ideal")
        latency = replace(at_once, controller=memory.controller, cas=memory.cas)
        alone = {
            "at once": run(at_once, only=thread).profile,
            "latency": run(latency, only=thread).profile,
        }
        together = None
        if program.region.threads > 1:
            alone["all"] = run(memory, only=thread).profile
            together = run(memory).profile
    rungs = thread_ladder(bounds, thread, alone, together, measured)
    measured = measured.with_meta(ladder=rungs)
    if not bounds:
        return measured
    try:
        other = _of_statements(source, program.region.name, defines, include, arguments, bounds)
    except (InputError, RunError) as error:
        lost = Anomaly(NO_STATEMENT_BOUNDS, Severity.INFO, 1, str(error))
        return measured.with_meta(anomalies=(*measured.meta.anomalies, lost))
    return measured.with_meta(other_bounds=other)


def _of_statements(
    source: Path,
    kernel: str,
    defines: Mapping[str, str] | None,
    include: Sequence[Path],
    arguments: Sequence[str],
    threads: Sequence[Share],
) -> tuple[Rung, ...]:
    """The bounds of the statements of the region's function, up to those of its operations.

    Raises:
        InputError: `cyclescope bounds` does not take the function.
        RunError: it went wrong there, or was called several times.
    """
    from cyclescope.bounds import Calibration, estimate

    if kernel == "main":
        raise RunError("the region is in main; give it a function of its own to compare")
    found: list[int] = []
    for calibration in (Calibration(), *_steps()):
        bounds = estimate(
            source,
            kernel=kernel,
            defines=dict(defines or {}),
            include=include,
            program_arguments=arguments,
            calibration=calibration,
            detail=False,
        )
        if len(bounds.records.calls) > 1:
            raise RunError(f"{kernel} is called several times; call it once to compare")
        found.append(bounds.absolute.cycles)
    absolute, units, memory, stages = found
    return statement_bounds(absolute, units, memory, stages, threads)


def measure_network_ladder(
    source: Path,
    *,
    kernel: str | None = None,
    defines: Mapping[str, str] | None = None,
    include: Sequence[Path] = (),
    arguments: Mapping[str, int | float] | None = None,
    calibration: Path | None = None,
    progress: Callable[[int, float], object] | None = None,
) -> Profile:
    """Measure the process network of a C kernel as hardware, beside its bounds.

    Args:
        source: C text with the kernel, as for `cyclescope bounds`.
        kernel: the function; needed if there are several.
        defines: macros.
        include: folders of headers.
        arguments: values of scalar parameters, extents of pointers.
        calibration: latencies; those of `cyclescope bounds` if not given.
        progress: called a few times a second with (cycles, seconds) of a simulation.

    Returns:
        The run's profile, its ladder in its head.

    Raises:
        SourceError: the kernel contains something that isn't supported, or that no arithmetic unit
            computes.
        InputError: the calibration or the arguments name something that isn't there.
        RunError: there are too many firings, or a simulation went wrong.
        VerifyError: the hardware computes something else than the native run.
    """
    from cyclescope.bounds import Calibration, estimate, read_calibration
    from cyclescope.network import measure

    bounds = estimate(
        source,
        kernel=kernel,
        defines=dict(defines or {}),
        include=include,
        arguments=dict(arguments or {}),
        calibration=read_calibration(calibration) if calibration else Calibration(),
        detail=True,
        values=True,
        trace=True,
    )
    if bounds.detail is None:
        raise RunError(f"{bounds.network.kernel}: too many firings for hardware; use smaller sizes")
    measured = measure(bounds, progress=progress).profile
    unbounded, absolute = bounds.unbounded.cycles, bounds.absolute.cycles
    rungs = bounds_ladder(unbounded, absolute, bounds.resource_cycles)
    return measured.with_meta(ladder=network_ladder(rungs, measured))


def measure_calyx_ladder(
    source: Path,
    measured: Profile,
    *,
    kernel: str | None = None,
    defines: Mapping[str, str] | None = None,
    include: Sequence[Path] = (),
    arguments: Mapping[str, int | float] | None = None,
    calibration: Path | None = None,
) -> Profile:
    """Set a Calyx design's run beside the bounds of the C kernel that it computes.

    Args:
        source: C text with the kernel, as for `cyclescope bounds`.
        measured: a run of the design.
        kernel: the function; needed if there are several.
        defines: macros.
        include: folders of headers.
        arguments: values of scalar parameters, extents of pointers.
        calibration: latencies; those of Calyx's own primitives if not given.

    Returns:
        The run's profile, its ladder in its head.

    Raises:
        SourceError: the kernel contains something that isn't supported.
        InputError: the calibration or the arguments name something that isn't there, or what was
            measured is no Calyx design.
    """
    from cyclescope.bounds import estimate, read_calibration

    if measured.meta.source in ("hls", "bounds", "network"):
        raise InputError(
            f"{measured.meta.title}: a profile of `cyclescope {measured.meta.source}`, not of a"
            " Calyx design; make one with `cyclescope calyx`"
        )
    bounds = estimate(
        source,
        kernel=kernel,
        defines=dict(defines or {}),
        include=include,
        arguments=dict(arguments or {}),
        calibration=read_calibration(calibration) if calibration else _primitives(),
        detail=True,
    )
    unbounded, absolute = bounds.unbounded.cycles, bounds.absolute.cycles
    rungs = bounds_ladder(unbounded, absolute, bounds.resource_cycles)
    return measured.with_meta(ladder=calyx_ladder(rungs, measured))


def _primitives() -> Calibration:
    """The least that Calyx's primitives take: combinational but for `std_mult_pipe` and floats.

    A register or memory is written in one cycle; arrays are in the design.
    """
    from cyclescope.bounds import read_calibration

    # With the register that it fills, a product takes three.
    lines = [*_STAGES, *_NO_PORTS, *_operators({"mul": 2})]
    return read_calibration("latencies of Calyx's primitives", text="\n".join(lines))


_STAGES = ("read = 0", "write = 1", "copy = 0")
_NO_PORTS = ("[sources]", "automatic = false", "[sinks]", "automatic = false")


def _steps() -> list[Calibration]:
    """Calibrations from statements to operations: functional units, then no ports, then stages."""
    from cyclescope.bounds import read_calibration
    from cyclescope.rtl import unit

    costs = _operators({"mul": unit("mul", 32).latency, "div": unit("sdiv", 32).latency})
    texts = [costs, [*_NO_PORTS, *costs], [*_STAGES, *_NO_PORTS, *costs]]
    return [read_calibration("functional units", text="\n".join(lines)) for lines in texts]


def _operators(whole: Mapping[str, int]) -> list[str]:
    """A calibration's latencies of the units in rtl/, and of integers' where they have any."""
    from cyclescope.rtl import unit

    costs = dict.fromkeys(("base", "add", "mul", "div", "compare", "select", "logic", "shift"), 0)
    costs |= dict.fromkeys(("neg", "convert", "minmax", "abs"), 0)
    lines = []
    for family, width in (("int", 32), ("long", 64), ("float", 32), ("double", 64)):
        own = dict(costs)
        if family in ("float", "double"):
            units = {"add": "fadd", "mul": "fmul", "div": "fdiv", "sqrt": "fsqrt"}
            own |= {name: unit(of, width).latency for name, of in units.items()}
        else:
            own |= whole
        lines += [f"[operators.{family}]", *(f"{name} = {cost}" for name, cost in own.items())]
    return lines
