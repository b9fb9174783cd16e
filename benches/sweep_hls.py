"""All programs in simulated hardware: every team, memory and order, against the native run.

`python benches/sweep_hls.py [--threads 1,2,3,8] [--profile | --icarus | --reset] [--dirty]
[NAME …]`. Prints a line a program and what is wrong; the exit status says whether something was.
With --profile: with a profiling unit in the hardware, each program and team with another sampling
period, whose trace must be what the bench sees in each cycle, and change no result. With --icarus:
what `--rtl` writes, with and without a profiling unit, in another simulator, which must take the
same cycles and leave the same memory; runs of more cycles than it does in a minute are left out.
With --reset: a reset comes at many moments, and the run behind the last one must be as one without,
with its trace. With --dirty: what a reset does not clear begins with random bits, block RAM, too
(in Icarus with unknown ones in any case). Generated programs: `random_hls.py --rtl`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.errors import CyclescopeError
from cyclescope.hls import Host, MemoryModel, compile_c, differences, machine_of
from cyclescope.hls.run._measure import write_rtl
from cyclescope.hls.run._profile import profile_of
from cyclescope.hls.run._simulation import arrays_of, read_back, run_setup, set_up, trace_of
from cyclescope.hls.trace._core import UnitOptions
from cyclescope.hls.trace._decoder import read_dump
from cyclescope.hls.trace._format import OnFull
from cyclescope.model import check_laws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cyclescope.hls import Program
    from cyclescope.hls.microarch._machine import Machine
    from cyclescope.hls.run._host import Native
    from cyclescope.hls.run._simulation import HardwareRun

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
FAST = MemoryModel(controller=0, cas=0, rcd=0, rp=0, turnaround=0, refresh_interval=0)
RANDOM = MemoryModel(seed=5, stall=50)
WAYS = [
    ("fast", FAST, False),
    ("default", MemoryModel(), True),
    ("random", RANDOM, False),
    ("random, in order", RANDOM, True),
]
SMALL = {"DIM": "16"}  # of the examples
SMALLEST = {"DIM": "8"}  # of those in Icarus
ARGUMENTS = {"pi": ["960"]}
LIMIT = 3_000_000
# Sampling period, what happens when the region is full, its lines of 64 bytes (few of them are too
# few), and bits of a line that the profiling unit writes.
UNITS = [
    (64, OnFull.STOP, 1 << 12, 512),
    (1, OnFull.STOP, 1 << 14, 512),
    (1024, OnFull.STOP, 1 << 9, 256),
    (7, OnFull.WRAP, 1 << 12, 512),
    (50, OnFull.WRAP, 12, 512),
    (0, OnFull.STOP, 1 << 9, 256),
    (33, OnFull.STOP, 12, 512),
]


def runs(
    source: Path, teams: list[int], defines: dict[str, str] = SMALL
) -> Iterator[tuple[int, int, Program, Native]]:
    """For each team its number, its threads, the program for it, and that run natively.

    A program that says itself how many threads it wants has one team, the first.
    """
    arguments = ARGUMENTS.get(source.stem, [])
    with Host(compile_c(source, defines=defines)) as host:
        for number, threads in enumerate(teams):
            compiled = compile_c(source, threads=threads, defines=defines)
            if compiled.region.threads == threads or threads == teams[0]:
                yield (
                    number,
                    threads,
                    compiled,
                    host.run(arguments, threads=compiled.region.threads),
                )


def program(source: Path, teams: list[int], began: Callable[[Machine], Machine]) -> str:
    """Say what is wrong with a program, or that it is right."""
    wrong = []
    cycles = []
    for _, threads, compiled, native in runs(source, teams):
        machine = began(machine_of(compiled))
        for name, memory, in_order in WAYS:
            try:
                run = run_setup(
                    set_up(
                        machine,
                        native.inputs,
                        native.scalars,
                        memory=memory,
                        in_order=in_order,
                        cycle_limit=LIMIT,
                    )
                )
            except CyclescopeError as error:
                wrong.append(f"{threads} threads, {name}: {error}")
                continue
            if not run.complete:
                wrong.append(f"{threads} threads, {name}: {run.stop_reason}")
            elif found := differences(compiled, native.outputs, run.arrays):
                wrong.append(f"{threads} threads, {name}: {found[0]}")
            cycles.append(run.cycles)
    return "; ".join(wrong) or f"right, {min(cycles)} to {max(cycles)} cycles"


@dataclass(frozen=True)
class Traced:
    """The outcome of reading a profiling unit's trace.

    Attributes:
        wrong: what it says that is not so.
        cycles: of its profile.
        full: its region was too small; what it shows is true all the same.
        unsure: it says itself that it has lost states.
    """

    wrong: list[str]
    cycles: int
    full: bool
    unsure: bool


def traced(machine: Machine, run: HardwareRun) -> Traced:
    """A profiling unit's trace beside what the bench saw in each cycle of the run."""
    from hls.exact import too_much, wrong

    assert machine.trace is not None
    assert run.capture is not None
    profile = read_dump(run.trace, machine.trace)
    check_laws(profile)
    truth = profile_of(
        machine,
        run.capture,
        team=machine.threads,
        period=1,
        title="",
        inputs={},
        options={},
    )
    lost = {a.name for a in profile.meta.anomalies}
    full = lost & {"line dropped", "line overwritten"}
    busy = {"change of state lost", "cycle of unknown state"} & lost
    bad = wrong(profile, truth, complete=not full, known=not full and not busy)
    bad += too_much(machine.trace, truth)
    if not full:
        bad += sorted(lost - busy)
    return Traced(bad, profile.cycles, bool(full), bool(busy))


def unit_for(source: Path, number: int) -> tuple[UnitOptions, int]:
    """A profiling unit, another for each number in turn, and the lines of its region."""
    period, on_full, lines, width = UNITS[number % len(UNITS)]
    return UnitOptions(source.name, period=period, on_full=on_full, line_bits=width), lines


def profiled(
    source: Path, teams: list[int], index: int, began: Callable[[Machine], Machine]
) -> str:
    """Say what is wrong with a program's profile; `index` chooses the profiling unit's options."""
    found = []
    cycles = full = unsure = 0
    for number, threads, compiled, native in runs(source, teams):
        unit, lines = unit_for(source, index + 2 * number)
        machine = began(machine_of(compiled, unit=unit))
        for name, memory, in_order in (WAYS[1], WAYS[2]):
            where = f"{threads} threads, {name}, a sample every {unit.period}"
            try:
                run = run_setup(
                    set_up(
                        machine,
                        native.inputs,
                        native.scalars,
                        memory=memory,
                        in_order=in_order,
                        start_cost=index % 3 * 50,
                        cycle_limit=LIMIT,
                        period=1,
                        trace_lines=lines,
                    )
                )
                if not run.complete or run.capture is None:
                    found.append(f"{where}: {run.stop_reason}")
                    continue
                trace = traced(machine, run)
            except CyclescopeError as error:
                found.append(f"{where}: {error}")
                continue
            bad = differences(compiled, native.outputs, run.arrays) + trace.wrong
            unsure += trace.unsure
            found += [f"{where}: {bad[0]}"] if bad else []
            cycles += trace.cycles
            full += trace.full
    return "; ".join(found) or (
        f"right, {cycles} cycles, {full} regions full, {unsure} with states lost"
    )


SHORT = 20_000
"""Cycles that Icarus simulates in about a minute."""
LONGEST = 900
"""Seconds that it may take for them."""


def zeros(line: re.Match[str]) -> str:
    """A line of a memory without unknown bits."""
    return line[0].replace("x", "0")


def by_icarus(source: Path, teams: list[int], index: int) -> str:
    """Say where Icarus differs from Verilator, or from the native run."""
    found = []
    cycles = left_out = 0
    for number, threads, compiled, native in runs(source, teams, SMALLEST):
        _, memory, in_order = WAYS[(index + number) % len(WAYS)]
        for unit in (None, UnitOptions(source.name, period=64)):
            where = f"{threads} threads{', profiling unit' if unit else ''}"
            setup = set_up(
                machine_of(compiled, unit=unit),
                native.inputs,
                native.scalars,
                memory=memory,
                in_order=in_order,
                cycle_limit=LIMIT,
            )
            run = run_setup(setup)
            if run.cycles > SHORT or not run.complete:
                left_out += 1
                continue
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name) / "rtl"
                write_rtl(setup, folder, force=False)
                texts = sorted(str(file) for file in folder.glob("*.v"))
                subprocess.run(["iverilog", "-g2005", "-o", "sim", *texts], cwd=folder, check=True)
                try:
                    said = subprocess.run(
                        ["vvp", "sim"],
                        cwd=folder,
                        check=True,
                        capture_output=True,
                        text=True,
                        timeout=LONGEST,
                    ).stdout
                except subprocess.TimeoutExpired:
                    found.append(f"{where}: {run.cycles} cycles, and in Icarus it does not end")
                    continue
                for file in folder.glob("bank?.out"):
                    # What the profiling unit leaves open of a line is 0 in Verilator.
                    file.write_text(re.sub("^[^/].*x.*", zeros, file.read_text(), flags=re.M))
                image = read_back(folder, setup.layout)
            arrays, trace = arrays_of(setup, image), trace_of(setup, image)
            if f"{run.cycles} cycles" not in said.splitlines():
                found.append(f"{where}: {run.cycles} cycles, and in Icarus: {said.strip()}")
            elif arrays != run.arrays or trace != run.trace:
                found.append(f"{where}: other memory")
            elif bad := differences(compiled, native.outputs, arrays):
                found.append(f"{where}: {bad[0]}")
            cycles += run.cycles
    return "; ".join(found) or f"right, {cycles} cycles, {left_out} runs left out"


def interrupted(
    source: Path, teams: list[int], index: int, began: Callable[[Machine], Machine]
) -> str:
    """Say where a run that follows a reset in the middle of another one differs."""
    from hls.resets import with_resets

    found, cycles = [], 0
    for number, threads, compiled, native in runs(source, teams):
        unit, lines = unit_for(source, index + number)
        _, memory, in_order = WAYS[(index + number) % len(WAYS)]
        setup = set_up(
            began(machine_of(compiled, unit=unit)),
            native.inputs,
            native.scalars,
            memory=memory,
            in_order=in_order,
            cycle_limit=LIMIT,
            trace_lines=lines,
        )
        try:
            run, wrong = with_resets(setup, index)
        except CyclescopeError as error:
            found.append(f"{threads} threads: {error}")
            continue
        bad = [wrong] if wrong else differences(compiled, native.outputs, run.arrays)
        found += [f"{threads} threads: {bad[0]}"] if bad else []
        cycles += run.cycles
    return "; ".join(found) or f"right, {cycles} cycles"


def main() -> int:
    from hls.dirty import dirty
    from hls.test_programs import CONFIGURED

    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--threads", default="3,8,1,2")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--profile", action="store_true")
    how.add_argument("--icarus", action="store_true")
    how.add_argument("--reset", action="store_true")
    parser.add_argument("--dirty", action="store_true")
    chosen = parser.parse_args()
    if chosen.icarus and chosen.dirty:
        parser.error("Icarus begins with unknown bits: --dirty adds nothing")
    began = dirty if chosen.dirty else lambda machine: machine
    teams = [int(n) for n in chosen.threads.split(",")]
    bad = 0
    files = [*sorted((ROOT / "tests" / "hls" / "programs").glob("*.c"))]
    files += sorted((ROOT / "examples" / "hls").glob("*/*.c"))
    jobs = [f for f in files if not chosen.names or f.stem in chosen.names]
    if chosen.dirty or chosen.reset:
        jobs = [f for f in jobs if f.stem not in CONFIGURED]
    for index, job in enumerate(jobs):
        started = time.monotonic()
        try:
            if chosen.profile:
                said = profiled(job, teams, index, began)
            elif chosen.icarus:
                said = by_icarus(job, teams, index)
            elif chosen.reset:
                said = interrupted(job, teams, index, began)
            else:
                said = program(job, teams, began)
        except CyclescopeError as error:
            said = f"wrong: {error}"
        bad += not said.startswith("right")
        print(f"{job.stem:28} {said} ({time.monotonic() - started:.0f} s)", flush=True)
    print(f"{len(jobs)} programs, {bad} wrong")
    return int(bad > 0)


if __name__ == "__main__":
    os.nice(5)
    raise SystemExit(main())
