"""`cyclescope whatif`: the run with other lengths, without simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cyclescope.cli._bounds import arrays, numbers
from cyclescope.cli._common import (
    check_form,
    doing,
    force_option,
    form_option,
    output_option,
    pairs,
    profile_argument,
    read_profile,
    report,
    writing,
)
from cyclescope.cli._kinds import InputPath
from cyclescope.cli._trust import trust_options
from cyclescope.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.analyse import OtherLength, TriedLength
    from cyclescope.model import Profile

__all__ = ["whatif"]


@click.command()
@profile_argument
@click.argument("changes", nargs=-1, metavar="['NAME = CYCLES']...")
@click.option(
    "--best",
    type=click.IntRange(min=1, max=1000),
    metavar="N",
    help="Instead of changes: name the N groups to shorten first, to one cycle each.",
)
@click.option(
    "--check",
    "program",
    type=InputPath("a Calyx program", "a C program"),
    metavar="PROGRAM",
    help="Make the change in this program, simulate it, and compare with the prediction.",
)
@click.option(
    "--anew",
    is_flag=True,
    help="With --check of a Calyx program: also make it in the text, and compile that anew.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="With --check: memories as Calyx data JSON, or a kernel's arrays.",
)
@click.option(
    "-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="With --check: define a C macro."
)
@click.option(
    "-I",
    "include",
    multiple=True,
    type=click.Path(path_type=Path),
    help="With --check: look for C headers here.",
)
@click.option(
    "--arg",
    "values",
    multiple=True,
    metavar="NAME=NUMBER",
    help="With --check of a kernel: as for bounds.",
)
@click.option(
    "--calibration",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="With --check of a kernel: as for bounds.",
)
@form_option
@output_option("File to write; the terminal if not given")
@force_option
@trust_options
def whatif(
    profile: Path,
    changes: tuple[str, ...],
    best: int | None,
    program: Path | None,
    anew: bool,
    data: Path | None,
    defines: tuple[str, ...],
    include: tuple[Path, ...],
    values: tuple[str, ...],
    calibration: Path | None,
    form: str,
    output: Path | None,
    force: bool,
) -> None:
    """Predict a run's cycles with other latencies, without simulating it.

    'main.queue/push = 1': each activation takes one cycle; '= 1..10': each of these values.
    Everything else happens as it did, and starts as soon as what it waits for has ended. For
    threads, 'L14 = 100' sets each execution of a loop, 'critical = 20' each passage of a critical
    section; 'memory latency = 10', 'start cost = 0', 'threads = 16' set the memory, the host and
    the team. For a process network 'y L21 = 10' sets a process's latency, 'y L21 interval = 2' the
    cycles between its firings, 'source A to y L21 depth = 1..64' a channel's depth. With --check
    the program, memory, host, team or network is really changed, and simulated: a group of a Calyx
    program in the control that it was measured with, where each longer group stays what the
    compiler made of it; with --anew also in the text, where it may become another.
    """
    from cyclescope.analyse import parse_lengths
    from cyclescope.views import best_changes_view, retimed_view

    check_form(form, output)
    if (best is None) != bool(changes):
        raise click.UsageError("give changes, such as 'main.queue/push = 1', or --best N")
    if anew and program is None:
        raise click.UsageError("--anew is of --check; give the program")
    if program is not None and best is not None:
        raise click.UsageError("--check tries changes, not --best; give the changes that it names")
    loaded = read_profile(profile)
    if best is not None:
        text = best_changes_view(loaded, best, form)
    else:
        lengths = parse_lengths(loaded, changes)
        tried: tuple[TriedLength, ...] = ()
        again: tuple[TriedLength, ...] = ()
        if program is not None and not program.is_file():
            raise InputError(f"{program}: no such file")
        if anew and loaded.meta.source in ("hls", "network"):
            raise InputError("--anew is for Calyx programs; --check alone compiles this one anew")
        if program is not None and loaded.meta.source == "hls":
            tried = _simulated_hardware(loaded, lengths, program, pairs(defines, "-D"), include)
        elif program is not None and loaded.meta.source == "network":
            macros = pairs(defines, "-D")
            tried = _simulated_network(
                loaded, lengths, program, macros, include, values, calibration, data
            )
        elif program is not None:
            tried, again = _simulated(loaded, lengths, program, data, anew=anew)
        text = retimed_view(loaded, lengths, form, tried, again)
    path = output or Path("-")
    with writing(path, force=force) as stream:
        stream.write(text)
    report(path, "what if")


def _simulated(
    profile: Profile,
    changes: Sequence[OtherLength],
    program: Path,
    data: Path | None,
    *,
    anew: bool,
) -> tuple[tuple[TriedLength, ...], tuple[TriedLength, ...]]:
    """A program with the changes made in its control; and in its text, if that is asked for."""
    from cyclescope.studies import compiled_anew, simulated_lengths

    with doing() as tell:
        tried = simulated_lengths(profile, changes, program, data, tell)
        return tried, compiled_anew(profile, changes, program, data, tell) if anew else ()


def _simulated_hardware(
    profile: Profile,
    changes: Sequence[OtherLength],
    program: Path,
    defines: dict[str, str],
    include: tuple[Path, ...],
) -> tuple[TriedLength, ...]:
    """A C program's hardware with the changes made."""
    from cyclescope.analyse import TriedLength
    from cyclescope.studies import simulated_hardware

    with doing() as tell:
        cycles = simulated_hardware(profile, changes, program, defines, include, tell)
    return tuple(TriedLength(n) for n in cycles)


def _simulated_network(
    profile: Profile,
    changes: Sequence[OtherLength],
    program: Path,
    defines: dict[str, str],
    include: tuple[Path, ...],
    values: tuple[str, ...],
    calibration: Path | None,
    data: Path | None,
) -> tuple[TriedLength, ...]:
    """A kernel's process network with the changes made."""
    from cyclescope.bounds import read_calibration
    from cyclescope.studies import simulated_network

    with doing() as tell:
        return simulated_network(
            profile,
            changes,
            program,
            defines=defines,
            include=include,
            arguments=numbers(values),
            calibration=read_calibration(calibration) if calibration else None,
            data=arrays(data) if data else None,
            progress=tell,
        )
