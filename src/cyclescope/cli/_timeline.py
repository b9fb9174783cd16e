"""`cyclescope timeline`: a trace for Perfetto."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cyclescope.cli._common import (
    Period,
    force_option,
    level_option,
    output_option,
    profile_argument,
    read_profile,
    report,
    target,
    writing,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["timeline"]


@click.command()
@profile_argument
@level_option
@click.option(
    "--from",
    "first",
    type=click.IntRange(min=0),
    default=0,
    metavar="CYCLE",
    help="First cycle to show.",
)
@click.option(
    "--to",
    "last",
    type=click.IntRange(min=1),
    metavar="CYCLE",
    help="Cycle to stop before; the end if not given.",
)
@click.option(
    "--period",
    type=Period(),
    metavar="TIME",
    help="Clock period (10ns, 100MHz); the profile's if it has one, else 1 cycle = 1 ns.",
)
@click.option("--gzip", is_flag=True, help="Compress; Perfetto opens it as it is.")
@output_option("Trace to write; PROFILE.pftrace if not given")
@force_option
def timeline(
    profile: Path,
    level: str | None,
    first: int,
    last: int | None,
    period: int | None,
    gzip: bool,
    output: Path | None,
    force: bool,
) -> None:
    """Write a timeline; open it at ui.perfetto.dev.

    One track a cell; under it control blocks, updates of control registers, and groups by the
    arm of the par in which they run.
    """
    from cyclescope.views import write_timeline

    path = target(output, profile, ".pftrace.gz" if gzip else ".pftrace")
    loaded = read_profile(profile, level)
    with writing(path, force=force) as stream:
        write_timeline(
            loaded,
            stream,
            period_ps=period or loaded.meta.period_ps,
            start=first,
            end=last,
            compress=gzip,
        )
    report(path, "timeline")
