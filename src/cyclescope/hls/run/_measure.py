"""A whole program: natively on the host, its region in simulated hardware, the results compared."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._files import write_folder
from cyclescope._stack import deep_recursion
from cyclescope.errors import OutputError, RunError
from cyclescope.hls.microarch import build_machine
from cyclescope.hls.passes import Given
from cyclescope.hls.run._compare import contents, is_rounding_open
from cyclescope.hls.run._host import EndlessError, Host
from cyclescope.hls.run._judges import judge
from cyclescope.hls.run._memory_model import MemoryModel
from cyclescope.hls.run._profile import profile_of
from cyclescope.hls.run._race_detector import find_race
from cyclescope.hls.run._simulation import TRACE_LINES, run_setup, set_up
from cyclescope.hls.run._testbench import bench, dram, wrapper
from cyclescope.hls.trace import Sites, build_profiled, layout_of, read_dump
from cyclescope.model import Anomaly, Loop, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.hls._compile import Program
    from cyclescope.hls.microarch import Machine
    from cyclescope.hls.run._host import Native
    from cyclescope.hls.run._judges import Judgement
    from cyclescope.hls.run._simulation import HardwareRun, Setup
    from cyclescope.hls.trace import TraceLayout, UnitOptions
    from cyclescope.model import Clock, Contents, Profile

__all__ = ["PERIOD", "START_COST", "Measurement", "machine_of", "measure", "write_rtl"]

START_COST = 100
"""Cycles from one thread's start to the next: a posted write of the host, about 1 us."""

PERIOD = 1024
"""Cycles between two samples of the counters."""


@dataclass(frozen=True)
class Measurement:
    """A program that ran on both sides.

    Attributes:
        machine: the hardware.
        native: the run without hardware.
        run: the region in hardware.
        judgements: what the judges say of it; empty if it is not complete.
        loose: floating-point results were compared with a tolerance, as threads combined them in
            an order that is open, or a function's last bit is each library's own.
        undecided: arrays that weren't compared, as they depend on which thread writes last, or
            differ from one native run to the next.
        stdout: what the host's side wrote, given the hardware's results.
        status: its exit status.
        profile: of the region.
        dump: what the profiling unit wrote, where there is one; the profile is made of it.
        race: where results differ or are open, two accesses of the region's that race; empty if
            none are found.
    """

    machine: Machine
    native: Native
    run: HardwareRun
    judgements: tuple[Judgement, ...]
    loose: bool
    undecided: tuple[str, ...]
    stdout: bytes
    status: int
    profile: Profile
    dump: bytes = b""
    race: str = ""

    @property
    def layout(self) -> TraceLayout | None:
        """The layout of the dump; None if the machine has no profiling unit."""
        layout = layout_of(self.machine)
        return layout and replace(layout, period_ps=self.profile.meta.period_ps)

    def at_period(self, period_ps: int) -> Measurement:
        """The same run with a clock of this period, in picoseconds."""
        return replace(self, profile=self.profile.with_meta(period_ps=period_ps))

    def at_clock(self, clock: Clock) -> Measurement:
        """The same run with the clock that the hardware reaches."""
        profile = self.profile.with_meta(period_ps=clock.period_ps, clock=clock)
        return replace(self, profile=profile)

    @property
    def differing(self) -> tuple[str, ...]:
        """Arrays whose contents differ from a native run's, a line each."""
        return next((j.differing for j in self.judgements if j.differing), ())

    @property
    def agrees(self) -> bool:
        """Did the hardware and all native runs lead to the same?"""
        same = all(j.prints_alike for j in self.judgements)
        return not self.differing and (same or self.loose or bool(self.undecided))


def machine_of(
    program: Program, *, checks: bool = True, unit: UnitOptions | None = None
) -> Machine:
    """The hardware of a program's region.

    Args:
        program: compiled.
        checks: hardware that notices accesses out of range; for simulation.
        unit: build a profiling unit in.

    Raises:
        DataError: the profiling unit cannot be built so.
    """
    region = program.region
    if unit is None:
        return build_machine(region, program.schedules, checks=checks)
    return build_profiled(region, program.schedules, unit, checks=checks)


@deep_recursion()
def measure(
    program: Program,
    arguments: Sequence[str] = (),
    *,
    memory: MemoryModel | None = None,
    only: int | None = None,
    in_order: bool = False,
    start_cost: int = START_COST,
    period: int = PERIOD,
    cycle_limit: int | None = None,
    progress: Callable[[int, float], object] | None = None,
    unit_rtl: bool = False,
    rtl: Path | None = None,
    force: bool = False,
    unit: UnitOptions | None = None,
    trace_lines: int = TRACE_LINES,
    host: Host | None = None,
) -> Measurement:
    """Runs a program natively and with its region in simulated hardware.

    Args:
        program: compiled.
        arguments: of its main function.
        memory: timing of the external memory.
        only: start this thread of the team alone; its results are compared with nothing.
        in_order: no thread overtakes another in a variable-latency stage.
        start_cost: cycles that the host needs to start each further thread.
        period: cycles between two samples of the counters.
        cycle_limit: stop the simulation after so many cycles.
        progress: called a few times a second with (cycles, seconds) so far.
        unit_rtl: simulate arithmetic units by their RTL, not by models.
        rtl: folder to write the hardware and a testbench with this run's data to.
        force: overwrite files there.
        unit: build a profiling unit into the hardware; the profile is then what that wrote to
            memory, and `period` has no say.
        trace_lines: of 64 bytes in the profiling unit's region of memory.
        host: the program's host, compiled already; it stays open.

    Raises:
        DataError: the profiling unit cannot be built so.
        SourceError: the program has no main function.
        RunError: one of the runs went wrong: an access out of range, a deadlock, a crash.
        ToolError: a compiler is missing or fails.
        OutputError: files cannot be written.
    """
    memory = memory or MemoryModel()
    machine = machine_of(program, unit=unit)
    with nullcontext(host) if host is not None else Host(program) as host:
        native, failed = _native(host, arguments)
        setup = set_up(
            machine,
            native.inputs,
            native.scalars,
            memory=memory,
            only=only,
            in_order=in_order,
            start_cost=start_cost,
            period=period if unit is None else None,
            cycle_limit=cycle_limit,
            trace_lines=trace_lines,
        )
        if rtl is not None:
            write_rtl(setup, rtl, force=force)
        run = run_setup(setup, progress=progress, unit_rtl=unit_rtl)
        if failed is not None:
            raise failed
        judgements: tuple[Judgement, ...] = ()
        memories: tuple[Contents, ...] = ()
        stdout, status = native.stdout, native.status
        if run.complete and only is None:
            memories = contents(program, native.inputs, native.outputs, run.arrays)
            stdout, status = host.replay(run.arrays, arguments, inputs=native.inputs)
            end = stdout, status
            judgements = judge(program, host, arguments, native, run.arrays, end)
    inputs = {
        Path(name).name: hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        for name, text in program.unit.sources.items()
    }
    options = _options(machine, memory, in_order, start_cost, period, arguments)
    title = Path(program.unit.file).name
    layout = layout_of(machine)
    if layout is not None:
        profile = _profile_of_trace(layout, run, title, inputs, options)
        given = Given(native.scalars, machine.threads)
        profile = _with_trips(profile, Sites(machine.region, machine.pipelines, given=given))
    else:
        assert run.capture is not None
        profile = profile_of(
            machine,
            run.capture,
            team=machine.threads,
            period=period,
            title=title,
            inputs=inputs,
            options=options,
            stop_reason="" if run.complete else run.stop_reason,
        )
    profile = replace(
        profile.with_meta(memories=memories),
        sources={
            Path(name).name: text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            for name, text in program.unit.sources.items()
        },
    )
    measured = Measurement(
        machine,
        native,
        run,
        judgements,
        is_rounding_open(program),
        tuple(sorted(program.undecided.union(*(j.undecided for j in judgements)))),
        stdout,
        status,
        profile,
        run.trace,
    )
    if not run.complete or only is not None or (measured.agrees and not measured.undecided):
        return measured
    return replace(measured, race=find_race(program.region, native.inputs, native.scalars))


def _native(host: Host, arguments: Sequence[str]) -> tuple[Native, RunError | None]:
    """The native run; if it goes wrong in the region, its begin, and what went wrong.

    The hardware finds out more exactly then: which thread, in which line.
    """
    try:
        return host.run(arguments), None
    except EndlessError:
        raise  # so would the hardware be
    except RunError as error:
        try:
            return host.begin(arguments), error
        except RunError:
            raise error from None


def _profile_of_trace(
    trace: TraceLayout,
    run: HardwareRun,
    title: str,
    inputs: dict[str, str],
    options: dict[str, str],
) -> Profile:
    """The profile that the profiling unit wrote."""
    if not run.trace:
        raise RunError(
            f"{title}: the run ended early ({run.stop_reason}), before its trace was there to be"
            " read; let it come to its end, or set a limit of cycles"
        )
    profile = read_dump(run.trace, trace, where=title, inputs=inputs)
    meta = {"title": title, "options": options | profile.meta.options}
    return profile.with_meta(**meta) if run.complete else _cut(profile.with_meta(**meta), run)


def _with_trips(profile: Profile, known: Sites) -> Profile:
    """The trace's sites with what the arguments of the run say of loops."""
    found = [
        replace(site, trips=more.trips)
        if isinstance(site, Loop) and isinstance(more, Loop) else site
        for site, more in zip(profile.sites, known.every, strict=True)
    ]  # fmt: skip
    return replace(profile, sites=tuple(found))


def _cut(profile: Profile, run: HardwareRun) -> Profile:
    """The profile of a run that did not come to its end."""
    anomaly = Anomaly(
        "run cut", Severity.DATA_LOSS, 1, f"{run.stop_reason}; what came later is not known"
    )
    return profile.with_meta(
        complete=False,
        stop_reason=run.stop_reason,
        anomalies=(*profile.meta.anomalies, anomaly),
    )


def _options(
    machine: Machine,
    memory: MemoryModel,
    in_order: bool,
    start_cost: int,
    period: int,
    arguments: Sequence[str],
) -> dict[str, str]:
    options = {
        "threads": str(machine.threads),
        "reorder": "no" if in_order else "yes",
        "start cost": str(start_cost),
        "sampling period": str(period),
    }
    options |= {f"memory {name}": str(value) for name, value in memory.values().items()}
    if arguments:
        options["arguments"] = " ".join(arguments)
    return options


def write_rtl(setup: Setup, folder: Path, *, force: bool) -> None:
    """Writes the hardware, its testbench and the data of a run into a folder.

    In that folder `iverilog -g2005 -o sim *.v && vvp sim` runs it.

    Raises:
        OutputError: it cannot be written, or files are there and `force` is not set.
    """
    machine = setup.machine
    files = {
        **machine.sources,
        "dram.v": dram(),
        "bench.v": bench(machine, setup.layout.lines),
        "testbench.v": wrapper(),
    }
    layout = layout_of(machine)
    if layout is not None:
        files["trace.json"] = layout.to_json()
    write_folder(folder, files, force=force)
    try:
        setup.write(folder)
    except OSError as error:
        raise OutputError(f"{error.filename}: cannot write: {error.strerror}") from error
