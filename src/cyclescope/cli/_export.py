"""`cyclescope export`: a profile in other tools' formats."""

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

__all__ = ["export"]

_SUFFIXES = {
    "folded": ".folded",
    "folded-scaled": ".scaled.folded",
    "speedscope": ".speedscope.json",
}


@click.command()
@profile_argument
@click.option("--format", "form", required=True, type=click.Choice(list(_SUFFIXES)))
@output_option("File to write; named after the profile if not given")
@force_option
def export(profile: Path, form: str, output: Path | None, force: bool) -> None:
    """Write folded stacks or speedscope JSON."""
    from cyclescope.views import folded, speedscope

    path = target(output, profile, _SUFFIXES[form])
    loaded = read_profile(profile)
    if form == "speedscope":
        data = speedscope(loaded)
    else:
        stacks = folded(loaded, scaled=form == "folded-scaled")
        data = stacks.text.encode()
        if stacks.unit != 1:
            click.echo(f"{stacks.unit:,} counts are one cycle", err=True)
    with writing(path, force=force) as stream:
        stream.write(data)
    report(path, form)
