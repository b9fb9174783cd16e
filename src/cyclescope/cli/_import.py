"""`cyclescope import`: profiles from what other tools recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cyclescope.cli._common import (
    Period,
    check_outputs,
    force_option,
    hush_if_quiet,
    not_complete,
    output_option,
    report,
    save_profile,
    tell_summary,
    told_option,
)
from cyclescope.cli._groups import Group
from cyclescope.cli._kinds import InputPath

if TYPE_CHECKING:
    from cyclescope.model import Profile

__all__ = ["import_"]

_output = output_option("Profile; named after the input if not given")
_period = click.option(
    "--period", type=Period(), help="Clock period (10ns, 100MHz); else 1 cycle = 1 ns."
)


_work = click.option(
    "--work",
    multiple=True,
    metavar="NAMES",
    help="States that count as work, separated by commas; may be repeated.",
)


def _names(parts: tuple[str, ...]) -> list[str]:
    """Names that options give, separated by commas."""
    return [name.strip() for part in parts for name in part.split(",") if name.strip()]


@click.group("import", cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
def import_() -> None:
    """Make a profile of what another tool recorded."""


@import_.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--waveform",
    type=click.Path(path_type=Path),
    help="VCD (.gz, .xz) or FST file, if DIR contains several or none.",
)
@click.option(
    "--program", metavar="NAME", help="Calyx file for source lines.  [default: DIR.futil]"
)
@click.option(
    "--source/--no-source",
    "embed",
    default=True,
    show_default=True,
    help="Store the source texts under DIR or the current folder in the profile.",
)
@_output
@_period
@told_option
@force_option
def petal(
    folder: Path,
    waveform: Path | None,
    program: str | None,
    embed: bool,
    output: Path | None,
    period: int | None,
    form: str,
    force: bool,
) -> None:
    """Read what the original Petal's flow leaves in DIR.

    That is the waveform of the instrumented design, cells.json, path-descriptors.json and
    fsm.json, and, if they exist, ctrl-pos.json, shared-cells.json and adl-metadata.json.
    """
    from cyclescope.traces import import_petal

    target = output or Path(f"{folder.resolve().name}.cyc")
    check_outputs(target, force=force)
    profile = import_petal(folder, waveform, program=program or "", period_ps=period, embed=embed)
    _finish(profile, target, form, force=force)


@import_.command()
@click.argument("file", type=InputPath("a waveform"), metavar="FILE")
@click.option(
    "--signals",
    multiple=True,
    metavar="NAMES",
    help="Dotted names of signals, separated by commas; may be repeated.",
)
@click.option(
    "--list",
    "pattern",
    is_flag=False,
    flag_value="",
    metavar="[PATTERN]",
    help="List scopes and signals, all or those that match: part of a name, or with * and ?.",
)
@click.option("--clock", metavar="NAME", help="Sample after each of its rising edges.")
@click.option(
    "--work",
    multiple=True,
    metavar="VALUES",
    help="Values that count as work, VALUE or SIGNAL=VALUE, separated by commas; may be repeated.",
)
@_output
@_period
@told_option
@force_option
def vcd(
    file: Path,
    signals: tuple[str, ...],
    pattern: str | None,
    clock: str | None,
    work: tuple[str, ...],
    output: Path | None,
    period: int | None,
    form: str,
    force: bool,
) -> None:
    """Read signals of a VCD (.gz, .xz), FST or GHW as states.

    With a clock, a cycle is one of its periods; without, the waveform's unit of time. States count
    as unknown, except those that --work names.
    """
    from cyclescope.traces import import_signals, list_signals

    if pattern is not None:
        for line in list_signals(file, pattern):
            click.echo(line)
        return
    if not signals:
        raise click.UsageError("Missing option '--signals'; --list shows the signals of FILE.")
    target = output or Path(f"{file.name.split('.')[0]}.cyc")
    check_outputs(target, force=force)
    profile = import_signals(file, _names(signals), clock, period_ps=period, work=_names(work))
    _finish(profile, target, form, force=force)


@import_.command()
@click.argument("file", type=InputPath("a Paraver trace"), metavar="FILE")
@_work
@_output
@_period
@told_option
@force_option
def paraver(
    file: Path,
    work: tuple[str, ...],
    output: Path | None,
    period: int | None,
    form: str,
    force: bool,
) -> None:
    """Read a Paraver trace: .prv, .prv.gz, .prv.xz.

    Names come from the .pcf and .row beside it. The meaning of Paraver's own states is known; other
    states count as unknown, except those that --work names.
    """
    from cyclescope.traces import import_paraver

    target = output or Path(f"{file.name.split('.')[0]}.cyc")
    check_outputs(target, force=force)
    _finish(import_paraver(file, period_ps=period, work=_names(work)), target, form, force=force)


@import_.command()
@click.argument("dump", type=click.Path(path_type=Path), metavar="DUMP")
@click.option(
    "--layout",
    type=click.Path(path_type=Path),
    required=True,
    metavar="L.json",
    help="Layout of the profiling unit's records, as the run wrote it.",
)
@_output
@_period
@told_option
@force_option
def nymble(
    dump: Path, layout: Path, output: Path | None, period: int | None, form: str, force: bool
) -> None:
    """Read what a profiling unit in hardware left in memory.

    DUMP contains the bytes of the trace region, from its first line on.
    """
    from cyclescope.hls import import_dump

    target = output or Path(f"{dump.name.split('.')[0]}.cyc")
    check_outputs(target, force=force)
    _finish(import_dump(dump, layout, period_ps=period), target, form, force=force)


def _finish(profile: Profile, target: Path, form: str, *, force: bool) -> None:
    hush_if_quiet()
    save_profile(profile, target, force=force)
    tell_summary(profile, form)
    report(target, "profile")
    if not profile.meta.complete:
        not_complete(profile.meta.stop_reason)
