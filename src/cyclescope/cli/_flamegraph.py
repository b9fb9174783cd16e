"""`cyclescope flamegraph`: an interactive SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cyclescope.cli._common import (
    OneOf,
    check_picture,
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

__all__ = ["flamegraph"]


@click.command()
@profile_argument
@level_option
@click.option(
    "--scaled/--flat",
    default=True,
    show_default=True,
    help="Split each cycle among what ran in parallel, or count it for each.",
)
@click.option(
    "--threads",
    type=OneOf(["merged", "apart"]),
    default="merged",
    show_default=True,
    help="One box for all threads, or one for each.",
)
@output_option("SVG to write; PROFILE.svg (scaled) or PROFILE.flat.svg if not given")
@force_option
def flamegraph(
    profile: Path,
    level: str | None,
    scaled: bool,
    threads: str,
    output: Path | None,
    force: bool,
) -> None:
    """Draw a flame graph; open it in a browser to zoom and search."""
    from cyclescope.views import flamegraph as draw

    check_picture(output)
    path = target(output, profile, ".svg" if scaled else ".flat.svg")
    picture = draw(read_profile(profile, level), scaled=scaled, apart=threads == "apart")
    with writing(path, force=force) as stream:
        stream.write(picture)
    report(path, "flame graph")
