"""`cyclescope timeline`: a trace for Perfetto, or a still picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cyclescope.cli._common import (
    Period,
    check_picture,
    force_option,
    level_option,
    output_option,
    profiles_argument,
    read_profile,
    report,
    target,
    window_options,
    writing,
)

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.model import Profile

__all__ = ["timeline"]


@click.command()
@profiles_argument
@level_option
@window_options("show")
@click.option(
    "--period",
    type=Period(),
    metavar="TIME",
    help="Clock period (10ns, 100MHz); default: the profile's, else 1 cycle = 1 ns.",
)
@click.option("--gzip", is_flag=True, help="Compress; Perfetto opens it as it is.")
@output_option("Trace to write, or a static picture (.svg); PROFILE.pftrace if not given")
@force_option
def timeline(
    profiles: tuple[Path, ...],
    level: str | None,
    first: int,
    last: int | None,
    period: int | None,
    gzip: bool,
    output: Path | None,
    force: bool,
) -> None:
    """Write a timeline; open it at ui.perfetto.dev.

    There is one track for each cell; under it are control blocks, updates of control registers, and
    groups by the arm of the par in which they run. Several profiles share one axis of cycles. An
    output that ends in .svg is a static picture.
    """
    from cyclescope.views import timeline_svg, write_timeline

    check_picture(output)
    path = target(output, profiles[0], ".pftrace.gz" if gzip else ".pftrace")
    if gzip and path.suffix == ".svg":
        raise click.UsageError("--gzip is for traces; a picture (.svg) is written as it is")
    loaded = _named(profiles, [read_profile(profile, level) for profile in profiles])
    periods = {one.meta.period_ps for one in loaded}
    part = "--from and --to write a part"
    cheaper = part if gzip else f"--gzip makes a tenth of it, {part}"
    with writing(path, force=force, cheaper=cheaper) as stream:
        if path.suffix == ".svg":
            stream.write(timeline_svg(loaded, start=first, end=last))
        else:
            write_timeline(
                loaded,
                stream,
                period_ps=period or (periods.pop() if len(periods) == 1 else None),
                start=first,
                end=last,
                compress=gzip,
            )
    report(path, "timeline")


def _named(paths: tuple[Path, ...], profiles: list[Profile]) -> list[Profile]:
    """The profiles, told apart by their files' names where their titles are equal."""
    titles = [profile.meta.title for profile in profiles]
    if len(set(titles)) == len(titles):
        return profiles
    return [
        profile.with_meta(title=f"{path.stem}: {profile.meta.title}")
        for path, profile in zip(paths, profiles, strict=True)
    ]
