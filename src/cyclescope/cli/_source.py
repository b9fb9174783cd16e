"""`cyclescope source`: the program's text with cycles beside each line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cyclescope.cli._common import (
    check_picture,
    force_option,
    level_option,
    output_option,
    profile_argument,
    read_profile,
    report,
    writing,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["source"]


@click.command()
@profile_argument
@level_option
@output_option("File to write, a picture if it ends in .svg; the terminal if not given")
@force_option
def source(profile: Path, level: str | None, output: Path | None, force: bool) -> None:
    """Show the program's text with cycles beside each line.

    Each line has the cycles in which something from it was active, how many of these were useful,
    and its own part of the run. All own parts add up to the run.
    """
    from cyclescope.views import print_source, source_svg, source_text

    check_picture(output)
    loaded = read_profile(profile)
    if output is None:
        print_source(loaded, sys.stdout, level)
        return
    picture = output.suffix == ".svg"
    data = source_svg(loaded, level) if picture else source_text(loaded, level).encode()
    with writing(output, force=force) as stream:
        stream.write(data)
    report(output, "source")
