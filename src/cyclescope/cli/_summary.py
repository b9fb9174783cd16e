"""`cyclescope summary`: the total, and where the cycles went."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cyclescope.cli._common import (
    force_option,
    format_option,
    json_option,
    level_option,
    output_option,
    profile_argument,
    read_profile,
    report,
    writing,
)

__all__ = ["summary"]


@click.command()
@profile_argument
@level_option
@json_option
@format_option("text", "json")
@click.option("--top", type=click.IntRange(min=0), default=10, show_default=True,
              help="Print at most this many of the hottest paths.")  # fmt: skip
@output_option("File to write; the terminal if not given")
@force_option
def summary(
    profile: Path, level: str | None, as_json: bool, form: str, top: int,
    output: Path | None, force: bool,
) -> None:  # fmt: skip
    """Print the total cycles and where they went."""
    from cyclescope.views import print_summary, summary_json, summary_text

    loaded = read_profile(profile, level)
    as_json = as_json or form == "json"
    if output is None and not as_json:
        print_summary(loaded, sys.stdout, hottest=top)
        return
    text = summary_json(loaded, hottest=top) if as_json else summary_text(loaded, hottest=top)
    path = output or Path("-")
    with writing(path, force=force) as stream:
        stream.write((text if text.endswith("\n") else f"{text}\n").encode())
    report(path, "summary")
