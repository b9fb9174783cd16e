"""`cyclescope export`: a profile in other tools' formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

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

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.model import Profile
    from cyclescope.views._export import ExportFormat, ExportTable

__all__ = ["export"]

_TABLES = ("frames", "paths", "trees", "runs", "counters")
_SUFFIXES = {
    "folded": ".folded",
    "folded-scaled": ".scaled.folded",
    "speedscope": ".speedscope.json",
    "parquet": ".parquet",
    "csv": ".csv",
    "json": ".json",
}


@click.command()
@profile_argument
@click.option("--format", "form", required=True, type=click.Choice(list(_SUFFIXES)))
@click.option(
    "--table",
    "which",
    default="runs",
    show_default=True,
    type=click.Choice(_TABLES),
    help="Which of the profile's tables, for parquet, csv and json.",
)
@output_option("File to write; named after the profile if not given")
@force_option
def export(profile: Path, form: str, which: str, output: Path | None, force: bool) -> None:
    """Write a profile in other tools' formats.

    Folded stacks, speedscope JSON, or one of the profile's own tables.
    """
    suffix = f".{which}{_SUFFIXES[form]}" if form in ("parquet", "csv", "json") else _SUFFIXES[form]
    path = target(output, profile, suffix)
    data = _data(read_profile(profile), form, which)
    with writing(path, force=force) as stream:
        stream.write(data)
    report(path, form)


def _data(profile: Profile, form: str, which: str) -> bytes:
    from cyclescope.views import export_table, folded, speedscope

    if form == "speedscope":
        return speedscope(profile).encode()
    if form.startswith("folded"):
        stacks = folded(profile, scaled=form == "folded-scaled")
        if stacks.unit != 1:
            click.echo(f"{stacks.unit:,} counts are one cycle", err=True)
        return stacks.text.encode()
    return export_table(profile, cast("ExportTable", which), cast("ExportFormat", form))
