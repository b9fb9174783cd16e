"""A whole program: natively on the host, its region in simulated hardware, the results compared."""

from __future__ import annotations

import hashlib
import shlex
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cyclescope._files import write_folder
from cyclescope._stack import deep_recursion
from cyclescope.errors import OutputError, RunError
from cyclescope.hls.microarch import build_machine
from cyclescope.hls.passes import Given
from cyclescope.hls.run._compare import contents, is_rounding_open
from cyclescope.hls.run._host import EndlessError, Host, Reach
from cyclescope.hls.run._judges import judge
from cyclescope.hls.run._memory_model import MemoryModel
from cyclescope.hls.run._profile import counted, profile_of
from cyclescope.hls.run._race_detector import find_race
from cyclescope.hls.run._scheduled import with_schedule
from cyclescope.hls.run._simulation import TRACE_LINES, run_setup, set_up
from cyclescope.hls.run._testbench import bench, dram, wrapper
from cyclescope.hls.trace import LoopCounts, Sites, build_profiled, layout_of, read_dump
from cyclescope.model import Anomaly, Loop, Series, Severity, in_sequence
from cyclescope.sim import phase

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope.hls._compile import Program
    from cyclescope.hls.microarch import Machine
    from cyclescope.hls.run._host import Native
    from cyclescope.hls.run._judges import Judgement
    from cyclescope.hls.run._simulation import HardwareRun, Setup
    from cyclescope.hls.trace import TraceLayout, UnitOptions
    from cyclescope.model import Clock, Contents, Profile

__all__ = ["PERIOD", "START_COST", "TIMES", "Measurement", "machine_of", "measure", "write_rtl"]

START_COST = 100
"""Cycles from one thread's start to the next: a posted write of the host, about 1 us."""

PERIOD = 1024
"""Cycles between two samples of the counters."""

TIMES = 16
"""Runs of the region in hardware at most, where the host comes to it more often."""


@dataclass(frozen=True)
class Measurement:
    """A program that ran on both sides.

    Attributes:
        machine: the hardware.
        native: the run without hardware.
        runs: the region in hardware, each time that the host came to it.
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
    runs: tuple[HardwareRun, ...]
    judgements: tuple[Judgement, ...]
    loose: bool
    undecided: tuple[str, ...]
    stdout: bytes
    status: int
    profile: Profile
    dump: bytes = b""
    race: str = ""

    @property
    def run(self) -> HardwareRun:
        """The last run; with the cycles and seconds of all."""
        return replace(
            self.runs[-1],
            cycles=sum(run.cycles for run in self.runs),
            seconds=sum(run.seconds for run in self.runs),
        )

    @property
    def left(self) -> int:
        """The number of times that the host ran the region itself, after those."""
        return max(self.native.reached - len(self.runs), 0)

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
    times: int = TIMES,
) -> Measurement:
    """Runs a program natively and with its region in simulated hardware.

    Each time that the host comes to the region the hardware runs with the data of that time, and
    the host goes on with its results.

    Args:
        program: compiled.
        arguments: of its main function.
        memory: timing of the external memory.
        only: start this thread of the team alone; its results are compared with nothing.
        in_order: no thread overtakes another in a variable-latency stage.
        start_cost: cycles that the host needs to start each further thread.
        period: cycles between two samples of the counters.
        cycle_limit: stop the simulation after so many cycles of all runs.
        progress: called a few times a second with (cycles, seconds) so far.
        unit_rtl: simulate arithmetic units by their RTL, not by models.
        rtl: folder to write the hardware and a testbench with this run's data to.
        force: overwrite files there.
        unit: build a profiling unit into the hardware; the profile is then what that wrote to
            memory, and `period` has no say.
        trace_lines: of 64 bytes in the profiling unit's region of memory.
        host: the program's host, compiled already; it stays open.
        times: runs in hardware at most; comes the host to the region more often, it runs it itself.

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
        phase("running the program natively")
        native, failed = _native(host, arguments, times)
        reaches: list[Reach] = []
        runs: list[HardwareRun] = []
        reach, end = native.reaches[0], (native.stdout, native.status)
        while True:
            left = cycle_limit
            if cycle_limit is not None and runs:
                left = max(cycle_limit - sum(r.cycles for r in runs), 1)
            setup = set_up(
                machine,
                # Static locals are the region's alone.
                dict(reach.inputs) | {n: runs[-1].arrays[n] for n in program.statics if runs},
                reach.scalars,
                memory=memory,
                only=only,
                in_order=in_order,
                start_cost=start_cost,
                period=period if unit is None else None,
                cycle_limit=left,
                trace_lines=trace_lines,
            )
            if rtl is not None and not runs:
                write_rtl(setup, rtl, force=force)
            try:
                run = run_setup(setup, progress=progress, unit_rtl=unit_rtl)
            except RunError as error:
                # What a thread has of another one too early may lead it anywhere.
                race = find_race(program.region, setup.arrays, reach.scalars)
                if not race:
                    raise
                raise RunError(f"{error}; {race}") from None
            runs.append(run)
            if failed is not None:
                raise failed
            if not run.complete or only is not None:
                break
            reaches.append(Reach(reach.inputs, reach.scalars, run.arrays))
            resumed = host.resume(reaches, arguments, times=times)
            end = resumed.stdout, resumed.status
            if resumed.reach is None:
                break
            reach = resumed.reach
        judgements: tuple[Judgement, ...] = ()
        memories: tuple[Contents, ...] = ()
        if runs[-1].complete and only is None:
            phase("comparing the results")
            memories = _contents(program, native, reaches)
            judgements = judge(program, host, arguments, native, reaches, end)
    inputs = {
        Path(name).name: hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        for name, text in program.unit.sources.items()
    }
    options = _options(machine, memory, in_order, start_cost, period, arguments)
    title = Path(program.unit.file).name
    profiles = _profiles(machine, runs, reaches, title, inputs, options, period)
    profile = in_sequence(profiles, extra=_marks(profiles, machine.region.name))
    profile = replace(
        profile.with_meta(memories=memories),
        sites=with_schedule(profile.sites, machine, program.unit.text),
        sources={
            Path(name).name: text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            for name, text in program.unit.sources.items()
        },
    )
    measured = Measurement(
        machine,
        native,
        tuple(runs),
        judgements,
        is_rounding_open(program),
        tuple(sorted(program.undecided.union(*(j.undecided for j in judgements)))),
        *end,
        profile,
        runs[0].trace,
    )
    if not runs[-1].complete or only is not None or (measured.agrees and not measured.undecided):
        return measured
    races = (find_race(program.region, r.inputs, r.scalars) for r in reaches)
    return replace(measured, race=next(filter(None, races), ""))


def _native(host: Host, arguments: Sequence[str], times: int) -> tuple[Native, RunError | None]:
    """The native run; if it goes wrong in the region, its begin, and what went wrong.

    The hardware finds out more exactly then: which thread, in which line.
    """
    try:
        return host.run(arguments, times=times), None
    except EndlessError:
        raise  # so would the hardware be
    except RunError as error:
        try:
            return host.begin(arguments), error
        except RunError:
            raise error from None


def _contents(program: Program, native: Native, reaches: Sequence[Reach]) -> tuple[Contents, ...]:
    """Digests of the region's arrays before its first run and after its last one.

    Nothing is expected of what comes after a run whose data the native run did not have.
    """
    first, last = reaches[0], reaches[-1]
    known = len(native.reaches) == len(reaches) and all(
        a.scalars == b.scalars for a, b in zip(native.reaches, reaches, strict=True)
    )
    expected = native.reaches[-1].outputs if known else last.outputs
    found = contents(program, first.inputs, expected, last.outputs)
    return found if known else tuple(replace(one, expected="") for one in found)


def _profiles(
    machine: Machine,
    runs: Sequence[HardwareRun],
    reaches: Sequence[Reach],
    title: str,
    inputs: dict[str, str],
    options: dict[str, str],
    period: int,
) -> list[Profile]:
    """The profile of each run; its sites count all of them."""
    layout = layout_of(machine)
    if layout is not None:
        scalars = {reach.scalars for reach in reaches}
        given = Given(scalars.pop(), machine.threads) if len(scalars) == 1 else None
        known = Sites(machine.region, machine.pipelines, given=given)
        return [
            _with_trips(_profile_of_trace(layout, run, title, inputs, options), known)
            for run in runs
        ]
    captures = [run.capture for run in runs if run.capture is not None]
    counts = [counted(machine, capture) for capture in captures]
    together = {
        graph: reduce(LoopCounts.and_of, (one[graph] for one in counts)) for graph in counts[0]
    }
    return [
        profile_of(
            machine,
            capture,
            team=machine.threads,
            period=period,
            title=title,
            inputs=inputs,
            options=options,
            stop_reason="" if runs[-1].complete else runs[-1].stop_reason,
            counts=together,
        )
        for capture in captures
    ]


def _marks(profiles: Sequence[Profile], region: str) -> list[Series]:
    """A counter that says which run of the region each cycle is in, if there are several."""
    if len(profiles) == 1:
        return []
    cycles = np.array([profile.cycles for profile in profiles], dtype=np.int64)
    ends, number = np.cumsum(cycles), np.arange(1, len(cycles) + 1)
    labels = {n: f"run {n}" for n in number.tolist()}
    return [Series(region, "run", "run", "", 0, ends - cycles, ends, number, labels=labels)]


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
        options["arguments"] = shlex.join(arguments)
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
