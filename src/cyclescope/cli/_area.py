"""`cyclescope area`: what parts of a design cost, beside how much they are used."""

from __future__ import annotations

from pathlib import Path

import click

from cyclescope.cli._common import (
    OneOf,
    check_form,
    check_picture,
    force_option,
    form_option,
    level_option,
    output_option,
    profile_argument,
    read_profile,
    report,
    writing,
)

__all__ = ["area"]

_KINDS = {"cells": "cell", "groups": "group", "control": "control"}


@click.command()
@profile_argument
@click.argument("kind", type=OneOf([*_KINDS, "all"]), default="cells")
@level_option
@form_option
@output_option("File to write, a map of the cells if it ends in .svg; the terminal if not given")
@force_option
def area(
    profile: Path, kind: str, level: str | None, form: str, output: Path | None, force: bool
) -> None:
    """Show what parts of a design cost and how much they are used.

    Large and rarely used parts come first. The profile must be made with --area or --area-report.
    """
    from cyclescope.model import Kind
    from cyclescope.views import area_svg, area_view

    check_form(form, output)
    check_picture(output)
    loaded = read_profile(profile, level)
    path = output or Path("-")
    if path.suffix == ".svg":
        data = area_svg(loaded)
    else:
        data = area_view(loaded, [Kind(_KINDS[kind])] if kind in _KINDS else [], form)
    with writing(path, force=force) as stream:
        stream.write(data)
    report(path, "area")
