"""Changes of a C program's hardware tried for real: another memory, host or team, simulated."""

from __future__ import annotations

import shlex
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING

from cyclescope.analyse import LATENCY, START_COST, THREADS, memory_latency
from cyclescope.errors import InputError, VerifyError
from cyclescope.hls import MemoryModel, compile_c, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cyclescope.analyse import OtherLength
    from cyclescope.hls import Measurement, Program
    from cyclescope.model import Profile

__all__ = ["simulated_hardware"]


def simulated_hardware(
    profile: Profile,
    changes: Sequence[OtherLength],
    program: Path,
    defines: Mapping[str, str],
    include: Sequence[Path] = (),
    progress: Callable[[str], object] = lambda _: None,
) -> tuple[int, ...]:
    """Simulate a C program's hardware with another memory, another host or another team.

    Args:
        profile: its run.
        changes: of options of the run; one may have several values.
        program: its file.
        defines: its macros.
        include: its folders of headers.
        progress: told of each run.

    Returns:
        Cycles, for each of the values that `retimed` gives.

    Raises:
        InputError: a change cannot be made: of a loop or section, or to a latency that no memory
            of this sort has; or the profile is another program's.
        VerifyError: the hardware with the change does something else.
        SourceError, DataError, ToolError, RunError, OutputError: see `cyclescope.errors`.
    """
    for change in changes:
        if not change.option:
            raise InputError(
                f"{change.name}: the length of a loop or section follows from the program; --check"
                f" tries {LATENCY}, {START_COST} and {THREADS}"
            )

    @cache
    def compiled(threads: int) -> Program:
        return compile_c(program, threads=threads, defines=dict(defines), include=include)

    team = int(profile.meta.options[THREADS])
    first = _run(compiled(team), profile, {})
    if first.profile.cycles != profile.cycles:
        raise InputError(
            f"{program} takes {first.profile.cycles:,} cycles, the profile has"
            f" {profile.cycles:,}: give the profile's program, with its -D and -I"
        )
    curve = next((one for one in changes if one.is_curve), None)
    values = range(curve.first, curve.last + 1) if curve else range(1)
    totals = []
    for number, value in enumerate(values):
        progress(f"run {number + 1} of {len(values)}")
        wanted = {change.option: change.at(value) for change in changes}
        found = _run(compiled(wanted.get(THREADS, team)), profile, wanted)
        if not found.run.complete or not found.agrees:
            names = ", ".join(change.name for change in changes)
            raise VerifyError(f"{program}: with another {names} it leaves other results")
        totals.append(found.profile.cycles)
    return tuple(totals)


def _run(program: Program, profile: Profile, wanted: Mapping[str, int]) -> Measurement:
    """The program as the profile's run was, but for what is wanted."""
    options = profile.meta.options
    names = [field.name for field in fields(MemoryModel)]
    memory = MemoryModel(**{name: int(options[f"memory {name}"]) for name in names})
    if LATENCY in wanted:
        controller = memory.controller + wanted[LATENCY] - memory_latency(profile)
        if controller < 0:
            raise InputError(
                f"{LATENCY} = {wanted[LATENCY]}: a column access alone takes {memory.cas} cycles"
            )
        memory = replace(memory, controller=controller)
    return measure(
        program,
        shlex.split(options.get("arguments", "")),
        memory=memory,
        in_order=options["reorder"] == "no",
        start_cost=wanted.get(START_COST, int(options[START_COST])),
    )
