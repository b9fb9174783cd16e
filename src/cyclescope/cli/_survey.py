"""`cyclescope survey`: the bounds of many kernels side by side."""

from __future__ import annotations

import json
from pathlib import Path

import click

from cyclescope.cli._common import (
    check_outputs,
    doing,
    force_option,
    hush_if_quiet,
    json_option,
    output_option,
    pairs,
    report,
    say,
    tell_json,
    told_option,
    writing,
)
from cyclescope.cli._kinds import InputPath
from cyclescope.cli._trust import trust_options

__all__ = ["survey"]


@click.command()
@click.argument(
    "places", nargs=-1, required=True, type=InputPath("a C program"), metavar="FOLDER|FILE.c…"
)
@click.option(
    "--with", "beside", multiple=True, type=click.Path(path_type=Path), metavar="FILE.c",
    help="A file that belongs to every program.",
)  # fmt: skip
@click.option("--kernel", metavar="FUNCTION", help="The function, if its name isn't kernel….")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option(
    "-I", "include", multiple=True, type=click.Path(path_type=Path), help="Look for headers here."
)
@click.option(
    "--calibration", type=click.Path(path_type=Path),
    help="Calibration of every kernel; default: NAME.toml beside NAME.c, if it exists.",
)  # fmt: skip
@click.option("--plain", is_flag=True, help="Ignore the calibrations' [tweak]s.")
@output_option("Draw maximum and average parallelism of all kernels (SVG)")
@json_option
@told_option
@click.option(
    "--detail/--no-detail", default=True, show_default=True, help="Say what bounds each kernel."
)
@click.option(
    "--memory", type=click.IntRange(min=1), default=256, show_default=True, metavar="MB",
    help="Memory for activity over time; above it the resolution is lowered.",
)  # fmt: skip
@force_option
@trust_options
def survey(
    places: tuple[Path, ...], beside: tuple[Path, ...], kernel: str | None,
    defines: tuple[str, ...], include: tuple[Path, ...], calibration: Path | None, plain: bool,
    output: Path | None, as_json: bool, form: str, detail: bool, memory: int, force: bool,
) -> None:  # fmt: skip
    """Bound many C kernels, and show the design space of each.

    A FOLDER means every C file in it, at any depth. Each has one kernel: its only function with a
    body, or the one whose name begins with `kernel`. Files that cannot be read or run are named at
    the end, and the exit status is then 1.
    """
    from cyclescope.bounds import Bounds, programs_in, survey_dict, survey_text
    from cyclescope.bounds import survey as surveyed
    from cyclescope.errors import CyclescopeError, RunError
    from cyclescope.views import DesignSpace, design_space_svg

    check_outputs(output, force=force)
    if output is not None:
        hush_if_quiet()
    apart = {path.resolve() for path in beside}
    files = [file for file in programs_in(places) if file.resolve() not in apart]
    rows: list[tuple[Path, Bounds]] = []
    failed: list[CyclescopeError] = []
    with doing() as told:
        for file, found in surveyed(
            files, beside=beside, kernel=kernel, defines=pairs(defines, "-D"), include=include,
            calibration=calibration, plain=plain, memory=memory << 20, detail=detail, told=told,
        ):  # fmt: skip
            if isinstance(found, Bounds):
                rows.append((file, found))
            else:
                failed.append(found)
    if not rows:
        raise RunError(f"no kernel could be bounded; the first: {failed[0]}")
    if output is not None:
        spaces = [
            DesignSpace(
                file.stem,
                (float(a.average_parallelism), float(u.average_parallelism)),
                (float(a.maximum_parallelism), float(u.maximum_parallelism)),
            )
            for file, found in rows
            for a, u in [found.estimates]
        ]
        title = f"Parallelism of {len(spaces)} kernels, from absolute to unbounded"
        with writing(output, force=force) as stream:
            stream.write(design_space_svg(title, spaces))
    if as_json or form == "json":
        tell_json(json.dumps(survey_dict(rows), indent=1, ensure_ascii=False))
    else:
        click.echo(survey_text(rows), nl=False)
        if output is not None:
            report(output, "picture")
    for error in failed:
        say(f"not bounded: {error}", err=True)
    if failed:
        raise click.exceptions.Exit(1)
