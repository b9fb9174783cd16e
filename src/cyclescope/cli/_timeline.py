"""`cyclescope timeline`: a trace for Perfetto."""

from __future__ import annotations

from pathlib import Path

import click

from cyclescope.cli._common import (
    force_option,
    output_option,
    profile_argument,
    read_profile,
    report,
    target,
    writing,
)

__all__ = ["timeline"]


@click.command()
@profile_argument
@click.option("--from", "first", type=click.IntRange(min=0), default=0, metavar="CYCLE",
              help="First cycle to show.")  # fmt: skip
@click.option("--to", "last", type=click.IntRange(min=1), metavar="CYCLE",
              help="Cycle to stop before; the end if not given.")  # fmt: skip
@click.option("--gzip", is_flag=True, help="Compress; Perfetto opens it as it is.")
@output_option("Trace to write; PROFILE.pftrace if not given")
@force_option
def timeline(
    profile: Path, first: int, last: int | None, gzip: bool, output: Path | None, force: bool
) -> None:
    """Write a timeline; open it at ui.perfetto.dev.

    One track a cell; under it control blocks, updates of control registers, and groups by the
    arm of the par in which they run.
    """
    from cyclescope.views import timeline as write

    path = target(output, profile, ".pftrace.gz" if gzip else ".pftrace")
    loaded = read_profile(profile)
    with writing(path, force=force) as stream:
        write(loaded, stream, first=first, last=last, compress=gzip)
    report(path, "timeline")
