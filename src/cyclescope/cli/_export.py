"""`cyclescope export`: a profile in other tools' formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from cyclescope.cli._common import (
    OneOf,
    Period,
    force_option,
    level_option,
    output_option,
    profile_argument,
    read_profile,
    report,
    target,
    window_options,
    writing,
)
from cyclescope.cli._paraver import export_paraver

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.model import Profile
    from cyclescope.views._export import ExportFormat, ExportTable

__all__ = ["export"]

_TABLES = ("frames", "paths", "trees", "runs", "counters")
_PART = "--from and --to write a part"
_CHEAPER = dict.fromkeys(("csv", "json"), f"--format parquet is a fraction of it, {_PART}")
_SUFFIXES = {
    "folded": ".folded",
    "folded-scaled": ".scaled.folded",
    "speedscope": ".speedscope.json",
    "paraver": ".prv",
    "parquet": ".parquet",
    "csv": ".csv",
    "json": ".json",
}


@click.command()
@profile_argument
@level_option
@click.option("--format", "form", required=True, type=OneOf(list(_SUFFIXES)))
@click.option(
    "--table",
    "which",
    type=OneOf(_TABLES),
    help="Table of the profile, for parquet, csv and json.  [default: runs]",
)
@window_options("write")
@click.option(
    "--period",
    type=Period(),
    metavar="TIME",
    help="Clock period (10ns, 100MHz), for paraver; default: the profile's if it is at least 1 ns,"
    " else 1 cycle = 1 ns.",
)
@output_option("File to write; named after the profile if not given")
@force_option
def export(
    profile: Path,
    level: str | None,
    form: str,
    which: str | None,
    first: int,
    last: int | None,
    period: int | None,
    output: Path | None,
    force: bool,
) -> None:
    """Write a profile in other tools' formats.

    Folded stacks, speedscope JSON, one of the profile's own tables, or a Paraver trace: OUT.prv
    (or .prv.gz), with OUT.pcf, OUT.row and views OUT.*.cfg beside it. The first cycle of a range
    becomes cycle 0 of the output.
    """
    from cyclescope.model import between

    tables = form in ("parquet", "csv", "json")
    if which is not None and not tables:
        raise click.UsageError(f"--table is for parquet, csv and json, not for {form}")
    if period is not None and form != "paraver":
        raise click.UsageError(f"--period is for paraver, not for {form}")
    which = which or "runs"
    shown = between(read_profile(profile, level), first, last)
    if form == "paraver":
        known = shown.meta.period_ps
        if period is None and known is not None and known >= 1000:
            period = known
        export_paraver(shown, target(output, profile, ".prv"), period, force=force)
        return
    suffix = f".{which}{_SUFFIXES[form]}" if tables else _SUFFIXES[form]
    path = target(output, profile, suffix)
    with writing(path, force=force, cheaper=_CHEAPER.get(form, _PART)) as stream:
        if tables:
            from cyclescope.views import write_table

            write_table(shown, stream, cast("ExportTable", which), cast("ExportFormat", form))
        else:
            stream.write(_text(shown, form).encode())
    report(path, form)


def _text(profile: Profile, form: str) -> str:
    from cyclescope.views import folded, speedscope

    if form == "speedscope":
        return speedscope(profile)
    return folded(profile, scaled=form == "folded-scaled")
