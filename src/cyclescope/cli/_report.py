"""`cyclescope report`: everything in one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cyclescope.cli._common import (
    PROFILE,
    OneOf,
    check_outputs,
    force_option,
    level_option,
    output_option,
    read_profile,
    report,
    target,
    writing,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["report_"]


@click.command("report")
@click.argument(
    "profiles",
    type=PROFILE,
    metavar="PROFILE.cyc …",
    nargs=-1,
    required=True,
)
@click.option(
    "--embed-source",
    type=OneOf(("none", "used", "all")),
    default="used",
    show_default=True,
    help="Source text to include: none, the lines around those that ran or could have (used), or "
    "all that the profiles carry.",
)
@level_option
@output_option("Page to write; PROFILE.html if not given")
@force_option
def report_(
    profiles: tuple[Path, ...],
    embed_source: str,
    level: str | None,
    output: Path | None,
    force: bool,
) -> None:
    """Write a report: one HTML file to open in a browser, without a network.

    It contains summary, timeline, flame graph, tables and source, linked to each other; several
    profiles are shown side by side.
    """
    from cyclescope.views import write_report

    path = target(output, profiles[0], ".html")
    check_outputs(path, force=force)
    named = [
        (name, read_profile(profile, level))
        for name, profile in zip(_names(profiles), profiles, strict=True)
    ]
    cheaper = "--embed-source none leaves the programs' texts out"
    with writing(path, force=force, cheaper=cheaper) as stream:
        write_report(named, stream, embed=embed_source)
    report(path, "report")


def _names(profiles: tuple[Path, ...]) -> list[str]:
    """The names that tell the profiles apart: the files' names, or as much as was typed."""
    short = [profile.stem for profile in profiles]
    return short if len(set(short)) == len(short) else [str(profile) for profile in profiles]
