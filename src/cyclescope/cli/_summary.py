"""`cyclescope summary`: the total, and where the cycles went."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cyclescope.cli._common import level_option, profile_argument, read_profile

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["summary"]


@click.command()
@profile_argument
@level_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--top", type=click.IntRange(min=0), default=10, show_default=True,
              help="How many of the hottest paths.")  # fmt: skip
def summary(profile: Path, level: str | None, as_json: bool, top: int) -> None:
    """Print the total cycles and where they went."""
    from cyclescope.views import print_summary, summary_json

    loaded = read_profile(profile, level)
    if as_json:
        click.echo(summary_json(loaded, hottest=top))
    else:
        print_summary(loaded, sys.stdout, hottest=top)
